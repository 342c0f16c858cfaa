"""
The graph file: opened briefly under a lock, caught up from the catalog, rebuilt when it is not exactly as we left it.

Kuzu lets in several readers or one writer, and its files have no checksums. So readers hold the graph's lock shared and
open read-only, a writer holds it alone, and a stamp of the file (size, time, inode, position) is kept beside it.
Decision: docs/decisions/0002-short-opens-under-a-lock.md.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import orjson

from graphmem.constants import (
    CYPHER_MOST_S,
    GRAPH_BUFFER_BYTES,
    GRAPH_MAX_BYTES,
    LOCK_TIMEOUT_S,
    MOST_RESULTS,
    MOST_TRIES,
)
from graphmem.errors import BadInput, DamagedCatalog, Locked, Unavailable
from graphmem.features.cypher.engines.kuzu import guard
from graphmem.features.cypher.engines.kuzu.engine import ENGINE, Connection, not_installed, open_database
from graphmem.features.cypher.engines.kuzu.sandbox import Sandbox
from graphmem.features.cypher.engines.kuzu.schema import schema_version
from graphmem.features.cypher.stored_query import stored
from graphmem.features.cypher.worker import crash_error, free_bytes, run_worker
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.graph import GraphAnswer, Position, ReadQuery
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked
from graphmem.names import label, relation_label

THREADS = 2  # of the engine, in our own opens
ANSWER_BYTES = 2**16  # of the process that writes
WRITE_S, WRITE_S_A_MIB = 60.0, 5.0  # that it may take, and for each MiB of the graph: fifty times what it does take
LEFT_OPEN: list[object] = []  # databases that could not be written: see `opened`
FULL_BYTES = 2**16  # of room on a disk, below which it is full to the engine


class FullDisk:
    """Tells whether a disk was full at five looks in a row: the engine may try again and again, and never ends."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looks = folder, 0

    def __call__(self) -> bool:
        self.looks = self.looks + 1 if free_bytes(self.folder) < FULL_BYTES else 0
        return self.looks >= 5


@dataclass(frozen=True)
class FileStamp:
    """The graph file as we left it, and the state of the catalog that it mirrors."""

    schema: str
    catalog: str
    vocabulary: str
    epoch: int
    seq: int
    size: int
    mtime_ns: int
    inode: int
    is_writing: bool = False  # written before the file is opened for writing: where it is found, a writer died

    @property
    def position(self) -> Position:
        """The position of the catalog that the file has reached."""
        return self.epoch, self.seq


class KuzuMirror:
    """The graph of one store, in ``folder``: a ``GraphMirror`` (``graphmem.kernel.graph``)."""

    def __init__(self, folder: Path, catalog: Catalog, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self.path = folder / f"graph.{ENGINE}"
        self.fresh_path = folder / f"graph.{ENGINE}.new"  # where a new one is built
        self.stamp_path = folder / "graph.json"
        self.lock = folder / "graph.lock"
        self.catalog = catalog
        self.lock_timeout_s = lock_timeout_s
        self.sandbox = Sandbox()

    # --- the port -----------------------------------------------------------------------------------------------

    @property
    def is_installed(self) -> bool:
        """Whether its engine is there."""
        return find_spec(ENGINE) is not None

    @property
    def location(self) -> str:
        """The file, as a path below the folder of what is derived."""
        return self.path.name

    @property
    def exists(self) -> bool:
        """Whether there is a graph; the first query builds it."""
        return safe_files.is_file(self.path)

    @property
    def position(self) -> Position | None:
        """The position of the catalog that the graph has reached; None where no graph is known to be whole."""
        stamp = self.read_stamp()
        return stamp.position if stamp else None

    @property
    def is_behind(self) -> bool:
        """Whether the catalog has changes that the graph lacks."""
        return self.position != self.catalog.position

    def catch_up(self) -> bool:
        """Apply every change of the catalog since ``position``; return whether the graph was rebuilt instead."""
        return bool(self.run_writer("catch_up")["is_rebuilt"])

    def rebuild(self) -> tuple[int, int]:
        """Build the graph again from the catalog; return the numbers of its nodes and edges."""
        answer = self.run_writer("rebuild")
        return answer["records"], answer["relations"]

    def forget(self) -> None:
        """Delete the graph with all its files."""
        self.sandbox.close()
        with locked(self.lock, timeout_s=self.lock_timeout_s):
            self.remove()
            remove_database(self.fresh_path)

    def close(self) -> None:
        """End the process that is kept for queries."""
        self.sandbox.close()

    def require_read(self, text: str) -> ReadQuery:
        """Return a query of a user if it is one statement that only reads."""
        return guard.require_read(text)

    def renamed(self, text: str, types: Mapping[str, str | None], labels: Mapping[str, str | None]) -> str | None:
        """Return a query in which types have other names; None where a pattern is left without a label."""
        return guard.renamed(text, types, labels)

    def cypher(self, text: str, parameters: Mapping[str, object], *, timeout_s: float, limit: int) -> GraphAnswer:
        """Run a query on the graph as the catalog is now, in a sandbox."""
        with self.shared_lock() as stamp:
            return self.run_query(stamp, text, parameters, timeout_s=timeout_s, limit=limit)

    def counts(self) -> tuple[Position, dict[str, int]]:
        """Return how many nodes each label and how many edges each relation type has, and at which position."""
        query = stored("graph/counts").text
        self.sandbox.close()  # the file is to be read, not the pages of it that a process has kept
        with self.shared_lock() as stamp:
            answer = self.run_query(stamp, query, {}, timeout_s=CYPHER_MOST_S, limit=MOST_RESULTS)
        return stamp.position, {str(name): int(str(number)) for name, number in answer.rows}

    # --- reading ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def shared_lock(self) -> Iterator[FileStamp]:
        """Hold the file for reading, with every change so far applied; yield its stamp."""
        wanted = self.catalog.position
        for _ in range(MOST_TRIES):
            with locked(self.lock, shared=True, timeout_s=self.lock_timeout_s):
                stamp = self.read_stamp()
                if stamp and self.is_current(stamp, wanted):
                    yield stamp
                    return
            self.catch_up()
        raise Unavailable("the graph is changed again and again", hint="is another version of graphmem at work here?")

    def run_query(
        self, stamp: FileStamp, text: str, parameters: Mapping[str, object], *, timeout_s: float, limit: int
    ) -> GraphAnswer:
        """Run a query in the sandbox while the lock is held; where it names no table of ours, hint at the one meant."""
        try:
            return self.sandbox.run(self.path, text, parameters, timeout_s=timeout_s, limit=limit, state=stamp)
        except BadInput as error:
            hint = error.hint or self.table_hint(error.message)
            raise BadInput(error.message, hint=hint, details=error.details) from None

    def table_hint(self, message: str) -> str | None:
        """Return the label or relation type that was meant, where the engine says that a table does not exist."""
        if "Cannot find property match " in message:
            return guard.MATCH_HINT
        words = message.split()
        if "Table" not in words:
            return None
        name = words[words.index("Table") + 1]
        vocabulary = self.catalog.vocabulary
        known = [*map(label, vocabulary.record_types), *map(relation_label, vocabulary.relations)]
        return did_you_mean(name, known) or f"known: {', '.join(known)}"

    # --- the file -----------------------------------------------------------------------------------------------

    def is_current(self, stamp: FileStamp, wanted: Position) -> bool:
        """Return whether the file is as we left it and has every change up to a position of the catalog."""
        return not stamp.is_writing and self.is_untouched(stamp) and self.covers(stamp, wanted)

    def covers(self, stamp: FileStamp, wanted: Position) -> bool:
        """Return whether the graph lacks nothing; it may have more, where another process has gone on since."""
        if (stamp.schema, stamp.catalog) != (schema_version(), self.catalog.identity):
            return False
        return stamp.position > wanted or (stamp.position == wanted and stamp.vocabulary == self.vocabulary_digest())

    def is_untouched(self, stamp: FileStamp) -> bool:
        """Return whether only we have changed the file since."""
        stat = safe_files.stat_of(self.path)
        if stat is None or safe_files.is_file(self.path.with_name(f"{self.path.name}.wal")):
            return False
        return (stat.st_size, stat.st_mtime_ns, stat.st_ino) == (stamp.size, stamp.mtime_ns, stamp.inode)

    def can_open(self, stamp: FileStamp) -> bool:
        """Return whether the file is ours: as we left it, or left by a writer that died, which the engine recovers."""
        if not stamp.is_writing:
            return self.is_untouched(stamp)
        stat = safe_files.stat_of(self.path)
        return stat is not None and stat.st_ino == stamp.inode

    def read_stamp(self) -> FileStamp | None:
        """Return the stamp of our last close; None where no usable one is there."""
        try:
            return FileStamp(**orjson.loads(safe_files.read(self.stamp_path)))
        except (OSError, orjson.JSONDecodeError, TypeError):
            return None

    def write_stamp(self, stamp: FileStamp) -> None:
        """Write the stamp of the file."""
        fresh = self.stamp_path.with_name(f"{self.stamp_path.name}.new")
        safe_files.write(fresh, orjson.dumps(asdict(stamp)))
        safe_files.replace(fresh, self.stamp_path)

    def stamp_of_file(self, epoch: int, seq: int) -> FileStamp:
        """Return the stamp of the file as it is now."""
        stat = safe_files.stat_of(self.path)
        assert stat is not None
        return FileStamp(
            schema_version(),
            self.catalog.identity,
            self.vocabulary_digest(),
            epoch,
            seq,
            stat.st_size,
            stat.st_mtime_ns,
            stat.st_ino,
        )

    def vocabulary_digest(self) -> str:
        """Return what distinguishes this vocabulary from another one."""
        return hashlib.sha256((self.catalog.meta("vocabulary") or "").encode()).hexdigest()[:16]

    def remove(self) -> None:
        """Delete stamp and file under the lock."""
        safe_files.remove(self.stamp_path)
        remove_database(self.path)

    # --- writing ------------------------------------------------------------------------------------------------

    def run_writer(self, job: str) -> dict[str, Any]:
        """
        Let a child process write the graph; only there is the engine opened for writing.

        Raises:
            Unavailable: the engine is not installed, the disk is full, memory is short, or the engine broke down; the
                graph is rebuilt next time.
        """
        if not self.is_installed:
            raise not_installed()
        self.sandbox.close()  # it has another state open
        request = {
            "job": job,
            "folder": str(self.path.parent),
            "catalog": str(self.catalog.path),
            "visible": None if self.catalog.visible is None else sorted(self.catalog.visible),
            "lock_timeout_s": self.lock_timeout_s,
        }
        timeout_s = self.lock_timeout_s + WRITE_S + WRITE_S_A_MIB * self.likely_bytes() / 2**20
        result = run_worker(
            "engines.kuzu.writer",
            request,
            timeout_s=timeout_s,
            most_bytes=ANSWER_BYTES,
            is_stuck=FullDisk(self.path.parent),
        )
        if result.status or not result.output:
            if result.signal_name:
                with contextlib.suppress(Locked, OSError):  # what it left is of no use, and takes up room
                    self.forget()
            raise crash_error(result, self.path.parent, "wrote the graph")
        answer: dict[str, Any] = orjson.loads(result.output)
        if "fault" in answer:
            raise RuntimeError(f"the process that writes the graph failed:\n{answer['fault']}")
        for key, error in (("locked", Locked), ("damaged", DamagedCatalog), ("unavailable", Unavailable)):
            if key in answer:
                raise error(**answer[key])
        return answer

    def likely_bytes(self) -> int:
        """Return about how large the graph becomes that is built from the catalog: it holds half as much, or less."""
        return os.stat(self.catalog.path).st_size // 2


def _database_files(path: Path) -> list[Path]:
    """Return the files of a database."""
    return [path.with_name(path.name + suffix) for suffix in ("", ".wal", ".shadow", ".tmp")]


def remove_database(path: Path) -> None:
    """Delete a database with what the engine keeps beside it."""
    for file in _database_files(path):
        safe_files.remove(file)


@contextlib.contextmanager
def opened(path: Path, *, read_only: bool, needed_bytes: int = 0) -> Iterator[Connection]:
    """
    Open a database for the length of a block; ``needed_bytes`` is how large its file may become.

    One that could not be written stays open until this process ends: Kuzu writes again when it is closed, and then
    aborts the process or never returns (0.11.3: Database::~Database, NodeTable::rollbackCheckpoint).
    """
    for file in _database_files(path):
        safe_files.refuse_link(file)
    database, connection = open_database(
        path,
        read_only=read_only,
        buffer_bytes=GRAPH_BUFFER_BYTES,
        max_bytes=GRAPH_MAX_BYTES,
        threads=THREADS,
        needed_bytes=needed_bytes,
    )
    is_whole = read_only
    try:
        yield connection
        if not read_only:
            connection.execute("CHECKPOINT")  # nothing is left to write when it is closed
        is_whole = True
    finally:
        if is_whole:
            connection.close()
            database.close()
        else:
            LEFT_OPEN.append((database, connection))
