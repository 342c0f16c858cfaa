"""An extractor: a program of the project that prints entities and edges, and what a project says of it."""

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict

from graphmem.constants import EXTRACT_MOST_S, EXTRACT_S
from graphmem.kernel.model.field import Item
from graphmem.names import printable

MOST_WORDS = 100  # of a command, and types that one extractor writes


def _as_word(value: str) -> str:
    """Return a word of a command, if a program can get it and a person can read it."""
    if not value or not printable(value):
        raise ValueError(f"{value[:80]!r} is not printable text on one line")
    return value


def _as_folder(value: str) -> str:
    """Return a folder below the project, as a path from there."""
    if value.startswith("/") or ".." in value.split("/"):
        raise ValueError(f"{value[:80]!r} is not a folder below the project")
    return _as_word(value)


class Extractor(BaseModel):
    """
    A program that looks at the project and prints what it finds; ``prose`` tells people what that is.

    Attributes:
        command: the program and its arguments, run without a shell.
        writes: the entity types and relation types that it prints; it may print no others.
        timeout: seconds that it may take. cwd: the folder below the project that it is started in.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    command: Annotated[
        tuple[Annotated[Item, AfterValidator(_as_word)], ...], Field(min_length=1, max_length=MOST_WORDS)
    ]
    writes: Annotated[tuple[Item, ...], Field(min_length=1, max_length=MOST_WORDS)]
    timeout: Annotated[float, Strict(), Field(gt=0, le=EXTRACT_MOST_S, allow_inf_nan=False)] = EXTRACT_S
    cwd: Annotated[Item, AfterValidator(_as_folder)] = "."
    description: Item = ""
    prose: Item = ""
