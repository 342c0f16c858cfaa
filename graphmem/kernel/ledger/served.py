"""
Rows in a server as a place of rows: what its engines share.

Each commit of a project has a number, ``seq``, one above the last, so who has read up to one has missed nothing below
it. A random number beside it tells a commit from one of the same ``seq`` that died after the catalog of its machine
took it in. The epoch of the project is a random text.
"""

import math
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple, Protocol, TypeVar

import orjson

from graphmem.errors import FileReplaced, Refused
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.parts import is_of_purges
from graphmem.kernel.ledger.port import CURSOR, LastRead, PlaceAway, Stamp, Unconfirmed
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.served_history import PART, Keeper, ServedHistory
from graphmem.kernel.ledger.types import Types, read_types
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BadLine
from graphmem.kernel.settings.address import ServerAddress
from graphmem.kernel.system import safe_files
from graphmem.names import row_id, row_key, split_ref

T = TypeVar("T")
AWAY_S = 10.0  # seconds for which readers do not ask a server again that let one wait
SLOW_S = 1.0  # seconds from which on that was a wait
TEXT = "file"  # the kind of a row that is a text of the vocabulary
ROWS_HELD = 5_000  # of a part that are read at once
# What a write is worth that was acknowledged, from the least on.
WORTHS = {
    "any": "lost where the server dies soon after",
    "disk": "on the server's disk",
    "standby": "on the server's disk and that of a standby",
}


class ServerLastRead(LastRead, Protocol):
    """What a place in a server needs to know beyond what every place does."""

    def meta(self, name: str) -> str | None:
        """Return a value that was kept."""

    def keep(self, name: str, value: object) -> None:
        """Keep a value."""

    def purged_in(self, file: str) -> list[int]:
        """Return the numbers of the rows of a part that were purged, and are not read."""


class Columns(NamedTuple):
    """A row as a server holds it; ``row`` is its line, or the text of a file."""

    id: int
    key: str
    kind: str
    type: str | None
    from_type: str | None
    to_type: str | None
    row: str


class Looks(NamedTuple):
    """When this machine looked at a server, and when it waited for it in vain, as the times of two files."""

    looked: Path
    away: Path
    rests_s: float  # seconds for which a look counts

    def answered(self, look: Callable[[], T]) -> T:
        """
        Return what a look gives.

        Raises:
            PlaceAway: it does not answer, or did not a moment ago; the error says how old what was read is.
        """
        began = time.monotonic()
        try:
            if _age(self.away) < AWAY_S:
                raise PlaceAway("a moment ago the server of the memory did not answer", hint="see: graphmem doctor")
            found = look()
        except PlaceAway as error:
            if time.monotonic() - began > SLOW_S:
                safe_files.write(self.away, b"")
            read = max(time.time() - _age(self.looked), 0)
            when = f"{datetime.fromtimestamp(read, UTC):%Y-%m-%d %H:%M} UTC" if read else "before"
            raise PlaceAway(f"{error.message}; it was last read {when}", hint=error.hint) from error
        safe_files.write(self.looked, b"")
        return found


def _age(file: Path) -> float:
    """Return how many seconds ago a file was written."""
    return time.time() - file.stat().st_mtime if safe_files.is_file(file) else math.inf


class ServedPlace(Keeper):
    """
    The rows of one project in a server; ``port.RowPlace`` says what the methods do that are not described here.

    Args:
        address: of the server, as its client takes it.
        project: the name of the project there.
    """

    def __init__(self, address: str, project: str, last: ServerLastRead, *, lock_timeout_s: float) -> None:
        self.address, self.project = address, project
        self.last = last
        self.lock_timeout_s = lock_timeout_s
        self.notices: list[str] = []
        self.seen: tuple[str, int, int] = ("", 0, 0)  # epoch, number and random number of the last commit looked at
        self.history = ServedHistory(self, lambda: self.last_commit()[0])
        self.store: Path | None = None  # the folder of this machine that has the files which are no rows
        self.looks: Looks | None = None  # of all processes of this machine
        self.require = "any"  # the least that a write has to be worth
        self.is_worth = False  # it is, as was found out before the first one
        self.is_whole = True  # nothing that was read counts: all parts are compared

    def where(self) -> str | None:
        where = ServerAddress(self.address, self.project).shown
        return f"in {where}, where what was written is {WORTHS[self.worth()]}"

    def refuse_worth_less(self) -> None:
        """Raise ``Refused`` where a write would be worth less than is required; the server is asked once, if at all."""
        worths = [*WORTHS]
        is_asked = not self.is_worth and self.require != worths[0]
        if is_asked and worths.index(found := self.worth()) < worths.index(self.require):
            hint = "its administrator changes that" if self.require == "disk" else "team.require asks for a standby"
            raise Refused(f"what is written here is {WORTHS[found]}: nothing was written", hint=hint)
        self.is_worth = True

    # --- what an engine does ------------------------------------------------------------------------------------

    @abstractmethod
    def worth(self) -> str:
        """Return what a write is worth, of ``WORTHS``."""

    @abstractmethod
    def last_commit(self) -> tuple[str, int, int]:
        """Return epoch, number and random number of the last commit."""

    @abstractmethod
    def has_commit(self, seq: int, commit: int) -> bool:
        """Return whether the project has a commit with this number and this random number."""

    @abstractmethod
    def parts_since(self, seq: int) -> Iterable[str]:
        """Return the parts with rows that were written or deleted after a commit."""

    @abstractmethod
    def live_parts(self) -> Iterable[str]:
        """Return the parts that have rows."""

    @abstractmethod
    def texts(self) -> Mapping[str, bytes]:
        """Return the texts of the vocabulary, by path."""

    @abstractmethod
    def text(self, file: str) -> bytes | None:
        """Return a text of the vocabulary; None where it is not there."""

    @abstractmethod
    def rows_of(self, file: str, since: int) -> Iterator[Sequence[tuple[int, bytes | None]]]:
        """Yield the rows of a part that were written after a commit, up to the one that was looked at, by number."""

    def everything(self) -> Iterator[tuple[int, str, bytes]]:
        """Yield the rows and texts as they were at the last look: number, part and line."""
        self.seen = self.seen if self.seen[1] else self.cursor()
        for part in self.parts():
            for rows in self.rows_of(part, 0):
                yield from ((number, part, line) for number, line in rows if line is not None)
        yield from ((id_of_text(path), path, text) for path, text in self.texts().items() if PART.fullmatch(path))

    # --- watching -----------------------------------------------------------------------------------------------

    def cursor(self) -> tuple[str, int, int]:
        """Return the last commit that was read."""
        epoch, seq, commit = orjson.loads(self.last.meta(CURSOR) or '["",0,0]')
        return epoch, seq, commit

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        if is_thorough or self.looks is None or not self.cursor()[0]:
            return is_thorough or self.last_commit() != self.cursor()
        return _age(self.looks.looked) >= self.looks.rests_s and self.looks.answered(self.last_commit) != self.cursor()

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        self.seen, cursor = self.last_commit(), self.cursor()
        if self.seen == cursor and not is_thorough:
            return []
        self.is_whole = is_thorough or not self.is_ancestor(cursor)
        if self.is_whole:
            return _in_order({*self.last.file_stamps(), *self.live_parts()})
        return _in_order(self.parts_since(cursor[1]))

    def is_ancestor(self, cursor: tuple[str, int, int]) -> bool:
        """Return whether a commit is one of those that led to the last one looked at."""
        epoch, seq, commit = cursor
        return epoch == self.seen[0] and 0 < seq <= self.seen[1] and self.has_commit(seq, commit)

    def refuse_moved(self) -> None:
        """Whatever is committed meanwhile: it has a greater number, and is read next."""

    def wait(self, end: float) -> None:
        """Nothing to wait for: a change that is under way is not seen."""

    def parts(self) -> list[str]:
        return [part for part in self.all_parts() if part.startswith("data/")]

    def all_parts(self) -> list[str]:
        return _in_order(self.live_parts())

    # --- reading ------------------------------------------------------------------------------------------------

    def read_vocabulary(self) -> tuple[Vocabulary, list[Finding]]:
        paths = filter(PART.fullmatch, found := self.texts())
        texts = {path: found[path] for path in paths if path.startswith("types/")}
        return Vocabulary(entities={}, project_relations={}).with_types(read_types(texts)), []

    def drifted_types(self) -> Collection[str]:
        return ()

    def to_read(self, changed: list[str]) -> list[str]:
        """Return the parts as they are, and note, with what is read of them, up to which commit that is."""
        self.keep_cursor(self.seen)
        return changed

    def keep_cursor(self, commit: tuple[str, int, int]) -> None:
        """Keep the last commit that was read."""
        self.last.keep(CURSOR, orjson.dumps(commit).decode())

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        stamp = self.last.stamp(file)
        if not file.startswith("data/"):
            self.take_text(file)
            return
        is_all = is_every_line or self.is_whole or stamp is None
        since = 0 if stamp is None or is_all else stamp.mtime_ns
        known = {number: line for line, number in self.last.lines(file).items()} if is_all else {}
        purges, symmetric = self.last.purges(), self.last.vocabulary.symmetric
        purged = set() if is_all else {*self.last.purged_in(file)}
        found: list[Finding] = []
        there: set[int] = set()
        for rows in self.rows_of(file, since):
            entries, gone = list[Entry](), list[int]()
            for number, line in rows:
                purged.discard(number)
                if line is None:
                    gone.append(number)
                    continue
                there.add(number)
                try:
                    entry = read_entry(line, symmetric)
                except BadLine as bad:
                    found.append(finding(bad, file, len(there)))
                    gone.append(number)
                    continue
                if purges and purges.purged_at(entry.row, symmetric):
                    purged.add(number)
                    gone.append(number)
                elif known.get(number) != line:
                    entries.append(entry)
            yield Batch(file, gone=gone, entries=entries)
        if is_all:
            yield Batch(file, gone=known.keys() - there)
        if is_all and not there:
            self.last.remove_file(file)
        else:
            args = {"findings": found, "purged": sorted(purged), "is_ordered": True}
            self.last.store_file(file, self.stamp(), b"", 0, **args)  # type: ignore[arg-type]  # as it takes them

    def take_text(self, file: str) -> None:
        """Take in a text beside the rows; one that is not of a type becomes a file of this machine."""
        text = self.text(file)
        if self.store is not None and not file.startswith("types/"):
            replace_files({self.store / file: text})
        if text is None:
            self.last.remove_file(file)
        else:
            self.last.store_file(file, self.stamp(), b"", 0, is_ordered=True)

    def stamp(self) -> Stamp:
        """Return the stamp of a part that was read up to the last commit that was looked at."""
        return Stamp(0, self.seen[1], self.seen[2])

    # --- writing ------------------------------------------------------------------------------------------------

    def tidy(self) -> str | None:
        return None

    def refuse_unwell(self, files: Collection[str]) -> None:
        """No row is lost by a write to others."""

    def since(self, file: str) -> int:
        """Return the number of the commit up to which a part was read."""
        stamp = self.last.stamp(file)
        return max(stamp.mtime_ns if stamp else 0, self.cursor()[1], self.seen[1])

    def gone(self, batches: Mapping[str, Batch], types: Types) -> dict[str, list[int]]:
        """Return the numbers of the rows that a write deletes, by part; those that were purged go too."""
        found = {file: [*batch.gone, *self.last.purged_in(file)] for file, batch in batches.items()}
        return found | {file: [id_of_text(file)] for file, text in types.items() if text is None}

    def put(self, batches: Mapping[str, Batch], types: Types) -> dict[str, list[Columns]]:
        """Return the rows that a write has, by part."""
        symmetric = self.last.vocabulary.symmetric
        found = {file: [_columns(entry, symmetric) for entry in batch.entries] for file, batch in batches.items()}
        for file, text in types.items():
            if text is not None:
                found[file] = [Columns(id_of_text(file), file, TEXT, None, None, None, text.decode())]
        return found

    def take_in(self, batches: Mapping[str, Batch], commit: tuple[str, int, int]) -> None:
        """Note how the parts will be with a commit whose rows the caller took in; inside ``taking_in``."""
        cursor, self.seen = self.cursor(), commit
        for file in batches:
            if not is_of_purges(file):  # read like one that came from elsewhere: others follow from it
                self.last.store_file(file, self.stamp(), b"", 0, is_ordered=True)
        if cursor[1] == commit[1] - 1 and not any(map(is_of_purges, batches)):
            self.keep_cursor(commit)

    def replaced(self, file: str) -> FileReplaced:
        """Return the error for a part that was written since it was read."""
        return FileReplaced(
            f"{file} was changed in the server while this command ran; nothing was changed",
            hint="run the command again",
        )


def unconfirmed(why: str) -> Unconfirmed:
    """Return the error for a write that may have happened."""
    return Unconfirmed(f"whether this was written is unconfirmed: {why}", hint="repeat the request, which is safe")


def id_of_text(file: str) -> int:
    """Return the number of the row that holds a text of the vocabulary."""
    return row_id(f"{TEXT}\t{file}")


def _columns(entry: Entry, symmetric: frozenset[str]) -> Columns:
    """Return a row as a server holds it, with the types of an edge's ends."""
    row = entry.row
    type_name = row.get("type") if entry.kind in ("entity", "relation") else None
    ends = [split_ref(row[end])[0] if entry.kind == "relation" else None for end in ("from", "to")]
    key, line = row_key(row, symmetric), entry.line.decode()
    return Columns(entry.id, key, entry.kind, type_name, ends[0], ends[1], line)


def _in_order(parts: Iterable[str]) -> list[str]:
    """Return those that are parts, the texts of types before the rows."""
    return sorted(filter(PART.fullmatch, parts), key=lambda part: (part.startswith("data/"), part))
