"""What operations on the store take and return."""

from pathlib import Path
from typing import Literal

from pydantic import Field, JsonValue

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.finding import Finding
from graphmem.kernel.request import Request


class InitRequest(Request):
    """Which project to prepare."""

    folder: Path = Field(description="The project's folder")
    nested: bool = Field(False, description="Make a memory of its own below a folder that has one")
    ref: bool = Field(False, description="Keep the rows in a ref of their own, out of the branches")


class ExportRequest(Request):
    """Where to write the files in canonical form."""

    to: Path | None = Field(None, description="Folder to write a copy to; the store's own files if not given")


class RebuildRequest(Request):
    """What to rebuild from the files."""

    embed: bool = Field(True, description="Make the vectors that are missing")


class DoctorRequest(Request):
    """Whether to repair what is found."""

    fix: bool = Field(False, description="Repair what can be repaired automatically")


class VacuumRequest(Request):
    """Whether to only look."""

    dry_run: bool = Field(False, description="Only report what would be removed")


class ResetRequest(Request):
    """Whether to empty the memory."""

    yes: bool = Field(False, description="Take all rows out; without it they are only counted")


class SplitRequest(Request):
    """Which kind to split, into how many files."""

    kind: str = Field(description="A kind, an entity type or a relation type", max_length=64)
    files: Literal[1, 16, 256] = Field(16, description="How many files its rows are to be in")


class TrustRequest(Request):
    """Whether to trust the project's settings."""

    yes: str | None = Field(
        None,
        description="Let in this clone count what the answer with this digest showed; without it, only show",
        max_length=100,
    )


class ExportedFile(Part):
    """One file of an export."""

    rows: int
    sha256: str
    changed: bool


class Exported(Answer):
    """Every data file in canonical form."""

    files: dict[str, ExportedFile]


class Rebuilt(Answer):
    """What a rebuild made."""

    records: int
    relations: int
    embedded: int
    seconds: float


class Trust(Answer):
    """
    The project's settings that count only when they are trusted, whether they are, and why not.

    ``commands`` are the verify commands of blocked tasks; ``campaign learn --run-verify`` runs them once trusted;
    ``proofs`` are what ``stale --prove`` runs, each as JSON of the command, the commits and the files;
    ``extractors`` are what ``extract run`` runs, each as JSON, with the hashes of the files that it names.
    ``digest`` is of all that is shown and of the files that the settings load; to trust it, give it back as ``yes``.
    """

    settings: dict[str, JsonValue]
    commands: list[str] = []
    proofs: list[str] = []
    extractors: list[str] = []
    digest: str | None = None
    trusted: bool
    reason: str | None


class Initialised(Answer):
    """What ``init`` made or found; ``findings`` is what git does to the files that a user may not expect."""

    path: str
    created: bool
    registered: list[str]
    findings: list[Finding] = []


class Split(Answer):
    """
    The files of a kind after ``split``.

    ``changed`` is false where every row was where it belongs; ``removed`` are the files that are gone.
    """

    kind: str
    files: int
    rows: int
    changed: bool
    removed: list[str] = []


class Freed(Part):
    """Something derived that was not needed, with its bytes."""

    what: str
    bytes: int


class Vacuumed(Answer):
    """
    What ``vacuum`` removed, or would remove where ``done`` is false.

    ``before`` and ``after`` are the bytes of everything derived.
    """

    done: bool
    before: int
    after: int
    freed: list[Freed]


class Reset(Answer):
    """
    How many rows went from each file, or would go where ``done`` is false.

    ``before`` and ``after`` are the bytes of these files.
    """

    done: bool
    before: int
    after: int
    rows: dict[str, int]


class Resolved(Answer):
    """The files whose conflicts were resolved, and what is still wrong with them."""

    files: list[str]
    findings: list[Finding]
