"""Reset: an empty memory, with the types, the scopes and the settings of before."""

from graphmem.features.upkeep.store_contract import Reset, ResetRequest
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files

KEPT = "purge"  # what was purged stays away


def reset(snapshot: Snapshot, request: ResetRequest) -> Reset:
    """
    Take all rows out in one write, which ``undo`` takes back; without ``yes`` only count them.

    Raises:
        BadInput: a file has bad lines, which would be lost.
    """
    files = [file for file in snapshot.ledger.place.parts() if holds(file)[0] != KEPT]
    numbers = {file: found for file in files if (found := [*snapshot.catalog.lines(file).values()])}
    paths = [snapshot.layout.store / file for file in files]
    before = safe_files.bytes_of(paths)
    if isinstance(snapshot, Writing) and numbers:
        snapshot.commit([], removes=numbers)
    rows = {file: len(found) for file, found in numbers.items()}
    return Reset(done=request.yes, before=before, after=safe_files.bytes_of(paths), rows=rows)
