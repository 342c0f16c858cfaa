"""What operations on the store return."""

from pydantic import JsonValue

from graphmem.contract.answer import Answer, Part
from graphmem.contract.findings import Finding


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
    """The project's settings that count only when they are trusted, whether they are, and why not."""

    settings: dict[str, JsonValue]
    trusted: bool
    reason: str | None


class Initialised(Answer):
    """What ``init`` made or found."""

    path: str
    created: bool
    registered: list[str]


class Resolved(Answer):
    """The files whose conflicts were resolved, and what is still wrong with them."""

    files: list[str]
    findings: list[Finding]
