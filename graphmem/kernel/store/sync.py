"""
The ledger and its catalog in step: files are read when they changed, and written all or none, one writer at a time.

Source: docs/format.md. The files are the truth; the catalog holds what was last read of them.
"""

import contextlib
import hashlib
import os
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import BinaryIO, Protocol

import orjson

from graphmem.constants import FILE_BYTES, REPAIR_COMMAND
from graphmem.errors import BadInput, DamagedCatalog, FileReplaced, GraphmemError, Locked, Refused, Unavailable
from graphmem.kernel.catalog import changes
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.database import CatalogError, table_of
from graphmem.kernel.catalog.files import Stamp
from graphmem.kernel.catalog.hashes import meaning_hashes
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import state_of_index
from graphmem.kernel.ledger import undo
from graphmem.kernel.ledger.data_file import (
    RESOLVE,
    Known,
    Scan,
    can_splice,
    compare,
    is_of_purges,
    lfs_pointer,
    misplaced,
    oversize,
    spliced,
    with_changes,
)
from graphmem.kernel.ledger.files.missing import refuse_hidden
from graphmem.kernel.ledger.journal import recover, replace_files, sweep
from graphmem.kernel.ledger.layout import TYPE_FILE, Look, holds, is_plain, usual_file
from graphmem.kernel.ledger.parts import files_by_kind, home_of, is_part, numbers_of, own_of, part_of
from graphmem.kernel.ledger.renaming import CurrentLines, Renaming
from graphmem.kernel.ledger.row import entry as entry_of
from graphmem.kernel.ledger.row import plain_edge
from graphmem.kernel.ledger.types import (
    NO_TYPES,
    Types,
    drifted,
    drifted_types,
    is_vocabulary,
    read_types,
    read_vocabulary,
    vocabulary_json,
)
from graphmem.kernel.machine import requests, traces
from graphmem.kernel.machine.traces import traces_of
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import Lines, decode
from graphmem.kernel.store.clone import Clone
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.collector import collector_paused
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.shell import command

RACY_NS = 2_000_000_000  # a file changed this shortly before it was read may change again unseen: hash it next time
SETTLING_S = 0.3  # an editor may take this long to write a file in place: until then a half-written one is read again
POLL_S = 0.002  # between two looks at what another program is about to end
GIT_LOCK_S = 60.0  # a lock of git that is older was left by a dead process
READER_PATIENCE_S = 2.0  # a reader that finds changed files waits this long for a writer, then reads what was read last


@dataclass(slots=True)
class Sync:
    """What was found on opening: how many rows were taken in, and whether the catalog had to be made again."""

    rows: int = 0
    is_first: bool = False
    waits_for: str | None = None  # why what changed was not read: who holds the files
    look: Look | None = None  # what the store held when it was looked at last, under its lock


Read = Mapping[str, Stamp | None]  # by path below the store: how a file was when it was read


class Follower(Protocol):
    """
    What is derived of the catalog and follows its changes: the clues, the words, the vectors, the graph.

    None of them follows a write; a command that needs one calls ``catch_up`` first.
    """

    @property
    def is_behind(self) -> bool:
        """Whether the catalog has changes that the follower lacks."""

    def catch_up(self) -> object:
        """Take them in."""


class FilesMoved(Exception):
    """Git changed files while they were read."""


class SyncedLedger:
    """The files of one store, and the catalog that is kept in step with them."""

    def __init__(self, clone: Clone, catalog: Catalog, lock: Path, *, lock_timeout_s: float, command: str) -> None:
        self.layout = clone.layout
        self.git_folder = clone.git_folder
        self.catalog = catalog
        self.lock = lock
        self.lock_timeout_s = lock_timeout_s
        self.command = command  # the name of the writer in undo notes
        self.may_hold_secrets = False  # as the settings say
        self.vocabulary_findings: list[Finding] = []
        self.loaded: tuple[object, object] | None = None  # the vocabulary as the catalog keeps it
        self.purges = Purges()
        self.strays: dict[str, list[Entry]] | None = None  # rows in files by former names, by where they are read
        self.siblings: Counter[tuple[str, str | None]] = Counter()  # data files by what they hold, also that are gone
        self.split: dict[str, int] = {}  # how many files a kind that is split has
        self.unread: set[str] = set()  # files that are still to be read: what they held they may hold no longer
        self.writes = 0  # that this process made
        self.notices: list[str] = []  # of the last writes, for people

    # --- reading ------------------------------------------------------------------------------------------------

    def load_vocabulary(self) -> None:
        """
        Take the vocabulary as the catalog keeps it; another process may have read a new type.

        Raises:
            DamagedCatalog: it is not as it was written.
        """
        kept, findings = self.catalog.meta("vocabulary"), self.catalog.meta("vocabulary_findings")
        if self.loaded == (kept, findings):
            return
        try:
            vocabulary = Vocabulary.model_validate_json(kept) if kept else self.catalog.vocabulary
            found = [Finding.model_validate(finding) for finding in orjson.loads(findings or "[]")]
        except (ValueError, TypeError) as error:
            raise DamagedCatalog(
                "the vocabulary in the catalog is not as it was written", hint=REPAIR_COMMAND
            ) from error
        self.loaded, self.catalog.vocabulary, self.vocabulary_findings = (kept, findings), vocabulary, found

    def forget_vocabulary(self) -> None:
        """Take the empty vocabulary of an emptied catalog, until the files are read."""
        self.loaded = None
        self.catalog.vocabulary = Vocabulary(entities={}, project_relations={})

    def sync(self, *, is_thorough: bool = False) -> Sync:
        """
        Take in what changed on disk since it was last read, if anything did.

        Args:
            is_thorough: compare the bytes of every file, not only sizes and times.
        """
        if not safe_files.is_file(self.layout.journal) and not self.changed_files(is_thorough=is_thorough):
            return Sync()
        must_read = is_thorough or self.catalog.is_new
        patience_s = self.lock_timeout_s if must_read else READER_PATIENCE_S
        try:
            with locked(self.lock, timeout_s=patience_s):
                return self.sync_locked(is_thorough=is_thorough, patience_s=patience_s)
        except Locked as error:
            if must_read:
                raise
            return Sync(waits_for=error.message)  # what was read last is whole

    def sync_locked(
        self, *, is_thorough: bool = False, patience_s: float | None = None, is_whole: bool = False
    ) -> Sync:
        """
        Do the work of ``sync`` under the lock of the store, once what a dead process began is finished.

        Git removes and writes files one by one: what was read while it did so is read again.

        Args:
            patience_s: seconds to wait for git; None for those that a writer waits for another one.
            is_whole: look through the whole store, and not only at what is read.

        Raises:
            Locked: git changes files all the time.
        """
        with contextlib.suppress(OSError):  # a store that can only be read is read as it is
            recover(self.layout)
        end = time.monotonic() + (self.lock_timeout_s if patience_s is None else patience_s)
        while True:
            moment = self.moment()
            look = self.layout.look() if is_whole else self.layout.look_at_rows()
            changed = self.changed_files(look, is_thorough=is_thorough)
            if not changed:
                return Sync(look=look)
            if moment is not None:
                try:
                    return replace(self.read_changes(changed, moment, is_thorough=is_thorough), look=look)
                except FilesMoved:
                    self.forget_vocabulary()
                    self.load_vocabulary()
            if time.monotonic() > end:
                raise self.locked_by_git()
            time.sleep(POLL_S)

    def sync_written(self) -> None:
        """Take in what was just written; where that cannot be, such as on a full disk, the next command does it."""
        with contextlib.suppress(OSError, CatalogError, Locked):
            self.sync_locked()

    def read_changes(self, changed: list[str], moment: str, *, is_thorough: bool) -> Sync:
        """Take in the files that changed, or raise ``Moved`` where git has changed files since ``moment``."""
        sync = Sync(is_first=self.catalog.is_new)
        with self.catalog.transaction(), collector_paused():
            if sync.is_first:
                self.catalog.next_epoch()
            if sync.is_first or self.are_types_changed(changed):
                changed = self.read_types(changed)
            purges = [file for file in changed if is_of_purges(file)]
            before = self.catalog.purges()
            sync.rows += self.take_in(purges)
            if purges:  # any row may have to be kept out now, or no longer
                self.keep_traces(self.catalog.purges().since(before))
                changed = sorted({*changed, *self.present_files()} - {*purges})
            sync.rows += self.take_in(changed, is_every_line=bool(purges))
            if self.moment() != moment and self.changed_files(is_thorough=is_thorough):
                raise FilesMoved
        return sync

    def keep_traces(self, purges: Purges) -> None:
        """Keep the texts and names of records that an arrived purge removes: their traces here are cleared next."""
        lines = self.catalog.record_lines() if purges else ()
        found = {number: row for number, line in lines if purges.purged_at(row := decode(line), self.symmetric)}
        if found:
            texts = {digest for number in found for digest in meaning_hashes(self.catalog.stored(number))}
            kept = traces_of(found.values(), hashes=purges.hashes, digests=texts)
            with contextlib.suppress(OSError):  # a store that can only be read has no traces that could be cleared
                traces.keep(self.layout.purge, kept)

    @property
    def index_lock(self) -> Path | None:
        """The file that is there while git changes files of the working tree; None without git, and in a hook of it."""
        return self.git_folder / "index.lock" if self.git_folder is not None and not commands.is_in_hook() else None

    def moment(self) -> str | None:
        """Return what changes when git changes files; None while it does so."""
        if self.index_lock is not None:
            with contextlib.suppress(OSError):
                if abs(time.time() - os.lstat(self.index_lock).st_mtime) < GIT_LOCK_S:
                    return None
        return state_of_index(self.git_folder)

    def take_in(self, files: list[str], *, is_every_line: bool = False) -> int:
        """Read these files and take in what changed in them; return how many rows that are."""
        self.purges = self.catalog.purges()
        present = set(self.layout.data_files())
        files = [*files, *self.doubtful(present, files)]
        self.strays = self.gathered(present)
        files += {*self.by_former_names, *self.strays}.intersection(present if files else ()).difference(files)
        self.split = files_by_kind(present)
        self.siblings = Counter(map(holds, {*present, *(file for file in files if file.startswith("data/"))}))
        in_order = sorted((file for file in files if file.startswith("data/")), key=self.order(present))
        types = [file for file in files if not file.startswith("data/")]
        self.unread = set(in_order)
        with changes.ChangeApplier(self.catalog) as intake:
            for file in types + in_order:
                for batch in self.read(file, is_every_line=is_every_line):
                    if self.siblings[holds(file)] > 1:
                        batch.entries = self.catalog.without_moved(file, batch.entries)
                    intake.take(batch)
        self.strays = None
        return intake.rows

    def doubtful(self, present: Collection[str], changed: Collection[str]) -> set[str]:
        """Return the files to read again: another file of their kind made them bad, and one of these changed."""
        kinds = {holds(file) for file in changed if file.startswith("data/")}
        doubled = {found.file for found in self.catalog.findings() if found.code == Code.DUPLICATE_KEY}
        return {file for file in doubled if file in present and holds(file) in kinds}.difference(changed)

    def order(self, present: Collection[str]) -> Callable[[str], tuple[int, bool, bool, str]]:
        """Return what changed data files are sorted by: where rows belong first, and last files that are gone."""

        def place(file: str) -> tuple[int, bool, bool, str]:
            table, _ = changes.ChangeApplier.order(file)
            return table, file not in present, home_of(file) in self.split and not own_of(file, self.split), file

        return place

    def are_types_changed(self, changed: Iterable[str]) -> bool:
        """Return whether the vocabulary follows from files that changed: of types, or the first of a type without."""
        if any(file.startswith("types/") for file in changed):
            return True
        if not any(file.startswith(("data/entities/", "data/relations/")) for file in changed):
            return False
        vocabulary = self.catalog.vocabulary
        return {made.type for made in drifted_types(self.layout, vocabulary).values()} != vocabulary.drifted

    def read_types(self, changed: list[str]) -> list[str]:
        """Read the vocabulary again; return the files to read: all, unless types were only added."""
        old = self.catalog.vocabulary
        vocabulary, findings = read_vocabulary(self.layout)
        is_same = vocabulary.renamed == old.renamed
        self.catalog.keep("vocabulary", vocabulary.model_dump_json())
        self.catalog.keep("vocabulary_findings", orjson.dumps([found.model_dump() for found in findings]))
        self.load_vocabulary()
        is_larger = vocabulary.entities.items() >= old.entities.items()
        if is_same and is_larger and vocabulary.project_relations.items() >= old.project_relations.items():
            return sorted({*changed, *(finding.file for finding in self.catalog.findings())})
        self.catalog.clear()
        return self.present_files()

    def present_files(self, look: Look | None = None) -> list[str]:
        """Return every file that this version reads, as paths below the store; as it was seen, or as it is now."""
        look = look or self.layout.look_at_rows()
        return look.type_files + [file for file in look.data_files if holds(file)[0] in MODELS]

    def data_files(self) -> list[str]:
        """Return the data files of the kinds that this version knows; it leaves the others alone."""
        return [file for file in self.layout.data_files() if holds(file)[0] in MODELS]

    def data_bytes(self) -> int:
        """Return how large the data files are together."""
        return safe_files.bytes_of(self.layout.store / file for file in self.data_files())

    def changed_files(self, look: Look | None = None, *, is_thorough: bool = False) -> list[str]:
        """Return the files that may differ from what was last read; ``is_thorough`` compares the bytes of all."""
        kept = self.catalog.file_stamps()
        changed, store = [], str(self.layout.store)
        for file in self.present_files(look):
            try:
                found = os.lstat(f"{store}/{file}")
            except FileNotFoundError:  # git has just taken it away: it counts as gone
                continue
            size, mtime, inode, read = kept.pop(file, (None, 0, None, 0))
            is_same = (found.st_size, found.st_mtime_ns, found.st_ino) == (size, mtime, inode)
            if not is_same or ((is_thorough or mtime > read - RACY_NS) and self.differs(file)):
                changed.append(file)
        return changed + list(kept)

    def differs(self, file: str) -> bool:
        """Tell by its hash whether a file that was read just after it changed has changed again."""
        try:
            with safe_files.opened(self.layout.store / file) as found:
                digest = hashlib.file_digest(found, "sha256").digest()
        except OSError:  # gone, or something else is there now
            return True
        stamp = self.catalog.stamp(file)
        if stamp is None or self.catalog.digest(file) != digest:
            return True
        if time.time_ns() - stamp.mtime_ns > RACY_NS:  # it cannot change unseen any more
            self.catalog.store_read_time(file, time.time_ns())
        return False

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        """
        Read one file again and yield what changed in it, at most ``ROWS_HELD`` new rows at once.

        Each part is to be taken in before the next one is asked for: a file that changes meanwhile is read again, and
        compared with what was taken in.

        Args:
            is_every_line: look at lines that are known too: they may have been purged since.
        """
        end = time.monotonic() + SETTLING_S
        self.unread.discard(file)
        while True:
            read_ns = time.time_ns()
            try:
                if not is_plain(file):  # read by an older version
                    raise FileNotFoundError
                handle = safe_files.opened(self.layout.store / file)
            except FileNotFoundError:
                self.catalog.remove_file(file)
                self.note_former(file, is_former=False)
                if file.startswith("data/"):
                    yield Batch(file, gone=list(self.catalog.lines(file).values()))
                return
            with handle:
                found, lines, seen = os.fstat(handle.fileno()), self.lines_in(file, handle), Scan()
                if file.startswith("data/"):
                    vocabulary = self.catalog.vocabulary
                    undeclared = misplaced(self.layout, vocabulary, file) if found.st_size else []
                    seen.findings = undeclared or oversize(file, found.st_size) or lfs_pointer(file, handle.read(64))
                    handle.seek(0)
                    yield from compare(
                        file,
                        lines,
                        seen,
                        Known(
                            self.catalog.lines(file),
                            self.purges,
                            self.symmetric,
                            is_elsewhere=self.elsewhere(file) if self.siblings[holds(file)] > 1 else None,
                            is_every_line=is_every_line,
                            is_split=home_of(file) in self.split,
                            renamed=self.catalog.vocabulary.renamed,
                        ),
                    )
                digest = lines.rest_of_sha256() if found.st_size <= FILE_BYTES else b""
                is_whole = lines.is_usual and not seen.findings
                if self.is_at_rest(file, found, handle, is_whole=is_whole) or time.monotonic() > end:
                    break
            time.sleep(POLL_S)
        self.note_former(file, is_former=isinstance(lines, CurrentLines) and lines.is_changed)
        self.catalog.store_file(
            file,
            Stamp.of(found),
            digest,
            read_ns,
            findings=seen.findings,
            purged=seen.purged,
            is_ordered=seen.is_ordered,
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
        table, own = table_of(file), numbers_of(file) if is_part(file) else range(0)
        homes = self.catalog.files_between(own, table) if own else {}

        def is_elsewhere(number: int) -> bool:
            known = homes if number in own else self.catalog.files_of([number], table)
            other = known.get(number, file)
            return other != file and other not in self.unread

        return is_elsewhere

    # --- rows by former names of types ---------------------------------------------------------------------------

    def lines_in(self, file: str, handle: BinaryIO) -> Lines:
        """Return the lines of an open file, of data by the names that types have now."""
        renaming = Renaming.of(self.catalog.vocabulary)
        if not renaming.names or not file.startswith("data/") or os.fstat(handle.fileno()).st_size > FILE_BYTES:
            return Lines(handle)
        if self.strays is None:
            self.strays = self.gathered(self.layout.data_files())
        former = file if renaming.is_former(file) else None
        return CurrentLines(handle, renaming, self.strays.get(file, ()), former)

    def gathered(self, present: Collection[str]) -> dict[str, list[Entry]]:
        """Return the rows that are in files by former names of types, by the files that they are read with."""
        renaming, split = Renaming.of(self.catalog.vocabulary), files_by_kind(present)
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
            self.catalog.keep("by_former_names", orjson.dumps(sorted(known ^ {file})))

    @property
    def by_former_names(self) -> set[str]:
        """The files with rows by former names of types, as last read."""
        return set(orjson.loads(self.catalog.meta("by_former_names") or "[]"))

    @property
    def is_merging(self) -> bool:
        """Whether git's index has unmerged data files: what their sides hold is compared with the files as they are."""
        with contextlib.suppress(Unavailable):
            return self.git_folder is not None and bool(commands.unmerged(self.layout.store, "data"))
        return False

    def put_under_current_names(self) -> None:
        """Put the rows that are in files by former names of types where they belong, each once, all or none."""
        present = set(self.layout.data_files())
        renaming, split = Renaming.of(self.catalog.vocabulary), files_by_kind(present)
        groups: dict[str, list[str]] = {}
        for file in sorted(present):
            groups.setdefault(usual_file(*renaming.held(file)), []).append(file)
        contents: dict[str, bytes] = {}
        for home, files in groups.items():
            is_well = all(found.fix == RESOLVE for file in files for found in self.catalog.findings_of(file))
            if is_well and not self.by_former_names.isdisjoint(files):
                rows = renaming.numbered(safe_files.read(self.layout.store / file) for file in files)
                parts: dict[str, list[bytes]] = {file: [] for file in files}
                for number, line in sorted(rows.items()):
                    parts.setdefault(part_of(home, split.get(home, 1), number), []).append(line)
                contents |= {file: b"".join(line + b"\n" for line in lines) for file, lines in parts.items()}
        if not contents:
            return
        read = self.as_read(contents)
        paths = {self.layout.store / file: data for file, data in contents.items()}
        replace_files(paths, self.layout, lambda fresh: self.refuse_changed(read))
        self.notices.append("rows of types that were renamed are under the new names now")
        self.sync_locked()

    @property
    def symmetric(self) -> frozenset[str]:
        """The names of the symmetric relation types."""
        return frozenset(name for name, made in self.catalog.vocabulary.relations.items() if made.symmetric)

    def findings(self) -> list[Finding]:
        """Return what was wrong with the files when they were last read, in the order of files and lines."""
        return self.vocabulary_findings + self.catalog.findings()

    # --- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[Sync]:
        """Hold the store alone, with everything on disk taken in, while the block decides; yield what was taken in."""
        with locked(self.lock, timeout_s=self.lock_timeout_s):
            sync = self.sync_locked(is_whole=True)
            assert sync.look is not None
            safe_files.refuse_links([self.layout.store / link for link in sync.look.links])
            if safe_files.is_file(self.layout.journal):
                raise Unavailable(
                    "a write that was interrupted cannot be finished",
                    hint=f"see whether {self.layout.store} is writable",
                )
            sweep(self.layout, sync.look)
            self.load_vocabulary()
            self.strays = None
            if self.by_former_names and not self.is_merging:
                self.put_under_current_names()
            self.purges = self.catalog.purges()
            if (request := requests.current()) is not None:
                request.refuse_done(self.layout.requests, self.has_happened)
            yield sync

    def has_happened(self, note: str) -> bool:
        """Return whether a write that was noted has happened; inside ``writing``, so the rows are as they are."""
        found = undo.has_happened(self.layout, note)
        if found is not None:
            return found
        write = undo.read_write(self.layout.undo / f"{note}{undo.UNSURE}")
        return undo.Overlay(self.catalog.lines_of, self.symmetric).take_back(write, is_sure=False) is not None

    def commit(
        self,
        puts: Sequence[Entry],
        removes: Mapping[str, Sequence[int]] | None = None,
        types: Types = NO_TYPES,
        *,
        is_noted: bool = True,
        is_moved: bool = False,
    ) -> None:
        """Write rows into their files and take them in; called by ``runtime.Writing.commit``, which says how."""
        batches: dict[str, Batch] = {file: Batch(file, gone=list(gone)) for file, gone in (removes or {}).items()}
        for file, entries in self.by_file([*map(self.created_after_purge, puts)]).items():
            batches.setdefault(file, Batch(file)).entries = entries
        self.refuse_drifted(file for file, batch in batches.items() if batch.entries)
        if not is_moved:
            self.refuse_secrets(batches)
        self.write(batches, types, is_noted=is_noted)

    def by_file(self, puts: Sequence[Entry]) -> dict[str, list[Entry]]:
        """Return rows by the files that they go into: where a row of their number is, or where it belongs."""
        usually: dict[str, list[Entry]] = {}
        split = files_by_kind(self.catalog.file_stamps())
        for entry in puts:
            usually.setdefault(usual_file(entry.kind, entry.row.get("type")), []).append(entry)
        found: dict[str, list[Entry]] = {}
        for usual, entries in usually.items():
            homes = self.catalog.files_of([entry.id for entry in entries], table_of(usual))
            files = split.get(usual, 1)
            if not homes and files == 1:
                found.setdefault(usual, []).extend(entries)
                continue
            for entry in entries:
                file = homes.get(entry.id) or part_of(usual, files, entry.id)
                found.setdefault(file, []).append(entry)
        return found

    def refuse_drifted(self, files: Iterable[str]) -> None:
        """Raise ``Refused`` for rows of a type that no file declares: they may belong to another type by now."""
        for name in (holds(file)[1] for file in files):
            if name in self.catalog.vocabulary.drifted:
                raise drifted(name or "", self.catalog.vocabulary)

    def refuse_secrets(self, batches: Mapping[str, Batch]) -> None:
        """
        Raise ``Refused`` for a row with a secret that is not in the row in whose place it comes.

        The last look before a write, so that no way in is without one; what was refused or redacted where it came in
        never gets here. ``write`` has none: it takes back, and takes out.
        """
        if self.may_hold_secrets:
            return
        from graphmem.core.records import secrets  # noqa: PLC0415 - 4 ms that only a write pays

        for batch in batches.values():
            suspects = [entry for entry in batch.entries if entry.record is not None and secrets.may_hold(entry.line)]
            lines = self.catalog.lines_of([entry.id for entry in suspects], batch.file) if suspects else {}
            for entry in suspects:
                before = orjson.loads(lines.get(entry.id, b"{}"))
                for found in secrets.new_secrets(entry.row, before):
                    raise secrets.refusal(undo.title(before) if before else entry.kind, found)

    def created_after_purge(self, entry: Entry) -> Entry:
        """Return a row to be written; where its key was purged, created after that, whatever the clock says."""
        at = self.purges.purged_at(entry.row, self.symmetric) if self.purges else None
        if at is None:
            return entry
        time = parse_time(at) + timedelta(milliseconds=1)
        if entry.record is None:
            return plain_edge({**entry.row, "created_at": format_time(time)}, self.symmetric)
        fields = {name: time for name in ("created_at", "at") if hasattr(entry.record, name)}
        return entry_of(entry.record.model_copy(update=fields), self.symmetric)

    def write(self, batches: Mapping[str, Batch], types: Types = NO_TYPES, *, is_noted: bool = True) -> None:
        """
        Change files by their paths, all or none, and take the changes in; noted, so that they can be taken back.

        Args:
            types: new texts of files of types, by path; None for one that goes. All rows are read again then.
        """
        if not batches and not types:
            return
        request = requests.current()
        for file in batches:
            self.refuse_unwell(file)
        if self.git_folder is not None and (fresh := [file for file in batches if self.catalog.stamp(file) is None]):
            refuse_hidden(self.layout, fresh)
        note = undo.note(self.layout, self.catalog.lines_of, self.command, batches, types) if is_noted else None
        if note is not None and request is not None:
            request.note(self.layout.requests, undo.name_of(note))
        written = {file: self.contents(batch) for file, batch in batches.items()}
        for file, data in written.items():
            for found in oversize(file, len(data)):
                raise Refused(f"{file} would be {len(data):,} bytes, {found.expected}", hint=found.fix)
        self.notices += [removal(file, number) for file, number in self.purged_rows().items() if file in batches]
        contents = {self.layout.store / file: data for file, data in (*written.items(), *types.items())}
        must_read = bool(types) or self.have_drifted(batches)  # more than rows follows from these files
        read = self.as_read([*written, *filter(TYPE_FILE.fullmatch, types)])
        try:
            replace_files(
                contents | self.stale_vocabulary_file(types),
                self.layout,
                lambda fresh: self.refuse_changed(read) if must_read else self.take_in_own(batches, written, fresh),
            )
        except (GraphmemError, CatalogError):  # refused before anything was replaced; any other end may be a death
            if note is not None:
                safe_files.remove(note)
                if request is not None:
                    request.forget(self.layout.requests)
            raise
        self.writes += 1
        if note is not None:
            undo.confirm(note)
        if request is not None:
            request.has_written(self.layout.requests, is_noted=note is not None)
        if must_read or any(is_of_purges(file) for file in batches):
            self.sync_written()

    def have_drifted(self, files: Iterable[str]) -> bool:
        """Return whether one of some data files is of a type that no file declares: with it, the vocabulary changes."""
        vocabulary = self.catalog.vocabulary
        known = {None, *vocabulary.entities, *vocabulary.linkable} - vocabulary.drifted
        return any(holds(file)[1] not in known for file in files)

    def take_in_own(
        self, batches: Mapping[str, Batch], written: Mapping[str, bytes], fresh: Mapping[Path, Path]
    ) -> None:
        """
        Take in what this process is about to put in place, without reading it again.

        Before the files are replaced: a catalog without room fails the command while nothing has happened. Should the
        process die in between, the catalog names files that are not there, and they are read again.

        Args:
            fresh: where the new contents are, by the path of the file; renamed, they stay the same files.
        """
        read = self.as_read(written)
        with self.catalog.transaction():
            for file, data in written.items():
                if is_of_purges(file):  # read like one that came from elsewhere: other files follow from it
                    continue
                found = os.lstat(fresh[self.layout.store / file])
                digest = hashlib.sha256(data).digest()
                self.catalog.store_file(file, Stamp.of(found), digest, time.time_ns(), is_ordered=True)
            with changes.ChangeApplier(self.catalog) as intake:
                for file in sorted(batches, key=changes.ChangeApplier.order):
                    if not is_of_purges(file):
                        intake.take(batches[file])
            self.refuse_changed(read)  # last: what is refused leaves the catalog as it was

    def arrange(self, contents: Mapping[str, bytes | None]) -> None:
        """
        Put the rows of a kind, as they are, into other files, all or none; the catalog notes where each is now.

        Args:
            contents: of each file that the rows are in from now on; None for a file that goes.
        """
        read = self.as_read(contents)
        before = [file for file, stamp in read.items() if stamp is not None]
        self.notices += [removal(file, number) for file, number in self.purged_rows().items() if file in contents]

        def take_in(fresh: Mapping[Path, Path]) -> None:
            with self.catalog.transaction():
                for file, data in contents.items():
                    if data is None:
                        self.catalog.remove_file(file)
                        continue
                    stamp, digest = Stamp.of(os.lstat(fresh[self.layout.store / file])), hashlib.sha256(data).digest()
                    self.catalog.store_file(file, stamp, digest, time.time_ns(), is_ordered=True)
                    self.catalog.move_rows(file, numbers_of(file), before)
                self.refuse_changed(read)  # last: what is refused leaves the catalog as it was

        replace_files({self.layout.store / file: data for file, data in contents.items()}, self.layout, take_in)
        self.writes += 1

    def as_read(self, files: Iterable[str]) -> Read:
        """Return how these files were when they were read; None for one that was not there."""
        return {file: self.catalog.stamp(file) for file in files}

    def refuse_changed(self, read: Read) -> None:
        """
        Wait while git changes files, and see that these are as they were read: the last look before they are replaced.

        Args:
            read: what ``as_read`` returned.

        Raises:
            FileReplaced: git or an editor replaced one of them.
            Locked: git changes files all the time.
        """
        end = time.monotonic() + self.lock_timeout_s
        while self.moment() is None:
            if time.monotonic() > end:
                raise self.locked_by_git()
            time.sleep(POLL_S)
        for file, before in read.items():
            found = safe_files.stat_of(self.layout.store / file)
            if (Stamp.of(found) if found else None) != before:
                raise replaced(file)

    def locked_by_git(self) -> Locked:
        """Report that git changes files all the time."""
        lock = self.index_lock
        hint = f"if no git is at work: {command('rm', str(lock))}" if lock and os.path.lexists(lock) else "try again"
        return Locked("git changes the files of the project all the time", hint=hint)

    def purged_rows(self) -> dict[str, int]:
        """Return the files with rows that were purged and are back, with how many: they are not read."""
        return self.catalog.purged_rows()

    def refuse_unwell(self, file: str) -> None:
        """Raise ``BadInput`` for a file with bad lines: writing it would lose them."""
        findings = self.catalog.findings_of(file)
        if findings:
            first, place = findings[0], self.layout.store / file
            fixes = [found.fix for found in findings if found.fix == RESOLVE or found.code == Code.LFS_POINTER]
            raise BadInput(
                f"{file} is not written as long as it has bad lines: {first}",
                hint=fixes[0] if fixes else f"correct line {first.line} of {place}, or take it out",
                details={"findings": [found.model_dump() for found in findings]},
            )

    def contents(self, batch: Batch) -> bytes:
        """Return the new bytes of a file: untouched lines as they are, the others in their places."""
        path = self.layout.store / batch.file
        data = bytes_of(path)
        if data and self.catalog.digest(batch.file) != hashlib.sha256(data).digest():
            raise replaced(batch.file)
        changes: dict[int, bytes | None] = dict.fromkeys([*batch.gone, *self.catalog.purged_in(batch.file)])
        changes |= {entry.id: entry.line for entry in batch.entries}
        if can_splice(data, changes, is_ordered=self.catalog.is_ordered(batch.file)):
            return spliced(data, changes, self.symmetric)
        return with_changes(data, changes, self.catalog.lines(batch.file) if data else {}, self.symmetric)

    def stale_vocabulary_file(self, types: Types = NO_TYPES) -> dict[Path, bytes]:
        """Return what ``schema.json`` has to hold with these files of types, by its path, where it is another text."""
        vocabulary, path = self.catalog.vocabulary.with_types(read_types(types)), self.layout.vocabulary
        return {} if is_vocabulary(bytes_of(path), vocabulary) else {path: vocabulary_json(vocabulary)}


def bytes_of(path: Path) -> bytes:
    """Return the content of a file; nothing where it is not there, or git removes it at this moment."""
    with contextlib.suppress(FileNotFoundError):
        return safe_files.read(path)
    return b""


def removal(file: str, number: int) -> str:
    """Report that rows which were purged are taken out of a file."""
    rows = "1 row" if number == 1 else f"{number:,} rows"
    return f"removed from {file}: {rows} that had been purged, and that a merge brought back"


def replaced(file: str) -> FileReplaced:
    """Report that a file changed while a command decided what to write into it."""
    return FileReplaced(
        f"{file} was replaced by another program while this command ran; nothing was changed",
        hint="run the command again",
    )
