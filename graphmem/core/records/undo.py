"""Taking back: put a record in the place of another, undo the last writes of this clone."""

from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath
from zlib import crc32

import orjson

from graphmem.core.records.candidates import reopen, written
from graphmem.core.records.change import put
from graphmem.core.records.record_contract import Changed, SupersedeRequest, UndoRequest, Write, Writes
from graphmem.core.records.screening import screened
from graphmem.core.records.succession import archived_for
from graphmem.core.records.validation import refuse_archived
from graphmem.errors import NotFound, Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger import undo as notes
from graphmem.kernel.ledger.files.data_file import refuse_misplaced
from graphmem.kernel.ledger.files.layout import TYPE_FILE
from graphmem.kernel.ledger.parts import holds, home_of
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.types import Types, read_types
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.vocabulary import RelationType
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files

# --- supersede -----------------------------------------------------------------------------------------------------


@operation(
    "supersede",
    writes=True,
    positional=3,
    example='graphmem supersede pattern/pin-setuptools pattern/use-importlib --reason "pkg_resources is gone for good"',
    takes={"old": Taken("OLD", "ref"), "new": Taken("NEW", "ref")},
)
def supersede(snapshot: Writing, request: SupersedeRequest) -> Changed:
    """
    Archive a record that another one of its kind takes the place of.

    Raises:
        Refused: the two are one, of different kinds, archived, the old one is pinned, or it supersedes the new one.
    """
    request = screened(snapshot, request, "supersede")
    number, successor = snapshot.resolve(request.old), snapshot.resolve(request.new)
    before, after = snapshot.catalog.stored(number), snapshot.catalog.stored(successor)
    if number == successor:
        raise Refused(f"{request.old!r} cannot take its own place", hint="graphmem supersede OLD NEW, two records")
    if before.is_archived and before.superseded_by == after.key_ref:
        return put(snapshot, number, {}, "unchanged")
    refuse_archived(snapshot.catalog, successor)
    archived = archived_for(snapshot.catalog, number, after, request.reason, snapshot.now)
    values = {name: getattr(archived, name) for name in ("archived_at", "archive_reason", "superseded_by")}
    return put(snapshot, number, values, "archived")


# --- undo ----------------------------------------------------------------------------------------------------------


@operation(
    "undo",
    writes=True,
    positional=1,
    help="""
    Take back the last writes of this clone, all or none: rows that they added go, others are as they were.

    The last 50 are kept, declared types too. It is refused where their rows were changed since, also by a checkout of
    another branch. An undo cannot be taken back, and neither can a purge.
    """,
    example="graphmem undo 2",
)
def undo(snapshot: Writing, request: UndoRequest) -> Writes:
    """
    Take back the last ``number`` writes of this clone, all or none; return them, the last first.

    An undo is no write of its own: it cannot be taken back, and the next one goes further back.

    Raises:
        NotFound: there are not that many.
        Refused: rows of one of them were changed since, by another branch too; or a type of them is in use.
    """
    number = request.number
    current = notes.Overlay(snapshot.catalog.lines_of, snapshot.symmetric)
    present = set(snapshot.ledger.place.parts())
    types: dict[str, bytes | None] = {}  # the files of types as they will be; None for one that goes
    taken: list[notes.NotedWrite] = []
    passed: list[Path] = []
    for path in notes.noted(snapshot.layout):
        if len(taken) == number:
            break
        write = notes.by_files(notes.read_write(path), present, current.symmetric)
        since = _changes_since(snapshot, current, types, write, is_sure=notes.is_sure(path))
        passed.append(path)
        if since is None:
            continue
        if since:
            raise _changed_since(write, since)
        _refuse_types_in_use(snapshot, current, types)
        taken.append(write)
    if len(taken) < number:
        raise NotFound(
            f"{len(taken)} writes of this clone can be taken back, not {number}" if taken else "nothing to undo",
            hint="see: graphmem undo --list; what git has, git takes back",
        )
    answer = Writes(writes=[described(snapshot.catalog, write) for write in taken])
    accepted = written(snapshot.client)
    passed = [notes.doubt(path) for path in passed]
    batches = dict(_batches(snapshot, current))
    puts = [entry for batch in batches.values() for entry in batch.entries]
    snapshot.admit(puts, {file: batch.gone for file, batch in batches.items()}, types)
    snapshot.ledger.write(batches, types, is_noted=False)
    for path in passed:
        safe_files.remove(path)
    reopen(snapshot.client, {name for name, _ in accepted - written(snapshot.client)})
    return answer


def _changes_since(
    snapshot: Snapshot,
    current: notes.Overlay,
    types: dict[str, bytes | None],
    write: notes.NotedWrite,
    *,
    is_sure: bool,
) -> list[str] | None:
    """Take a write back, and return what was changed since, for then it stays; None where it never happened."""
    files = {*write.types, *write.texts}
    other = [file for file in files if _checksum(snapshot, types, file) != write.types.get(file)]
    if other:
        return [f"{file}, which is gone or has another text" for file in sorted(other)] if is_sure else None
    before = {file: write.texts[file].encode() if file in write.texts else None for file in files}
    current.symmetric |= {
        made.type for made in read_types(before).values() if isinstance(made, RelationType) and made.symmetric
    }
    since = current.take_back(write, is_sure=is_sure)
    if not since:
        types |= before
    return None if since is None else [_row_named(file, line) for file, line in since]


def _checksum(snapshot: Snapshot, types: Types, file: str) -> int | None:
    """Return the CRC-32 of a file as it will be with other files of types; None where it is gone."""
    if file in types:
        text = types[file]
        return None if text is None else crc32(text)
    text = snapshot.ledger.place.text(file)
    return None if text is None else crc32(text)


def _refuse_types_in_use(snapshot: Snapshot, current: notes.Overlay, types: Types) -> None:
    """Raise ``Refused`` for a type that is to go and has rows, or that another type names which stays."""
    left = snapshot.vocabulary.with_types(read_types(types))
    for file in (file for file, text in types.items() if text is None and TYPE_FILE.fullmatch(file)):
        group, name = PurePath(file).parent.name, PurePath(file).stem
        held = f"data/{group}/{name}.ndjson"
        files = [found for found in snapshot.ledger.place.parts() if home_of(found) == held]
        known = {number: found for found in files for number in snapshot.catalog.lines(found).values()}
        rows = [number for number, found in known.items() if current.after.get(found, {}).get(number, b"") is not None]
        users = [made.type for made in left.project_relations.values() if name in (*made.sources, *made.targets)]
        if rows or users:
            what = f"{len(rows):,} rows are of it" if rows else f"relation type {users[0]!r} names it"
            raise Refused(
                f"type {name!r} cannot be taken back: {what}", hint="nothing was changed; take these back first"
            )


@operation("undoable")
def undoable(snapshot: Snapshot) -> Writes:
    """Return the writes of this clone that can be taken back, the last first."""
    return Writes(writes=[described(snapshot.catalog, notes.read_write(path)) for path in notes.noted(snapshot.layout)])


def _batches(snapshot: Writing, current: notes.Overlay) -> Iterator[tuple[str, Batch]]:
    """Yield what has to change in each file for its rows to be as they are to be after an undo."""
    files = set(snapshot.ledger.place.parts())
    for file, after in current.after.items():
        now = snapshot.catalog.lines_of(list(after), file)
        gone = [number for number, line in after.items() if line is None and number in now]
        entries = [
            _read_back(current, file, line)
            for number, line in after.items()
            if line is not None and now.get(number) != line
        ]
        if (gone or entries) and file not in files:
            raise Refused(f"{file} is gone since", hint="bring the file back, or use git")
        if gone or entries:
            yield file, Batch(file, gone=gone, entries=entries)


def _read_back(current: notes.Overlay, file: str, line: bytes) -> Entry:
    """Return the row on an old line, checked like one of a file."""
    try:
        found = read_entry(line.rstrip(b"\r"), current.symmetric)
        refuse_misplaced(file, holds(file), found)
    except BadLine as bad:
        raise Refused(f"a note of what was written holds no row of {file}: {bad.message}") from None
    return found._replace(line=line)


def described(catalog: Catalog, write: notes.NotedWrite) -> Write:
    """Return a write as answers show it."""
    files = write.files.values()
    return Write(
        at=write.at,
        command=write.command,
        added=sum(len(rows.added) for rows in files) + len(write.types.keys() - write.texts.keys()),
        changed=sum(len(rows.changed) for rows in files) + len(write.types.keys() & write.texts.keys()),
        removed=sum(len(rows.removed) for rows in files) + len(write.texts.keys() - write.types.keys()),
        rows=[_with_names(catalog, title) for title in write.titles],
    )


def _with_names(catalog: Catalog, title: str) -> str:
    """Return what a row was called when it was written, with what it refers to by current name; rows have keys."""
    words = title.split(" ")
    shown = catalog.shown_refs({word for word in words if "/" in word})
    return " ".join(shown.get(word, word) for word in words)


def _row_named(file: str, line: bytes | None) -> str:
    """Return what a row is called that was changed since a write."""
    return notes.title(orjson.loads(line)) if line is not None else f"a row of {file} that is gone"


def _changed_since(write: notes.NotedWrite, rows: Sequence[str]) -> Refused:
    """Report what was changed since a write, so that it cannot be taken back."""
    more = f" and {len(rows) - notes.SHOWN:,} more" if len(rows) > notes.SHOWN else ""
    wrote = f" ({', '.join(write.titles)})" if write.titles else ""
    return Refused(
        f"{write.command} of {write.at}{wrote} cannot be taken back, changed since:"
        f" {', '.join(rows[: notes.SHOWN])}{more}",
        hint="nothing was changed; go back to the branch of that write, edit the rows, or use git",
        details={"rows": list(rows)},
    )
