"""What changed in the files of a store, as rows: what was last read of them is compared with what they hold now."""

import contextlib
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import BinaryIO

import orjson

from graphmem.constants import FILE_BYTES
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.ledger.files.data_file import Known, Scan, compare, lfs_pointer, misplaced, oversize
from graphmem.kernel.ledger.files.layout import Layout, is_plain
from graphmem.kernel.ledger.files.renaming import CurrentLines, Renaming
from graphmem.kernel.ledger.files.watch import POLL_S, FilesLastRead, WatchedFiles
from graphmem.kernel.ledger.parts import files_by_kind, holds, home_of, is_part, numbers_of, own_of, part_of, usual_file
from graphmem.kernel.ledger.port import Stamp
from graphmem.kernel.ledger.types import drifted_types, read_vocabulary
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import Lines
from graphmem.kernel.system import safe_files

SETTLING_S = 0.3  # an editor may take this long to write a file in place: until then a half-written one is read again


class ReadFiles(WatchedFiles):
    """The files of a store, to be read; ``port.RowPlace`` says what the methods do."""

    def __init__(
        self, layout: Layout, git_folder: Path | None, last: FilesLastRead, lock: Path, *, lock_timeout_s: float
    ) -> None:
        super().__init__(layout, git_folder, last, lock, lock_timeout_s=lock_timeout_s)
        self.purges = Purges()
        self.strays: dict[str, list[Entry]] | None = None  # rows in files by former names, by where they are read
        self.siblings: Counter[tuple[str, str | None]] = Counter()  # data files by what they hold, also that are gone
        self.split: dict[str, int] = {}  # how many files a kind that is split has
        self.unread: set[str] = set()  # files that are still to be read: what they held they may hold no longer

    role: None = None
    history: None = None

    def where(self) -> str | None:
        return None

    def close(self) -> None:
        """Files are open only while they are read."""

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        self.strays = None
        return super().changed(end, is_thorough=is_thorough, is_whole=is_whole)

    def read_vocabulary(self) -> tuple[Vocabulary, list[Finding]]:
        return read_vocabulary(self.layout)

    def drifted_types(self) -> Collection[str]:
        return {made.type for made in drifted_types(self.layout, self.last.vocabulary).values()}

    def text(self, file: str) -> bytes | None:
        with contextlib.suppress(FileNotFoundError, IsADirectoryError):
            return safe_files.read(self.layout.at(file))
        return None

    def to_read(self, changed: list[str]) -> list[str]:
        """Return types first, then data files: where rows belong before the others, and last files that are gone."""
        self.purges = self.last.purges()
        present = set(self.layout.data_files())
        files = [*changed, *self.doubtful(present, changed)]
        self.strays = self.gathered(present)
        files += {*self.by_former_names, *self.strays}.intersection(present if files else ()).difference(files)
        self.split = files_by_kind(present)
        data_files = [file for file in files if file.startswith("data/")]
        self.siblings = Counter(map(holds, {*present, *data_files}))
        self.unread = set(data_files)
        return [file for file in files if not file.startswith("data/")] + sorted(data_files, key=self.order(present))

    def doubtful(self, present: Collection[str], changed: Collection[str]) -> set[str]:
        """Return the files to read again: another file of their kind made them bad, and one of these changed."""
        kinds = {holds(file) for file in changed if file.startswith("data/")}
        doubled = {found.file for found in self.last.findings() if found.code == Code.DUPLICATE_KEY}
        return {file for file in doubled if file in present and holds(file) in kinds}.difference(changed)

    def order(self, present: Collection[str]) -> Callable[[str], tuple[bool, bool, str]]:
        """Return what changed data files are sorted by."""

        def place(file: str) -> tuple[bool, bool, str]:
            return file not in present, home_of(file) in self.split and not own_of(file, self.split), file

        return place

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        """Read a file; one that changes meanwhile is read again, and compared with what was taken in."""
        end = time.monotonic() + SETTLING_S
        self.unread.discard(file)
        while True:
            read_ns = time.time_ns()
            try:
                if not is_plain(file):  # read by an older version
                    raise FileNotFoundError
                handle = safe_files.opened(self.layout.store / file)
            except FileNotFoundError:
                self.last.remove_file(file)
                self.note_former(file, is_former=False)
                if file.startswith("data/"):
                    yield Batch(file, gone=list(self.last.lines(file).values()))
                return
            with handle:
                found, lines, seen = os.fstat(handle.fileno()), self.lines_in(file, handle), Scan()
                if file.startswith("data/"):
                    undeclared = misplaced(self.layout, self.last.vocabulary, file) if found.st_size else []
                    seen.findings = undeclared or oversize(file, found.st_size) or lfs_pointer(file, handle.read(64))
                    handle.seek(0)
                    for batch in compare(file, lines, seen, self.known(file, is_every_line=is_every_line)):
                        if self.siblings[holds(file)] > 1:
                            batch.entries = self.last.without_moved(file, batch.entries)
                        yield batch
                digest = lines.rest_of_sha256() if found.st_size <= FILE_BYTES else b""
                is_whole = lines.is_usual and not seen.findings
                if self.is_at_rest(file, found, handle, is_whole=is_whole) or time.monotonic() > end:
                    break
            time.sleep(POLL_S)
        self.note_former(file, is_former=isinstance(lines, CurrentLines) and lines.is_changed)
        self.last.store_file(
            file,
            Stamp.of(found),
            digest,
            read_ns,
            findings=seen.findings,
            purged=seen.purged,
            is_ordered=seen.is_ordered,
        )

    def known(self, file: str, *, is_every_line: bool) -> Known:
        """Return what the lines of a file are compared with."""
        return Known(
            self.last.lines(file),
            self.purges,
            self.last.vocabulary.symmetric,
            is_elsewhere=self.elsewhere(file) if self.siblings[holds(file)] > 1 else None,
            is_every_line=is_every_line,
            is_split=home_of(file) in self.split,
            renamed=self.last.vocabulary.renamed,
        )

    def is_at_rest(self, file: str, before: os.stat_result, handle: BinaryIO, *, is_whole: bool) -> bool:
        """
        Return whether a file that was just read is not being written.

        Args:
            before: of the file, from before it was read. is_whole: every line of it is well.
        """
        after, named = os.fstat(handle.fileno()), safe_files.stat_of(self.layout.store / file)
        if (after.st_size, after.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
            return False
        if named is None or named.st_ino != before.st_ino:
            return False
        return is_whole or abs(time.time_ns() - before.st_mtime_ns) > SETTLING_S * 1e9

    def elsewhere(self, file: str) -> Callable[[int], bool]:
        """Return what tells whether another file of the same kind than this one holds a row already."""
        own = numbers_of(file) if is_part(file) else range(0)
        homes = self.last.files_between(own, file) if own else {}

        def is_elsewhere(number: int) -> bool:
            known = homes if number in own else self.last.files_between(range(number, number + 1), file)
            other = known.get(number, file)
            return other != file and other not in self.unread

        return is_elsewhere

    # --- rows by former names of types ---------------------------------------------------------------------------

    def lines_in(self, file: str, handle: BinaryIO) -> Lines:
        """Return the lines of an open file, of data by the names that types have now."""
        renaming = Renaming.of(self.last.vocabulary)
        if not renaming.names or not file.startswith("data/") or os.fstat(handle.fileno()).st_size > FILE_BYTES:
            return Lines(handle)
        if self.strays is None:
            self.strays = self.gathered(self.layout.data_files())
        former = file if renaming.is_former(file) else None
        return CurrentLines(handle, renaming, self.strays.get(file, ()), former)

    def gathered(self, present: Collection[str]) -> dict[str, list[Entry]]:
        """Return the rows that are in files by former names of types, by the files that they are read with."""
        renaming, split = Renaming.of(self.last.vocabulary), files_by_kind(present)
        former = [file for file in sorted(present) if renaming.is_former(file)]
        found: dict[str, list[Entry]] = {}
        hosts: dict[str, str] = {}  # where no file has the current name: the first by a former one
        for file in former:
            home = usual_file(*renaming.held(file))
            with contextlib.suppress(OSError), safe_files.opened(self.layout.store / file) as handle:
                for row in filter(None, (renaming.row_of(file, line) for line in Lines(handle))):
                    part = part_of(home, split.get(home, 1), row.id)
                    found.setdefault(part if part in present else hosts.setdefault(home, file), []).append(row)
        return found

    def note_former(self, file: str, *, is_former: bool) -> None:
        """Note whether the next write is to put rows of a file under the names that their types have now."""
        known = self.by_former_names
        if is_former != (file in known):
            self.last.keep("by_former_names", orjson.dumps(sorted(known ^ {file})))

    @property
    def by_former_names(self) -> set[str]:
        """The files with rows by former names of types, as last read."""
        return set(orjson.loads(self.last.meta("by_former_names") or "[]"))
