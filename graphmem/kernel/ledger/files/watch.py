"""Which files of a store changed since they were read, by anyone: the program, an editor, git."""

import contextlib
import hashlib
import os
import time
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from graphmem.errors import Locked
from graphmem.kernel.finding import Finding
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import state_of_index
from graphmem.kernel.ledger.files.journal import recover
from graphmem.kernel.ledger.files.layout import Layout, Look
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.ledger.port import LastRead, PlaceMoved
from graphmem.kernel.model import MODELS
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.shell import command

RACY_NS = 2_000_000_000  # a file changed this shortly before it was read may change again unseen: hash it next time
POLL_S = 0.002  # between two looks at what another program is about to end
GIT_LOCK_S = 60.0  # a lock of git that is older was left by a dead process


class FilesLastRead(LastRead, Protocol):
    """What files need to know beyond what every place does."""

    def digest(self, file: str) -> bytes | None:
        """Return the SHA-256 of a file; None where it was not there."""

    def files_between(self, numbers: range, file: str) -> dict[int, str]:
        """Return the files that hold the rows with these numbers, of the table that the rows of ``file`` are in."""

    def without_moved(self, file: str, entries: Sequence[Entry]) -> list[Entry]:
        """Note which rows of a file were in another one, with the same lines; return the others."""

    def is_ordered(self, file: str) -> bool:
        """Return whether every line of a file was a row, in order."""

    def purged_in(self, file: str) -> list[int]:
        """Return the numbers of the rows of a file that were purged, and are not read."""

    def findings(self) -> list[Finding]:
        """Return what was wrong with the files."""

    def findings_of(self, file: str) -> list[Finding]:
        """Return what was wrong with a file."""

    def meta(self, name: str) -> str | None:
        """Return a value that was kept."""

    def keep(self, name: str, value: object) -> None:
        """Keep a value."""

    def store_read_time(self, file: str, read_ns: int) -> None:
        """Store when a file was last compared."""

    def move_rows(self, file: str, own: range, files: Collection[str]) -> None:
        """Note for the rows with these numbers, which are in some files, that they are in another one."""

    def transaction(self) -> contextlib.AbstractContextManager[None]:
        """Run the block in one transaction."""


class WatchedFiles:
    """The files of a store, to see whether they changed; ``port.RowPlace`` says what the methods do."""

    def __init__(
        self, layout: Layout, git_folder: Path | None, last: FilesLastRead, lock: Path, *, lock_timeout_s: float
    ) -> None:
        self.layout = layout
        self.git_folder = git_folder
        self.git_lock = git_folder / "index.lock" if git_folder is not None else None
        self.last = last
        self.lock = lock
        self.lock_timeout_s = lock_timeout_s
        self.seen: Look | None = None  # what ``changed`` found
        self.seen_moment: str | None = None  # when it did
        self.is_thorough = False  # whether it compared the bytes of every file
        self.notices: list[str] = []

    @contextlib.contextmanager
    def holding(self, timeout_s: float) -> Iterator[None]:
        with locked(self.lock, timeout_s=timeout_s):
            with contextlib.suppress(OSError):  # a store that can only be read is read as it is
                recover(self.layout)
            yield

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        return safe_files.is_file(self.layout.journal) or bool(self.changed_files(is_thorough=is_thorough))

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        self.is_thorough = is_thorough
        while True:
            self.seen_moment = self.moment()
            self.seen = self.layout.look() if is_whole else self.layout.look_at_rows()
            changed = self.changed_files(self.seen, is_thorough=is_thorough)
            if not changed or self.seen_moment is not None:
                return changed
            self.wait(end)

    def refuse_moved(self) -> None:
        if self.moment() != self.seen_moment and self.changed_files(is_thorough=self.is_thorough):
            raise PlaceMoved

    def wait(self, end: float) -> None:
        """Wait a moment for git, or raise ``Locked`` where that took too long."""
        if time.monotonic() > end:
            lock, hint = self.index_lock, "try again"
            if lock and os.path.lexists(lock):
                hint = f"if no git is at work: {command('rm', str(lock))}"
            raise Locked("git changes the files of the project all the time", hint=hint)
        time.sleep(POLL_S)

    @property
    def index_lock(self) -> Path | None:
        """The file that is there while git changes files of the working tree; None without git, and in a hook of it."""
        return None if commands.is_in_hook() else self.git_lock

    def moment(self) -> str | None:
        """Return what changes when git changes files; None while it does so."""
        if (lock := self.index_lock) is not None:
            with contextlib.suppress(OSError):
                if abs(time.time() - os.lstat(lock).st_mtime) < GIT_LOCK_S:
                    return None
        return state_of_index(self.git_folder)

    def all_parts(self, look: Look | None = None) -> list[str]:
        """Return every file that this version reads, as paths below the store; as it was seen, or as it is now."""
        look = look or self.layout.look_at_rows()
        return look.type_files + [file for file in look.data_files if holds(file)[0] in MODELS]

    def parts(self) -> list[str]:
        return [file for file in self.layout.data_files() if holds(file)[0] in MODELS]

    def size(self) -> int:
        return safe_files.bytes_of(self.layout.store / file for file in self.parts())

    def changed_files(self, look: Look | None = None, *, is_thorough: bool = False) -> list[str]:
        """Return the files that may differ from what was last read; ``is_thorough`` compares the bytes of all."""
        kept = self.last.file_stamps()
        changed = []
        for file in self.all_parts(look):
            try:
                found = os.lstat(self.layout.at(file))
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
            with safe_files.opened(self.layout.at(file)) as found:
                digest = hashlib.file_digest(found, "sha256").digest()
        except OSError:  # gone, or something else is there now
            return True
        stamp = self.last.stamp(file)
        if stamp is None or self.last.digest(file) != digest:
            return True
        if time.time_ns() - stamp.mtime_ns > RACY_NS:  # it cannot change unseen any more
            self.last.store_read_time(file, time.time_ns())
        return False
