"""What speaks against relying on a record."""

from typing import Literal

from graphmem.core.evidence.citation_contract import Cited
from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model import AnyRecord

Sign = Literal[
    "code", "versions", "date", "disputed", "failed", "platform", "unsafe", "other_error", "other_version", "flaky"
]
NOTES = ("other_version",)


class Doubt(Part):
    """
    What speaks against relying on a record, in one clause.

    By ``code`` the code that it cites changed or is gone, by ``versions`` the project has another major version of a
    package than it was seen with, by ``date`` it is past the day its author gave, ``disputed`` is that a report since
    its last edit says it is wrong, ``failed`` that it failed more often than it helped, by ``platform`` it is tagged
    with another platform than this one. ``unsafe`` is advice that runs what it fetches, switches a check off or takes
    rights. ``other_error`` is of an answer to a question, which is about another error of
    the same sort. ``flaky`` is of a failure that comes and goes: its fix may be right, and no fix may be needed. Only
    notes are ``other_version`` of another minor version or patch, or a package that the project's files do not name.
    """

    sign: Sign
    text: str

    @property
    def is_mark(self) -> bool:
        """Whether it is shown with the record wherever that is shown, and no note."""
        return self.sign not in NOTES

    @property
    def is_against(self) -> bool:
        """Whether it speaks against what the record says, so that it is not handed out unasked."""
        return self.is_mark and self.sign != "flaky"


class StaleRecord(Part):
    """A record that may no longer hold, and why; ``cites`` are all of its cites."""

    ref: str
    cites: list[Cited]
    doubts: list[Doubt] = []
    record: Shown[AnyRecord]


class StaleRecords(Answer):
    """
    The live records whose cited code moved, changed or is gone, past their date, or of another major version.

    ``checked`` counts those that cite code, have a date or versions.
    """

    results: list[StaleRecord]
    checked: int
