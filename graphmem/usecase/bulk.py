"""Bulk: rows of any kind in any order, all or none."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from graphmem.catalog.entry import Entry, repeat_keys
from graphmem.constants import MAX_FINDINGS, MOST_BAD_ROWS
from graphmem.errors import BadInput, GraphmemError, Refused
from graphmem.garbage import uncollected
from graphmem.ledger.codec import checked, finding, too_large
from graphmem.ledger.row import entry, is_plain_edge, model_of, plain_edge, time_text
from graphmem.model import MODELS, Entity, Fact, Feedback, Frozen, Insight, Memory, Record, Relation, Session, Task
from graphmem.model.field import format_time
from graphmem.model.record import Row
from graphmem.model.result import Action, BulkAdded, Changed, Finding, Variant
from graphmem.model.vocabulary import RelationType
from graphmem.names import row_id
from graphmem.ndjson import BadLine, decode, refuse_long
from graphmem.rules.limits import refuse_oversize
from graphmem.rules.plan import refuse_cycle
from graphmem.store import Store
from graphmem.usecase.capture import NOVEL, Likeness, judge, merged, variant_edge, variants_of
from graphmem.usecase.facts import put_fact
from graphmem.usecase.intake import changed, keyed, known_type, made_name, refuse_taken, united
from graphmem.usecase.link import known_relation, refuse_ends

REPORT_EVERY = 5_000  # lines between two reports of progress


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
class Intake:
    """A bulk addition on its way: what is wrong with the input, and what will be written."""

    store: Store
    name: str
    symmetric: frozenset[str]
    findings: list[Finding] = field(default_factory=list)
    rejects: list[bytes] = field(default_factory=list)
    firsts: dict[int, Given] = field(default_factory=dict)  # number of a row: the line that gave it first
    handles: dict[str, str] = field(default_factory=dict)  # reference that the input makes: reference by key
    records: dict[str, Record] = field(default_factory=dict)  # by key: what each record of the input becomes
    puts: dict[int, Entry] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=lambda: {"created": 0, "merged": 0, "updated": 0, "unchanged": 0})
    relations: int = 0
    there: frozenset[int] = frozenset()  # numbers of the input's records that the store has already
    scopes: frozenset[str] = frozenset()  # kinds and types that the store has records of
    pairs: dict[tuple[str, str, str], RelationType] = field(default_factory=dict)  # by type and scopes, checked
    is_verbose: bool = False
    may_skip: bool = False  # bad rows are left aside
    results: list[Changed] = field(default_factory=list)

    def refuse(self, given: Given, message: str, expected: str | None, code: str = "bad_row") -> None:
        """Note what is wrong with a row."""
        self.findings.append(
            finding(BadLine(message, expected or "see docs/format.md", code=code), self.name, given.place)
        )
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
            self.counts["updated" if number in self.there else "created"] -= 1

    def count(
        self, action: Action, record: Record, likeness: Likeness = NOVEL, variants: Sequence[Variant] = ()
    ) -> None:
        """Count what became of a row, and keep it for the long answer."""
        self.counts[action] += 1
        if not self.is_verbose:
            return
        into = record.ref if action == "merged" else None
        self.results.append(
            Changed(ref=record.ref, action=action, merged_into=into, merged_by=likeness.by,
                    similarity=likeness.similarity, variants=list(variants), record=record)
        )  # fmt: skip

    def is_again(self, given: Given, number: int, *, may_swap: bool = False) -> bool:
        """Tell whether the input gave this row before, and refuse that, but for the two ways of a symmetric edge."""
        first = self.firsts.setdefault(number, given)
        if first is given:
            return False
        if not (may_swap and first.row.get("from") != given.row.get("from")):
            self.refuse(given, f"the same key as in line {first.place}", "each key once", "duplicate_key")
        return True


def bulk_add(
    store: Store, lines: Iterable[bytes], name: str, *, dedup: bool, skip_invalid: bool, verbose: bool
) -> BulkAdded:
    """
    Add rows of any kind, in any order, all or none.

    Args:
        lines: NDJSON; required fields are enough, an edge may come before its ends.
        name: of the input, for messages.
        dedup: merge near-duplicates; edges of the input follow what was merged.
        skip_invalid: take the good lines and keep the bad ones in ``state/rejects.ndjson``.
        verbose: answer with what became of each record.
    """
    with store.writing(), uncollected():
        intake = Intake(store, name, store.ledger.symmetric, is_verbose=verbose, may_skip=skip_invalid)
        rows = read_lines(intake, lines)
        records = [given for given in rows if isinstance(given.record, Record) and not isinstance(given.record, Fact)]
        numbers = [row_id(given.record.key_ref) for given in records if isinstance(given.record, Record)]
        intake.there = frozenset(store.catalog.files_of(numbers, "record"))
        intake.scopes = frozenset(store.catalog.scopes())
        if dedup:
            add_without_repeats(intake, records)
        else:
            for given in records:
                guarded(intake, given, add_record)
        settle_tasks(intake, [given for given in records if isinstance(given.record, Task)])
        for given in records:
            if isinstance(given.record, Insight | Session):
                guarded(intake, given, settle_references)
        refuse_cycles(intake)
        add_edges(intake, [given for given in rows if given.is_edge])
        for given in rows:
            if isinstance(given.record, Feedback | Fact):
                guarded(intake, given, add_fact)
        if intake.findings and not skip_invalid:
            raise bad_input(intake)
        store.ledger.commit(list(intake.puts.values()))
        keep_rejects(intake)
    return BulkAdded.model_validate({**intake.counts, "relations": intake.relations, "results": intake.results})


def guarded(intake: Intake, given: Given, add: Any) -> None:
    """Do one row, and note it as bad where it is refused."""
    try:
        add(intake, given)
    except (BadInput, Refused) as error:
        intake.refuse(given, error.message, error.hint, str(error.details.get("code", error.code)))


def read_lines(intake: Intake, lines: Iterable[bytes]) -> list[Given]:
    """Return the rows of the input that are whole and of a kind that there is."""
    rows: list[Given] = []
    now = format_time(intake.store.now())
    for place, raw in enumerate(lines, 1):
        line = raw.strip(b"\r\n\xef\xbb\xbf") if place == 1 else raw.rstrip(b"\r\n")
        if not line.strip():
            continue
        try:
            refuse_long(line)
            row = decode(line)
            if row.get("created_at") is None:
                row["created_at"] = now
            if row.get("kind") != "relation":
                complete(intake, row)
            record = None if is_plain_edge(row) else checked(model_of(row), row, line)
            if record is not None:
                refuse_oversize(record)
            rows.append(Given(place, line, row, record))
        except BadLine as bad:
            intake.findings.append(finding(bad, intake.name, place))
            intake.rejects.append(line)
        except GraphmemError as error:
            intake.refuse(Given(place, line, {}, None), error.message, error.hint)
        if len(intake.findings) >= MOST_BAD_ROWS and not intake.may_skip:
            raise bad_input(intake)
        if place % REPORT_EVERY == 0:
            intake.store.progress("reading", place, 0)
    return rows


def complete(intake: Intake, row: Row) -> None:
    """Give a row with its time the other defaults that a file would have: a name made from its text, an id."""
    kind = row.get("kind")
    if kind == "feedback":
        row["at"] = row.get("at") or row["created_at"]
        if not row.get("task"):
            row["id"] = row.get("id") or intake.store.new_id()
    elif kind in ("run", "event"):
        row["at"] = row.get("at") or row["created_at"]
        if kind == "event":
            row["id"] = row.get("id") or intake.store.new_id()
    elif isinstance(kind, str) and row.get("name") is None and named_from(kind):
        made = checked(model_of(row), {**row, "name": "unnamed"}, b"")
        assert isinstance(made, Record)
        text = getattr(made, made.named_from)
        row["name"] = made_name(intake.store.catalog, kind, text, made.search_text, made.created_at)


def named_from(kind: str) -> str:
    """Return the field that a record of a kind is named from; empty where it has to be named."""
    model = MODELS.get(kind)
    return model.named_from if model is not None and issubclass(model, Record) else ""


def add_record(intake: Intake, given: Given, likeness: Likeness = NOVEL, variants: Sequence[Variant] = ()) -> None:
    """Take in a record: a new one, or what it changes of the one that has its key."""
    record = given.record
    assert isinstance(record, Record)
    catalog = intake.store.catalog
    if isinstance(record, Entity):
        known_type(catalog, record.type)
    number = row_id(record.key_ref)
    if intake.is_again(given, number):
        return
    for handle in (f"{record.scope}/{name}" for name in (record.name, *record.aliases)):
        if intake.handles.setdefault(handle, record.key_ref) != record.key_ref:
            raise Refused(f"the name {handle} is given twice", hint="each name once")
    intake.handles[record.key_ref] = record.key_ref
    if number in intake.there:
        before = catalog.stored(number)
        if before.is_archived and not record.is_archived:
            raise Refused(f"{before.ref} is archived", hint=f"bring it back with: graphmem restore {before.ref}")
        record = changed(before, united(before, given.row), intake.store.now())
        action: Action = "unchanged" if record is before else "updated"
    else:
        if record.scope in intake.scopes:
            refuse_taken(catalog, record.scope, record.name)
        action = "created"
    intake.records[record.key_ref] = record
    if action != "unchanged":
        intake.put(record)
    intake.count(action, record, likeness, variants)


def settle_tasks(intake: Intake, rows: Sequence[Given]) -> None:
    """Name what tasks belong to and need by key; one that is refused is taken back, and so is what needs it."""
    refused = -1
    while refused < len(intake.findings):
        refused = len(intake.findings)
        for given in rows:
            if isinstance(given.record, Task) and given.record.key_ref in intake.records:
                guarded(intake, given, settle_task)


def settle_task(intake: Intake, given: Given) -> None:
    """Name the campaign and the parents of a task by key; each has to be there or in the input."""
    assert isinstance(given.record, Task)
    task: Record = given.record
    task = intake.records.get(task.key_ref, task)
    assert isinstance(task, Task)
    known = {ref: key_of(intake, ref) for ref in (task.campaign, *task.depends)}
    for ref, key in known.items():
        if key is None:
            intake.take_back(task)
            raise BadInput(
                f"task {task.name} names {ref!r}, which is neither there nor in the input", hint="a reference"
            )
    depends = sorted(str(known[ref]) for ref in task.depends)
    if known[task.campaign] != task.campaign or list(task.depends) != depends:
        task = task.model_copy(update={"campaign": known[task.campaign], "depends": tuple(depends)})
        intake.records[task.key_ref] = task
        intake.put(task)


def settle_references(intake: Intake, given: Given) -> None:
    """Name what a record refers to by key."""
    assert isinstance(given.record, Record)
    if (record := intake.records.get(given.record.key_ref)) is None:
        return
    try:
        settled = keyed(intake.store.catalog, record, intake.handles)
    except BadInput:
        intake.take_back(record)
        raise
    if settled is not record:
        intake.records[record.key_ref] = settled
        intake.put(settled)


def key_of(intake: Intake, ref: str) -> str | None:
    """Return the reference by key of a record of the input or of the store."""
    if ref in intake.handles:
        return intake.handles[ref]
    found = intake.store.catalog.known({ref}).get(ref)
    if found is None:
        return None
    intake.handles[ref] = intake.store.catalog.stored(found).key_ref
    return intake.handles[ref]


def refuse_cycles(intake: Intake) -> None:
    """Raise ``Refused`` where tasks of the input wait for each other, or for tasks that wait for them."""
    given = {key: record for key, record in intake.records.items() if isinstance(record, Task)}
    if not given:
        return
    catalog = intake.store.catalog
    there = (catalog.stored(number) for number, *_ in list(catalog.live_rows("task")))
    tasks = {**{task.key_ref: task for task in there if isinstance(task, Task)}, **given}
    refuse_cycle({key: task.depends for key, task in tasks.items()})


def add_edges(intake: Intake, rows: Sequence[Given]) -> None:
    """Take in edges: their ends by key, in order where they are symmetric."""
    made: list[tuple[Given, Entry]] = []
    for given in rows:
        try:
            made.append((given, settle_edge(intake, given)))
        except (BadInput, Refused) as error:
            intake.refuse(given, error.message, error.hint, str(error.details.get("code", error.code)))
    there = intake.store.catalog.files_of([fresh.id for _, fresh in made], "relation")
    for given, fresh in made:
        is_first = intake.firsts.setdefault(fresh.id, given) is given
        if not is_first and intake.is_again(given, fresh.id, may_swap=fresh.row["type"] in intake.symmetric):
            continue
        intake.relations += 1
        if fresh.id in there:
            guarded(intake, given, lambda intake, given, number=fresh.id: change_edge(intake, given, number))
        else:
            intake.puts[fresh.id] = fresh


def settle_edge(intake: Intake, given: Given) -> Entry:
    """Return an edge of the input as a row of the ledger."""
    row, handles = given.row, intake.handles
    kind, source, target = row["type"], row["from"], row["to"]
    source, target = handles.get(source) or end_of(intake, source), handles.get(target) or end_of(intake, target)
    pair = (kind, source[: source.find("/")], target[: target.find("/")])
    made = intake.pairs.get(pair)
    if made is None:
        made = known_relation(intake.store.catalog.vocabulary, kind)
        refuse_ends(made, source, target)
        intake.pairs[pair] = made
    if source == target:
        raise Refused(f"{source!r} is related to itself", hint="an edge needs two records")
    if target < source and made.symmetric:
        source, target = target, source
    if given.record is None:
        created = time_text(row["created_at"])
        if source != row["from"] or target != row["to"] or created != row["created_at"]:
            row = {**row, "from": source, "to": target, "created_at": created}
        return plain_edge(row, intake.symmetric)
    assert isinstance(given.record, Relation)
    return entry(given.record.model_copy(update={"source": source, "target": target}), intake.symmetric)


def end_of(intake: Intake, ref: str) -> str:
    """Return the reference by key of an end of an edge."""
    key = key_of(intake, ref)
    if key is None:
        raise BadInput(f"{ref!r} is neither there nor in the input", hint="the reference of a record",
                       details={"code": "dangling"})  # fmt: skip
    return key


def change_edge(intake: Intake, given: Given, number: int) -> None:
    """Change an edge that is there: given values replace, sources are united."""
    existing = intake.store.catalog.relation(number)
    assert existing is not None
    values: dict[str, Any] = {name: given.row[name] for name in ("weight", "note") if given.row.get(name) is not None}
    if isinstance(given.record, Relation):
        values["sources"] = sorted({*existing.sources, *given.record.sources})
    after = changed(existing, values, intake.store.now())
    if after is not existing:
        intake.put(after)


def add_fact(intake: Intake, given: Given) -> None:
    """Take in a report, a run or an event, with what it is about by key."""
    fact = given.record
    if isinstance(fact, Feedback):
        key = key_of(intake, fact.ref)
        if key is None:
            raise BadInput(f"{fact.ref!r} is neither there nor in the input", hint="the reference of a memory")
        fact = fact.model_copy(update={"ref": key})
    assert fact is not None
    made = put_fact(intake.store.catalog, keyed(intake.store.catalog, fact, intake.handles), intake.symmetric)
    if intake.is_again(given, made.entry.id):
        return
    intake.counts[made.action] += 1
    if made.action != "unchanged":
        intake.puts[made.entry.id] = made.entry


def bad_input(intake: Intake) -> BadInput:
    """Return the error that names every bad line, up to a hundred and then a count."""
    found = sorted(intake.findings, key=lambda finding: finding.line or 0)
    shown = "\n".join(str(finding) for finding in found[:MAX_FINDINGS])
    more = f"\nand {len(found) - MAX_FINDINGS:,} more" if len(found) > MAX_FINDINGS else ""
    return BadInput(
        f"{len(found):,} bad rows, nothing was changed:\n{shown}{more}",
        hint="mend them, or take the good ones with --skip-invalid",
        details={"findings": [finding.model_dump() for finding in found[:MAX_FINDINGS]], "total": len(found)},
    )


def keep_rejects(intake: Intake) -> None:
    """Write the lines that were left aside where they can be looked at, and say so."""
    if intake.rejects:
        state = intake.store.layout.state
        state.mkdir(exist_ok=True)
        (state / "rejects.ndjson").write_bytes(b"\n".join([*intake.rejects, b""]))
        intake.store.say_once(f"left aside {len(intake.rejects):,} bad rows: {state / 'rejects.ndjson'}")
        for finding in intake.findings[:MAX_FINDINGS]:
            intake.store.say_once(str(finding))


# --- with near-duplicates ----------------------------------------------------------------------------------------


@dataclass(slots=True)
class Pool:
    """The failures or patterns that a new one may repeat: those of the store and those of the input so far."""

    records: dict[int, Memory] = field(default_factory=dict)
    signatures: dict[int, set[int]] = field(default_factory=dict)
    ids: list[int] = field(default_factory=list)
    rows: list[Any] = field(default_factory=list)  # unit vectors, in the order of ids

    def add(self, number: int, record: Memory, vector: Any) -> None:
        """Let later rows repeat this one."""
        self.records[number] = record
        for key in repeat_keys(record):
            self.signatures.setdefault(key, set()).add(number)
        if vector is not None:
            self.ids.append(number)
            self.rows.append(vector)

    def cosines(self, vector: Any) -> dict[int, float]:
        """Return the cosine of each record of the pool with a unit vector."""
        if vector is None or not self.rows:
            return {}
        import numpy as np  # noqa: PLC0415 - only a comparison by meaning needs it

        return dict(zip(self.ids, (np.stack(self.rows) @ vector).tolist(), strict=True))


def add_without_repeats(intake: Intake, rows: Sequence[Given]) -> None:
    """Take in records in key order, each compared with the store and with those before it."""
    store = intake.store
    memories = [(given, given.record) for given in rows if isinstance(given.record, Memory)]
    memories.sort(key=lambda pair: row_id(pair[1].key_ref))
    for given in rows:
        if not isinstance(given.record, Memory):
            guarded(intake, given, add_record)
    vectors = embed(store, memories)
    pools = {kind: pool_of(store, kind) for kind in {record.kind for _, record in memories}}
    for (given, _), vector in zip(memories, vectors, strict=True):
        guarded(intake, given, lambda intake, given, vector=vector: add_unless_repeated(intake, given, vector, pools))


def embed(store: Store, memories: Sequence[tuple[Given, Memory]]) -> Sequence[Any]:
    """Return the vector of each memory, or None for each without a model."""
    if store.embedder is None or not memories:
        return [None] * len(memories)
    return list(store.embedder.encode_documents([record.search_text for _, record in memories]))


def pool_of(store: Store, kind: str) -> Pool:
    """Return the live records of a kind with their vectors."""
    store.embed_missing()
    pool = Pool()
    numbers = [number for number, *_ in store.catalog.live_rows(kind)]
    vectors = dict(store.vectors.of(numbers)) if store.vectors is not None else {}
    for number in numbers:
        record = store.catalog.stored(number)
        assert isinstance(record, Memory)
        pool.add(number, record, vectors.get(number))
    return pool


def add_unless_repeated(intake: Intake, given: Given, vector: Any, pools: Mapping[str, Pool]) -> None:
    """Take in a memory, merged into the one that it repeats, or linked to those that it resembles."""
    made = given.record
    assert isinstance(made, Memory)
    pool, number = pools[made.kind], row_id(made.key_ref)
    if intake.store.catalog.has(number):
        add_record(intake, given)
        return
    same = {found for key in repeat_keys(made) for found in pool.signatures.get(key, ())}
    repeats = [pool.records[found] for found in sorted(same)]
    likeness = judge(intake.store, made, pool.cosines(vector), repeats, lambda found: pool.records[found])
    if likeness.same is None:
        add_record(intake, given, likeness, variants_of(made, likeness, pool.records))
        if number in intake.puts:
            pool.add(number, made, vector)
            for other, similarity in likeness.variants:
                intake.put(variant_edge(made, pool.records[other], similarity))
        return
    if intake.is_again(given, number):
        return
    older = pool.records[likeness.same]
    changes = merged(older, made, is_named=decode(given.line).get("name") is not None)
    after = changed(older, changes, intake.store.now())
    pool.records[likeness.same] = after
    intake.handles.update((f"{made.scope}/{name}", older.key_ref) for name in (made.key, made.name, *made.aliases))
    intake.records[older.key_ref] = after
    if after is not older:
        intake.put(after)
    intake.count("merged", after, likeness)
