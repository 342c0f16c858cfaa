"""Taking back: put a record in the place of another, undo the last writes of this clone."""

from collections.abc import Iterator
from pathlib import Path

import orjson

from graphmem import beneath
from graphmem.catalog.catalog import Catalog
from graphmem.catalog.entry import Entry
from graphmem.catalog.intake import Batch
from graphmem.errors import NotFound, Refused, Usage
from graphmem.ledger import undo as notes
from graphmem.ledger.layout import holds
from graphmem.ledger.row import read_entry
from graphmem.ledger.store import check_place
from graphmem.model import Record
from graphmem.model.result import Changed, Write, Writes
from graphmem.names import split_ref
from graphmem.ndjson import BadLine
from graphmem.store import Store
from graphmem.usecase.capture import put
from graphmem.usecase.intake import refuse_archived

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
