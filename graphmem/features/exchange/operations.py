"""
Import: a file of another tool becomes records and edges, in one write.

A record is found again by its origin in ``sources``; what a newer file says of it is merged (rules/reimport.py).
Source: docs/guides/importing.md, docs/decisions/0036-imports.md.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import Field

from graphmem.core.foreign.reading import Draft, ForeignInput, Source
from graphmem.core.records.bulk_add import MANY_RECORDS, add_fact, drained, read_lines, refuse_cycles, settle_edge
from graphmem.core.records.bulk_new import Project
from graphmem.core.records.duplicates import aside_fields
from graphmem.core.records.imports import EarlierImports, sets_of, with_aside
from graphmem.core.records.intake import Given, Intake, Policy, under_current_names
from graphmem.core.records.places import shortened_fields
from graphmem.core.records.reimport import Known
from graphmem.core.records.screening import places, screened_fields
from graphmem.core.vocabulary.types import refuse_type
from graphmem.errors import Refused, Unavailable
from graphmem.features.exchange.importers import formats
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.ledger.types import path_of, type_text
from graphmem.kernel.model import Campaign, Fact, Feedback, Record, Relation, Task
from graphmem.kernel.model.field import as_set
from graphmem.kernel.model.vocabulary import EntityType, RelationType, Vocabulary
from graphmem.kernel.ndjson import Row, encode
from graphmem.kernel.parameters import DryRun
from graphmem.kernel.registry import Taken, extensions, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.collector import collector_paused
from graphmem.kernel.system.shell import command
from graphmem.kernel.system.surroundings import current_folder
from graphmem.names import row_id


class ImportRequest(Request):
    """Which file or folder of another tool to import."""

    path: Path = Field(description="A file or a folder of another tool")
    format: str | None = Field(
        None, description="The format it is in; recognised from what it holds if not given", max_length=64
    )
    map: Mapping[str, str] | None = Field(
        None, description="Of a table: the column for each field of the records; kind=NAME says which kind they are"
    )
    dry_run: DryRun = False


class Skipped(Part):
    """Something of the input that did not become a record or an edge: where it is, and why."""

    place: str
    reason: str


class Imported(Answer):
    """
    What became of all that a file holds.

    ``read`` counts by the nouns of the file, the others by kind; ``relation`` counts links, also those that are fields
    of records, such as what a task depends on, and ``candidate`` what waits for a review. ``merged`` are what repeats a
    record or an edge, ``dangling`` the links to what is not there.
    """

    format: str
    applied: bool
    read: dict[str, int]
    created: dict[str, int]
    merged: dict[str, int]
    updated: dict[str, int]
    unchanged: dict[str, int]
    skipped: list[Skipped]
    dangling: int


ACTIONS = ("created", "merged", "updated", "unchanged")
MOST_TYPES = 300  # that an input may bring: each is a file, and is compared with all others
NO_ROW: Row = {}  # of a draft that has become a line
LINK = "relation"  # what links are counted as, whether they are rows or fields of one


@operation(
    "imports.file",
    writes=True,
    previews="dry_run",
    at_home=True,
    not_over_http="reads any file of this machine",
    raises={
        "BadInput": "its format is not known, or not sure",
        "NotFound": "there is no such file or folder, or no such format",
        "Refused": "it is too large, or a link, or tasks would wait for each other",
    },
    takes={
        "format": Taken("FORMAT", flag="--from"),
        "map": Taken("FIELD=COLUMN", flag="--map", note="may be repeated", reads="columns"),
    },
    help="""
    Make records and edges of a file or a folder of another tool, all or none; of issues and reviews, candidates.

    The word `file` can be left out. The same file again changes nothing; a newer one updates what changed in it, and
    leaves alone what was edited here.
    """,
    example="graphmem import file issues.jsonl --dry-run",
)
def import_file(client: Client, request: ImportRequest) -> Imported:
    """
    Make records and edges of a file or a folder of another tool, all or none; the same file changes nothing.

    It is read before the lock is taken.

    Raises:
        BadInput: its format is not known, or not sure.
        Refused: it is too large, or tasks would wait for each other.
    """
    reading = formats.read(Source(current_folder() / request.path), request.format, request.map)
    run = screened_fields(client, "run state", reading.run)
    kept = places(client)
    with client.reading() as snapshot:
        vocabulary = snapshot.vocabulary
    lines: list[bytes] = []
    for place, draft in enumerate(reading.drafts):  # of a row its line alone: very many hold much memory
        lines.append(encode(shortened_fields(under_current_names(draft.row, vocabulary), kept)))
        reading.drafts[place] = draft._replace(row=NO_ROW)
    project = Project.around(client.root, lines)
    with client.deciding(is_real=not request.dry_run) as snapshot, collector_paused():
        work = Importing.of(snapshot, reading)
        work.take_in(read_lines(work.intake, drained(lines), project))
        if isinstance(snapshot, Writing):
            work.write(snapshot)
    for take_over in extensions("run_state") if run else ():
        take_over(client, run, work.counts, reading.skip, is_real=not request.dry_run)
    for put_up in extensions("heard") if reading.heard else ():
        put_up(client, reading.heard, work.counts, reading.skip, is_real=not request.dry_run)
    for one in () if extensions("heard") else reading.heard:
        reading.skip(one.place, "nothing here learns from what people said")
    if work.counts["created"].total() > MANY_RECORDS and not request.dry_run:
        client.embed_later()
    return work.answer(is_applied=not request.dry_run)


def _known_of(value: bytes) -> dict[int, Known]:
    """Return what imports of a format gave each row, by its number, or raise ``ValueError``."""
    found = orjson.loads(value)
    if not isinstance(found, dict) or not all(isinstance(known, dict) for known in found.values()):
        raise ValueError("it is not what imports gave")
    return {int(number): known for number, known in found.items()}


@dataclass
class Importing:
    """The rows of one input on their way into the store, and the account of them."""

    snapshot: Snapshot
    reading: ForeignInput
    intake: Intake
    types: Mapping[str, EntityType | RelationType]  # that are to be declared
    tool: EarlierImports  # what its imports made and gave before
    counts: dict[str, Counter[str]] = field(default_factory=lambda: {action: Counter() for action in ACTIONS})
    firsts: dict[str, Given] = field(default_factory=dict)  # by key: the first row of the input that makes the record
    taken: set[str | int] = field(default_factory=set)  # links that were counted
    fresh: set[str] = field(default_factory=set)  # keys of records that are new

    @classmethod
    def of(cls, snapshot: Snapshot, reading: ForeignInput) -> "Importing":
        """Return what is to be done for a reading."""
        types, vocabulary = _undeclared(snapshot, reading)
        known = snapshot.client.state.read("imports", reading.format, _known_of) or {}
        tool = EarlierImports(snapshot.catalog.origins(reading.format), snapshot.catalog.purges(), known)
        intake = Intake(snapshot, Policy(may_skip=True, imports=tool), reading.format, vocabulary)
        return cls(snapshot, reading, intake, types, tool)

    def take_in(self, rows: Iterable[Given]) -> None:
        """Take in the rows of the input: records, then what names them."""
        records, edges, facts = list[Given](), list[Given](), list[Given]()
        for given in rows:
            if given.is_edge:
                edges.append(given)
            elif isinstance(given.record, Record | Feedback):  # a purge is of the store that it was in
                (facts if isinstance(given.record, Feedback | Fact) else records).append(given)
        self.intake.look_up(records)
        for given in drained(records):
            self.gather(given)
        for given in sorted(self.firsts.values(), key=lambda given: isinstance(given.record, Task)):  # campaigns first
            self.intake.guarded(given, self.place)
        self.drop_refused()
        refuse_cycles(self.intake)
        self.firsts.clear()
        for given in drained(edges):
            self.intake.guarded(given, self.place_edge)
        for given in facts:
            self.intake.guarded(given, self.place_fact)

    def gather(self, given: Given) -> None:
        """Find out which record a row is of: one of its origin, one of its key, or a new one."""
        record = given.record
        assert isinstance(record, Record)
        number = self.intake.number_of(record)
        key = record.key_ref
        if number is not None and number != row_id(key):
            key = self.snapshot.catalog.stored(number).key_ref
        for handle in (record.ref, record.key_ref):
            self.intake.handles.setdefault(handle, key)
        first = self.firsts.get(key)
        if first is None:
            self.firsts[key] = given
            return
        assert isinstance(first.record, Record)
        self.firsts[key] = first._replace(record=_folded(first.record, record))
        for _ in self.draft(given).links:
            self.count("merged", LINK)
        self.count("unchanged" if number is not None else "merged", record.kind)

    def draft(self, given: Given) -> Draft:
        """Return the row as it was read."""
        return self.reading.drafts[given.place - 1]

    def place(self, given: Given) -> None:
        """Take in a record: a new one, or what it changes of the one that is there."""
        assert isinstance(given.record, Record)
        record = self.with_keys(given.record)
        links, number = self.draft(given).links, self.intake.number_of(record)
        before = self.snapshot.catalog.stored(number) if links and number is not None else None
        action = self.intake.take_one(given._replace(record=record))
        if not isinstance(record, Task | Campaign):  # no row asks for it again, and very many hold much memory
            self.intake.records.pop(record.key_ref, None)
        if action == "created":
            self.fresh.add(record.key_ref)
        self.count(str(action), record.kind)
        for name, ref in links:
            self.count_link(before, name, self.intake.handles.get(ref, ref), given)

    def with_keys(self, record: Record) -> Record:
        """Return a record that names others by key."""
        changes: dict[str, Any] = {}
        for name, refers in record.refers.items():
            value = getattr(record, name)
            if value is None:
                continue
            refs = [refers.full(ref) for ref in (value if isinstance(value, tuple) else (value,))]
            keys = [self.intake.key_of(ref) or ref for ref in refs]
            changes[name] = as_set(keys) if isinstance(value, tuple) else keys[0]
        if isinstance(record, Task) and not self.is_there(changes["campaign"]):
            raise Refused(f"{record.ref} is of {changes['campaign']}, which is left out")
        return record.model_copy(update=changes) if changes else record

    def is_there(self, key: str) -> bool:
        """Return whether a record is in the store, or in what was taken in of the input so far."""
        return key in self.intake.records or (key not in self.firsts and self.intake.key_of(key) is not None)

    def drop_refused(self) -> None:
        """Take out of tasks what they need that turned out to be left out."""
        for key, record in list(self.intake.records.items()):
            missing = [ref for ref in record.depends if not self.is_there(ref)] if isinstance(record, Task) else []
            if isinstance(record, Task) and missing:
                self.intake.records[key] = record.model_copy(update={"depends": as_set({*record.depends} - {*missing})})
                self.intake.put(self.intake.records[key])
                self.counts["created"][LINK] -= len(missing)
                self.reading.dangling += len(missing)

    def place_edge(self, given: Given) -> None:
        """Add an edge, or change the existing one; an edge that a user removed stays removed."""
        is_waiting = self.draft(given).may_wait and self.intake.key_of(str(given.row["to"])) is None
        if is_waiting:
            self.intake.handles[str(given.row["to"])] = str(given.row["to"])
        fresh = settle_edge(self.intake, given)
        if fresh.id in self.taken:
            return self.count("merged", LINK)
        self.taken.add(fresh.id)
        if is_waiting:
            self.reading.dangling += 1
            self.tool.notes[fresh.id] = {}
            if fresh.id not in self.tool.known:
                self.intake.puts[fresh.id] = fresh
            return None
        before = self.snapshot.catalog.relation(fresh.id)
        if before is not None:
            given_edge = fresh.record or Relation.model_validate(fresh.row)
            after = self.tool.changed(before, given_edge, fresh.id, self.snapshot.now)
            if after is not before:
                self.intake.put(after)
            return self.count("unchanged" if after is before else "updated", LINK)
        self.tool.notes[fresh.id] = {}
        if fresh.id in self.tool.known and self.fresh.isdisjoint((fresh.row["from"], fresh.row["to"])):
            return self.count("unchanged", LINK)
        self.intake.puts[fresh.id] = fresh
        return self.count("created", LINK)

    def place_fact(self, given: Given) -> None:
        """Take in what happened: a report, a run, an event."""
        before = dict(self.intake.counts)
        add_fact(self.intake, given)
        for action in ACTIONS:
            self.counts[action][str(given.row["kind"])] += self.intake.counts[action] - before[action]

    def count(self, action: str, kind: str) -> None:
        """Count what became of something."""
        self.counts[action][kind] += 1

    def count_link(self, before: Record | None, name: str, key: str, given: Given) -> None:
        """Count a link of the input that is a field of a record."""
        link = f"{given.place}\t{name}\t{key}"
        value = getattr(before, name) if before is not None else ()
        is_there = key in (value if isinstance(value, tuple) else (value,))
        action = "merged" if link in self.taken else "unchanged" if is_there else "created"
        self.taken.add(link)
        self.count(action, LINK)

    def left_out(self) -> Iterator[Skipped]:
        """Yield what of the input is left out, as it was read and as the store refused it, but for dangling links."""
        yield from (Skipped(place=one.place, reason=one.reason) for one in self.reading.skipped)
        for found in self.intake.findings:
            draft = self.reading.drafts[(found.line or 1) - 1]
            if found.code != "dangling":
                reason = found.message + (f"; {found.fix}" if found.fix else "")
                yield Skipped(place=draft.place, reason=reason)
                for _ in draft.links:
                    yield Skipped(place=draft.place, reason=f"a link of what is left out: {found.message}")

    def answer(self, *, is_applied: bool) -> Imported:
        """Return the account."""
        dangling = sum(found.code == "dangling" for found in self.intake.findings)
        return Imported(
            format=self.reading.format,
            applied=is_applied,
            read=dict(sorted(self.reading.read.items())),
            skipped=list(self.left_out()),
            dangling=self.reading.dangling + dangling,
            **{action: dict(sorted((+found).items())) for action, found in self.counts.items()},
        )

    def write(self, writing: Writing) -> None:
        """Write all in one write, and before it what it gives: a write that is cut off can be told from an edit."""
        given = {**self.tool.known, **self.tool.notes}  # another file of the format may have given the others
        if given != self.tool.known:
            data = orjson.dumps({str(number): one for number, one in given.items()})
            try:
                with writing.client.state.changing() as kept:
                    kept.put("imports", self.reading.format, data)
            except Unavailable as error:
                writing.notify(f"what this import gave is not kept, so the next one changes less: {error}")
        used = {path_of(made): type_text(made) for made in self.types.values()}
        if self.intake.puts or used:
            writing.commit(list(self.intake.puts.values()), types=used, via="import")
        if self.types:
            writing.notify(f"declared the types {', '.join(sorted(self.types))}")


def _undeclared(snapshot: Snapshot, reading: ForeignInput) -> tuple[dict[str, EntityType | RelationType], Vocabulary]:
    """
    Return the types of a reading that the project is to declare, and its vocabulary with them.

    A relation type of the project that connects less is given the ends that it lacks.

    Raises:
        Refused: one has the name of something else.
    """
    if len(reading.types) > MOST_TYPES:
        message = f"the input has {len(reading.types):,} types; at most {MOST_TYPES:,} are declared at once"
        raise Refused(message, hint="an input with fewer types; the name of a thing is not its type")
    vocabulary = snapshot.vocabulary
    made: dict[str, EntityType | RelationType] = {}
    for former, one in sorted(reading.types.items(), key=lambda pair: isinstance(pair[1], RelationType)):
        name = vocabulary.renamed.get(former, former)
        if isinstance(one, RelationType):
            one = one.with_ends(vocabulary.renamed)  # noqa: PLW2901 - the same type, under current names
        own = vocabulary.declared.get(name)
        if own is None:
            refuse_type(snapshot, vocabulary, one)
            made[name] = one
        elif isinstance(own, RelationType) and isinstance(one, RelationType):
            wider = _with_ends(own, one)
            if wider == own:
                continue
            made[name] = wider
        elif type(own) is not type(one):
            raise Refused(
                f"type {name!r} of the project is of another sort",
                hint=f"rename it: {command('graphmem', 'type', 'rename', name, 'NEW')}",
            )
        else:
            continue
        vocabulary = vocabulary.with_types({name: made[name]})
    return made, vocabulary


def _with_ends(own: RelationType, other: RelationType) -> RelationType:
    """Return a relation type that also connects what another one connects."""
    if all(own.allows(source, target) for source in other.sources for target in other.targets):
        return own
    ends = {side: tuple(dict.fromkeys((*getattr(own, side), *getattr(other, side)))) for side in ("sources", "targets")}
    return own.model_copy(update=ends)


def _folded(first: Record, second: Record) -> Record:
    """Return one record for two of the input that are the same: what the second says otherwise is kept beside it."""
    ours: Row = first.to_row()
    theirs: Row = second.to_row()
    sets = sets_of(type(first))
    values = {name: tuple(sorted({*ours.get(name, ()), *theirs.get(name, ())})) for name in sets & theirs.keys()}
    values |= {name: value for name, value in theirs.items() if name not in ours}
    aside = [(name, str(theirs[name])) for name in aside_fields(type(first)) if name in theirs and name in ours]
    return first.replaced({**values, **with_aside(first, [pair for pair in aside if pair[1] != ours[pair[0]]])})
