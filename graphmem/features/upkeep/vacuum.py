"""Vacuum: give back what derived files take that nothing needs now; the files of the store stay as they are."""

import contextlib
import os
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import groupby
from pathlib import Path

from graphmem.constants import UNUSED_S
from graphmem.errors import Locked, Unavailable
from graphmem.features.upkeep.store_contract import Freed, Vacuumed, VacuumRequest
from graphmem.kernel.catalog import vectors
from graphmem.kernel.catalog.database import CatalogError
from graphmem.kernel.registry import operation
from graphmem.kernel.store.purging import forget_scoped
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked

Step = tuple[str, int, Callable[[], object]]  # what is not needed, its bytes, and what removes it


@operation(
    "vacuum",
    writes=True,
    previews="dry_run",
    at_home=True,
    example="graphmem vacuum --dry-run",
    help="""
    Remove what is derived and not needed now: vectors of other models, past states of --at, graphs of scopes,
    room.

    A command that needs it makes it again.
    """,
)
def vacuum(client: Client, request: VacuumRequest) -> Vacuumed:
    """
    Remove what is derived and not needed now: old vectors, past states, graphs of scopes, unused room.

    All of it is made again where a command needs it.
    """
    client.sync()
    before, freed = _bytes_below([client.local]), list[Freed]()
    with contextlib.nullcontext() if request.dry_run else client.ledger.writing():
        for what, size, remove in _steps(client):
            try:
                if size and not request.dry_run:
                    remove()
            except (Locked, Unavailable, CatalogError) as error:
                client.notify_once(f"{what}: in use, and left as it is: {error}")
                continue
            freed += [Freed(what=what, bytes=size)] if size else []
    return Vacuumed(done=not request.dry_run, before=before, after=_bytes_below([client.local]), freed=freed)


def _steps(client: Client) -> Iterator[Step]:
    """Yield what is not needed; the catalog last, for the others leave room in it."""
    catalog, local = client.catalog, client.local
    if client.vectors is not None:  # without a model, one that is away for now may come back
        by_model = groupby(safe_files.files(local / "vectors"), vectors.model_of)
        for files in [list(files) for model, files in by_model if model != client.vectors.fingerprint]:
            if all(map(_is_old, files)):  # a change of the model is not under way, or was given up
                remove = partial(vectors.forget_model, catalog, files)
                yield "vectors of another model", safe_files.bytes_of(files), remove
    old = [path for path in safe_files.folders(local / safe_files.PAST) if _is_old(path)]
    yield "past states of --at", _bytes_below(old), lambda: _forget_past(client, old)
    yield "graphs of scopes", _bytes_below([local / safe_files.SCOPED]), lambda: forget_scoped(client)
    yield "unused room in the catalog", catalog.spare_bytes(), catalog.shrink


def _is_old(path: Path) -> bool:
    """Return whether a past state was not asked for, or a file not written, for so long that no process is at it."""
    with contextlib.suppress(FileNotFoundError):
        return time.time() - os.lstat(path).st_mtime > UNUSED_S
    return False


def _forget_past(client: Client, states: Iterable[Path]) -> None:
    """Remove past states while no command takes one out of git."""
    with locked(client.local / "at.lock", timeout_s=client.lock_timeout_s):
        for state in filter(_is_old, states):
            safe_files.remove_folder(state)


def _bytes_below(folders: Iterable[Path]) -> int:
    """Return how large the files in folders are together."""
    return sum(safe_files.bytes_of(safe_files.files(inner)) for folder in folders for inner in safe_files.walk(folder))
