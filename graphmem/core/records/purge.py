"""Purge: destroy records, every row that names them, and what was derived from them."""

import contextlib
import inspect
import os
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import orjson

from graphmem.core.records.duplicates import aside_fields
from graphmem.core.records.record_contract import Purged, PurgeRequest
from graphmem.core.records.validation import changed
from graphmem.errors import GraphmemError, Refused, Unavailable, Usage
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.database import CatalogError
from graphmem.kernel.catalog.hashes import hash_of, meaning_hashes
from graphmem.kernel.catalog.vectors import has_vector
from graphmem.kernel.git import history_filter
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.machine import traces
from graphmem.kernel.machine.traces import Traces, traces_of
from graphmem.kernel.model import Campaign, Event, Feedback, MemoryRecord, Purge, Record, ReviewItem, Task, Work
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.purges import created_at, purge_hash
from graphmem.kernel.ndjson import Row, decode
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.shell import command
from graphmem.names import row_key, split_ref

# Records that go with the one that they are a part of, and the field that names it.
PARTS = ((Campaign, Task, "campaign"), (Work, ReviewItem, "work"))
SCRIPT_COMMAND = "graphmem purge --history-script FILE"


@dataclass
class PurgePlan:
    """The records that a purge destroys, and what it takes for nothing to name them any more."""

    catalog: Catalog
    records: dict[int, Record] = field(default_factory=dict)
    rows: dict[str, set[int]] = field(default_factory=dict)  # numbers of rows that go, by file
    changes: dict[int, dict[str, Any]] = field(default_factory=dict)  # of other records, by number
    reports: dict[int, Feedback] = field(default_factory=dict)  # on other records, without what holds their texts
    told: dict[int, Event] = field(default_factory=dict)  # events about others, without what holds their texts

    @cached_property
    def texts(self) -> frozenset[str]:
        """What is in their texts."""
        found = (getattr(record, name, None) for record in self.records.values() for name in aside_fields(type(record)))
        return frozenset(text for text in found if text)

    @cached_property
    def traces(self) -> Traces:
        """Their texts and names."""
        return traces_of([record.to_row() for record in self.records.values()])

    @property
    def removed(self) -> set[int]:
        """The numbers of the rows that go."""
        return {number for numbers in self.rows.values() for number in numbers}

    def removed_rows(self) -> list[Row]:
        """Return the rows that go."""
        return [
            decode(line.rstrip(b"\r"))
            for file, numbers in self.rows.items()
            for line in self.catalog.lines_of(numbers, file).values()
        ]

    def is_named(self, ref: str | None) -> bool:
        """Return whether a reference means one of them."""
        return ref in self.traces.handles and self.catalog.lookup(*split_ref(ref)) in self.records

    def remove(self, rows: Iterable[tuple[int, str]]) -> None:
        """Note rows that go."""
        for number, file in rows:
            self.rows.setdefault(file, set()).add(number)


@operation(
    "purge",
    writes=True,
    positional=1,
    previews="yes",
    at_home=True,
    without={"history_script": "writes a program to any file"},
    example="graphmem purge failure/with-a-password --yes",
    arguments=1,
    takes={"refs": Taken("REF…", "ref"), "history_script": Taken("FILE")},
    help="""
    Destroy records, every row that names them, their vectors, and their names in other records.

    The tasks of a campaign and the items of a work go with it. No merge brings a purged record back, but git's own
    history still has it: --history-script writes a program that shows what it would remove there, and removes it with
    --yes.
    """,
)
def purge(snapshot: Snapshot, request: PurgeRequest) -> Purged:
    """
    Destroy records with every row that names them; without ``yes`` only report what would go.

    The tasks of a campaign and the items of a work go with it: they are nothing without it. Without ``yes`` nothing is
    changed. What was noted for ``undo`` goes too, for it holds old lines; a purge cannot be taken back. The hashes of
    the keys stay, so that no merge brings the rows back.
    """
    yes, history_script = request.yes, request.history_script
    if not request.refs and not request.archived and history_script is None:
        raise Usage("say what to purge", hint="graphmem purge REF, or graphmem purge --archived")
    if history_script is not None and os.path.lexists(history_script):
        raise Refused(f"{str(history_script)!r} is there already", hint="name a new file")
    plan = gather(snapshot, request.refs, archived=request.archived)
    script = _script_for(snapshot, plan) if history_script is not None else b""
    digests = _orphaned_vectors(snapshot.catalog, plan)
    records = sorted(snapshot.catalog.refs(plan.records).values())
    quoting = _quoters(snapshot, plan)
    changes = sorted(snapshot.catalog.refs(plan.changes).values())
    if isinstance(snapshot, Writing) and records:
        _destroy(snapshot, plan, digests)
    if history_script is not None:
        safe_files.write(history_script.absolute(), script)
    program = command("python3", str(history_script)) if history_script else SCRIPT_COMMAND
    rows = {file: len(numbers) for file, numbers in sorted(plan.rows.items())}
    return Purged(
        done=yes,
        records=records,
        rows=rows,
        changed=changes,
        vectors=len(digests),
        quoted_by=sorted(snapshot.catalog.refs(quoting).values()),
        history=[program] if records or history_script else [],
    )


def _script_for(snapshot: Snapshot, plan: PurgePlan) -> bytes:
    """Return the program that removes from git's history what was purged so far, and what is about to be."""
    purges = {salt: dict(hashes) for salt, hashes in snapshot.catalog.purges().by_salt.items()}
    for made in _purge_rows(snapshot, plan.removed_rows()) if plan.records else ():
        purges.setdefault(made.salt, {})[made.hash] = format_time(made.at)
    if not purges:
        raise Usage("nothing was purged yet", hint="graphmem purge REF --history-script FILE")
    symmetric = sorted(snapshot.symmetric)
    program = inspect.getsource(history_filter)
    for start, value in (("PURGES: dict[str, dict[str, str]] = ", purges), ("SYMMETRIC: list[str] = ", symmetric)):
        program = program.replace(f"{start}{type(value)()!r}", f"{start}{value!r}", 1)
    return f"#!/usr/bin/env python3\n{program}".encode()


def _destroy(writing: Writing, plan: PurgePlan, digests: Collection[bytes]) -> None:
    """
    Remove the rows, and their bytes from every file of the store.

    What is to be cleared is kept first, for the next command to go on with where this one is cut off. Undo notes are
    put aside: a purge that is cut off later leaves none that brings a row back, and one that is refused leaves them as
    they were.
    """
    puts = [_renewed(writing, number, values) for number, values in plan.changes.items()]
    puts += [entry(one, ()) for one in (*plan.reports.values(), *plan.told.values())]
    purges = _purge_rows(writing, plan.removed_rows())
    puts += [entry(made, ()) for made in purges]
    removes = {file: sorted(numbers) for file, numbers in plan.rows.items()}
    layout = writing.layout
    kept = {"hashes": frozenset(made.hash for made in purges), "digests": frozenset(map(bytes.hex, digests))}
    try:
        traces.keep(layout.purge, plan.traces.model_copy(update=kept))
    except OSError as error:
        raise Unavailable(f"{layout.purge} cannot be written: {error.strerror}; nothing was purged") from None
    with contextlib.suppress(FileNotFoundError):
        safe_files.replace(layout.undo, layout.undo_aside)
    try:
        writing.commit(puts, removes, is_noted=False)
    except (GraphmemError, CatalogError):  # refused before anything was replaced
        with contextlib.suppress(OSError):
            safe_files.replace(layout.undo_aside, layout.undo)
        with contextlib.suppress(OSError):
            safe_files.remove(layout.purge)
        raise
    writing.client.finish_purge()


def _purge_rows(snapshot: Snapshot, rows: Collection[Row]) -> list[Purge]:
    """Return what keeps rows out that are about to be purged; one salt a store, so that a row is hashed once."""
    salt = next(iter(snapshot.catalog.purges().by_salt), None) or snapshot.client.new_id()
    symmetric = snapshot.symmetric
    at = max([format_time(snapshot.now), *map(created_at, rows)])  # also where the clock went back since
    keys = {row_key(row, symmetric) for row in rows}
    keys |= {former for row in rows if row["kind"] == "entity" for former in snapshot.vocabulary.refs(row_key(row, ()))}
    return [
        Purge.model_validate({"kind": "purge", "salt": salt, "hash": purge_hash(salt, key), "at": at})
        for key in sorted(keys)
    ]


def gather(snapshot: Snapshot, refs: Collection[str], *, archived: bool) -> PurgePlan:
    """Return what is removed with some records, and what must be changed in others."""
    catalog = snapshot.catalog
    numbers = {snapshot.resolve(ref) for ref in refs}
    if archived:
        numbers |= {*catalog.archived()}
    records = {number: catalog.stored(number) for number in numbers}
    for whole, part, owner in PARTS:
        wholes = PurgePlan(catalog, {n: record for n, record in records.items() if isinstance(record, whole)})
        if wholes.records:
            parts = catalog.of_kind(part, is_live=False)
            records |= {number: one for number, one in parts.items() if wholes.is_named(getattr(one, owner))}
    plan = PurgePlan(catalog, records)
    plan.remove(catalog.rows_of(records))
    plan.remove(_loose_edges(plan))
    plan.remove(_events(plan))
    plan.changes = dict(_namers(plan))
    for number, report in catalog.reports_with_texts().items():
        told = [name for name in ("question", "note") if plan.traces.is_told(getattr(report, name) or "")]
        if told and number not in plan.removed:
            plan.reports[number] = report.model_copy(update=dict.fromkeys(told))
    for number, one in catalog.facts_with(tuple(plan.traces.words)).items():
        if (
            number not in plan.removed
            and isinstance(one, Event)
            and plan.traces.is_told(orjson.dumps(one.data).decode())
        ):
            plan.told[number] = one.model_copy(update={"data": plan.traces.untold(one.data)})
    return plan


def _quoters(snapshot: Snapshot, plan: PurgePlan) -> list[int]:
    """Return the records that stay and hold a text of those that go: the purge does not change what others say."""
    found = []
    for number, line in plan.catalog.record_lines():
        if number not in plan.records and plan.traces.is_told(line.decode()):
            kept = _renewed(snapshot, number, plan.changes[number]).line if number in plan.changes else line
            if plan.traces.is_told(kept.decode()):
                found.append(number)
    return found


def _loose_edges(plan: PurgePlan) -> Iterator[tuple[int, str]]:
    """Yield the rows of edges that name a doomed record and do not represent a live edge of their own."""
    for number, file, source, target, src, dst in plan.catalog.edge_rows_by_reference():
        if src in plan.records or dst in plan.records or plan.is_named(source) or plan.is_named(target):
            yield number, file


def _events(plan: PurgePlan) -> Iterator[tuple[int, str]]:
    """Yield the rows of events that happened to a doomed record, and of reports for a doomed task."""
    for number, file, row in plan.catalog.fact_rows_naming(("subject", "task")):
        named = row.get("subject") if row["kind"] == "event" else row.get("task")
        if isinstance(named, str) and (plan.is_named(named) or plan.is_named(f"task/{named}")):
            yield number, file


def _namers(plan: PurgePlan) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records that name a doomed one, each with the values it has without that."""
    for number, record in plan.catalog.which_may_name(("superseded_by", "aliases", "alternates")):
        if number not in plan.records:
            values = _without(record, plan)
            if values:
                yield number, values


def _without(record: Record, plan: PurgePlan) -> dict[str, Any]:
    """Return the values of a record that change when its references to the purged records are removed."""
    values: dict[str, Any] = {name: None for name in record.single_references if plan.is_named(getattr(record, name))}
    lists: dict[str, tuple[list[Any], Collection[Any]]] = {
        "aliases": (
            [name for name in record.aliases if f"{record.record_type}/{name}" not in plan.traces.handles],
            record.aliases,
        )
    }
    if isinstance(record, MemoryRecord):
        kept = [found for found in record.alternates if found.text not in plan.texts]
        lists["alternates"] = ([found.model_dump() for found in kept], record.alternates)
    if isinstance(record, Task):
        values |= {"blocked_reason": None} if plan.traces.is_told(record.blocked_reason or "") else {}
        kept_lineage = [one for one in record.lineage if not plan.traces.is_told(orjson.dumps(one).decode())]
        lists["lineage"] = (kept_lineage, record.lineage)
    for name in record.references:
        given = getattr(record, name)
        lists[name] = ([ref for ref in given if not plan.is_named(record.refers[name].full(ref))], given)
    return values | {name: kept for name, (kept, given) in lists.items() if len(kept) < len(given)}


def _renewed(snapshot: Snapshot, number: int, values: Mapping[str, Any]) -> Entry:
    """Return the row of a record with other values."""
    return entry(changed(snapshot.catalog.stored(number), values, snapshot.now), snapshot.symmetric)


def _orphaned_vectors(catalog: Catalog, plan: PurgePlan) -> list[bytes]:
    """Return the hashes of texts that have a vector and, once the doomed are gone, no record and no report."""
    reports = catalog.reports_with_texts()
    questions = {number: hash_of(report.question) for number, report in reports.items() if report.question}
    gone = plan.removed | {number for number, report in plan.reports.items() if report.question is None}
    digests = {digest for record in plan.records.values() for digest in meaning_hashes(record)}
    digests |= {digest for number, digest in questions.items() if number in gone}
    found: list[bytes] = []
    for digest in sorted(digests - {digest for number, digest in questions.items() if number not in gone}):
        if has_vector(catalog, digest) and all(number in plan.records for number in catalog.with_text(digest)):
            found.append(digest)
    return found
