"""The places of rows that the contract runs on (graphmem/kernel/ledger/port.py): files, a ref, memory, servers."""

import contextlib
import itertools
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Protocol

import orjson
import psycopg
import pytest
from redis import Redis, RedisCluster
from redis.client import Pipeline

from graphmem import Memory
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.dispatch import OWNER
from graphmem.kernel.git import commands
from graphmem.kernel.git.ref import MemoryRef
from graphmem.kernel.handle import Operations
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.ledger.postgres.place import PostgresPlace
from graphmem.kernel.ledger.postgres.schema import grant, make_project
from graphmem.kernel.ledger.redis.connection import Client, ask, connect
from graphmem.kernel.ledger.redis.place import RedisPlace
from graphmem.kernel.ledger.redis.schema import key, part_keys
from graphmem.kernel.ledger.redis.schema import make_project as make_redis_project
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.settings.config import Settings
from graphmem.kernel.store.clone import Clone
from graphmem.kernel.store.in_ref import ref_of
from graphmem.kernel.store.runtime import Runtime
from graphmem.names import row_key
from tests.kernel.ledger.memory_place import MemoryPlace, SharedRows
from tests.postgres import pooler, postgres
from tests.redis_server import redis, shared_cluster
from tests.repository import Repository
from tests.sample import Clock, data, new_store, open_memory

PROJECTS = itertools.count(1)
FAILURES = "data/failure.ndjson"


class Died(BaseException):
    """Stands for the death of the process: nothing in the program catches it."""


class PlaceCase(Protocol):
    """A place under test."""

    def open(self, machine: str = "one") -> Memory:
        """Return a store on the place, as a machine has it."""

    def put_line(self, line: bytes, part: str = "failure") -> None:
        """Add a row to a part as another program would, without the lock."""

    def remove(self) -> None:
        """Take the part of the failures away, as another program would."""

    def dying(self, step: Callable[[], None]) -> contextlib.AbstractContextManager[None]:
        """Call ``step`` wherever the process may die in a commit."""


class FileCase:
    """The files of a store; the machines are processes of one."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def open(self, machine: str = "one") -> Memory:
        return open_memory(self.folder)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        path = data(self.folder, part)
        path.parent.mkdir(exist_ok=True)
        path.write_bytes((path.read_bytes() if path.exists() else b"") + line)

    def remove(self) -> None:
        data(self.folder, "failure").unlink()

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        def before(call: Callable[..., Any]) -> Callable[..., Any]:
            def run(*arguments: Any, **named: Any) -> Any:
                step()
                return call(*arguments, **named)

            return run

        with pytest.MonkeyPatch.context() as patch:
            for name in ("replace", "fsync", "unlink"):
                patch.setattr(os, name, before(getattr(os, name)))
            yield


class RefCase:
    """The files of a store in commits of a ref; the machines are processes of one."""

    def __init__(self, folder: Path) -> None:
        self.repository = Repository(folder)
        Memory.init(folder, ref=True)

    @property
    def ref(self) -> MemoryRef:
        return ref_of(self.repository.folder)

    def open(self, machine: str = "one") -> Memory:
        return open_memory(self.repository.folder)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        """Commit a row beside the program, as git does when it fetches into the ref."""
        ref, path = self.ref, f"data/{part}.ndjson"
        at = ref.value()
        assert at is not None
        files = ref.files(at)
        with commands.objects(self.repository.folder) as objects:
            before = objects.read(files[path]) if path in files else b""
        ref.commit([at], {path: before + line}, "theirs")

    def remove(self) -> None:
        at = self.ref.value()
        assert at is not None
        self.ref.commit([at], {FAILURES: None}, "theirs")

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for owner, name in ((os, "replace"), (os, "fsync"), (os, "unlink"), (commands, "run")):
                patch.setattr(owner, name, stepping(getattr(owner, name), step))
            yield


def stepping(call: Callable[..., Any], step: Callable[[], None]) -> Callable[..., Any]:
    """Return a function with ``step`` before and after it."""

    def run(*arguments: Any, **named: Any) -> Any:
        step()
        made = call(*arguments, **named)
        step()
        return made

    return run


class ElsewhereCase:
    """A place that is no folder; each machine has a catalog and a state of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def place(self, catalog: Catalog, timeout_s: float) -> RowPlace:
        """Return the place, with what a machine has read of it."""
        raise NotImplementedError

    def open(self, machine: str = "one") -> Memory:
        folder = self.folder / machine
        if not folder.exists():
            new_store(folder)
        return MemoryOnRows(folder, self.place)


class MemoryCase(ElsewhereCase):
    """Rows in memory."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.shared = SharedRows()

    def place(self, catalog: Catalog, timeout_s: float) -> RowPlace:
        return MemoryPlace(self.shared, catalog, timeout_s)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        self.shared.put_line(f"data/{part}.ndjson", line.rstrip(b"\n"))

    def remove(self) -> None:
        self.shared.remove(FAILURES)

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        self.shared.step = step
        try:
            yield
        finally:
            self.shared.step = lambda: None


class PostgresCase(ElsewhereCase):
    """A project of a server."""

    role = "member"

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.address, self.project = postgres().address, f"p{next(PROJECTS)}"
        with psycopg.connect(self.address, autocommit=True) as owner:
            make_project(owner, self.project)
            with contextlib.suppress(psycopg.errors.DuplicateObject):
                owner.execute("CREATE ROLE member LOGIN")
            grant(owner, "member", self.project, writes=True)

    def place(self, catalog: Catalog, timeout_s: float) -> RowPlace:
        return PostgresPlace(f"{self.address} user={self.role}", self.project, catalog, lock_timeout_s=timeout_s)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        found = read_entry(line.rstrip(b"\n"), ())
        row = found.row
        kind, type_name = holds(f"data/{part}.ndjson")
        with psycopg.connect(self.address) as other:
            sql = "UPDATE graphmem.project SET seq = seq + 1, commit = 7 WHERE project = %s RETURNING seq"
            seq = other.execute(sql, [self.project]).fetchone()
            assert seq is not None
            values = (self.project, found.id, row_key(row, ()), kind, type_name, found.line.decode(), seq[0])
            sql = (
                "INSERT INTO graphmem.rows (project, id, key, kind, type, row, seq) VALUES (%s, %s, %s, %s, %s, %s, %s)"
                " ON CONFLICT (project, id) DO UPDATE SET row = excluded.row, seq = excluded.seq, deleted_at = NULL"
            )
            other.execute(sql, values)

    def remove(self) -> None:
        with psycopg.connect(self.address) as other:
            other.execute("UPDATE graphmem.project SET seq = seq + 1, commit = 8 WHERE project = %s", [self.project])
            sql = (
                "UPDATE graphmem.rows SET row = NULL, deleted_at = now(),"
                " seq = (SELECT seq FROM graphmem.project WHERE project = %s) WHERE project = %s AND kind = 'failure'"
            )
            other.execute(sql, [self.project, self.project])

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for kind, name in ((psycopg.Connection, "execute"), (psycopg.Cursor, "executemany")):
                patch.setattr(kind, name, stepping(getattr(kind, name), step))
            yield


class PooledCase(PostgresCase):
    """A project of a server behind a pooler of transactions."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        pooler()  # where there is none, the test is skipped here, and not in one of its threads

    def place(self, catalog: Catalog, timeout_s: float) -> RowPlace:
        return PostgresPlace(pooler().address, self.project, catalog, lock_timeout_s=timeout_s)


class RedisCase(ElsewhereCase):
    """A project of a Redis server."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder)
        self.address, self.project = self.server_address(), f"p{next(PROJECTS)}"
        with self.client() as client:
            make_redis_project(client, self.project)

    def server_address(self) -> str:
        """Return the address of the server."""
        return redis().address

    def client(self) -> contextlib.AbstractContextManager[Client]:
        """Return a client of another program."""
        return contextlib.closing(connect(self.address))

    def place(self, catalog: Catalog, timeout_s: float) -> RowPlace:
        return RedisPlace(self.address, self.project, catalog, lock_timeout_s=timeout_s)

    def put_line(self, line: bytes, part: str = "failure") -> None:
        found, file = read_entry(line.rstrip(b"\n"), ()), f"data/{part}.ndjson"
        rows, order = part_keys(self.project, file)
        columns = orjson.dumps([row_key(found.row, ()), *holds(file), None, None])
        with self.client() as client:
            seq = self.count(client, file)
            ask(client, "HSET", rows, found.id, columns + b"\n" + found.line)
            ask(client, "ZADD", order, seq, found.id)

    def count(self, client: Client, file: str) -> int:
        """Count a commit of another program that writes a part; return its number."""
        seq = ask(client, "HINCRBY", key(self.project, "project"), "seq", 1)
        ask(client, "HSET", key(self.project, "project"), "commit", 7)
        ask(client, "ZADD", key(self.project, "parts"), seq, file)
        return int(seq)

    def remove(self) -> None:
        rows, order = part_keys(self.project, FAILURES)
        with self.client() as client:
            seq = self.count(client, FAILURES)
            for one in ask(client, "HKEYS", rows):
                ask(client, "ZADD", order, seq, one)
            ask(client, "DEL", rows)

    @contextlib.contextmanager
    def dying(self, step: Callable[[], None]) -> Iterator[None]:
        with pytest.MonkeyPatch.context() as patch:
            for kind, name in ((Redis, "execute_command"), (RedisCluster, "execute_command"), (Pipeline, "execute")):
                patch.setattr(kind, name, stepping(getattr(kind, name), step))
            yield


class ClusterCase(RedisCase):
    """A project of a Redis Cluster."""

    def server_address(self) -> str:
        return shared_cluster().address


class MemoryOnRows(Memory):
    """A store whose rows are no files of its own."""

    def __init__(self, folder: Path, place: Callable[[Catalog, float], RowPlace]) -> None:
        def open_rows(clone: Clone, catalog: Catalog, lock: Path, settings: Settings) -> RowPlace:
            return place(catalog, settings.store.lock_timeout)

        numbers = itertools.count(1)
        options: dict[str, dict[str, object]] = {"embedding": {"model": "none"}, "store": {"lock_timeout": 5.0}}
        runtime = Runtime(
            folder, now=Clock(), new_id=lambda: f"id-{folder.name}-{next(numbers)}", options=options,
            open_place=open_rows,
        )  # fmt: skip
        Operations.__init__(self, runtime, OWNER)
