"""A place of rows in memory: the second one, so that graphmem/kernel/ledger/port.py is a port and no description."""

import contextlib
import hashlib
import threading
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import count

from graphmem.errors import FileReplaced, Locked
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.parts import is_of_purges
from graphmem.kernel.ledger.port import LastRead, Stamp, TakingIn
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.types import Types, read_types
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import decode

STAMPS = count(1)


@dataclass(frozen=True)
class Part:
    """A part as it is from one change to the next: lines of rows by number, or the text of a type."""

    rows: Mapping[int, bytes] = field(default_factory=dict)
    text: bytes = b""
    stamp: Stamp = field(default_factory=lambda: Stamp(next(STAMPS), 0, 0))

    @property
    def digest(self) -> bytes:
        """The SHA-256 of what it holds."""
        return hashlib.sha256(self.text + b"\n".join(line for _, line in sorted(self.rows.items()))).digest()


@dataclass
class SharedRows:
    """What all that open one place share; ``step`` is called wherever the process may die in a commit."""

    parts: Mapping[str, Part] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)
    step: Callable[[], None] = lambda: None

    def put_line(self, file: str, line: bytes) -> None:
        """Add a row as another program would, without the lock."""
        entry = read_entry(line, ())
        rows = self.parts[file].rows if file in self.parts else {}
        self.parts = {**self.parts, file: Part({**rows, entry.id: entry.line})}

    def remove(self, file: str) -> None:
        """Take a part away, as another program would."""
        self.parts = {name: part for name, part in self.parts.items() if name != file}


class MemoryPlace:
    """Rows in memory; a commit is one assignment."""

    role = history = None

    def __init__(self, shared: SharedRows, last: LastRead, lock_timeout_s: float) -> None:
        self.shared = shared
        self.notices: list[str] = []
        self.last = last
        self.lock_timeout_s = lock_timeout_s
        self.seen: Mapping[str, Part] = {}

    def where(self) -> str | None:
        return None

    def close(self) -> None:
        """Nothing keeps it open."""

    @contextlib.contextmanager
    def holding(self, timeout_s: float) -> Iterator[None]:
        if not self.shared.lock.acquire(timeout=timeout_s):
            raise Locked("the store is in use by another writer")
        try:
            yield
        finally:
            self.shared.lock.release()

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        return bool(self.changed(0))

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        self.seen = self.shared.parts
        known = {file: Stamp(*found[:3]) for file, found in self.last.file_stamps().items()}
        return [file for file in {**self.seen, **known} if self.stamp(file) != known.get(file)]

    def stamp(self, file: str) -> Stamp | None:
        """Return the stamp of a part as it was looked at."""
        return self.seen[file].stamp if file in self.seen else None

    def refuse_moved(self) -> None:
        """Whatever changes meanwhile: what is read is what was looked at."""

    def wait(self, end: float) -> None:
        """Nothing to wait for: all who change the place hold its lock."""

    def parts(self) -> list[str]:
        return sorted(file for file in self.shared.parts if file.startswith("data/"))

    def all_parts(self) -> list[str]:
        return sorted(self.seen, key=lambda file: (file.startswith("data/"), file))

    def size(self) -> int:
        return sum(len(line) for part in self.shared.parts.values() for line in part.rows.values())

    def read_vocabulary(self) -> tuple[Vocabulary, list[Finding]]:
        texts = {file: part.text for file, part in self.seen.items() if file.startswith("types/")}
        return Vocabulary(entities={}, project_relations={}).with_types(read_types(texts)), []

    def drifted_types(self) -> Collection[str]:
        return ()

    def text(self, file: str) -> bytes | None:
        return self.shared.parts[file].text if file in self.shared.parts else None

    def to_read(self, changed: list[str]) -> list[str]:
        return changed

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        part, is_of_rows = self.seen.get(file), file.startswith("data/")
        known = self.last.lines(file) if is_of_rows else {}
        if part is None:
            self.last.remove_file(file)
            yield from [Batch(file, gone=list(known.values()))] if is_of_rows else []
            return
        purges, symmetric = self.last.purges(), self.last.vocabulary.symmetric
        entries, purged = [], set()
        for number, line in part.rows.items():
            if line in known and not is_every_line:
                continue
            entry = read_entry(line, symmetric)
            if purges and purges.purged_at(entry.row, symmetric):
                purged.add(number)
            elif line not in known:
                entries.append(entry)
        if is_of_rows:
            yield Batch(file, gone=set(known.values()) - (part.rows.keys() - purged), entries=entries)
        self.last.store_file(file, part.stamp, part.digest, 0, purged=sorted(purged), is_ordered=True)

    def tidy(self) -> str | None:
        return None

    def refuse_unwell(self, files: Collection[str]) -> None:
        """No line is wrong here: each was checked before it came in."""

    def commit(self, batches: Mapping[str, Batch], types: Types, taking_in: TakingIn, *, is_read_again: bool) -> None:
        self.shared.step()
        before, purges, symmetric = self.shared.parts, self.last.purges(), self.last.vocabulary.symmetric
        read = {file: self.last.stamp(file) for file in {*batches, *types}}
        made: dict[str, Part] = {}
        for file, batch in batches.items():
            rows = dict(before[file].rows) if file in before else {}
            for number, line in list(rows.items()) if purges else ():
                if purges.purged_at(decode(line), symmetric):
                    del rows[number]
            for number in batch.gone:
                rows.pop(number, None)
            made[file] = Part({**rows, **{entry.id: entry.line for entry in batch.entries}})
        made |= {file: Part(text=text) for file, text in types.items() if text is not None}
        with taking_in:
            self.shared.step()
            for file in () if is_read_again else batches:
                if not is_of_purges(file):
                    self.last.store_file(file, made[file].stamp, made[file].digest, 0, is_ordered=True)
            now = self.shared.parts
            if any((now[file].stamp if file in now else None) != stamp for file, stamp in read.items()):
                raise FileReplaced("another program changed the place", hint="run the command again")
        self.shared.step()
        gone = {file for file, text in types.items() if text is None}
        self.shared.parts = {file: part for file, part in {**now, **made}.items() if file not in gone}
        self.shared.step()
