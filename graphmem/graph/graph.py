"""
The graph file: held briefly, followed from the catalog, rebuilt whenever it is not exactly as we left it.

Kuzu lets in several readers or one writer, and its files have no checksums. So readers hold the graph's lock shared and
open read-only, whoever changes it holds it alone, and what we left (size, time, inode, position) is kept beside it.
Decision: docs/decisions/0002-short-opens-under-a-lock.md.
"""

import contextlib
import hashlib
import os
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any

import orjson

from graphmem import safe_files
from graphmem.catalog.catalog import Catalog
from graphmem.constants import CYPHER_MOST_S, GRAPH_BUFFER_BYTES, GRAPH_MAX_BYTES, LOCK_TIMEOUT_S, MOST_RESULTS
from graphmem.errors import DamagedCatalog, Locked, Unavailable
from graphmem.files import shipped
from graphmem.graph.engine import Connection, open_database
from graphmem.graph.query import stored
from graphmem.graph.sandbox import run
from graphmem.graph.worker import ask, broke_down, free_bytes
from graphmem.process.lock import locked

MOST_TRIES = 100  # to find the graph as it is wanted; each fails only if another process changes it in between
THREADS = 2  # of the engine, in our own opens
ANSWER_BYTES = 2**16  # of the process that writes
WRITE_S, WRITE_S_A_MIB = 60.0, 5.0  # that it may take, and for each MiB of the graph: fifty times what it does take
FULL_BYTES = 2**16  # of room on a disk, below which it is full to the engine


class FullDisk:
    """Tells whether a disk was full at five looks in a row: the engine may try again and again, and never ends."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.looks = folder, 0

    def __call__(self) -> bool:
        self.looks = self.looks + 1 if free_bytes(self.folder) < FULL_BYTES else 0
        return self.looks >= 5


@dataclass(frozen=True)
class Left:
    """How we left the graph file, and which state of the ledger it stands for."""

    schema: str
    catalog: str
    vocabulary: str
    epoch: int
    seq: int
    size: int
    mtime_ns: int
    inode: int
    is_writing: bool = False  # noted before the file is opened for writing: where it still stands, we died in between


class Graph:
    """The graph of one store, in ``folder``."""

    def __init__(self, folder: Path, catalog: Catalog, *, lock_timeout_s: float = LOCK_TIMEOUT_S) -> None:
        self.path = folder / "graph.kuzu"
        self.fresh_path = folder / "graph.kuzu.new"  # where a new one is made
        self.note = folder / "graph.json"
        self.lock = folder / "graph.lock"
        self.catalog = catalog
        self.lock_timeout_s = lock_timeout_s

    @contextlib.contextmanager
    def held(self) -> Iterator[bool]:
        """Hold the file for reading, with every change so far taken in; yield whether it had to be rebuilt."""
        is_rebuilt, wanted = False, self.catalog.position
        for _ in range(MOST_TRIES):
            with locked(self.lock, shared=True, timeout_s=self.lock_timeout_s):
                if self.is_current(wanted):
                    yield is_rebuilt
                    return
            is_rebuilt = self.follow() or is_rebuilt
        raise Unavailable("the graph is changed again and again", hint="is another version of graphmem at work here?")

    @property
    def is_made(self) -> bool:
        """Tell whether there is a graph: it is made when the first command needs it."""
        return safe_files.is_file(self.path)

    def counts(self) -> dict[str, int]:
        """Return how many nodes each label and how many edges each relation type has, while the graph is held."""
        query = stored("graph/counts").text
        answer = run(self.path, query, {}, timeout_s=CYPHER_MOST_S, limit=MOST_RESULTS)
        return {str(name): int(str(number)) for name, number in answer.rows}

    def is_current(self, wanted: tuple[int, int]) -> bool:
        """Tell whether the file is as we left it and has taken in every change up to a position of the catalog."""
        left = self.left()
        return left is not None and not left.is_writing and self.is_untouched(left) and self.stands_for(left, wanted)

    @property
    def position(self) -> tuple[int, int] | None:
        """The position of the catalog that the graph stands for."""
        left = self.left()
        return (left.epoch, left.seq) if left else None

    def stands_for(self, left: Left, wanted: tuple[int, int]) -> bool:
        """Tell whether the graph lacks nothing; it may have more, where another process has gone on since."""
        if (left.schema, left.catalog) != (schema_version(), self.catalog.identity):
            return False
        found = left.epoch, left.seq
        return found > wanted or (found == wanted and left.vocabulary == self.vocabulary())

    def left(self) -> Left | None:
        """Return what we noted at our last close; None where nothing usable is noted."""
        try:
            return Left(**orjson.loads(safe_files.read(self.note)))
        except (OSError, orjson.JSONDecodeError, TypeError):
            return None

    def is_untouched(self, left: Left) -> bool:
        """Tell whether nobody but us has changed the file since."""
        found = safe_files.stat_of(self.path)
        if found is None or safe_files.is_file(self.path.with_name(f"{self.path.name}.wal")):
            return False
        return (found.st_size, found.st_mtime_ns, found.st_ino) == (left.size, left.mtime_ns, left.inode)

    def vocabulary(self) -> str:
        """Return what tells this vocabulary from another one."""
        return hashlib.sha256((self.catalog.meta("vocabulary") or "").encode()).hexdigest()[:16]

    def follow(self) -> bool:
        """Bring the graph up to date, row by row or made again; return whether it was made again."""
        return bool(self.write("follow")["is_rebuilt"])

    def rebuild(self) -> tuple[int, int]:
        """Make the graph again from the catalog and return how many records and edges it holds."""
        answer = self.write("rebuild")
        return answer["records"], answer["relations"]

    def write(self, what: str) -> dict[str, Any]:
        """
        Let a child process write the graph; only there is the engine opened for writing.

        Raises:
            Unavailable: the disk is full, memory is short, or the engine broke down. The graph is made again next time.
        """
        asked = {
            "what": what, "folder": str(self.path.parent), "catalog": str(self.catalog.path),
            "lock_timeout_s": self.lock_timeout_s,
        }  # fmt: skip
        timeout_s = self.lock_timeout_s + WRITE_S + WRITE_S_A_MIB * self.likely_bytes() / 2**20
        ended = ask("writer", asked, timeout_s=timeout_s, most_bytes=ANSWER_BYTES, is_stuck=FullDisk(self.path.parent))
        if ended.status or not ended.output:
            if ended.signal_name:
                with contextlib.suppress(Locked, OSError):  # what it left is of no use, and takes up room
                    self.forget()
            raise broke_down(ended, self.path.parent, "wrote the graph")
        answer: dict[str, Any] = orjson.loads(ended.output)
        if "fault" in answer:
            raise RuntimeError(f"the process that writes the graph failed:\n{answer['fault']}")
        for key, error in (("locked", Locked), ("damaged", DamagedCatalog), ("unavailable", Unavailable)):
            if key in answer:
                raise error(**answer[key])
        return answer

    def likely_bytes(self) -> int:
        """Return about how large the graph becomes that is made from the catalog: it holds half as much, or less."""
        return os.stat(self.catalog.path).st_size // 2

    def can_open(self, left: Left) -> bool:
        """Tell whether the file is ours: as we left it, or left by a death of ours that the engine recovers from."""
        if not left.is_writing:
            return self.is_untouched(left)
        found = safe_files.stat_of(self.path)
        return found is not None and found.st_ino == left.inode

    def forget(self) -> None:
        """Remove the graph; the next command that needs it makes it from the catalog."""
        with locked(self.lock, timeout_s=self.lock_timeout_s):
            self.remove()
            remove(self.fresh_path)

    def remove(self) -> None:
        """Do the work of ``forget`` under the lock."""
        safe_files.remove(self.note)
        remove(self.path)

    def found(self, epoch: int, seq: int) -> Left:
        """Return how the file is now."""
        stat = safe_files.stat_of(self.path)
        assert stat is not None
        identity = self.catalog.identity
        return Left(
            schema_version(), identity, self.vocabulary(), epoch, seq, stat.st_size, stat.st_mtime_ns, stat.st_ino
        )

    def keep(self, left: Left) -> None:
        """Note how we leave the file."""
        fresh = self.note.with_name(f"{self.note.name}.new")
        safe_files.write(fresh, orjson.dumps(asdict(left)))
        safe_files.replace(fresh, self.note)


@cache
def schema_version() -> str:
    """Return what tells this version of the data definition from another one."""
    files = ("graph.cypher", "entity.cypher", "relation.cypher")
    text = "".join(shipped("schema").joinpath(file).read_text(encoding="utf-8") for file in files)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def remove(path: Path) -> None:
    """Remove a database with what the engine keeps beside it."""
    for file in parts(path):
        safe_files.remove(file)


def parts(path: Path) -> list[Path]:
    """Return the files of a database."""
    return [path.with_name(path.name + suffix) for suffix in ("", ".wal", ".shadow", ".tmp")]


@contextlib.contextmanager
def opened(path: Path, *, read_only: bool, needed_bytes: int = 0) -> Iterator[Connection]:
    """Open a database for the length of a block; ``needed_bytes`` is how large its file may become."""
    for file in parts(path):
        safe_files.refuse_link(file)
    database, connection = open_database(
        path, read_only=read_only, buffer_bytes=GRAPH_BUFFER_BYTES, max_bytes=GRAPH_MAX_BYTES, threads=THREADS,
        needed_bytes=needed_bytes,
    )  # fmt: skip
    try:
        yield connection
    finally:
        connection.close()
        database.close()
