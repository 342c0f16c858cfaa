"""
The intake: what becomes of a row, whatever door it comes through.

A row is matched with a record, by its key, by what it repeats or by its name; then it is decided what it changes of
that; then it is noted to be written. Doors differ in their ``Policy`` alone.
"""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from graphmem.constants import MAX_FINDINGS
from graphmem.core.records.bulk_dedup import Pool, neighbours, pool_of
from graphmem.core.records.dedup import same_memory
from graphmem.core.records.duplicates import (
    NOVEL,
    DuplicateMatch,
    aside_fields,
    classify,
    find_alike,
    merged,
    variant_edge,
    variants_of,
    with_alternates,
)
from graphmem.core.records.experience_limits import as_allowed
from graphmem.core.records.record_contract import Action, Changed, Update, Variant
from graphmem.core.records.succession import archived_for
from graphmem.core.records.validation import SHOWN, changed, known_type, refuse_archived, refuse_untold, taken, united
from graphmem.errors import BadInput, Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding, refused_row, too_large
from graphmem.kernel.ledger.files.data_file import repeated
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Campaign, Constraint, Entity, Experience, Frozen, Lesson, MemoryRecord, Record
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.record import Row
from graphmem.kernel.model.vocabulary import RelationType, Vocabulary
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system.shell import command
from graphmem.names import collapsed, composed, row_id

if TYPE_CHECKING:  # an add does without
    from graphmem.core.records.imports import EarlierImports


class Given(NamedTuple):
    """A row that is given: what it says, and the record that it makes on its own."""

    place: int
    line: bytes  # as it came in; of an edge that is nothing but its ends, its canonical one
    fields: dict[str, Any] | None  # None for such an edge: very many of them wait
    record: Frozen | None  # None for such an edge
    name: str | None = None  # that it was given
    names_record: bool = True  # by name or key; else it is known by its text

    @property
    def row(self) -> dict[str, Any]:
        """What it says."""
        found: dict[str, Any] = orjson.loads(self.line) if self.fields is None else self.fields
        return found

    @property
    def is_edge(self) -> bool:
        return self.fields is None or bool(self.fields["kind"] == "relation")


RECORDS_HELD = 10_000  # of a write: 2 KiB each; of more, the lines wait alone
NO_EDGE = {"kind": ""}  # in the place of the fields of a row of which they are not asked for again


@dataclass(frozen=True, slots=True)
class Policy:
    """How a door takes rows in; without more said, as the rows of a store, which name what they change."""

    compares: bool = False  # a memory is merged into the one that it repeats
    is_single: bool = False  # one record, known by its text: its name is one more, and what is wrong with it is raised
    keeps: bool = False  # of a single record that is known, what it says already stays as it is
    replaces: bool = False  # the new texts become the current ones, in a merge and under a name that is taken
    supersedes: int | None = None  # the record whose place a single one takes
    owned: Mapping[int, tuple[str, Row]] | None = None  # file and row of what it alone may change, by number; all
    imports: "EarlierImports | None" = None  # of the tool that the rows are of: known by its origin, edited rows stay
    is_verbose: bool = False
    may_skip: bool = False  # bad rows are left aside
    may_purge: bool = False  # rows of kind purge are taken


@dataclass
class Intake:
    """Rows on their way into the store: what is wrong with them, and what will be written."""

    snapshot: Snapshot
    policy: Policy
    name: str = "add"  # of the input, for messages
    vocabulary: Vocabulary | None = None  # that the rows are of, where they declare types; else that of the store
    findings: list[Finding] = field(default_factory=list)
    rejects: list[bytes] = field(default_factory=list)
    firsts: dict[int, Given] = field(default_factory=dict)  # number of a row: the line that gave it first
    handles: dict[str, str] = field(default_factory=dict)  # reference that the input makes: reference by key
    names: dict[str, str] = field(default_factory=dict)  # reference by key of each name that was made
    records: dict[str, Record] = field(default_factory=dict)  # by key: what each record of the input becomes
    puts: dict[int, Entry] = field(default_factory=dict)
    counts: Counter[str] = field(default_factory=lambda: Counter(created=0, merged=0, updated=0, unchanged=0))
    relations: int = 0
    there: set[int] = field(default_factory=set)  # numbers of the input's records that the store has already
    pairs: dict[tuple[str, str, str], RelationType] = field(default_factory=dict)  # by type and record types, checked
    superseded: str | None = None
    left: list[str] = field(default_factory=list)  # what is there and not its own, by title
    updates: list[Update] = field(default_factory=list)
    results: list[Changed] = field(default_factory=list)

    @cached_property
    def client(self) -> Client:
        """The caller."""
        return self.snapshot.client

    @cached_property
    def catalog(self) -> Catalog:
        """The records that are there."""
        return self.snapshot.client.catalog

    @cached_property
    def types(self) -> Vocabulary:
        """The types that its rows can be of."""
        return self.vocabulary or self.snapshot.vocabulary

    @cached_property
    def symmetric(self) -> frozenset[str]:
        """The names of the symmetric relation types that its rows can be of."""
        if self.vocabulary is None:
            return self.snapshot.symmetric
        return frozenset(name for name, made in self.vocabulary.relations.items() if made.symmetric)

    @cached_property
    def record_types(self) -> frozenset[str]:
        """The kinds and types that the store has records of."""
        return frozenset(self.catalog.record_types())

    # --- what becomes of a row ------------------------------------------------------------------------------------

    def take(self, rows: Sequence[Given]) -> None:
        """Take in records; memories that are compared with those before them in the input go in key order."""
        self.look_up(rows)
        is_compared = self.policy.compares and not self.policy.is_single
        memories = [given for given in rows if is_compared and isinstance(given.record, MemoryRecord)]
        for given in rows:
            if not (is_compared and isinstance(given.record, MemoryRecord)):
                self.guarded(given, self.take_one)
        bound = self.snapshot.settings.retrieval.variant_similarity
        memories.sort(key=lambda given: row_id(record_of(given).key_ref))
        for kind in sorted({record_of(given).kind for given in memories}):
            of_kind = [given for given in memories if record_of(given).kind == kind]
            pool = pool_of(self.client, kind, [getattr(given.record, "search_text", "") for given in of_kind])
            for given, (place, near) in zip(of_kind, neighbours(pool.vectors, len(of_kind), bound), strict=True):
                pool.place, pool.near = place, near
                self.guarded(given, partial(self.take_one, pool=pool))

    def look_up(self, rows: Sequence[Given]) -> None:
        """Find out which records of the input are there."""
        self.there.update(self.catalog.files_of([row_id(record_of(given).key_ref) for given in rows], "record"))

    def guarded(self, given: Given, take: Callable[[Given], object]) -> None:
        """Do one row. A refused row is noted as bad; a single row raises its error."""
        try:
            take(given)
        except (BadInput, Refused) as error:
            if self.policy.is_single:
                raise
            self.refuse(given, refused_row(error))

    def take_one(self, given: Given, pool: Pool | None = None) -> Action | None:
        """Match a record with the store and note what changes; return None if an earlier row of the input has it."""
        made, policy = record_of(given), self.policy
        if isinstance(made, Entity):
            known_type(self.types, made.type)
        key = row_id(made.key_ref)
        number = key if key in self.there else None
        if policy.imports:
            if (number := self.number_of(made)) is not None:
                return self.change_imported(given, number, policy.imports)
            policy.imports.refuse_purged(made, self.symmetric)
        match = self.alike(made, pool) if policy.compares and number is None else NOVEL
        if number is not None and policy.keeps:
            match = DuplicateMatch(number)
        if match.same is not None:
            return self.merge(given, match, pool)
        if not self.claim(given, made, key):
            return None
        if number is not None:
            return self.change(given, number)
        if made.record_type in self.record_types and (holder := self.holder_of(made)) is not None:
            _refuse_others_advice(self.catalog, self.catalog.stored(holder), made)
            return self.change(given, holder)
        return self.create(given, made, match, pool)

    def number_of(self, made: Record) -> int | None:
        """Return the record of the store that a row is of, by its origin or its key."""
        found = self.policy.imports.number_of(made) if self.policy.imports else None
        number = row_id(made.key_ref)
        return found if found is not None else number if number in self.there else None

    def alike(self, made: Record, pool: Pool | None) -> DuplicateMatch:
        """Return which record a new one repeats, and which it resembles."""
        if not isinstance(made, MemoryRecord):
            return NOVEL
        if pool is None:
            return find_alike(self.snapshot, made).without(self.policy.supersedes)
        same = pool.repeats(made)
        repeats = [pool.records[number] for number in same]
        retrieval = self.snapshot.settings.retrieval
        return classify(retrieval, made, pool.cosines(same), repeats, pool.records.__getitem__)

    def holder_of(self, made: Record) -> int | None:
        """
        Return the record whose texts a new one is to replace, for it has its name; None where nothing has.

        Raises:
            Conflict: another record has its name or its key.
        """
        for name in (made.name,) if self.policy.is_single else (made.name, made.key):
            holder = self.catalog.lookup(made.record_type, name)
            if holder is not None and (self.policy.replaces or self.policy.owned is not None):
                return holder
            if holder is not None:
                raise taken(self.catalog, holder, name, may_replace=self.policy.is_single)
        return None

    def create(self, given: Given, made: Record, match: DuplicateMatch, pool: Pool | None) -> Action:
        """Note a new record, with its edges to the variants of it that were found."""
        if self.policy.is_single:
            self.supersede(made)
            if isinstance(made, Experience):
                made, going = as_allowed(self.snapshot, made)
                self.puts |= {one.id: one for one in going}
            elif isinstance(made, Lesson):
                made = made.seen_by_hand()
        numbers = [number for number, _ in match.variants]
        others = pool.records if pool else self.catalog.records(numbers) if numbers else {}
        variants = variants_of(made, match, others) if numbers else []
        action = self.note(given, made, "created", None, match, variants)
        for number, similarity in match.variants:
            self.put(variant_edge(made, pool.records[number] if pool else self.catalog.stored(number), similarity))
        if pool is not None and isinstance(made, MemoryRecord):
            pool.add(row_id(made.key_ref), made, pool.place)
        if self.policy.imports:
            self.policy.imports.note_new(row_id(made.key_ref), made)
        return action

    def change(self, given: Given, number: int) -> Action | None:
        """Note what a row changes of the record that it names or has the text of."""
        before = self.catalog.stored(number)
        action: Action = "updated"
        if self.policy.owned is not None:
            return self.change_own(given, before, number)
        if not self.policy.is_single:
            if before.is_archived and not record_of(given).is_archived:
                refuse_untold(self.catalog, before)
                restore = command("graphmem", "restore", before.ref)
                raise Refused(f"{before.ref} is archived", hint=f"bring it back with: {restore}")
            changes = united(before, given.row)
            if not given.names_record:  # it repeats a text, as add does, and does not name what it changes
                changes = with_alternates(before, changes)
        else:
            self.supersede(before)
            is_known = number in self.there
            if is_known:
                self.refuse_other(before, given, number)
            if is_known and isinstance(before, Constraint) and not before.holds(self.snapshot.now):
                changes = {"archived_at": None, "archive_reason": None, "expires_at": given.row.get("expires_at")}
                action = "restored"
            else:
                refuse_archived(self.catalog, number)
                changes = _rewritten(before, given, but=before.identity if is_known else ())
        after = changed(before, changes, self.snapshot.now)
        return self.note(given, after, "unchanged" if after is before else action, before)

    def change_own(self, given: Given, before: Record, number: int) -> Action | None:
        """Note another value of an entity, if it is the source's own."""
        made = record_of(given)
        if self.is_again(given, number):
            return None
        self.handles |= {made.ref: before.key_ref, made.key_ref: before.key_ref}
        if before.is_archived or number not in (self.policy.owned or {}):
            self.left.append(made.ref)
            return "unchanged"
        after = changed(before, {"value": getattr(made, "value", "")}, self.snapshot.now)
        return self.note(given, after, "unchanged" if after is before else "updated", before)

    def change_imported(self, given: Given, number: int, imports: "EarlierImports") -> Action:
        """Note what a newer file changes of a record, but for what was edited here."""
        before, made = self.catalog.stored(number), record_of(given)
        after = imports.changed(before, made, number, self.snapshot.now)
        action: Action = "merged" if imports.number_of(made) is None else "updated"
        return self.note(given, after, "unchanged" if after is before else action, before)

    def merge(self, given: Given, match: DuplicateMatch, pool: Pool | None) -> Action | None:
        """Note a memory merged into the one that it repeats; no text is lost."""
        made, number = record_of(given), match.same
        assert number is not None
        if not self.policy.is_single and self.is_again(given, row_id(made.key_ref)):
            return None
        older: Record = pool.records[number] if pool else self.catalog.stored(number)
        if self.policy.is_single:
            self.supersede(older)
            if self.policy.keeps:
                refuse_archived(self.catalog, number)
            else:
                self.refuse_other_holder(number, made)
        newer = aside_fields(type(older)) if self.policy.replaces else ()
        after = changed(older, merged(older, made, alias=given.name, newer=newer), self.snapshot.now)
        if pool is not None and isinstance(after, MemoryRecord):
            pool.records[number] = after
        self.handles |= {f"{made.record_type}/{name}": older.key_ref for name in (made.key, made.name, *made.aliases)}
        return self.note(given, after, "merged", older, match)

    def refuse_other(self, before: Record, given: Given, number: int) -> None:
        """Raise an error where a known text is given for what cannot go on, or with the name of another record."""
        if isinstance(before, Campaign) and before.status != "active":
            raise Refused(
                f"{self.catalog.refs([number])[number]} has this objective and is {before.status}",
                hint="say in the objective what is new, and add that as a campaign of its own",
            )
        if before.identity:
            self.refuse_other_holder(number, record_of(given))

    def refuse_other_holder(self, number: int, made: Record) -> None:
        """Raise ``Conflict`` where the name that was given with a known text is that of another record."""
        holder = self.catalog.lookup(made.record_type, made.name)
        if holder not in (None, number):
            raise taken(self.catalog, holder, made.name)

    def supersede(self, successor: Record) -> None:
        """Note as archived the record whose place another one takes, unless it is the same."""
        old = self.policy.supersedes
        if old is not None and old != row_id(successor.key_ref):
            before = archived_for(self.catalog, old, successor, None, self.snapshot.now)
            self.put(before)
            self.superseded = before.ref

    # --- what is noted --------------------------------------------------------------------------------------------

    def refuse(self, given: Given, bad: BadLine) -> None:
        """Note what is wrong with a row."""
        self.findings.append(finding(bad, self.name, given.place))
        self.rejects.append(given.line)

    def put(self, record: Frozen) -> None:
        """Note a record to be written."""
        made = entry(record, self.symmetric)
        if bad := too_large(made.line):
            raise BadInput(bad.message, hint=bad.expected)
        is_line = len(self.puts) >= RECORDS_HELD and isinstance(record, Record)
        self.puts[made.id] = made._replace(made=None) if is_line else made

    def claim(self, given: Given, made: Record, number: int) -> bool:
        """Note which record the names of a row mean; return whether it is the first row of that record."""
        if self.is_again(given, number):
            return False
        for handle in (f"{made.record_type}/{name}" for name in (made.name, *made.aliases)):
            if self.handles.setdefault(handle, made.key_ref) != made.key_ref:
                raise Refused(f"the name {handle} is given twice", hint="each name once")
        self.handles[made.key_ref] = made.key_ref
        return True

    def is_again(self, given: Given, number: int, *, may_swap: bool = False) -> bool:
        """Return whether a row repeats one of the input; refuse it, but for the reverse of a symmetric edge."""
        first = self.firsts.get(number)
        if first is None:  # of a record its place alone: very many hold much memory
            self.firsts[number] = Given(given.place, b"", NO_EDGE, None) if isinstance(given.record, Record) else given
            return False
        if first.place == given.place:
            return False
        if not (may_swap and first.row.get("from") != given.row.get("from")):
            self.refuse(given, repeated(first.place))
        return True

    def note(
        self,
        given: Given,
        after: Record,
        action: Action,
        before: Record | None,
        match: DuplicateMatch = NOVEL,
        variants: Sequence[Variant] = (),
    ) -> Action:
        """Note what became of a row, and what is to be written for it."""
        if after is not before:
            self.put(after)
        self.records[after.key_ref] = after
        self.tally(action, after.record_type)
        if action == "updated" and before is not None and len(self.updates) < MAX_FINDINGS:
            fields = sorted(name for name, time in after.edited.items() if time != before.edited.get(name))
            self.updates.append(Update(ref=after.ref, fields=fields))
        if self.policy.is_verbose or self.policy.is_single:
            old = before.alternates if before is not None and self.policy.is_single else after.alternates
            self.results.append(
                Changed(
                    ref=after.ref,
                    line=given.place or None,
                    action=action,
                    merged_into=after.ref if action == "merged" else None,
                    merged_by=match.by,
                    similarity=match.similarity,
                    variants=list(variants),
                    set_aside=[found for found in after.alternates if found not in old],
                    superseded=self.superseded,
                    record=after,
                )
            )
        return action

    def tally(self, action: str, record_type: str, number: int = 1) -> None:
        """Count rows; of records that may not be named it is not told which were there."""
        self.counts[action if self.catalog.may_tell(record_type) else "created"] += number

    def take_back(self, record: Record) -> None:
        """Forget a record that turned out to be refused."""
        number = row_id(record.key_ref)
        del self.records[record.key_ref]
        self.handles = {handle: key for handle, key in self.handles.items() if key != record.key_ref}
        if self.puts.pop(number, None) is not None:
            self.tally("updated" if number in self.there else "created", record.record_type, -1)

    def key_of(self, ref: str) -> str | None:
        """Return the reference by key of a record of the input or of the store."""
        ref = composed(ref)
        if ref in self.handles:
            return self.handles[ref]
        found = self.catalog.known({ref}).get(ref)
        if found is None:
            return None
        self.handles[ref] = self.catalog.stored(found).key_ref
        return self.handles[ref]


def record_of(given: Given) -> Record:
    """Return the record of a row that makes one."""
    assert isinstance(given.record, Record)
    return given.record


def _rewritten(older: Record, given: Given, *, but: Collection[str]) -> dict[str, Any]:
    """Return the changes that put what was given in the place of what a record says, all ``but`` some texts."""
    made, texts = record_of(given), aside_fields(type(older))
    changes = {name: value for name, value in united(older, given.row).items() if name not in texts}
    if older.identity:
        is_current = not but or made.identity_text == older.identity_text  # not a text that was set aside
        changes |= merged(older, made, alias=given.name, newer=texts - set(but) if is_current else ())
    return changes


def _refuse_others_advice(catalog: Catalog, older: Record, made: Record) -> None:
    """Raise ``Refused`` where a text would take the place of an unlike one and be answered with the fix of that."""
    advice = getattr(older, "fix", None)
    if advice and getattr(made, "fix", None) is None and not same_memory(older.identity_text, made.identity_text):
        refuse_untold(catalog, older)
        archive = command("graphmem", "forget", older.ref)
        raise Refused(
            f"{older.ref} has the fix of another text: {collapsed(advice)[:SHOWN]!r}",
            hint=f"give --fix as well, or give another name and archive that one: {archive}",
        )


def under_current_names(row: Mapping[str, Any], vocabulary: Vocabulary) -> dict[str, Any]:
    """Return an entity or edge of another program, which may go on to use the names that types had before."""
    if row["kind"] not in ("entity", "edge", "relation"):
        return dict(row)
    ends = {end: vocabulary.current(row[end]) or row[end] for end in ("from", "to") if end in row}
    return {**row, **ends, "type": vocabulary.renamed.get(row["type"], row["type"])}
