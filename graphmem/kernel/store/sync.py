"""
The rows and their catalog in step: the place of the rows is read when it changed, and written by one at a time.

Source: docs/format.md. The place is the truth; the catalog holds what was last read of it.
"""

import contextlib
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Protocol

from graphmem.errors import GraphmemError, Locked, Refused, Unavailable
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.changes import ChangeApplier
from graphmem.kernel.catalog.database import CatalogError, table_of
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger import undo
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.files.place import FilePlace
from graphmem.kernel.ledger.parts import files_by_kind, holds, is_of_purges, part_of, usual_file
from graphmem.kernel.ledger.port import PlaceAway, PlaceMoved, RowPlace, Unconfirmed
from graphmem.kernel.ledger.row import entry as entry_of
from graphmem.kernel.ledger.row import plain_edge, signed_entry
from graphmem.kernel.ledger.types import NO_TYPES, Types, drifted
from graphmem.kernel.machine import requests
from graphmem.kernel.machine.state import State
from graphmem.kernel.model.authors import Author
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.registry import extensions
from graphmem.kernel.store.reading import PlaceReader
from graphmem.kernel.system import safe_files

READER_PATIENCE_S = 2.0  # a reader that finds changed files waits this long for a writer, then reads what was read last


@dataclass(slots=True)
class Sync:
    """What was found on opening: how many rows were taken in, and whether the catalog had to be made again."""

    rows: int = 0
    is_first: bool = False
    waits_for: str | None = None  # why what changed was not read: who holds the files


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


class SyncedLedger:
    """
    The rows of one store in their place, and the catalog that is kept in step with them.

    Args:
        layout: of the files of this machine that go with a write: its note for ``undo``, the request that it is of.
        command: the name of the writer in undo notes.
    """

    def __init__(self, place: RowPlace, catalog: Catalog, layout: Layout, command: str) -> None:
        self.place = place
        self.catalog = catalog
        self.layout = layout
        self.command = command
        self.reader = PlaceReader(place, catalog, layout.purge)
        self.may_hold_secrets = False  # as the settings say
        self.writes = 0  # that this process made
        self.notices: list[str] = []  # of the last writes, for people

    @property
    def is_in_files(self) -> bool:
        """Whether the rows are in files of this machine."""
        return isinstance(self.place, FilePlace)

    @property
    def files(self) -> FilePlace:
        """The files that the rows are in, for what is about files; ``Unavailable`` where they are elsewhere."""
        if not isinstance(self.place, FilePlace):
            raise Unavailable("the rows of this store are not in files", hint="this command is about files")
        return self.place

    @property
    def state(self) -> State:
        """What this machine keeps of the store."""
        return State(self.layout.state_file, self.notices.append)

    @property
    def symmetric(self) -> frozenset[str]:
        """The names of the symmetric relation types."""
        return self.catalog.vocabulary.symmetric

    def findings(self) -> list[Finding]:
        """Return what was wrong with the files when they were last read, in the order of files and lines."""
        return self.reader.vocabulary_findings + self.catalog.findings()

    # --- reading ------------------------------------------------------------------------------------------------

    def sync(self, *, is_thorough: bool = False) -> Sync:
        """
        Take in what changed since the place was last read, if anything did.

        Args:
            is_thorough: compare the bytes of every file, not only sizes and times.
        """
        must_read = is_thorough or self.catalog.is_new
        patience_s = self.place.lock_timeout_s if must_read else READER_PATIENCE_S
        try:
            if not self.place.has_changed(is_thorough=is_thorough):
                return Sync()
            with self.place.holding(patience_s):
                self.catalog.look_again()
                return self.sync_locked(is_thorough=is_thorough, patience_s=patience_s)
        except (Locked, Refused, Unavailable) as error:
            if must_read:
                raise
            return Sync(waits_for=error.message)  # what was read last is whole

    def sync_locked(
        self, *, is_thorough: bool = False, patience_s: float | None = None, is_whole: bool = False
    ) -> Sync:
        """
        Do the work of ``sync`` under the lock of the store; what was read while others changed the place is read again.

        Args:
            patience_s: seconds to wait for git; None for those that a writer waits for another one.
            is_whole: look through the whole store, and not only at what is read.

        Raises:
            Locked: others change the place all the time.
        """
        end = time.monotonic() + (self.place.lock_timeout_s if patience_s is None else patience_s)
        is_first = self.catalog.is_new
        while changed := self.place.changed(end, is_thorough=is_thorough, is_whole=is_whole):
            self.reader.load_vocabulary()  # another process may have read a new type, whose rows come now
            try:
                return Sync(self.reader.read_changes(changed), is_first)
            except PlaceMoved:
                self.reader.forget_vocabulary()
            self.place.wait(end)
        return Sync()

    def sync_written(self) -> None:
        """Take in what was just written; where that cannot be, such as on a full disk, the next command does it."""
        with contextlib.suppress(OSError, CatalogError, Locked, PlaceAway):
            self.sync_locked()

    # --- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def writing(self) -> Iterator[Sync]:
        """Hold the store alone, with all that changed taken in, while the block decides; yield what was taken in."""
        with self.place.holding(self.place.lock_timeout_s), self.catalog.steady():
            sync = self.sync_locked(is_whole=True)
            self.reader.load_vocabulary()
            if (text := self.place.tidy()) is not None:
                self.notices.append(text)
                self.sync_locked()
            if (request := requests.current()) is not None:
                request.refuse_done(self.state, self.has_happened)
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
        author: Author | None = None,
        is_proven: bool = False,
        is_noted: bool = True,
        is_moved: bool = False,
    ) -> None:
        """
        Write rows into their files and take them in; called by ``runtime.Writing.commit``, which says how.

        Args:
            author: who changes them; None where the rows are to say of their authors what they say now.
            is_proven: a token says who that is, so that rows cannot name another one.
        """
        batches: dict[str, Batch] = {file: Batch(file, gone=list(gone)) for file, gone in (removes or {}).items()}
        purges = self.catalog.purges()
        rows = [_created_after_purge(entry, purges, self.symmetric) for entry in puts]
        for file, entries in self.by_file(rows).items():
            made = entries if author is None else self.signed(file, entries, author, is_proven=is_proven)
            batches.setdefault(file, Batch(file)).entries = made
        self.refuse_drifted(file for file, batch in batches.items() if batch.entries)
        if not (is_moved or self.may_hold_secrets):
            for refuse in extensions("batch"):
                refuse(self.catalog, batches.values())
        self.write(batches, types, is_noted=is_noted)

    def signed(self, file: str, entries: Sequence[Entry], author: Author, *, is_proven: bool) -> list[Entry]:
        """Return rows that are to be written into a file, with their authors."""
        before = self.catalog.lines_of([entry.id for entry in entries], file)
        symmetric = self.symmetric
        return [signed_entry(entry, before.get(entry.id), author, symmetric, is_proven=is_proven) for entry in entries]

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

    def write(self, batches: Mapping[str, Batch], types: Types = NO_TYPES, *, is_noted: bool = True) -> None:
        """
        Change parts by their names, all or none, and take the changes in; noted, so that they can be taken back.

        Args:
            types: new texts of files of types, by path; None for one that goes. All rows are read again then.
        """
        if not batches and not types:
            return
        self.place.refuse_unwell(batches)
        request, notes = requests.current(), list[Path]()
        is_read_again = bool(types) or self.have_drifted(batches)  # more than rows follows from these parts
        removals = _removals(self.catalog, batches)

        @contextlib.contextmanager
        def taking_in() -> Iterator[None]:
            if is_noted:
                notes.append(self.note(batches, types))
                if request is not None:
                    request.note(self.state, undo.name_of(notes[0]))
            with contextlib.nullcontext() if is_read_again else self.taking_rows_in(batches):
                yield

        try:
            self.place.commit(batches, types, taking_in(), is_read_again=is_read_again)
        except Unconfirmed:
            raise  # whoever repeats the request finds out by its note
        except (GraphmemError, CatalogError):  # refused before anything was replaced; any other end may be a death
            for note in notes:
                safe_files.remove(note)
                if request is not None:
                    request.forget()
            raise
        self.writes += 1
        self.notices += removals
        for note in notes:
            undo.confirm(note)
        if request is not None:
            request.has_written(self.state, is_noted=is_noted)
        if is_read_again or any(map(is_of_purges, batches)):
            self.sync_written()

    def note(self, batches: Mapping[str, Batch], types: Types) -> Path:
        """Note a write that is about to happen, for ``undo``, and return the note."""
        texts = {file: text for file in types if (text := self.place.text(file)) is not None}
        return undo.note(self.layout, self.catalog.lines_of, self.command, batches, types, texts)

    @contextlib.contextmanager
    def taking_rows_in(self, batches: Mapping[str, Batch]) -> Iterator[None]:
        """
        Take in what this process is about to write, without reading it again, then run the block, all or nothing.

        A catalog without room fails the command so while nothing has happened.
        """
        with self.catalog.transaction():
            with ChangeApplier(self.catalog) as intake:
                for file in sorted(batches, key=ChangeApplier.order):
                    if not is_of_purges(file):  # read like one that came from elsewhere: other files follow from it
                        intake.take(batches[file])
            yield

    def have_drifted(self, files: Iterable[str]) -> bool:
        """Return whether one of some data files is of a type that no file declares: with it, the vocabulary changes."""
        vocabulary = self.catalog.vocabulary
        known = {None, *vocabulary.entities, *vocabulary.linkable} - vocabulary.drifted
        return any(holds(file)[1] not in known for file in files)

    def arrange(self, contents: Mapping[str, bytes | None]) -> None:
        """Put the rows of a kind, as they are, into other files, as ``FilePlace.arrange`` does."""
        removals = _removals(self.catalog, contents)
        self.files.arrange(contents)
        self.writes += 1
        self.notices += removals


def _created_after_purge(entry: Entry, purges: Purges, symmetric: frozenset[str]) -> Entry:
    """Return a row to be written; where its key was purged, created after that, whatever the clock says."""
    at = purges.purged_at(entry.row, symmetric) if purges else None
    if at is None:
        return entry
    time = parse_time(at) + timedelta(milliseconds=1)
    if entry.record is None:
        return plain_edge({**entry.row, "created_at": format_time(time)}, symmetric)
    fields = {name: time for name in ("created_at", "at") if hasattr(entry.record, name)}
    return entry_of(entry.record.model_copy(update=fields), symmetric)


def _removals(catalog: Catalog, files: Collection[str]) -> list[str]:
    """Return, for people, which rows a write takes out that were purged, and that a merge brought back."""
    return [
        f"removed from {file}: {number:,} row{'' if number == 1 else 's'} that had been purged,"
        " and that a merge brought back"
        for file, number in catalog.purged_rows().items()
        if file in files
    ]
