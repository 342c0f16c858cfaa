"""What a check found, and where."""

from typing import Literal

from graphmem.contract.answer import Answer, Part


class Finding(Part):
    """One thing that a check found, and where."""

    file: str
    line: int | None
    column: int | None
    code: str
    severity: Literal["error", "warning"]
    message: str
    expected: str
    fix: str | None

    def __str__(self) -> str:
        place = ":".join(str(part) for part in (self.file, self.line, self.column) if part is not None)
        return f"{place}: {self.message}, expected {self.expected}"


class Checked(Answer):
    """What a check found; ``ok`` is false where there is an error."""

    ok: bool
    findings: list[Finding]


class Doctored(Checked):
    """What ``doctor`` found, and with ``--fix --yes`` what is left; ``mended`` is what it repaired."""

    mended: list[Finding]
