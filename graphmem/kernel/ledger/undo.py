"""
What the last writes of this clone replaced, so that they can be taken back: one small file a write in ``state/undo/``.

A write is noted before its files are replaced: the numbers of rows that it adds, the old lines of rows that it changes
or removes, and a checksum of every line that it leaves. New lines are not kept, so a bulk addition costs little.
"""

import contextlib
import os
import time
from array import array
from base64 import b64decode, b64encode
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePath
from zlib import crc32

import orjson
from pydantic import BaseModel, ConfigDict

from graphmem.errors import Refused
from graphmem.kernel.ledger.files.layout import VOCABULARY_FILE, Layout
from graphmem.kernel.ledger.parts import files_by_kind, holds, home_of, is_part, part_of
from graphmem.kernel.ledger.row import line_id
from graphmem.kernel.ledger.types import read_types
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

LinesOf = Callable[[Collection[int], str], Mapping[int, bytes]]  # those of some rows that a file holds, by number
MOST_WRITES = 50  # writes that can be taken back
SHOWN = 5  # rows of a write that are named
WORDS = {"entities": "entity type", "relations": "relation type", "scopes": "scope", "extractors": "extractor"}
SURE, UNSURE = ".json", ".new.json"  # ends of the name of a note: whether its write has happened for certain
NAME = lazy_re(r"0[0-9]{9}(\.new)?\.json")  # below 10^9: the next number has as many digits
NOTE_BYTES = 2**28  # of a note that is read: the old lines of a write of very many rows


@dataclass(slots=True)
class Rows:
    """What a write does to one data file."""

    added: "array[int]" = field(default_factory=lambda: array("q"))  # numbers of rows that were not there
    changed: list[bytes] = field(default_factory=list)  # old lines of rows that have another one now
    removed: list[bytes] = field(default_factory=list)  # old lines of rows that are gone
    sums: "array[int]" = field(default_factory=lambda: array("I"))  # CRC-32 of the lines of added, then changed rows


@dataclass(frozen=True, slots=True)
class NotedWrite:
    """One write: when and by which command, and what it does to each file, by its path below the store."""

    at: str
    command: str
    files: Mapping[str, Rows]
    types: Mapping[str, int] = field(default_factory=dict)  # files of types that it leaves: CRC-32 of their texts
    texts: Mapping[str, str] = field(default_factory=dict)  # of files of types that it changes or removes, before
    titles: Sequence[str] = ()  # what the first of its rows and types are called


def _rows_of(lines_of: LinesOf, batch: Batch) -> Rows:
    """Return what a batch that is about to be written does to its file."""
    before = lines_of([*batch.gone, *(entry.id for entry in batch.entries)], batch.file)
    changed = [entry for entry in batch.entries if entry.id in before] if before else []
    added = [entry for entry in batch.entries if entry.id not in before] if before else batch.entries
    return Rows(
        added=array("q", [entry.id for entry in added]),
        changed=[before[entry.id] for entry in changed],
        removed=[before[number] for number in batch.gone if number in before],
        sums=array("I", [crc32(entry.line) for entry in [*added, *changed]]),
    )


def note(
    layout: Layout,
    lines_of: LinesOf,
    command: str,
    batches: Mapping[str, Batch],
    types: Mapping[str, bytes | None],
    texts: Mapping[str, bytes],
) -> Path:
    """
    Note a write of rows and texts of types that is about to happen, and return the note; under the store's lock.

    Args:
        types: the new texts of types, by path; None for one that goes.
        texts: those of them that are there, as they are.
    """
    files, titles = {}, list[str]()
    for file, batch in batches.items():
        rows = _rows_of(lines_of, batch)
        files[file] = {
            "added": b64encode(rows.added.tobytes()).decode(),
            "changed": [line.decode() for line in rows.changed],
            "removed": [line.decode() for line in rows.removed],
            "sums": b64encode(rows.sums.tobytes()).decode(),
        }
        if len(titles) < SHOWN:
            titles += [title(entry.row) for entry in batch.entries[:SHOWN]]
            titles += [title(orjson.loads(line)) for line in rows.removed[:SHOWN]]
    of_types = {
        "types": {file: crc32(text) for file, text in types.items() if text is not None},
        "texts": {file: text.decode() for file, text in texts.items()},
    }
    titles = [*map(_title_of_type, types), *titles]
    return keep(layout, {"command": command, "files": files, **of_types, "titles": titles[:SHOWN]})


def _title_of_type(file: str) -> str:
    """Return what a type, a scope or an extractor is called, by its file."""
    path = PurePath(file)
    group = path.parent.name
    return f"{WORDS.get(group, group)} {path.stem}"


def keep(layout: Layout, found: Mapping[str, object]) -> Path:
    """Write a note of a write that is about to happen, and forget the oldest one above the limit."""
    known = _names_of_notes(layout)
    number = int(known[0][:10]) + 1 if known else 1
    path = layout.undo / f"{number:010d}{UNSURE}"
    fresh = layout.undo / f".{path.name}.{os.getpid()}.tmp"
    at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    try:
        with safe_files.folder(layout.undo, make=True):
            safe_files.write(fresh, orjson.dumps({"at": at, **found}))
        safe_files.replace(fresh, path)
        for old in known[MOST_WRITES - 1 :]:
            safe_files.remove(layout.undo / old)
    except OSError as error:
        raise Refused(f"the store cannot be written: {error.strerror}: {error.filename!r}") from error
    return path


def confirm(path: Path) -> None:
    """Note that a write has happened; without it, only the rows show it."""
    with contextlib.suppress(OSError):
        safe_files.replace(path, path.with_name(f"{path.name[:10]}{SURE}"))


def doubt(path: Path) -> Path:
    """Note that a write is about to be taken back: from here on only the rows show whether it was taken back."""
    unsure = path.with_name(f"{path.name[:10]}{UNSURE}")
    safe_files.replace(path, unsure)
    return unsure


def is_sure(path: Path) -> bool:
    """Return whether the write of a note has happened for certain."""
    return not path.name.endswith(UNSURE)


def has_happened(layout: Layout, name: str) -> bool | None:
    """
    Return whether a write that was noted has happened; None where only its rows show it.

    Args:
        name: of its note, without the end. A note that is gone was forgotten, or taken back with its write.
    """
    unsure = safe_files.is_file(layout.undo / f"{name}{UNSURE}")
    return None if unsure and not safe_files.is_file(layout.undo / f"{name}{SURE}") else True


def name_of(path: Path) -> str:
    """Return the name of a note, without its end."""
    return path.name[:10]


def noted(layout: Layout) -> list[Path]:
    """Return the files of the writes that were noted, the last write first."""
    return [layout.undo / name for name in _names_of_notes(layout)]


def _names_of_notes(layout: Layout) -> list[str]:
    """Return the names of these files, the last write first: all have as many digits."""
    return [
        entry.name
        for entry in safe_files.entries(layout.undo)
        if NAME.fullmatch(entry.name) and entry.is_file(follow_symlinks=False)
    ][::-1]


def title(row: Mapping[str, object]) -> str:
    """Return what a row is called."""
    match row:
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
    return f"a row of kind {row.get('kind')}"


class NotedRows(BaseModel):
    """What a note says of one file, as JSON has it; the numbers are arrays of bytes in base 64."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    added: str
    changed: list[str]
    removed: list[str]
    sums: str


class Note(BaseModel):
    """A note, as JSON has it."""

    model_config = ConfigDict(extra="forbid", strict=True, defer_build=True)

    at: str
    command: str
    files: dict[str, NotedRows]
    types: dict[str, int]
    texts: dict[str, str]
    titles: list[str]


def read_write(path: Path) -> NotedWrite:
    """
    Return a write that was noted.

    Raises:
        Refused: the file is no such note.
    """
    try:
        data = safe_files.read(path, most=NOTE_BYTES + 1)
        if len(data) > NOTE_BYTES:
            raise ValueError("it is too large")
        found = Note.model_validate_json(data)
        if not (
            all(map(_is_data_file, found.files)) and all(map(VOCABULARY_FILE.fullmatch, [*found.types, *found.texts]))
        ):
            raise ValueError("it names other files than those of data and types")
        read_types({file: text.encode() for file, text in found.texts.items()})  # each is the file of a type
        files = {file: _read_rows(rows) for file, rows in found.files.items()}
        return NotedWrite(found.at, found.command, files, found.types, found.texts, found.titles)
    except (OSError, ValueError, TypeError) as error:
        raise Refused(
            f"{str(path)!r} does not say what was written: {type(error).__name__}",
            hint="remove it, and the write before it can be taken back",
        ) from error


def _is_data_file(file: str) -> bool:
    """Return whether a path below the store is that of a data file of a kind that this version knows."""
    return file.startswith("data/") and file.endswith(".ndjson") and holds(file)[0] in MODELS


def _read_rows(found: NotedRows) -> Rows:
    """Return what a note says of one file."""
    rows = Rows(changed=[line.encode() for line in found.changed], removed=[line.encode() for line in found.removed])
    for line in (*rows.changed, *rows.removed):
        if b"\n" in line or not isinstance(orjson.loads(line), dict):
            raise ValueError("a row is an object on one line")
    rows.added.frombytes(b64decode(found.added, validate=True))
    rows.sums.frombytes(b64decode(found.sums, validate=True))
    if len(rows.sums) != len(rows.added) + len(rows.changed):
        raise ValueError("as many checksums as rows")
    return rows


def by_files(write: NotedWrite, present: Collection[str], symmetric: frozenset[str]) -> NotedWrite:
    """Return a write with the rows of files that are gone by those that they belong in: the kind was split since."""
    split = files_by_kind(present)
    files: dict[str, Rows] = {}

    def of(file: str, number: int) -> Rows:
        home = home_of(file)
        is_moved = file not in present and (is_part(file) or home in split)
        return files.setdefault(part_of(home, split.get(home, 1), number) if is_moved else file, Rows())

    for file, rows in write.files.items():
        for number, total in zip(rows.added, rows.sums, strict=False):
            of(file, number).added.append(number)
            of(file, number).sums.append(total)
    for file, rows in write.files.items():
        for line, total in zip(rows.changed, rows.sums[len(rows.added) :], strict=True):
            made = of(file, _number_of(line, symmetric))
            made.changed.append(line)
            made.sums.append(total)
        for line in rows.removed:
            of(file, _number_of(line, symmetric)).removed.append(line)
    return replace(write, files=files)


def _number_of(line: bytes, symmetric: frozenset[str]) -> int:
    """Return the number of the row on an old line."""
    try:
        return line_id(line, symmetric)
    except (BadLine, KeyError, TypeError, AttributeError):
        raise Refused(f"a note of what was written holds no row: {line[:80]!r}") from None


class Overlay:
    """The rows of a store as they are, and as they will be when some writes are taken back."""

    def __init__(self, lines_of: LinesOf, symmetric: frozenset[str]) -> None:
        self.lines_of = lines_of
        self.symmetric = symmetric
        self.after: dict[str, dict[int, bytes | None]] = {}  # by file and number: the line, None for no row

    def lines(self, file: str, ids: Sequence[int]) -> dict[int, bytes]:
        """Return the lines of those rows that a file has."""
        overlay = self.after.get(file, {})
        found: dict[int, bytes | None] = {**self.lines_of(ids, file)}
        found |= {number: overlay[number] for number in ids if number in overlay}
        return {number: line for number, line in found.items() if line is not None}

    def take_back(self, write: NotedWrite, *, is_sure: bool) -> list[tuple[str, bytes | None]] | None:
        """
        Take back a write.

        Args:
            is_sure: the write has happened; where its rows are as before it, something else took them back since.

        Returns:
            The rows that were changed since, file and line (None where a row is gone), for then nothing is taken back;
            None where the write never happened.
        """
        since: list[tuple[str, bytes | None]] = []
        is_undone = True
        back: dict[str, dict[int, bytes | None]] = {}
        for file, rows in write.files.items():
            changed = {_number_of(line, self.symmetric): line for line in rows.changed}
            removed = {_number_of(line, self.symmetric): line for line in rows.removed}
            now = self.lines(file, [*rows.added, *changed, *removed])
            old = dict.fromkeys(rows.added) | changed | removed
            if any(now.get(number) != line for number, line in old.items()):
                is_undone = False
            left = dict(zip([*rows.added, *changed], rows.sums, strict=True))
            for number, line in old.items():
                found = now.get(number)
                if (crc32(found) if found is not None else None) != left.get(number):
                    since.append((file, found or line))
            back[file] = old
        if is_undone and write.files and not is_sure:  # of a type, its file tells
            return None
        if not since:
            for file, old in back.items():
                self.after.setdefault(file, {}).update(old)
        return since
