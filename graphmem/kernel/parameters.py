"""Parameters that several requests have, each with its one description."""

import json
from typing import Annotated, Literal

from pydantic import Field

from graphmem.errors import Usage

Texts = tuple[str, ...]

Ref = Annotated[str, Field(description="The record, as kind/name, or as its name alone")]
Tags = Annotated[Texts | None, Field(description="Tags of the record")]
Sources = Annotated[Texts | None, Field(description="Where the record came from: a task, a run, a file, a person")]
Files = Annotated[Texts | None, Field(description="Files that the record is about")]
Cites = Annotated[
    Texts | None, Field(description="Code that the record is about: path, path:symbol or path:symbol@commit")
]
Name = Annotated[str | None, Field(description="Name of the record; made from its text if not given")]
Dedup = Annotated[bool, Field(description="Look for a record that says the same, and merge the new one into it")]
Verbatim = Annotated[
    bool, Field(description="Keep paths of this machine (project, home, temporary folder) as they are")
]
DryRun = Annotated[bool, Field(description="Return what would change, and change nothing")]
Replace = Annotated[
    bool, Field(description="In a merge, and under a name that is taken, make the new texts the current ones")
]
Supersedes = Annotated[str | None, Field(description="The record that the new one takes the place of; it is archived")]
CheckAfter = Annotated[
    str | None, Field(description="Day after which the record is to be checked again, such as 2027-01-31")
]
Framework = Annotated[str | None, Field(description="Framework or tool that the record is about")]
Strict = Annotated[bool, Field(description="Leave out every record that has a mark of doubt")]
Yes = Annotated[bool, Field(description="Make the change; without it, only return what would change")]
Reason = Annotated[str | None, Field(description="Why; kept with the archived record")]
RelationTypes = Annotated[Texts | None, Field(description="Walk only edges of these relation types")]
MostResults = Annotated[int | None, Field(ge=1, description="Return at most this many; all if not given")]
SessionName = Annotated[str | None, Field(description="Name of a session; the project's own if not given")]
InputName = Annotated[str, Field(description="Name of the input, for messages")]
# The coding agents whose hooks graphmem answers.
ClientName = Literal["claude-code", "codex", "gemini", "opencode", "cursor"]


def parameter(given: str) -> tuple[str, object]:
    """Return the name and the value of a parameter: ``name=text`` or ``name:=JSON``."""
    name, mark, value = given.partition("=")
    if not mark or not name.removesuffix(":"):
        raise Usage(f"invalid parameter {given!r}", hint="name=text, or name:=JSON such as limit:=5")
    if not name.endswith(":"):
        return name, value
    try:
        return name[:-1], json.loads(value)
    except ValueError as error:
        raise Usage(
            f"parameter {name[:-1]!r} is not JSON: {error}", hint=f"{name[:-1]}={value} passes it as text"
        ) from None
