"""
Opens databases of Kuzu: the only module that imports it, in child processes only.
"""

import importlib
import os
import resource
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, TypeAlias

from graphmem.constants import GRAPH_LEAST_BYTES, GRAPH_OVERHEAD_BYTES
from graphmem.errors import Unavailable

if TYPE_CHECKING:
    import kuzu

ENGINE = "kuzu"  # the name of its Python module, and of the file of a graph
Database: TypeAlias = "kuzu.Database"
Connection: TypeAlias = "kuzu.Connection"
MIB = 2**20
INSTALL = "install graphmem with a Python that Kuzu has a wheel for: 3.11 to 3.13, on Linux 3.14 too"
NO_MEMORY = ("bad_alloc", "Buffer manager exception", "failed to map segment", "Cannot allocate memory")


def open_database(
    path: Path,
    *,
    read_only: bool,
    buffer_bytes: int,
    max_bytes: int,
    threads: int,
    needed_bytes: int = 0,
) -> tuple[Database, Connection]:
    """
    Open the database at ``path``.

    Args:
        buffer_bytes: of memory at most for its pages.
        max_bytes: of address space that it reserves, a power of two; less where the process may not have so much.
        needed_bytes: how large the file may become; a file that is there needs its own size.

    Raises:
        Unavailable: the limit on virtual memory is too low, or the engine cannot open the file.
    """
    size = path.stat().st_size if path.is_file() else 0
    reserved = _address_space(max_bytes, max(size, needed_bytes, GRAPH_LEAST_BYTES))
    try:
        module = importlib.import_module(ENGINE)
        database = module.Database(
            _engine_path(path),
            read_only=read_only,
            buffer_pool_size=min(buffer_bytes, reserved),
            max_db_size=reserved,
            max_num_threads=threads,
        )
        return database, module.Connection(database, num_threads=threads)
    except (ImportError, RuntimeError, MemoryError) as error:  # a library that finds no memory is not imported
        raise unavailable(error, "the graph cannot be opened") from None


def _engine_path(path: Path) -> str:
    """Return a path as the engine takes it: as UTF-8. Of a folder with another name the process goes into it."""
    name = str(path)
    try:
        name.encode()
    except UnicodeEncodeError:  # only a child of ours has the engine: nobody else is in this process
        os.chdir(path.parent)
        return path.name
    return name


@dataclass(frozen=True)
class Bulk:
    """Copies many rows at once into the tables of a graph that is being built; ``folder`` has its file."""

    connection: Connection
    folder: Path

    def copy(self, table: str, rows: bytes, *options: str) -> None:
        """
        Copy rows into a table, all or none.

        Args:
            rows: a JSON array of objects with the columns of the table in its order; of a relation, the keys of its
                ends first.
            options: of the engine's COPY statement.

        Raises:
            OSError: there is no room for the temporary file from which the engine reads the rows.
        """
        # A file without a name: none is left behind, and no character of a folder means anything to the engine.
        with tempfile.TemporaryFile(dir=self.folder) as file:
            file.write(rows)
            file.seek(0)
            given = ", ".join(["file_format='json'", *options])
            self.connection.execute(f"COPY {table} FROM '/dev/fd/{file.fileno()}' ({given})")


def _address_space(most: int, needed: int) -> int:
    """Return how much address space to reserve, a power of two: ``most``, or under a limit no more than is needed."""
    limit = resource.getrlimit(resource.RLIMIT_AS)[0]
    if limit == resource.RLIM_INFINITY:
        return most
    reserved = min(most, 1 << (needed - 1).bit_length())
    least = used_bytes() + GRAPH_OVERHEAD_BYTES + reserved
    if least > limit:
        raise Unavailable(
            f"the graph needs {least // MIB:,} MiB of virtual memory, and a process may have {limit // MIB:,} MiB here",
            hint="raise the limit, such as with: ulimit -v unlimited",
            details={"cause": "memory"},
        )
    return reserved


def used_bytes() -> int:
    """Return the address space that this process has; 0 where the system does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_bytes().split()[0])
    except OSError:
        return 0
    return pages * resource.getpagesize()


def unavailable(error: Exception, what: str) -> Unavailable:
    """Return an error of the engine as ours."""
    if isinstance(error, ModuleNotFoundError):
        return not_installed()
    message = (str(error).strip() or type(error).__name__).splitlines()[0]
    if isinstance(error, MemoryError) or any(text in message for text in NO_MEMORY):
        return Unavailable(
            f"{what}: memory is short ({message})",
            hint="free memory, or raise its limit (ulimit -v)",
            details={"cause": "memory"},
        )
    return Unavailable(f"{what}: {message}", hint="is the disk full? The files are whole; see: graphmem doctor")


def not_installed() -> Unavailable:
    """Return the error for an installation without the engine."""
    return Unavailable(f"{ENGINE} is not installed, and Cypher needs it", hint=INSTALL)


def without_asyncio() -> None:
    """
    Keep the engine from importing asyncio for its asynchronous connection: 0.08 of 0.14 s CPU.

    Only for a process that is wholly ours: ``AsyncConnection`` is missing in it.
    """
    name = f"{ENGINE}.async_connection"
    absent = ModuleType(name)
    absent.__dict__["AsyncConnection"] = None
    sys.modules.setdefault(name, absent)
