"""What operations on records take and return."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal

from pydantic import Field

from graphmem import constants
from graphmem.core.evidence.citation_contract import Cited, Fix, VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.records.relation_contract import Edge
from graphmem.kernel.answer import Answer, Part, RecordT_co, Shown
from graphmem.kernel.model import AnyRecord
from graphmem.kernel.model.record import Alternate
from graphmem.kernel.parameters import DryRun, InputName, Reason, Ref, Texts, Yes
from graphmem.kernel.request import InputRequest, Request

Action = Literal["created", "merged", "updated", "unchanged", "archived", "restored", "pinned", "unpinned"]


OPTIONS = (
    "dedup",
    "dry_run",
    "verbatim",
    "replace",
    "versions_from",
    "supersedes",
)  # of an addition; all other parameters are fields of the record


class AddRequest(InputRequest):
    """Base of the requests that add a record of a kind; its limits of size are those of the kind's model."""

    kind: ClassVar[str]

    @property
    def row(self) -> dict[str, object]:
        """The fields of the record by their names in a row."""
        fields = {
            "type" if name == "type_name" else name: value for name, value in vars(self).items() if name not in OPTIONS
        }
        return {name: list(value) if isinstance(value, tuple) else value for name, value in fields.items()}

    @property
    def options(self) -> dict[str, Any]:
        """How to add the record."""
        return {name: value for name, value in vars(self).items() if name in OPTIONS}


class AddRowsRequest(Request):
    """How to add rows of any kind."""

    name: InputName = "input"
    dedup: bool = Field(False, description="Merge rows that say the same as a record")
    skip_invalid: bool = Field(False, description="Add the valid rows, and put the invalid ones aside in a file")
    verbose: bool = Field(False, description="Return what became of each row")
    purges: bool = Field(False, description="Take rows of kind purge too: they destroy records for good")


class GetRequest(Request):
    """Which record to return with its edges; an archived one too."""

    ref: Ref


class CopyRequest(Request):
    """Which record to copy into another store."""

    ref: Ref


class CopyOutRequest(CopyRequest):
    """Which record to copy out of a project, and where to."""

    to: Literal["user", "organisation"] = Field("user", description="The store that it is copied into")


class ListRequest(Request):
    """Which records to list, and in which order."""

    kind: str | None = Field(None, description="Return only this kind or entity type")
    tags: Texts = Field((), description="Return only records with all of these tags")
    by: str | None = Field(None, description="Return only records of which this author wrote something")
    archived: bool = Field(False, description="Return the archived records instead of the live ones")
    sort: str | None = Field(None, description="Sort by this field, with - before it in reverse; by name if not given")
    limit: int | None = Field(None, ge=0, description="Return at most this many records; all if not given")
    cursor: str | None = Field(None, description="Go on after the answer that had this cursor")


class EditRequest(InputRequest):
    """Which fields of a record to change; all others stay."""

    ref: Ref
    fields: Mapping[str, object] | None = Field(None, description="New values by field; a list replaces the old list")
    tag: Texts = Field((), description="Add these tags")
    untag: Texts = Field((), description="Remove these tags")
    unset: Texts = Field((), description="Remove the values of these fields")
    dry_run: DryRun = False


class RenameRequest(Request):
    """Another name for a record; the old one is still found."""

    ref: Ref
    name: str = Field(description="The new name: a-z 0-9 - _ . for most kinds")


class ForgetRequest(Request):
    """Which record to archive."""

    ref: Ref
    reason: Reason = None


class RestoreRequest(Request):
    """Which archived record to bring back."""

    ref: Ref


class PinRequest(Request):
    """Which record to pin: a failure, pattern, lesson, decision or constraint."""

    ref: Ref


class UnpinRequest(Request):
    """Which record to take the pin from."""

    ref: Ref


class SupersedeRequest(Request):
    """Which record takes the place of another one of its kind."""

    old: str = Field(description="The record that is out of date; it is archived")
    new: str = Field(description="The record that takes its place")
    reason: Reason = None


class PurgeRequest(Request):
    """Which records to destroy, with every row that names them; the tasks of a campaign go with it."""

    refs: Texts = Field((), description="Records to destroy")
    archived: bool = Field(False, description="Destroy every archived record")
    yes: Yes = False
    history_script: Path | None = Field(
        None,
        description="File to write: a program that removes the rows, or those of all purges, from git's history",
    )


class UndoRequest(Request):
    """How many of the last writes of this clone to take back, all or none."""

    number: int = Field(1, ge=1, description="Number of writes to take back")


class PruneRequest(Request):
    """Which failures and patterns are worth keeping."""

    max_failures: int = Field(constants.PRUNE_FAILURES, ge=0, description="Number of failures that may stay")
    max_patterns: int = Field(constants.PRUNE_PATTERNS, ge=0, description="Number of patterns that may stay")
    min_importance: float = Field(
        constants.PRUNE_IMPORTANCE,
        ge=0,
        allow_inf_nan=False,
        description="Archive records of less importance that are older than 30 days",
    )
    yes: Yes = False


class NamesRequest(Request):
    """Which references to return, in name order: what a shell completes."""

    prefix: str = Field("", description="Return references that begin with this, or else hold it in their name")
    limit: int = Field(50, ge=1, description="Return at most this many references")


class Variant(Part):
    """A record that is similar to a new one and yet another; ``differs`` names what distinguishes them."""

    ref: str
    similarity: float
    differs: list[str] = []


class Changed(Answer, Generic[RecordT_co]):
    """
    What a command did to one record; ``ref`` is the record that now holds it.

    ``merged_by`` is what spoke for a merge beside the same telling words: the meaning, or an equal signature.
    ``set_aside`` are the texts that this change keeps as alternates, beside the current ones. ``superseded`` is the
    record that was archived because this one takes its place. ``line`` is that of the input that it was, from 1.
    """

    ref: str
    line: int | None = None
    action: Action
    merged_into: str | None = None
    merged_by: Literal["similarity", "signature"] | None = None
    similarity: float | None = None
    variants: list[Variant] = []
    set_aside: list[Alternate] = []
    superseded: str | None = None
    record: Shown[RecordT_co]


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
    """
    One record with its edges, and what speaks against relying on it.

    ``access_count`` says how often this machine returned it, ``handed_out`` how many tasks got it when they began, and
    ``worked`` how many of these reported that it helped.
    """

    ref: str
    record: Shown[AnyRecord]
    relations: list[Edge]
    access_count: int = 0
    last_accessed: str | None = None
    handed_out: int = 0
    worked: int = 0
    fixes: list[Fix] = []
    variant_fix: VariantFix | None = None
    cites: list[Cited] = []
    doubts: list[Doubt] = []


class Listed(Part, Generic[RecordT_co]):
    """A record in a list."""

    ref: str
    doubts: list[Doubt] = []
    record: Shown[RecordT_co]


class Listing(Answer):
    """
    Records that fit, and how many there are without limit and cursor.

    ``cursor``, passed on with the same parameters, brings those that come next; left out where there are none.
    """

    results: list[Listed]
    total: int
    cursor: str | None = Field(None, exclude_if=lambda cursor: cursor is None)


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
    """
    What ``purge`` destroyed, or would.

    ``rows`` counts the rows that go by file, ``quoted_by`` names records that stay and quote what goes, ``history``
    cleans git's own.
    """

    done: bool
    records: list[str]
    rows: dict[str, int]
    changed: list[str]
    vectors: int
    quoted_by: list[str] = []
    history: list[str]
