"""Split: the rows of a kind in 16 or 256 files by the hash that orders them, or in one file again."""

from graphmem.core.records.read import home_of_kind
from graphmem.errors import NotFound
from graphmem.features.upkeep.store_contract import Split, SplitRequest
from graphmem.kernel.ledger.parts import home_of, numbers_of, part_of, parts_of
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Writing


@operation(
    "split",
    writes=True,
    positional=2,
    takes={"kind": Taken("KIND", "kind")},
    help="""
    Put the rows of a large kind, entity type or relation type into several files, so that writing one costs little.

    In the order of their names, the files hold the lines of the one file. --files 1 takes it back.
    """,
    example="graphmem split failure --files 256",
)
def split(snapshot: Writing, request: SplitRequest) -> Split:
    """
    Put the rows of a kind into 16 or 256 files by the hash that orders them, or into one again.

    Raises:
        NotFound: there is no such kind or type, or it has no rows yet.
        BadInput: one of its files has bad lines, which would be lost.
    """
    ledger, catalog = snapshot.ledger, snapshot.catalog
    home = home_of_kind(snapshot, request.kind)
    present = [file for file in ledger.place.parts() if home_of(file) == home]
    if not present:
        raise NotFound(f"{request.kind} has no rows yet", hint="split it when it has many; see: graphmem doctor")
    for file in present:
        ledger.place.refuse_unwell([file])
    rows = sorted((number, line) for file in present for line, number in catalog.lines(file).items())
    lines: dict[str, list[bytes]] = {file: [] for file in parts_of(home, request.files)}
    for number, line in rows:
        lines[part_of(home, request.files, number)].append(line + b"\n")
    removed = [file for file in present if file not in lines]
    is_changed = present != list(lines) or any(catalog.misplaced(file, numbers_of(file)) for file in lines)
    if is_changed:
        contents = {file: b"".join(found) for file, found in lines.items()}
        ledger.arrange({**contents, **dict.fromkeys(removed)})
    return Split(kind=request.kind, files=request.files, rows=len(rows), changed=is_changed, removed=removed)
