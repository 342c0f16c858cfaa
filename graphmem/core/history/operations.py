"""What changed: in one record from commit to commit, in the whole memory from one state to another."""

from collections.abc import Iterator, Sequence
from datetime import UTC
from functools import partial
from itertools import islice
from pathlib import Path

import orjson

from graphmem.core.history import compare
from graphmem.core.history.contract import Difference, DiffRequest, History, LogRequest, Revision, RowChange
from graphmem.core.records.event_contract import Happening, ListEventsRequest
from graphmem.core.records.event_log import events
from graphmem.errors import NotFound, Usage
from graphmem.kernel.git import commands
from graphmem.kernel.ledger.files.layout import FOLDER, Layout
from graphmem.kernel.ledger.parts import usual_file
from graphmem.kernel.ledger.port import PlaceHistory, Side
from graphmem.kernel.ledger.types import type_files
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.vocabulary import KINDS
from graphmem.kernel.ndjson import BOM, Row, decode
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.checkout import committed
from graphmem.kernel.store.runtime import ALL_RIGHTS, Client, narrowed
from graphmem.kernel.store.snapshot import types_of
from graphmem.kernel.system import safe_files
from graphmem.names import row_id, split_ref

# --- the whole memory -----------------------------------------------------------------------------------------------


@operation(
    "diff",
    positional=1,
    scoped=True,
    arguments=1,
    takes={"revisions": Taken("A..B|A")},
    example="graphmem diff main...HEAD --markdown",
    help="""
    Show in words what changed in the memory: between two commits, or since one.

    A..B compares two commits, A...B shows what B changed since it left A, A compares with the files as they are now.
    Each may be a date, which means the last commit before it.
    """,
)
def diff(client: Client, request: DiffRequest) -> Difference:
    """
    Return what changed in the memory.

    Git is asked, which may take long, while no moment is open.
    """
    client = present(client)
    with client.reading():
        symmetric = client.ledger.symmetric
    history = client.ledger.place.history
    sides = _in_git if history is None else partial(_in_place, history)
    old, new, (lines_then, then), (lines_now, now) = sides(client, request.revisions)
    rows_then, bad_then = compare.read_rows(lines_then - lines_now, symmetric)
    rows_now, bad_now = compare.read_rows(lines_now - lines_then, symmetric)
    rows_then, rows_now = (
        {key: client.catalog.told(row) for key, row in rows.items()} for rows in (rows_then, rows_now)
    )
    changes = _by_names(client, _visible(client, compare.compare(rows_then | types(then), rows_now | types(now))))
    skipped = bad_then + bad_now if client.rights.sees is None else 0  # of which files, no line says
    return Difference(before=old, after=new, summary=compare.summary(changes), changes=changes, skipped=skipped)


def _in_git(client: Client, revisions: str | None) -> tuple[str | None, str | None, Side, Side]:
    """Return the two commits to compare, and the lines and texts of both."""
    folder = client.root
    old, new = _ends(folder, revisions, client.layout.history)
    with commands.objects(folder) as objects:
        before = committed(folder, old)[1] if old is not None else {}
        if new is None:
            then, now = _contents(objects, before), _on_disk(client.layout)
        else:
            _, after = committed(folder, new)
            same = before.items() & after.items()
            then, now = _contents(objects, dict(before.items() - same)), _contents(objects, dict(after.items() - same))
    return old, new, (_lines(then), then), (_lines(now), now)


def _in_place(history: PlaceHistory, client: Client, revisions: str | None) -> tuple[str, str | None, Side, Side]:
    """Return the same of a place with commits of its own, which have numbers and one line of descent."""
    first, _, second = (revisions or "").replace("...", "..").partition("..")
    if not first:
        raise Usage("which commits?", hint="a number or a date, or two: graphmem diff 2026-11-01..2026-11-08")
    old, new = history.moment(first), history.moment(second) if second else None
    return str(old.number), new and str(new.number), *history.between(old, new)


def present(client: Client) -> Client:
    """Return a client of the store as it is now: the past has the same history."""
    if client.present is None or client.rights == ALL_RIGHTS:
        return client.present or client
    return narrowed(client.present, client.rights)


def _visible(client: Client, changes: Sequence[RowChange]) -> list[RowChange]:
    """
    Return the changes of what the caller may see.

    Of an edge these are both ends, of an event what it is about, of a report the memory and the task that it names.
    """
    sees, known = client.rights.sees, client.catalog.vocabulary.relations
    if sees is None:
        return list(changes)

    def is_seen(found: RowChange) -> bool:
        if found.kind in ("entity type", "relation type"):
            return found.row["name"] in (sees if found.kind == "entity type" else known)
        is_of_task = found.kind == "feedback" and split_ref(str(found.row.get("task") or ""))[0] == "task"
        return all(name in sees for name in (*types_of(found.row), *(["task"] if is_of_task else ())))

    return [found for found in changes if is_seen(found)]


def _by_names(client: Client, changes: Sequence[RowChange]) -> list[RowChange]:
    """Return changes with the records that they refer to by name: rows have them by key."""
    refs = {text for change in changes for text in compare.texts_of(change) if "/" in text}
    with client.reading() as snapshot:
        names = snapshot.catalog.shown_refs(refs)
    own = {compare.key_ref(change): change.ref for change in changes}  # of what is gone, or on another branch only
    return [compare.by_names(change, own | names) for change in changes]


def _ends(folder: Path, revisions: str | None, history: str) -> tuple[str | None, str | None]:
    """Return the two commits to compare; None for nothing before the first commit, and for the files as they are."""
    if revisions is None:
        return commands.commit_of(folder, history), None
    if ".." not in revisions:
        return commands.find_commit(folder, revisions, history), None
    is_since_left = "..." in revisions
    first, _, second = revisions.partition("..." if is_since_left else "..")
    old, new = (commands.find_commit(folder, one or history, history) for one in (first, second))
    return (commands.merge_base(folder, old, new) if is_since_left else old), new


def _contents(objects: commands.Objects, files: dict[str, str]) -> dict[str, bytes]:
    """Return files with their contents."""
    return {path: objects.read(name) for path, name in files.items()}


def _on_disk(layout: Layout) -> dict[str, bytes]:
    """Return the files of the store as they are now."""
    paths = [*(layout.store / file for file in layout.data_files()), *type_files(layout)]
    return {path.relative_to(layout.store).as_posix(): safe_files.read(path) for path in paths}


def types(files: dict[str, bytes]) -> dict[str, Row]:
    """Return the types that files declare, as rows: a type is its text."""
    found: dict[str, Row] = {}
    for path, data in files.items():
        if path.startswith("types/"):
            kind = "entity type" if path.startswith("types/entities/") else "relation type"
            text = data.decode("utf-8", "replace").replace("\r\n", "\n")
            found[path] = {"kind": kind, "name": Path(path).stem, "text": text}
    return found


def _lines(files: dict[str, bytes]) -> set[bytes]:
    """Return the lines of the data files, without their line ends."""
    data = (content.removeprefix(BOM) for path, content in files.items() if path.startswith("data/"))
    found = {line.rstrip(b"\r") for content in data for line in content.split(b"\n")}
    return {line for line in found if line.strip()}


# --- one record -----------------------------------------------------------------------------------------------------


@operation("log", scoped=True, command="history", example="graphmem history failure/import-error --limit 5")
def log(client: Client, request: LogRequest) -> History:
    """
    Return the commits that changed a record, newest first, and what happened to it; git is asked.

    Git is asked, which may take long, while no moment is open.
    """
    client = present(client)
    ref, limit = request.ref, request.limit
    gone: NotFound | None = None
    happened: list[Happening] = []
    with client.reading() as snapshot:
        try:
            number = snapshot.resolve(ref)
            record = snapshot.catalog.records([number])[number]
            key, shown = record.key_ref, record.ref
            if client.rights.sees is None:  # who sees some kinds sees no events
                happened = events(snapshot, ListEventsRequest(subject=shown)).events
        except NotFound as error:
            if split_ref(ref)[0] not in snapshot.catalog.vocabulary.record_types:
                raise
            key, shown, gone = ref, ref, error  # it may have been there once, under this key
        keys = snapshot.vocabulary.refs(key)
    found = (one for one in revisions(client, keys) if _visible(client, [one.change]))
    results = list(islice(found, None if limit is None else limit + 1))
    changes = _by_names(client, [found.change for found in results])
    results = [found.model_copy(update={"change": change}) for found, change in zip(results, changes, strict=True)]
    if gone is not None and not results:
        raise gone
    is_cut = limit is not None and len(results) > limit
    is_shallow = client.ledger.place.history is None and commands.is_shallow(client.root)
    return History(ref=shown, results=results[:limit], events=happened, truncated=is_cut, shallow=is_shallow)


def revisions(client: Client, keys: Sequence[str]) -> Iterator[Revision]:
    """
    Yield what became of a record, from now back to its first commit.

    Args:
        keys: its reference by key, under each name that its type has or had.
    """
    if (history := client.ledger.place.history) is not None:
        yield from _revisions_in_place(client, history, keys)
        return
    layout, folder = client.layout, client.root
    homes = tuple(home for record_type, _ in map(split_ref, keys) for home in _homes_of(record_type))
    head = commands.commit_of(folder, layout.history)
    with commands.objects(folder) as objects:
        seen: dict[str, Row | None] = {}

        def told(data: bytes) -> Row | None:
            row = _row_of(data, keys)
            return None if row is None else client.catalog.told(row)

        def row_in(names: Sequence[str]) -> Row | None:
            for name in names:
                if name not in seen:
                    seen[name] = told(objects.read(name))
            return next((row for name in names if (row := seen[name]) is not None), None)

        now = (told(content) for file, content in _on_disk(layout).items() if file.startswith(homes))
        files = committed(folder, head)[1] if head is not None else {}
        last = [name for path, name in files.items() if path.startswith(homes)]
        change = compare.change(row_in(last), next((row for row in now if row is not None), None))
        if change is not None:
            yield Revision(commit=None, at=None, author=None, subject=None, change=change)
        for commit, by_parent in (
            commands.touching(folder, [f"{FOLDER}/{path}" for path in homes], layout.history) if head else ()
        ):
            changes = [compare.change(row_in(old), row_in(new)) for old, new in by_parent]
            # A merge that has the row as one of its parents has it took it from there, and changed nothing.
            if len(changes) >= len(commit.parents) and all(changes) and (change := changes[0]):
                yield Revision(
                    commit=commit.hash,
                    at=format_time(commit.at),
                    author=commit.author,
                    subject=commit.subject if client.rights.sees is None else None,  # it may be of other records
                    change=change,
                )


def _revisions_in_place(client: Client, history: PlaceHistory, keys: Sequence[str]) -> Iterator[Revision]:
    """Yield what became of a record in a place with commits of its own."""
    named = (name if record_type in FACTS else key for key in keys for record_type, name in [split_ref(key)])
    for found in history.changes([row_id(name) for name in named]):
        old, new = (None if line is None else client.catalog.told(decode(line)) for line in (found.old, found.new))
        if (change := compare.change(old, new)) is not None:
            at = format_time(found.at.astimezone(UTC))
            yield Revision(commit=str(found.number), at=at, author=found.by, subject=None, change=change)


def _homes_of(record_type: str) -> tuple[str, str]:
    """Return how the paths of the data files begin that may hold a record of a record type."""
    home = usual_file(record_type, None) if record_type in KINDS else usual_file("entity", record_type)
    return home, home.removesuffix(".ndjson") + "/"


def _row_of(data: bytes, keys: Sequence[str]) -> Row | None:
    """Return the row of a record, by any of its references by key, in the content of a data file."""
    record_type, name = split_ref(keys[0])
    kind = record_type if record_type in KINDS else "entity"
    wanted = {f"{kind}\n{name if record_type in FACTS else key}" for key in keys}
    text = orjson.dumps(name)
    for line in data.removeprefix(BOM).split(b"\n"):
        if text in line or b"\\u" in line or b"\\/" in line:  # only these can hold it: the rest is not parsed
            found = compare.read_row(line.rstrip(b"\r"), ())
            if found is not None and found[0] in wanted:
                return found[1]
    return None
