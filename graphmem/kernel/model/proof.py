"""What proves a fix: its command failed at one commit, and passed at another one."""

from collections.abc import Sequence
from typing import Annotated

import orjson
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Strict, ValidationError

from graphmem.kernel.model.field import Text, Time
from graphmem.kernel.model.record import Frozen
from graphmem.patterns import lazy_re

MOST_FILES, PATH_CHARACTERS = 6, 200  # whose change was taken out
PLAIN_PATH = lazy_re(r"[^\s:;<>|\"'`\\]+")  # no sentence is one: it stands in a line of graphmem's own


def is_plain(path: str) -> bool:
    """Return whether a proof can name a file or folder by this path: below the project's root, without white space."""
    is_word = len(path) <= PATH_CHARACTERS and path.isprintable() and PLAIN_PATH.fullmatch(path) is not None
    return is_word and not path.startswith("~") and not {"", ".", ".."}.intersection(path.split("/"))


def _as_folder(value: str) -> str:
    """Return the path of a folder if it is plain; empty for the project's root."""
    if value and not is_plain(value):
        raise ValueError("expected a path below the project's root")
    return value


def _as_paths(value: str) -> str:
    """Return a text of paths, one a line, if each is plain and they are few."""
    paths = value.split("\n") if value else []
    if len(paths) > MOST_FILES or not all(map(is_plain, paths)):
        raise ValueError(f"expected at most {MOST_FILES} paths below the project's root, one a line")
    return value


Commit = Annotated[str, Strict(), Field(pattern=r"^([0-9a-f]{40}|[0-9a-f]{64})$")]  # no name, which can move


class Proof(BaseModel):
    """
    What was proven of a record: its field ``proven``.

    Attributes:
        before: the full hash of the commit at which the command fails. after: of the one at which it passes.
        folder: below the project's root, where the command ran; empty for the root.
        without: the files, one a line, with which as they were at ``before`` the command fails at ``after``; empty
            where it fails at ``before`` itself.
    """

    model_config = ConfigDict(frozen=True)

    command: Annotated[Text, Field(min_length=1)]
    before: Commit
    after: Commit
    at: Time
    folder: Annotated[str, Strict(), AfterValidator(_as_folder)] = ""
    without: Annotated[str, Strict(), AfterValidator(_as_paths)] = ""

    @property
    def files(self) -> list[str]:
        """The paths of ``without``."""
        return self.without.split("\n") if self.without else []

    @property
    def to_trust(self) -> str:
        """What one trusts who lets it run again."""
        return text_to_trust(self.command, self.folder, self.before, self.after, self.files)


def text_to_trust(command: str, folder: str, before: str, after: str, files: Sequence[str]) -> str:
    """Return what a proof runs, as JSON: with another command, commit or file it is another proof."""
    found = {"command": command, "folder": folder, "before": before, "after": after, "files": files}
    return orjson.dumps(found, option=orjson.OPT_SORT_KEYS).decode()


def proof_of(record: Frozen) -> Proof | None:
    """
    Return what was proven of a record; None where nothing was.

    Raises:
        ValidationError: its field ``proven`` is not a proof.
    """
    found = (record.model_extra or {}).get("proven")
    return None if found is None else Proof.model_validate(found)


def valid_proof(record: Frozen) -> Proof | None:
    """Return what was proven of a record; None where nothing was, or its field ``proven`` is not a proof."""
    try:
        return proof_of(record)
    except ValidationError:
        return None
