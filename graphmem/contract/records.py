"""What operations on records return."""

from typing import Literal

from graphmem.contract.answer import Answer, Part, Shown
from graphmem.contract.citations import Cited, Fix
from graphmem.contract.relations import Edge
from graphmem.model.record import Alternate

Action = Literal["created", "merged", "updated", "unchanged", "archived", "restored"]


class Variant(Part):
    """A record that is similar to a new one and yet another; ``differs`` names what tells them apart, where it can."""

    ref: str
    similarity: float
    differs: list[str] = []


class Changed(Answer):
    """
    What a command did to one record; ``ref`` is the record that now holds it.

    ``merged_by`` is what spoke for a merge beside the same telling words: the meaning, or an equal signature.
    ``set_aside`` are the texts that this change keeps as alternates, beside the current ones.
    """

    ref: str
    action: Action
    merged_into: str | None = None
    merged_by: Literal["similarity", "signature"] | None = None
    similarity: float | None = None
    variants: list[Variant] = []
    set_aside: list[Alternate] = []
    record: Shown


class Update(Part):
    """A record that ``add --ndjson`` changed, and which of its fields."""

    ref: str
    fields: list[str]


class BulkAdded(Answer):
    """What ``add --ndjson`` did; of what it updated the first hundred, ``results`` only when asked for."""

    created: int
    merged: int
    updated: int
    unchanged: int
    relations: int
    updates: list[Update] = []
    results: list[Changed] = []


class Got(Answer):
    """One record with its edges, how often this machine handed it out, and how the code that it cites is now."""

    ref: str
    record: Shown
    relations: list[Edge]
    access_count: int = 0
    last_accessed: str | None = None
    fixes: list[Fix] = []
    cites: list[Cited] = []


class StaleRecord(Part):
    """A record of which not all cited code is as it was; ``cites`` are all of them."""

    ref: str
    cites: list[Cited]
    record: Shown


class StaleRecords(Answer):
    """The live records whose cited code moved, changed or is gone, among ``checked`` that cite code."""

    results: list[StaleRecord]
    checked: int


class Listed(Part):
    """A record in a list."""

    ref: str
    record: Shown


class Listing(Answer):
    """Records that fit, and how many there are without the limit."""

    results: list[Listed]
    total: int


class PrunedRecord(Part):
    """A record that goes, and why."""

    ref: str
    importance: float | None
    age_days: float
    reason: str


class Pruned(Answer):
    """What was archived; ``done`` is false where it was only shown."""

    done: bool
    records: list[PrunedRecord]


class Write(Part):
    """A write of this clone: how many rows it added, changed and removed, and the first of them."""

    at: str
    command: str
    added: int
    changed: int
    removed: int
    rows: list[str]


class Writes(Answer):
    """Writes of this clone, the last first: those that ``undo`` took back, or with ``--list`` could take back."""

    writes: list[Write]


class Purged(Answer):
    """What ``purge`` destroyed, or would; ``rows`` counts the rows that go by file, ``history`` cleans git's own."""

    done: bool
    records: list[str]
    rows: dict[str, int]
    changed: list[str]
    vectors: int
    history: list[str]
