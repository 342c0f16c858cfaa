"""Dump: the rows of a kind or a type as they are in its files."""

from graphmem.contract.store import Dump, DumpRequest
from graphmem.ledger.layout import holds
from graphmem.ledger.parts import home_of
from graphmem.store.snapshot import Snapshot
from graphmem.usecase.store.split import home_of_kind

OF_TYPES = ("entity", "relation")  # kinds whose rows are in a file for each type


def dump(snapshot: Snapshot, request: DumpRequest) -> Dump:
    """
    Return the good rows of a kind or a type, archived ones too, in the order of its files.

    Raises:
        NotFound: there is no such kind or type.
    """
    files = snapshot.ledger.data_files()
    if request.kind in OF_TYPES:
        files = [file for file in files if holds(file)[0] == request.kind]
    else:
        home = home_of_kind(snapshot, request.kind)
        files = [file for file in files if home_of(file) == home]
    found = [{number: line for line, number in snapshot.catalog.lines(file).items()} for file in files]
    lines = [lines[number] for lines in found for number in sorted(lines)]
    return Dump(kind=request.kind, rows=len(lines), text="".join(f"{line.decode()}\n" for line in lines))
