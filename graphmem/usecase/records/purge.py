"""Purge: destroy records, every row that names them, and what was derived from them."""

import contextlib
import inspect
import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from graphmem import safe_files
from graphmem.catalog import usage
from graphmem.catalog.catalog import Catalog
from graphmem.catalog.database import CatalogError
from graphmem.catalog.keys import hash_of, text_hash
from graphmem.catalog.vectors import forget as forget_vectors
from graphmem.catalog.vectors import has_vector
from graphmem.clone import cached
from graphmem.contract.records import Purged, PurgeRequest
from graphmem.errors import GraphmemError, Refused, Unavailable, Usage
from graphmem.git import history_filter
from graphmem.ledger.row import entry
from graphmem.machine import failed_runs, session_board
from graphmem.model import Campaign, Event, Feedback, MemoryRecord, Purge, Record, Task
from graphmem.model.entry import Entry
from graphmem.model.field import format_time
from graphmem.names import row_key, split_ref
from graphmem.ndjson import Row, decode
from graphmem.rules.purged import created_at, purge_hash
from graphmem.runtime import Client, Snapshot
from graphmem.shell import command
from graphmem.usecase.records.duplicates import aside_fields
from graphmem.usecase.records.validation import changed

TIMES = ("kind", "created_at", "edited", "archived_at", "at", "tags", "sources", "files")  # that tell no record
SCRIPT_COMMAND = "graphmem purge --history-script FILE"
GONE = "purged"  # in the place of a purged failure among those that a run showed: it means no record
SHORTEST = 8  # characters of a text that tells a record


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
    def handles(self) -> frozenset[str]:
        """Every reference that may mean one of them."""
        return frozenset(
            f"{record.record_type}/{name}"
            for record in self.records.values()
            for name in (record.key, record.name, *record.aliases)
        )

    @cached_property
    def texts(self) -> frozenset[str]:
        """What is in their texts."""
        found = (getattr(record, name, None) for record in self.records.values() for name in aside_fields(type(record)))
        return frozenset(text for text in found if text)

    @cached_property
    def words(self) -> tuple[str, ...]:
        """What their rows say and nothing else would: texts and references, also as JSON has them."""
        found = {text for record in self.records.values() for text in texts_of(record.to_row())} | self.handles
        telling = {text for text in found if len(text) >= SHORTEST}
        return tuple(telling | {orjson.dumps(text).decode()[1:-1] for text in telling})

    @property
    def removed(self) -> set[int]:
        """The numbers of the rows that go."""
        return {number for numbers in self.rows.values() for number in numbers}

    def is_told(self, text: str) -> bool:
        """Return whether a text holds one of their texts."""
        return any(word in text for word in self.words)

    def is_called(self, ref: str) -> bool:
        """Return whether a reference is one of theirs; they may be gone by now."""
        return ref in self.handles

    def removed_rows(self) -> list[Row]:
        """Return the rows that go."""
        return [
            decode(line.rstrip(b"\r"))
            for file, numbers in self.rows.items()
            for line in self.catalog.lines_of(numbers, file).values()
        ]

    def is_named(self, ref: str | None) -> bool:
        """Return whether a reference means one of them."""
        return ref in self.handles and self.catalog.lookup(*split_ref(ref)) in self.records

    def remove(self, rows: Iterable[tuple[int, str]]) -> None:
        """Note rows that go."""
        for number, file in rows:
            self.rows.setdefault(file, set()).add(number)


def purge(client: Client, request: PurgeRequest) -> Purged:
    """
    Destroy records, every row that names them, their vectors, and their names in other records.

    The tasks of a campaign go with it: a task is nothing without its campaign. Without ``yes`` nothing is changed.
    What was noted for ``undo`` goes too, for it holds old lines; a purge cannot be taken back. The hashes of the keys
    stay, so that no merge brings the rows back.
    """
    yes, history_script = request.yes, request.history_script
    if not request.refs and not request.archived and history_script is None:
        raise Usage("say what to purge", hint="graphmem purge REF, or graphmem purge --archived")
    if history_script is not None and os.path.lexists(history_script):
        raise Refused(f"{str(history_script)!r} is there already", hint="name a new file")
    with client.writing() as snapshot:
        plan = gather(snapshot, request.refs, archived=request.archived)
        script = script_for(client, plan) if history_script is not None else b""
        digests = orphaned_vectors(snapshot.catalog, plan)
        records = sorted(snapshot.catalog.refs(plan.records).values())
        changes = sorted(snapshot.catalog.refs(plan.changes).values())
        if yes and records:
            destroy(client, plan, digests)
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
            history=[program] if records or history_script else [],
        )


def script_for(client: Client, plan: PurgePlan) -> bytes:
    """Return the program that removes from git's history what was purged so far, and what is about to be."""
    purges = {salt: dict(hashes) for salt, hashes in client.catalog.purges().by_salt.items()}
    for made in purge_rows(client, plan.removed_rows()) if plan.records else ():
        purges.setdefault(made.salt, {})[made.hash] = format_time(made.at)
    if not purges:
        raise Usage("nothing was purged yet", hint="graphmem purge REF --history-script FILE")
    symmetric = sorted(client.ledger.symmetric)
    program = inspect.getsource(history_filter)
    for start, value in (("PURGES: dict[str, dict[str, str]] = ", purges), ("SYMMETRIC: list[str] = ", symmetric)):
        program = program.replace(f"{start}{type(value)()!r}", f"{start}{value!r}", 1)
    return f"#!/usr/bin/env python3\n{program}".encode()


def destroy(client: Client, plan: PurgePlan, digests: Collection[bytes]) -> None:
    """
    Remove the rows, and their bytes from every file of the store.

    Undo notes are put aside first: a purge that is cut off later leaves none that brings a row back, and one that is
    refused leaves them as they were.
    """
    puts = [renewed(client, number, values) for number, values in plan.changes.items()]
    puts += [entry(one, ()) for one in (*plan.reports.values(), *plan.told.values())]
    puts += [entry(made, ()) for made in purge_rows(client, plan.removed_rows())]
    removes = {file: sorted(numbers) for file, numbers in plan.rows.items()}
    layout = client.layout
    with contextlib.suppress(FileNotFoundError):
        safe_files.replace(layout.undo, layout.undo_aside)
    try:
        client.ledger.commit(puts, removes, is_noted=False)
    except (GraphmemError, CatalogError):  # refused before anything was replaced
        with contextlib.suppress(OSError):
            safe_files.replace(layout.undo_aside, layout.undo)
        raise
    left = [what for what, forget in traces(client, plan, digests) if not is_done(forget)]
    if left:  # the rows are gone: that is no failure of the purge
        client.notify_once(
            f"the rows are purged; {', '.join(left)} could not be cleared and may still hold their"
            " texts: is the disk full? Then: rm -r .graphmem/local, and graphmem rebuild"
        )


def traces(client: Client, plan: PurgePlan, digests: Collection[bytes]) -> Iterator[tuple[str, Callable[[], object]]]:
    """Yield where purged records left traces outside of the data files, each with what clears it."""
    yield "undo notes", lambda: safe_files.remove_folder(client.layout.undo_aside)
    yield "state/", lambda: forget_on_this_machine(client, plan)
    yield "the graph", client.graph.forget
    yield "past states", lambda: safe_files.remove_folder(client.local / safe_files.PAST)
    with contextlib.suppress(Unavailable):  # a user without such a folder has nothing in it
        folder = cached(client.layout)
        yield "the user's cache", lambda: safe_files.remove_folder(folder)
    if digests:
        vectors = client.local / "vectors"
        yield "vectors", lambda: forget_vectors(client.catalog, vectors, digests)
    yield "the search index", client.lexical.catch_up
    yield "the catalog", client.catalog.compact


def is_done(forget: Callable[[], object]) -> bool:
    """Do a step of clearing up, and return whether it could be done."""
    try:
        forget()
    except (OSError, CatalogError, Unavailable):
        return False
    return True


def purge_rows(client: Client, rows: Collection[Row]) -> list[Purge]:
    """Return what keeps rows out that are about to be purged; one salt a store, so that a row is hashed once."""
    salt = next(iter(client.catalog.purges().by_salt), None) or client.new_id()
    symmetric = client.ledger.symmetric
    at = max([format_time(client.now()), *map(created_at, rows)])  # also where the clock went back since
    keys = {row_key(row, symmetric) for row in rows}
    return [
        Purge.model_validate({"kind": "purge", "salt": salt, "hash": purge_hash(salt, key), "at": at})
        for key in sorted(keys)
    ]


def forget_on_this_machine(client: Client, plan: PurgePlan) -> None:
    """Remove what ``state/`` holds of purged records: counters, questions, failing runs, rejected lines, sessions."""
    state = client.layout.state
    safe_files.remove_folder(client.layout.state_aside)
    safe_files.remove_folder(client.layout.asked)  # a question may hold any part of their texts
    usage.forget(client.layout.usage, [record.key_ref for record in plan.records.values()])
    lock, timeout_s = client.local / "runs.lock", client.ledger.lock_timeout_s
    with failed_runs.changing(client.layout.runs, lock, timeout_s, client.now(), client.notify_once) as episodes:
        for key, episode in list(episodes.items()):
            shown: dict[str, list[str]] = {}
            for ref, others in episode.shown.items():  # what was shown for a purged failure may still have helped
                kept = shown.setdefault(GONE if plan.is_called(ref) else ref, [])
                kept += [other for other in others if not plan.is_called(other)]
            unknown = [text for text in episode.unknown if not plan.is_told(text)]
            said = {ref: text for ref, text in episode.lines.items() if ref in shown and not plan.is_told(text)}
            episodes[key] = episode.model_copy(update={"shown": shown, "lines": said, "unknown": unknown})
    rejects = state / "rejects.ndjson"
    if safe_files.is_file(rejects):
        lines = safe_files.read(rejects).splitlines(keepends=True)
        safe_files.write(rejects, b"".join(line for line in lines if not plan.is_told(line.decode("utf-8", "replace"))))
    forget_in_work(client, plan)
    for path in (state / "session.json", *safe_files.files(state / "sessions")):
        forget_in_session(path, plan)


def forget_in_work(client: Client, plan: PurgePlan) -> None:
    """Take the texts of purged records out of the run state, the events and the explorations of this machine."""
    layout = client.layout
    for folder in safe_files.folders(layout.explorations):
        if any(plan.is_told(safe_files.read(file).decode("utf-8", "replace")) for file in safe_files.files(folder)):
            safe_files.remove_folder(folder)
    if safe_files.is_file(layout.local_events):
        lines = safe_files.read(layout.local_events).splitlines(keepends=True)
        kept = [line for line in lines if not plan.is_told(line.decode("utf-8", "replace"))]
        safe_files.write(layout.local_events, b"".join(kept))
    if safe_files.is_file(layout.run_state):
        data = safe_files.read(layout.run_state)
        if plan.is_told(data.decode("utf-8", "replace")):
            safe_files.write(layout.run_state, orjson.dumps(untold(orjson.loads(data), plan)))


def forget_in_session(path: Path, plan: PurgePlan) -> None:
    """Take purged records out of what is current in a session."""
    board, _ = session_board.read(path)
    used = [ref for ref in board.session.used if not plan.is_called(ref)]
    is_task = board.task is not None and plan.is_called(f"task/{(board.task.id or '').removeprefix('task/')}")
    if is_task or len(used) < len(board.session.used):
        session = board.session.model_copy(update={"used": tuple(used)})
        changes = {"session": session, "task": None if is_task else board.task}
        session_board.write(path, board.model_copy(update=changes))


def gather(snapshot: Snapshot, refs: Collection[str], *, archived: bool) -> PurgePlan:
    """Return what goes with some records, and what has to be changed in others."""
    catalog = snapshot.catalog
    numbers = {snapshot.resolve(ref) for ref in refs}
    if archived:
        numbers |= {*catalog.archived()}
    records = {number: catalog.stored(number) for number in numbers}
    campaigns = PurgePlan(catalog, {n: record for n, record in records.items() if isinstance(record, Campaign)})
    if campaigns.records:
        tasks = catalog.of_kind(Task, is_live=False)
        records |= {number: task for number, task in tasks.items() if campaigns.is_named(task.campaign)}
    plan = PurgePlan(catalog, records)
    plan.remove(catalog.rows_of(records))
    plan.remove(loose_edges(plan))
    plan.remove(events(plan))
    plan.changes = dict(namers(plan))
    for number, report in catalog.reports_with_texts().items():
        told = [name for name in ("question", "note") if plan.is_told(getattr(report, name) or "")]
        if told and number not in plan.removed:
            plan.reports[number] = report.model_copy(update=dict.fromkeys(told))
    for number, one in catalog.facts_with(plan.words).items():
        if number not in plan.removed and isinstance(one, Event) and plan.is_told(orjson.dumps(one.data).decode()):
            plan.told[number] = one.model_copy(update={"data": untold(one.data, plan)})
    return plan


def untold(value: Any, plan: PurgePlan) -> Any:
    """Return a JSON value without the texts that hold one of the purged records'."""
    match value:
        case str():
            return None if plan.is_told(value) else value
        case dict():
            kept = {name: untold(part, plan) for name, part in value.items()}
            return {name: part for name, part in kept.items() if part is not None}
        case list():
            return [part for part in (untold(part, plan) for part in value) if part is not None]
    return value


def loose_edges(plan: PurgePlan) -> Iterator[tuple[int, str]]:
    """Yield the rows of edges that name a doomed record and do not represent a live edge of their own."""
    for number, file, source, target, src, dst in plan.catalog.edge_rows_by_reference():
        if src in plan.records or dst in plan.records or plan.is_named(source) or plan.is_named(target):
            yield number, file


def events(plan: PurgePlan) -> Iterator[tuple[int, str]]:
    """Yield the rows of events that happened to a doomed record, and of reports for a doomed task."""
    for number, file, row in plan.catalog.fact_rows_naming(("subject", "task")):
        named = row.get("subject") if row["kind"] == "event" else row.get("task")
        if isinstance(named, str) and (plan.is_named(named) or plan.is_named(f"task/{named}")):
            yield number, file


def namers(plan: PurgePlan) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records that name a doomed one, each with the values it has without that."""
    for number, record in plan.catalog.which_may_name(("superseded_by", "aliases", "alternates")):
        if number not in plan.records:
            values = without(record, plan)
            if values:
                yield number, values


def without(record: Record, plan: PurgePlan) -> dict[str, Any]:
    """Return the values of a record that change when its references to the purged records are removed."""
    values: dict[str, Any] = {name: None for name in record.single_references if plan.is_named(getattr(record, name))}
    lists: dict[str, tuple[list[Any], Collection[Any]]] = {
        "aliases": (
            [name for name in record.aliases if f"{record.record_type}/{name}" not in plan.handles],
            record.aliases,
        )
    }
    if isinstance(record, MemoryRecord):
        kept = [found for found in record.alternates if found.text not in plan.texts]
        lists["alternates"] = ([found.model_dump() for found in kept], record.alternates)
    if isinstance(record, Task):
        values |= {"blocked_reason": None} if plan.is_told(record.blocked_reason or "") else {}
        kept_lineage = [one for one in record.lineage if not plan.is_told(orjson.dumps(one).decode())]
        lists["lineage"] = (kept_lineage, record.lineage)
    for name in record.references:
        given = getattr(record, name)
        lists[name] = ([ref for ref in given if not plan.is_named(record.refers[name].full(ref))], given)
    return values | {name: kept for name, (kept, given) in lists.items() if len(kept) < len(given)}


def texts_of(value: object) -> Iterator[str]:
    """Yield the texts in a row but for its times."""
    match value:
        case str():
            yield value
        case dict():
            yield from (text for name, part in value.items() if name not in TIMES for text in texts_of(part))
        case list():
            yield from (text for part in value for text in texts_of(part))


def renewed(client: Client, number: int, values: Mapping[str, Any]) -> Entry:
    """Return the row of a record with other values."""
    return entry(changed(client.catalog.stored(number), values, client.now()), client.ledger.symmetric)


def orphaned_vectors(catalog: Catalog, plan: PurgePlan) -> list[bytes]:
    """Return the hashes of texts that have a vector and, once the doomed are gone, no record and no report."""
    reports = catalog.reports_with_texts()
    questions = {number: hash_of(report.question) for number, report in reports.items() if report.question}
    gone = plan.removed | {number for number, report in plan.reports.items() if report.question is None}
    digests = {digest for record in plan.records.values() if (digest := text_hash(record))}
    digests |= {digest for number, digest in questions.items() if number in gone}
    found: list[bytes] = []
    for digest in sorted(digests - {digest for number, digest in questions.items() if number not in gone}):
        if has_vector(catalog, digest) and all(number in plan.records for number in catalog.with_text(digest)):
            found.append(digest)
    return found
