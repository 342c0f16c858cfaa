"""A memory in a server: which one the user names, and what this machine keeps of it."""

import hashlib
from collections.abc import Callable
from pathlib import Path

from graphmem.constants import FORMAT
from graphmem.errors import Usage
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.git.places import top_of
from graphmem.kernel.ledger.address import ServerAddress
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.settings.folders import named_server, project_folder, server_folder
from graphmem.kernel.store.clone import Clone
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder

OpenPlace = Callable[[Clone, Catalog, Path, float], RowPlace]


def server_in_use(folder: Path | str | None, at: str | None) -> ServerAddress | None:
    """
    Return the server that the user's environment names; None where the caller names a folder, or it names none.

    A project cannot name one: its files are not asked.

    Raises:
        Usage: a folder is named too, or the past, or the address is none.
    """
    named = None if folder is not None else named_server()
    if named is None:
        return None
    if project_folder() is not None:
        raise Usage("GRAPHMEM_STORE and GRAPHMEM_DIR name two memories", hint="name one of them")
    if at is not None:
        raise Usage("--at is about commits of git, and this memory is in a server", hint="ask without it")
    return ServerAddress.parse(named)


def machine_folder(address: ServerAddress) -> Path:
    """Return the folder, made if it is missing, in which this machine keeps what it has read of a memory."""
    name = hashlib.sha256(address.database.encode()).hexdigest()[:16]
    layout = Layout(server_folder(f"{address.project}-{name}"))
    with safe_files.folder(layout.store, make=True):
        pass
    if not safe_files.is_file(layout.config):
        safe_files.write(layout.config, f"format = {FORMAT}\n".encode())
    return layout.root


def code_folder() -> Path:
    """Return the folder whose code the records are compared with: the repository that the caller is in."""
    here = current_folder()
    return top_of(here) or here


def opening(address: ServerAddress) -> OpenPlace:
    """Return what opens the rows of a project in a server."""
    address.refuse_without_client()

    def open_place(clone: Clone, catalog: Catalog, lock: Path, timeout_s: float) -> RowPlace:
        if address.engine == "redis":
            from graphmem.kernel.ledger.redis.place import RedisPlace  # noqa: PLC0415 - only where it is used

            return RedisPlace(address.database, address.project, catalog, lock_timeout_s=timeout_s)
        from graphmem.kernel.ledger.postgres.place import PostgresPlace  # noqa: PLC0415 - psycopg takes 60 ms

        return PostgresPlace(address.database, address.project, catalog, lock_timeout_s=timeout_s)

    return open_place
