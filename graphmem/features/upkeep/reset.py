"""Reset: an empty memory, with the types, the scopes and the settings of before."""

from graphmem.features.upkeep.store_contract import Reset, ResetRequest
from graphmem.kernel.ledger.parts import holds
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system import safe_files

KEPT = "purge"  # what was purged stays away


@operation(
    "reset",
    writes=True,
    previews="yes",
    not_over_http="empties the memory of a project",
    example="graphmem reset",
    help="""
    Take all rows out of the memory in one write; types, scopes and settings stay. Without --yes show what would
    go.

    What was purged stays away. To take it back: graphmem undo
    """,
)
def reset(snapshot: Snapshot, request: ResetRequest) -> Reset:
    """
    Take all rows out of the memory, in one write; types, scopes and settings stay. Without ``yes`` count them.

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
