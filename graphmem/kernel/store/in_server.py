"""A memory in a server: which one the user names, and what this machine keeps of it."""

from collections.abc import Callable
from importlib import import_module
from pathlib import Path

from graphmem.constants import FORMAT
from graphmem.errors import Usage
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.git.places import top_of
from graphmem.kernel.ledger.files.layout import Layout
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.ledger.served import Looks
from graphmem.kernel.settings.address import ServerAddress, is_server
from graphmem.kernel.settings.config import Settings
from graphmem.kernel.settings.folders import named, own_folder, project_folder
from graphmem.kernel.store.clone import Clone
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.surroundings import current_folder, variables

# Opens the place of the rows of a clone, with its catalog, its lock and the settings.
OpenPlace = Callable[[Clone, Catalog, Path, Settings], RowPlace]


def server_in_use(folder: Path | str | None) -> ServerAddress | None:
    """
    Return the server that the caller names, or the user's environment; None where neither does.

    A project cannot name one: its files are not asked. The folder of this machine for that server names it too.

    Raises:
        Usage: a folder is named too, or the address is none.
    """
    if is_server(str(folder)):
        return ServerAddress.parse(str(folder))
    if (url := named("GRAPHMEM_STORE")) is None:
        return None
    if folder is not None:
        return _of_folder(url, folder)
    if project_folder() is not None:
        raise Usage("GRAPHMEM_STORE and GRAPHMEM_DIR name two memories", hint="name one of them")
    return ServerAddress.parse(url)


def _of_folder(named: str, folder: Path | str) -> ServerAddress | None:
    """Return the server that is named, where a folder is that of this machine for it."""
    try:
        address = ServerAddress.parse(named)
    except Usage:
        return None
    return address if Path(folder) == Path(address.folder(variables())) else None


def machine_folder(address: ServerAddress) -> Path:
    """Return the folder, made if it is missing, in which this machine keeps what it has read of a memory."""
    layout = Layout(own_folder(address.folder(variables())))
    with safe_files.folder(layout.store, make=True):
        pass
    if not safe_files.is_file(layout.config):
        safe_files.write(layout.config, f"format = {FORMAT}\n".encode())
    return layout.root


def code_folder() -> Path:
    """Return the folder whose code the records are compared with: the repository that the caller is in."""
    here = current_folder()
    return top_of(here) or here


def opening(address: ServerAddress, *, rests_s: float = 0) -> OpenPlace:
    """Return what opens the rows of a project in a server; a look at it counts for some seconds."""
    address.refuse_without_client()

    def open_place(clone: Clone, catalog: Catalog, lock: Path, settings: Settings) -> RowPlace:
        module = import_module(f"graphmem.kernel.ledger.{address.engine}.place")  # its client takes 60 ms
        made = module.PLACE(address.database, address.project, catalog, lock_timeout_s=settings.store.lock_timeout)
        made.require = settings.team.require
        made.store = clone.layout.store
        made.looks = Looks(lock.with_name("looked"), lock.with_name("away"), rests_s)
        place: RowPlace = made
        return place

    return open_place
