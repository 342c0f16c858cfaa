"""What ``log`` and ``diff`` take and return."""

from typing import Literal

from pydantic import Field, JsonValue

from graphmem.core.records.event_contract import Happening
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.parameters import MostResults, Ref
from graphmem.kernel.request import Request


class LogRequest(Request):
    """Of which record to return the commits that changed it."""

    ref: Ref
    limit: MostResults = None


class DiffRequest(Request):
    """Between which states of the memory to compare."""

    revisions: str | None = Field(
        None, description="Two commits A..B or A...B, or one A against the files as they are; HEAD if not given"
    )


class FieldChange(Part):
    """A field of a row before and after; ``null`` where it was not there."""

    field: str
    old: JsonValue
    new: JsonValue


Became = Literal["created", "changed", "renamed", "archived", "superseded", "restored", "removed"]


class RowChange(Part):
    """
    What became of one row; ``row`` is the row after it, or the one that was removed.

    ``ref`` is a record by its name then, an edge as ``from -type-> to``, a report as the memory and its task.
    """

    ref: str
    kind: str
    action: Became
    fields: list[FieldChange]
    row: dict[str, JsonValue]


class Difference(Answer):
    """What changed in the memory from one state to another; ``after`` is ``null`` for the files as they are now."""

    before: str | None
    after: str | None
    summary: str
    changes: list[RowChange]
    skipped: int


class Revision(Part):
    """A commit that changed a record, and how; without a commit it is not committed yet."""

    commit: str | None
    at: str | None
    author: str | None
    subject: str | None
    change: RowChange


class History(Answer):
    """
    The commits that changed a record, newest first; ``shallow`` where the clone lacks the oldest ones.

    ``events`` are what happened to it, the last ones in the order of time.
    """

    ref: str
    results: list[Revision]
    events: list[Happening] = []
    truncated: bool
    shallow: bool
