"""A bulk addition on its way: the rows of its input, what is wrong with them, and what will be written."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphmem.constants import MAX_FINDINGS
from graphmem.core.records.duplicates import NOVEL, DuplicateMatch, with_alternates
from graphmem.core.records.record_contract import Action, Changed, Update, Variant
from graphmem.core.records.validation import changed, known_type, refuse_taken, refuse_untold, united
from graphmem.errors import BadInput, Refused
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding, refused_row, too_large
from graphmem.kernel.ledger.files.data_file import repeated
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Entity, Frozen, Record
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.vocabulary import RelationType, Vocabulary
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system.shell import command
from graphmem.names import composed, row_id


class Given(NamedTuple):
    """A line of the input that is a row: what it says, and the record that it makes on its own."""

    place: int
    line: bytes
    row: dict[str, Any]
    record: Frozen | None  # None for an edge that is nothing but its ends

    @property
    def is_edge(self) -> bool:
        return bool(self.row["kind"] == "relation")


@dataclass(slots=True)
class BulkAdd:
    """A bulk addition on its way: what is wrong with the input, and what will be written."""

    client: Client
    name: str
    symmetric: frozenset[str]
    findings: list[Finding] = field(default_factory=list)
    rejects: list[bytes] = field(default_factory=list)
    firsts: dict[int, Given] = field(default_factory=dict)  # number of a row: the line that gave it first
    handles: dict[str, str] = field(default_factory=dict)  # reference that the input makes: reference by key
    unnamed: set[int] = field(default_factory=set)  # places of rows that had neither name nor key
    names: dict[str, str] = field(default_factory=dict)  # reference by key of each name that was made
    records: dict[str, Record] = field(default_factory=dict)  # by key: what each record of the input becomes
    puts: dict[int, Entry] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"created": 0, "merged": 0, "updated": 0, "unchanged": 0})
    relations: int = 0
    there: frozenset[int] = frozenset()  # numbers of the input's records that the store has already
    vocabulary: Vocabulary | None = None  # that it is of, where it declares types; else that of the store
    record_types: frozenset[str] = frozenset()  # kinds and types that the store has records of
    pairs: dict[tuple[str, str, str], RelationType] = field(default_factory=dict)  # by type and record types, checked
    is_verbose: bool = False
    may_skip: bool = False  # bad rows are left aside
    may_purge: bool = False  # rows of kind purge are taken
    updates: list[Update] = field(default_factory=list)
    results: list[Changed] = field(default_factory=list)

    @property
    def types(self) -> Vocabulary:
        """The types that its rows can be of."""
        return self.vocabulary or self.client.catalog.vocabulary

    def refuse(self, given: Given, bad: BadLine) -> None:
        """Note what is wrong with a row."""
        self.findings.append(finding(bad, self.name, given.place))
        self.rejects.append(given.line)

    def put(self, record: Frozen) -> None:
        """Note a record to be written."""
        made = entry(record, self.symmetric)
        if bad := too_large(made.line):
            raise BadInput(bad.message, hint=bad.expected)
        self.puts[made.id] = made

    def take_back(self, record: Record) -> None:
        """Forget a record that turned out to be refused."""
        number = row_id(record.key_ref)
        del self.records[record.key_ref]
        self.handles = {handle: key for handle, key in self.handles.items() if key != record.key_ref}
        if self.puts.pop(number, None) is not None:
            self.tally("updated" if number in self.there else "created", record.record_type, -1)

    def tally(self, action: Action, record_type: str, number: int = 1) -> None:
        """Count rows; of records that may not be named it is not told which were there."""
        self.counts[action if self.client.catalog.may_tell(record_type) else "created"] += number

    def count(
        self,
        given: Given,
        action: Action,
        record: Record,
        likeness: DuplicateMatch = NOVEL,
        variants: Sequence[Variant] = (),
    ) -> None:
        """Count what became of a row, and keep it for the long answer."""
        self.tally(action, record.record_type)
        if not self.is_verbose:
            return
        into = record.ref if action == "merged" else None
        self.results.append(
            Changed(
                ref=record.ref,
                line=given.place,
                action=action,
                merged_into=into,
                merged_by=likeness.by,
                similarity=likeness.similarity,
                variants=list(variants),
                record=record,
            )
        )

    def is_again(self, given: Given, number: int, *, may_swap: bool = False) -> bool:
        """Return whether a row repeats one of the input; refuse it, but for the reverse of a symmetric edge."""
        first = self.firsts.setdefault(number, given)
        if first is given:
            return False
        if not (may_swap and first.row.get("from") != given.row.get("from")):
            self.refuse(given, repeated(first.place))
        return True


def under_current_names(row: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Return an entity or edge of another program, which may go on to use the names that types had before."""
    if row["kind"] not in ("entity", "edge", "relation"):
        return dict(row)
    ends = {end: vocabulary.current(row[end]) or row[end] for end in ("from", "to") if end in row}
    return {**row, **ends, "type": vocabulary.renamed.get(row["type"], row["type"])}


def guarded(intake: BulkAdd, given: Given, add: Any) -> None:
    """Do one row, and note it as bad where it is refused."""
    try:
        add(intake, given)
    except (BadInput, Refused) as error:
        intake.refuse(given, refused_row(error))


def add_record(
    intake: BulkAdd, given: Given, likeness: DuplicateMatch = NOVEL, variants: Sequence[Variant] = ()
) -> None:
    """Take in a record: a new one, or what it changes of the one that has its key."""
    record = given.record
    assert isinstance(record, Record)
    catalog = intake.client.catalog
    if isinstance(record, Entity):
        known_type(intake.types, record.type)
    number = row_id(record.key_ref)
    if intake.is_again(given, number):
        return
    for handle in (f"{record.record_type}/{name}" for name in (record.name, *record.aliases)):
        if intake.handles.setdefault(handle, record.key_ref) != record.key_ref:
            raise Refused(f"the name {handle} is given twice", hint="each name once")
    intake.handles[record.key_ref] = record.key_ref
    if number in intake.there:
        before = catalog.stored(number)
        if before.is_archived and not record.is_archived:
            refuse_untold(catalog, before)
            restore = command("graphmem", "restore", before.ref)
            raise Refused(f"{before.ref} is archived", hint=f"bring it back with: {restore}")
        changes = united(before, given.row)
        if given.place in intake.unnamed:  # it repeats a text, as add does, and does not name what it changes
            changes = with_alternates(before, changes)
        record = changed(before, changes, intake.client.now())
        action: Action = "unchanged" if record is before else "updated"
        if record is not before and len(intake.updates) < MAX_FINDINGS:
            fields = sorted(name for name, time in record.edited.items() if time != before.edited.get(name))
            intake.updates.append(Update(ref=record.ref, fields=fields))
    else:
        if record.record_type in intake.record_types:
            refuse_taken(catalog, record.record_type, record.name)
            refuse_taken(catalog, record.record_type, record.key)
        action = "created"
    intake.records[record.key_ref] = record
    if action != "unchanged":
        intake.put(record)
    intake.count(given, action, record, likeness, variants)


def key_of(intake: BulkAdd, ref: str) -> str | None:
    """Return the reference by key of a record of the input or of the store."""
    ref = composed(ref)
    if ref in intake.handles:
        return intake.handles[ref]
    found = intake.client.catalog.known({ref}).get(ref)
    if found is None:
        return None
    intake.handles[ref] = intake.client.catalog.stored(found).key_ref
    return intake.handles[ref]
