"""
What this machine keeps of a store: values of a few kinds, each by a key, in ``state/state.db``, never committed.

``KINDS`` says what, how much and how long. To read never fails: what is damaged is reported and counts as absent.
Decision: docs/decisions/0049-one-store-of-state.md.
"""

import contextlib
import fcntl
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple, TypeVar

from graphmem import constants
from graphmem.errors import Locked, Unavailable
from graphmem.kernel.system import safe_files

T = TypeVar("T")
Decode = Callable[[bytes], T]  # raises ``ValueError`` or ``TypeError`` for what is damaged
PATIENCE_S = 10.0  # to wait for another process that writes
PAUSE_S = 0.005  # between two looks whether the folder is free
BOUND_EVERY = 16  # writes
MIB = 2**20
ASIDE = ".aside"  # ends the name of a damaged file, until the next purge
FOREIGN = "it is not a file of graphmem"
# To close a file takes away the locks that SQLite holds on it for other threads of the process: nobody connects before.
MAKING = threading.Lock()


class StateKind(NamedTuple):
    """How much is kept of a kind: a larger value is refused, and what was written first makes room for others."""

    most: int
    value_bytes: int = MIB
    all_bytes: int | None = 64 * MIB  # None for what is so small that only the number matters
    days: float | None = None  # after which a value goes
    purged: str = ""  # with a purge: ``told`` goes whole where it holds a text of a purged record, ``all`` goes


KINDS = {
    "arrival": StateKind(200_000, 100, None),  # the events of the store, as they arrived in this clone
    "asked": StateKind(20_000, all_bytes=constants.ASKED_BYTES, days=constants.ASKED_DAYS, purged="all"),  # for reports
    "candidates": StateKind(1, 64 * MIB),  # the queue of candidates, and the files that were read for it
    "event": StateKind(10_000, all_bytes=constants.LOCAL_EVENT_BYTES, purged="told"),  # events of this machine alone
    "exploration": StateKind(200, purged="told"),  # sessions of agents that explore together
    "hook": StateKind(1_000),  # what hooks gave to the sessions of agents
    "impact": StateKind(1),  # what they did in sessions that ended, in numbers
    "imports": StateKind(100, 2**28, 2**28),  # what imports of a format gave to which record, by fingerprints
    # Commands that fail.
    "ran": StateKind(constants.KEPT_RUNS, all_bytes=constants.RUNS_BYTES, days=constants.RUN_DAYS),
    "nonce": StateKind(100_000, 100, None, days=2.0),  # of tokens of stages that were used
    "request": StateKind(constants.REQUESTS, 2 * MIB, 256 * MIB),  # requests that were carried out, with their answers
    "run": StateKind(1, constants.RUN_STATE_BYTES),  # what is going on now
    "session": StateKind(1_000),  # what is current in a session
    "stage": StateKind(1_000),  # the active one of guarded work, and where its branches began
    "sync": StateKind(100, 2**28, 2**28),  # what this clone had in common with servers, by their addresses
    "usage": StateKind(100_000, 100, None),  # how often a record was returned
}
TABLE = (
    "state (seq INTEGER PRIMARY KEY AUTOINCREMENT, kind TEXT NOT NULL, key TEXT NOT NULL,"
    " value BLOB NOT NULL, at REAL, UNIQUE (kind, key))"
)
OF_KIND = "SELECT key, value FROM state WHERE kind = ? ORDER BY seq"
OF_KEY = "SELECT key, value FROM state WHERE kind = ? AND key = ?"
PUT = (
    "INSERT OR REPLACE INTO state (kind, key, value, at) SELECT ?1, ?2, ?3, ?4"
    " WHERE NOT EXISTS (SELECT 1 FROM state WHERE kind = ?1 AND key = ?2 AND value = ?3 AND at IS ?4)"
)
COUNT = "SELECT count(*) FROM state WHERE kind = ?"
BOUND = (
    "DELETE FROM state WHERE seq IN (SELECT seq FROM (SELECT seq, row_number() OVER latest AS number, at,"
    " sum(length(value)) OVER latest AS size, max(at) OVER () AS now FROM state WHERE kind = ?1"
    " WINDOW latest AS (ORDER BY seq DESC)) WHERE number > ?2 OR size > ?3 OR at < now - ?4)"
)


class KeptState:
    """What is kept, inside of a transaction."""

    def __init__(self, connection: sqlite3.Connection, say: Callable[[str], object]) -> None:
        self.connection, self.say = connection, say
        self.due: set[str] = set()  # kinds of which there may be too much

    def read(self, kind: str, key: str, decode: Decode[T]) -> T | None:
        """Return a value; None where it is not kept, or damaged, which is reported."""
        return self.read_all(kind, decode, (key,)).get(key)

    def read_all(self, kind: str, decode: Decode[T], keys: Collection[str] | None = None) -> dict[str, T]:
        """Return the values of a kind by key, or of some keys; what was written first as the first."""
        find, found = self.connection.execute, dict[str, T]()
        rows = find(OF_KIND, (kind,)) if keys is None else chain(*(find(OF_KEY, (kind, key)) for key in keys))
        for name, value in rows:
            try:
                found[name] = decode(value)
            except (ValueError, TypeError, RecursionError):
                self.say(f"{' '.join(filter(None, (kind, name)))} in state/ is taken as empty: it is damaged")
        return found

    def put(self, kind: str, key: str, value: bytes, at: datetime | None = None) -> None:
        """Keep a value in the place of what has its key; the same value stays where it is."""
        if len(value) > (most := KINDS[kind].value_bytes):
            raise Unavailable(f"{kind} has {len(value):,} bytes; at most {most:,} are kept")
        made = self.connection.execute(PUT, (kind, key, value, at and at.timestamp()))
        if made.rowcount > 0 and (made.lastrowid or 0) % BOUND_EVERY == 0:
            self.due.add(kind)

    def drop(self, kind: str, keys: Iterable[str]) -> None:
        """Remove values of a kind."""
        self.connection.executemany("DELETE FROM state WHERE kind = ? AND key = ?", [(kind, key) for key in keys])

    def drop_told(self, is_told: Callable[[str], bool]) -> None:
        """Remove what goes with a purge as ``KINDS`` says; ``is_told`` says whether a text holds one of theirs."""
        for kind in (name for name, row in KINDS.items() if row.purged):
            found = self.read_all(kind, bytes.decode)
            self.drop(kind, [key for key, text in found.items() if KINDS[kind].purged == "all" or is_told(text)])


class State(NamedTuple):
    """The state of a store on this machine."""

    path: Path
    say: Callable[[str], object] = lambda text: None
    patience_s: float = PATIENCE_S

    def read(self, kind: str, key: str, decode: Decode[T]) -> T | None:
        """Return a value; None where it is not kept, or cannot be read, which is reported."""
        return self.read_all(kind, decode, (key,)).get(key)

    def read_all(self, kind: str, decode: Decode[T], keys: Collection[str] | None = None) -> dict[str, T]:
        """Return the values of a kind by key, or of some keys; what was written first as the first."""
        return self._looked(lambda kept: kept.read_all(kind, decode, keys)) or {}

    def stamps(self, kinds: Sequence[str]) -> list[tuple[int, int]] | None:
        """Return what differs for each kind after a change of it."""
        sql = "SELECT coalesce(max(seq), 0), count(*) FROM state WHERE kind = ?"
        return self._looked(lambda kept: [kept.connection.execute(sql, (kind,)).fetchone() for kind in kinds])

    @contextlib.contextmanager
    def changing(self) -> Iterator[KeptState]:
        """
        Yield what is kept, alone with it: what the block changes is written at its end, all or nothing.

        Raises:
            Unavailable: it cannot be written, or as ``Locked``, another process is at it all the time.
        """
        with self._opened(make=True) as connection:
            self._begin_alone(connection)
            kept = KeptState(connection, self.say)
            yield kept
            for kind in kept.due:
                most, _, size, days, _ = KINDS[kind]
                if size is not None or kept.connection.execute(COUNT, (kind,)).fetchone()[0] > most:
                    kept.connection.execute(BOUND, (kind, most, size, days and days * 86_400))
            connection.execute("COMMIT")

    def damage(self) -> str | None:
        """Return what is wrong with the file; None where it is well, or missing."""
        said = list[str]()
        check = "PRAGMA quick_check"
        look = self._replace(say=said.append)._looked(lambda kept: str(kept.connection.execute(check).fetchone()[0]))
        return said[0] if said else None if look in (None, "ok") else f"{self.path}: {look}"

    def shrink(self) -> None:
        """Remove from the disk what was removed before, and what was put aside."""
        for folder in safe_files.walk(self.path.parent):
            for path in safe_files.files(folder):
                if path.suffix == ASIDE:
                    safe_files.remove(path)
        if safe_files.is_file(self.path):
            with self._opened(make=True) as connection:
                connection.execute("VACUUM")

    def _looked(self, look: Callable[[KeptState], T]) -> T | None:
        """Return what a look finds; None where nothing is there, and where it cannot be read, which is reported."""
        try:
            if safe_files.is_file(self.path):
                with self._opened(make=False) as connection:
                    return look(KeptState(connection, self.say))
            if os.path.lexists(self.path) or safe_files.is_linked(self.path):
                raise Unavailable(f"{self.path} is a link, lies behind one, or is not a regular file")
        except Unavailable as error:
            self.say(f"{error.message}; it is taken as empty")
        return None

    @contextlib.contextmanager
    def _opened(self, *, make: bool) -> Iterator[sqlite3.Connection]:
        """Yield a connection, or raise ``Unavailable``; what is damaged is put aside before it is written."""
        act = "written" if make else "read"
        try:
            with contextlib.ExitStack() as stack:
                try:
                    connection = self._entered(stack, make=make)
                except sqlite3.DatabaseError as error:
                    stack.close()
                    if not (make and _is_damage(error) and self._put_aside()):
                        raise
                    connection = self._entered(stack, make=make)
                except OSError as error:
                    what = f"{self.path} cannot be {act}: {error.strerror}"
                    raise Unavailable(what, hint=f"can it be {act}?") from None
                yield connection
        except sqlite3.Error as error:
            if make and _is_damage(error):
                self._put_aside()
            if _code_of(error) in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
                raise self._in_use() from None
            raise Unavailable(f"{self.path} cannot be {act}: {error}", hint="is the disk full?") from None

    def _entered(self, stack: contextlib.ExitStack, *, make: bool) -> sqlite3.Connection:
        """Return a connection that is closed when a stack ends; until then the file is not put aside."""
        stack.enter_context(self._held(fcntl.LOCK_SH, make=make))
        return stack.enter_context(contextlib.closing(self._connected(make=make)))

    @contextlib.contextmanager
    def _held(self, lock: int, *, make: bool = False) -> Iterator[None]:
        """
        Hold the folder: with others while the file is open, alone to put it aside.

        SQLite finds a journal by its name. One that still had the file open under another name would take the journal
        of the new file for its own.
        """
        with safe_files.own_folder(self.path.parent, make=make) as handle:
            end = time.monotonic() + self.patience_s
            while True:
                try:
                    fcntl.flock(handle, lock | fcntl.LOCK_NB)
                    break
                except BlockingIOError:
                    if time.monotonic() > end:
                        raise self._in_use() from None
                    time.sleep(PAUSE_S)
                except OSError:  # a file system without such locks
                    break
            yield

    def _begin_alone(self, connection: sqlite3.Connection) -> None:
        """Begin to write when no other process does; SQLite's own wait looks too rarely beside busy writers."""
        end = time.monotonic() + self.patience_s
        connection.execute("PRAGMA busy_timeout = 0")
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
                break
            except sqlite3.OperationalError as error:
                if _code_of(error) != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                    raise
                time.sleep(PAUSE_S)
        connection.execute(f"PRAGMA busy_timeout = {self.patience_s * 1000:.0f}")

    def _in_use(self) -> Locked:
        return Locked(f"{self.path} is in use by another process", hint="wait for it")

    def _connected(self, *, make: bool) -> sqlite3.Connection:
        """Return a connection to the table, which is made where it is missing: to be read, in memory alone."""
        for end in ("", "-journal"):
            safe_files.refuse_link(self.path.with_name(self.path.name + end))
        with MAKING:
            is_there = safe_files.is_file(self.path)
            if make and not is_there:
                with contextlib.suppress(FileExistsError):
                    os.close(safe_files.descriptor(self.path, os.O_RDWR | os.O_CREAT | os.O_EXCL))
        connection = sqlite3.connect(
            self.path if make or is_there else ":memory:", timeout=self.patience_s, isolation_level=None
        )
        try:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA journal_mode = TRUNCATE")  # to make and remove it each time takes thrice as long
            if not _has_table(connection):
                if not make:
                    connection.close()
                    connection = sqlite3.connect(":memory:", isolation_level=None)
                connection.execute(f"CREATE TABLE IF NOT EXISTS {TABLE}")
        except BaseException:
            connection.close()
            raise
        return connection

    def _put_aside(self) -> bool:
        """Rename a damaged file, unless another process has done so; return whether that could be done."""
        journal, aside = (self.path.with_name(self.path.name + end) for end in ("-journal", ASIDE))
        try:
            with self._held(fcntl.LOCK_EX):
                if _is_damaged(self.path):
                    safe_files.replace(self.path, aside)
                    safe_files.remove(journal)
                    self.say(f"{self.path} was damaged: it is begun again, and what it held is in {aside.name}")
        except OSError:
            return False
        return True


# --- the file ------------------------------------------------------------------------------------------------------


def _has_table(connection: sqlite3.Connection) -> bool:
    """Return whether a file has the table, or raise ``DatabaseError`` where it holds anything else."""
    found = [sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'")]
    if found not in ([], [f"CREATE TABLE {TABLE}"]):
        raise sqlite3.DatabaseError(FOREIGN)
    return bool(found)


def _code_of(error: sqlite3.Error) -> int:
    """Return what kind of error SQLite reports."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF


def _is_damage(error: sqlite3.Error) -> bool:
    """Return whether an error says that a file cannot be used any more."""
    return str(error) == FOREIGN or _code_of(error) in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _is_damaged(path: Path) -> bool:
    """Return whether a file cannot be used any more."""
    try:
        with contextlib.closing(sqlite3.connect(path, timeout=PATIENCE_S)) as connection:
            _has_table(connection)
            return bool(connection.execute("PRAGMA quick_check").fetchone()[0] != "ok")
    except sqlite3.Error as error:
        return _is_damage(error)
