"""Kuzu behind its port: the only module that imports it."""

import sys
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import kuzu

Database: TypeAlias = "kuzu.Database"
Connection: TypeAlias = "kuzu.Connection"


def open_database(
    path: Path, *, read_only: bool, buffer_bytes: int, max_bytes: int, threads: int
) -> tuple[Database, Connection]:
    """Open the database at ``path``; ``max_bytes`` is the address space it reserves, a power of two."""
    import kuzu  # noqa: PLC0415 - only what opens a graph pays for the engine

    database = kuzu.Database(path, read_only=read_only, buffer_pool_size=buffer_bytes, max_db_size=max_bytes)
    return database, kuzu.Connection(database, num_threads=threads)


def open_readonly(path: Path, *, buffer_bytes: int, max_bytes: int, threads: int) -> tuple[Database, Connection]:
    """Open the database at ``path`` so that statements cannot change it."""
    return open_database(path, read_only=True, buffer_bytes=buffer_bytes, max_bytes=max_bytes, threads=threads)


def without_asyncio() -> None:
    """
    Keep the engine from importing asyncio for its asynchronous connection: 0.08 of 0.14 s CPU.

    Only for a process that is wholly ours: ``kuzu.AsyncConnection`` is missing in it.
    """
    absent = ModuleType("kuzu.async_connection")
    absent.__dict__["AsyncConnection"] = None
    sys.modules.setdefault("kuzu.async_connection", absent)
