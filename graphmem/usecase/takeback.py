"""Taking back: put a record in the place of another, destroy records, undo the last writes of this clone."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from graphmem import beneath
from graphmem.catalog.catalog import Catalog, chunks, marks, parse_record
from graphmem.catalog.entry import Entry, text_hash
from graphmem.catalog.intake import Batch
from graphmem.errors import NotFound, Refused, Usage
from graphmem.ledger import undo as notes
from graphmem.ledger.layout import holds
from graphmem.ledger.row import entry, read_entry
from graphmem.ledger.store import check_place
from graphmem.model import Campaign, Decision, Memory, Record, Task
from graphmem.model.result import Changed, Purged, Write, Writes
from graphmem.names import split_ref
from graphmem.ndjson import BadLine
from graphmem.search.vectors import forget as forget_vectors
from graphmem.store import Store
from graphmem.usecase.capture import TEXTS, put
from graphmem.usecase.intake import changed, full_ref, refuse_archived

SHOWN = 5  # rows of a write that are named


# --- supersede -----------------------------------------------------------------------------------------------------


def supersede(store: Store, old: str, new: str, reason: str | None) -> Changed:
    """
    Archive a record that another one takes the place of.

    Raises:
        Refused: the two are one, of different kinds, archived, or the new one is itself superseded by the old one.
    """
    with store.writing() as catalog:
        number, successor = store.resolve(old), store.resolve(new)
        before, after = catalog.stored(number), catalog.stored(successor)
        if number == successor:
            raise Refused(f"{old!r} cannot take its own place", hint="graphmem supersede OLD NEW, two records")
        if before.kind != after.kind:
            raise Refused(
                f"{before.ref} is a {before.kind}, {after.ref} a {after.kind}", hint="both have to be of one kind"
            )
        if before.is_archived and before.superseded_by == after.key_ref:
            return put(store, number, {}, "unchanged")
        for found in (number, successor):
            refuse_archived(catalog, found)
        refuse_circle(catalog, number, after)
        values = {"archived_at": store.now(), "archive_reason": reason, "superseded_by": after.key_ref}
        return put(store, number, values, "archived")


def refuse_circle(catalog: Catalog, number: int, successor: Record) -> None:
    """Raise ``Refused`` where a record's successors lead back to the record that it is to take the place of."""
    seen: set[int] = set()
    at: Record | None = successor
    while at is not None and at.superseded_by:
        found = catalog.lookup(*split_ref(at.superseded_by))
        if found == number:
            raise Refused(
                f"{successor.ref} is superseded by {catalog.stored(number).ref}, which it would supersede",
                hint=f"take superseded_by out of the row of {at.ref} first",
            )
        at = catalog.stored(found) if found is not None and found not in seen else None
        seen.add(found or 0)


# --- purge ---------------------------------------------------------------------------------------------------------


@dataclass
class Doomed:
    """The records that a purge destroys, and what it takes for nothing to name them any more."""

    catalog: Catalog
    records: dict[int, Record] = field(default_factory=dict)
    rows: dict[str, set[int]] = field(default_factory=dict)  # numbers of rows that go, by file
    changes: dict[int, dict[str, Any]] = field(default_factory=dict)  # of other records, by number

    @cached_property
    def handles(self) -> frozenset[str]:
        """Every reference that may mean one of them."""
        return frozenset(
            f"{record.scope}/{name}"
            for record in self.records.values()
            for name in (record.key, record.name, *record.aliases)
        )

    @cached_property
    def texts(self) -> frozenset[str]:
        """What stands in their texts."""
        found = (getattr(record, name, None) for record in self.records.values() for name in TEXTS)
        return frozenset(text for text in found if text)

    def is_named(self, ref: str | None) -> bool:
        """Tell whether a reference means one of them."""
        return ref in self.handles and self.catalog.lookup(*split_ref(ref)) in self.records

    def remove(self, rows: Iterable[tuple[int, str]]) -> None:
        """Note rows that go."""
        for number, file in rows:
            self.rows.setdefault(file, set()).add(number)


def purge(store: Store, refs: Collection[str], *, archived: bool, yes: bool) -> Purged:
    """
    Destroy records, every row that names them, their vectors, and their names in other records.

    The tasks of a campaign go with it: a task is nothing without its campaign. Without ``yes`` nothing is changed.
    What was noted for ``undo`` goes too, for it holds old lines; a purge cannot be taken back.
    """
    if not refs and not archived:
        raise Usage("say what to purge", hint="graphmem purge REF, or graphmem purge --archived")
    with store.writing() as catalog:
        doomed = gather(store, refs, archived=archived)
        digests = orphaned_vectors(catalog, doomed)
        records = sorted(catalog.refs(doomed.records).values())
        changes = sorted(catalog.refs(doomed.changes).values())
        if yes and records:
            puts = [renewed(store, number, values) for number, values in doomed.changes.items()]
            removes = {file: sorted(numbers) for file, numbers in doomed.rows.items()}
            store.ledger.commit(puts, removes, is_noted=False)
            for path in notes.noted(store.layout):
                beneath.remove(path)
            store.lexical.catch_up()
            if digests:
                forget_vectors(catalog.connection, store.local / "vectors", digests, store.vectors)
        rows = {file: len(numbers) for file, numbers in sorted(doomed.rows.items())}
        return Purged(done=yes, records=records, rows=rows, changed=changes, vectors=len(digests),
                      history=[cleaning(doomed)] if records else [])  # fmt: skip


def gather(store: Store, refs: Collection[str], *, archived: bool) -> Doomed:
    """Return what goes with some records, and what has to be changed in others."""
    catalog = store.catalog
    numbers = {store.resolve(ref) for ref in refs}
    if archived:
        numbers |= {number for (number,) in catalog.connection.execute("SELECT id FROM record WHERE NOT is_live")}
    records = {number: catalog.stored(number) for number in numbers}
    campaigns = Doomed(catalog, {n: record for n, record in records.items() if isinstance(record, Campaign)})
    if campaigns.records:
        sql = "SELECT id, line FROM record WHERE scope = 'task'"
        for number, line in catalog.connection.execute(sql).fetchall():
            task = parse_record(line)
            if isinstance(task, Task) and campaigns.is_named(task.campaign):
                records[number] = task
    doomed = Doomed(catalog, records)
    for part in chunks(records):
        for table, column in (("record", "id"), ("fact", "node")):
            sql = f"SELECT id, file FROM {table} WHERE file NOT NULL AND {column} IN ({marks(part)})"
            doomed.remove(catalog.connection.execute(sql, part))
        sql = f"SELECT id, file FROM fact WHERE record IN ({marks(part)})"
        doomed.remove(catalog.connection.execute(sql, part))
        for end in ("src", "dst"):
            sql = f"SELECT id, file FROM relation WHERE is_live AND file IS NOT NULL AND {end} IN ({marks(part)})"
            doomed.remove(catalog.connection.execute(sql, part))
    doomed.remove(loose_edges(doomed))
    doomed.remove(events(doomed))
    doomed.changes = dict(namers(doomed))
    return doomed


def loose_edges(doomed: Doomed) -> Iterator[tuple[int, str]]:
    """Yield the rows of edges that name a doomed record and do not stand for a live edge of their own."""
    sql = (
        "SELECT id, file, source, target, src, dst FROM relation"
        " WHERE (edge IS NULL OR edge <> id) AND file IS NOT NULL"
    )
    for number, file, source, target, src, dst in doomed.catalog.connection.execute(sql).fetchall():
        if src in doomed.records or dst in doomed.records or doomed.is_named(source) or doomed.is_named(target):
            yield number, file


def events(doomed: Doomed) -> Iterator[tuple[int, str]]:
    """Yield the rows of events that happened to a doomed record, and of reports for a doomed task."""
    sql = "SELECT id, file, line FROM fact WHERE instr(line, '\"subject\"') OR instr(line, '\"task\"')"
    for number, file, line in doomed.catalog.connection.execute(sql).fetchall():
        row = orjson.loads(line)
        named = row.get("subject") if row["kind"] == "event" else row.get("task")
        if isinstance(named, str) and (doomed.is_named(named) or doomed.is_named(f"task/{named}")):
            yield number, file


def namers(doomed: Doomed) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the records that name a doomed one, each with the values it has without that."""
    sql = (
        "SELECT id, line FROM record WHERE scope IN ('task', 'insight', 'session', 'run', 'decision')"
        " OR instr(line, '\"superseded_by\"')"
        " OR instr(line, '\"aliases\"') OR instr(line, '\"alternates\"')"
    )
    for number, line in doomed.catalog.connection.execute(sql).fetchall():
        if number not in doomed.records:
            record = parse_record(line)
            values = without(record, doomed)
            if values:
                yield number, values


def without(record: Record, doomed: Doomed) -> dict[str, Any]:
    """Return the values of a record that change when nothing in it names a doomed one."""
    values: dict[str, Any] = {}
    if doomed.is_named(record.superseded_by):
        values["superseded_by"] = None
    lists: dict[str, tuple[list[Any], Collection[Any]]] = {
        "aliases": ([name for name in record.aliases if f"{record.scope}/{name}" not in doomed.handles], record.aliases)
    }
    if isinstance(record, Memory):
        kept = [found for found in record.alternates if found.text not in doomed.texts]
        lists["alternates"] = ([found.model_dump() for found in kept], record.alternates)
    if isinstance(record, Decision) and doomed.is_named(record.task):
        values["task"] = None
    for name in record.references:
        given = getattr(record, name)
        lists[name] = ([ref for ref in given if not doomed.is_named(full_ref(record, ref))], given)
    return values | {name: kept for name, (kept, given) in lists.items() if len(kept) < len(given)}


def renewed(store: Store, number: int, values: Mapping[str, Any]) -> Entry:
    """Return the row of a record with other values."""
    return entry(changed(store.catalog.stored(number), values, store.now()), store.ledger.symmetric)


def orphaned_vectors(catalog: Catalog, doomed: Doomed) -> list[bytes]:
    """Return the hashes of texts that have a vector and, once the doomed are gone, no record."""
    digests = {digest for record in doomed.records.values() if (digest := text_hash(record))}
    found: list[bytes] = []
    for digest in sorted(digests):
        holders = catalog.connection.execute("SELECT id FROM record WHERE text_hash = ?", (digest,)).fetchall()
        has_vector = catalog.connection.execute("SELECT 1 FROM vector WHERE text_hash = ?", (digest,)).fetchone()
        if has_vector and all(number in doomed.records for (number,) in holders):
            found.append(digest)
    return found


def cleaning(doomed: Doomed) -> str:
    """Return the command that takes the files of what was destroyed out of git's history."""
    paths = " ".join(f"--path-glob '*.graphmem/{file}'" for file in sorted(doomed.rows))
    return f"git filter-repo --invert-paths {paths}"


# --- undo ----------------------------------------------------------------------------------------------------------


def undo(store: Store, number: int) -> Writes:
    """
    Take back the last writes of this clone, all or none; a write whose rows are as before it already does not count.

    An undo is no write of its own: it cannot be taken back, and the next one goes further back.

    Raises:
        NotFound: there are not that many.
        Refused: rows of one of them were changed since.
    """
    if number < 1:
        raise Usage(f"{number} writes cannot be taken back", hint="graphmem undo, or graphmem undo 3")
    with store.writing() as catalog:
        current = notes.Current(catalog, store.ledger.symmetric)
        taken: list[Write] = []
        passed: list[Path] = []
        for path in notes.noted(store.layout):
            if len(taken) == number:
                break
            write = notes.read_write(path)
            shown = described(catalog, write)
            since = current.take_back(write)
            passed.append(path)
            if since:
                raise changed_since(shown, since)
            if since is not None:
                taken.append(shown)
        if len(taken) < number:
            raise NotFound(
                f"{len(taken)} writes of this clone can be taken back, not {number}" if taken else "nothing to undo",
                hint="see: graphmem undo --list; what git has, git takes back",
            )
        store.ledger.write(dict(batches(store, current)), is_noted=False)
        for path in passed:
            beneath.remove(path)
        return Writes(writes=taken)


def undoable(store: Store) -> Writes:
    """Return the writes that were noted, the last first."""
    with store.reading() as catalog:
        return Writes(writes=[described(catalog, notes.read_write(path)) for path in notes.noted(store.layout)])


def batches(store: Store, current: notes.Current) -> Iterator[tuple[str, Batch]]:
    """Yield what has to change in each file for its rows to be as they are to be after an undo."""
    files = set(store.ledger.data_files())
    for file, after in current.after.items():
        now = store.catalog.lines_of(list(after), file)
        gone = [number for number, line in after.items() if line is None and number in now]
        entries = [
            read_back(store, file, line)
            for number, line in after.items()
            if line is not None and now.get(number) != line
        ]
        if (gone or entries) and file not in files:
            raise Refused(f"{file} is gone since", hint="bring the file back, or use git")
        if gone or entries:
            yield file, Batch(file, gone=gone, entries=entries)


def read_back(store: Store, file: str, line: bytes) -> Entry:
    """Return the row on an old line, checked like one of a file."""
    try:
        found = read_entry(line.rstrip(b"\r"), store.ledger.symmetric)
        check_place(file, holds(file), found)
    except BadLine as bad:
        raise Refused(f"a note of what was written holds no row of {file}: {bad.message}") from None
    return found._replace(line=line)


def described(catalog: Catalog, write: notes.Write) -> Write:
    """Return a write as answers show it."""
    lines: list[bytes] = []
    for file, rows in write.files.items():
        lines += [*rows.changed, *rows.removed][:SHOWN]
        lines += catalog.lines_of(rows.added[:SHOWN], file).values()
    files = write.files.values()
    return Write(
        at=write.at,
        command=write.command,
        added=sum(len(rows.added) for rows in files),
        changed=sum(len(rows.changed) for rows in files),
        removed=sum(len(rows.removed) for rows in files),
        rows=[named(line) for line in lines[:SHOWN]],
    )


def named(line: bytes) -> str:
    """Return what a row is called."""
    match orjson.loads(line):
        case {"kind": "relation", "from": source, "type": kind, "to": target}:
            return f"{source} {kind} {target}"
        case {"kind": "feedback", "ref": ref}:
            return f"report on {ref}"
        case {"kind": "run", "run": name}:
            return f"run/{name}"
        case {"kind": "event", "id": name}:
            return f"event/{name}"
        case {"kind": "entity", "type": kind, "name": name} | {"kind": kind, "name": name}:
            return f"{kind}/{name}"
    return line.decode()


def changed_since(write: Write, since: list[tuple[str, bytes | None]]) -> Refused:
    """Say which rows of a write were changed since, so that it cannot be taken back."""
    rows = [named(line) if line is not None else f"a row of {file} that is gone" for file, line in since]
    more = f" and {len(rows) - SHOWN:,} more" if len(rows) > SHOWN else ""
    return Refused(
        f"{write.command} of {write.at} cannot be taken back, changed since: {', '.join(rows[:SHOWN])}{more}",
        hint="nothing was changed; edit them, or use git",
        details={"rows": rows},
    )
