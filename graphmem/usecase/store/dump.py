"""Dump: the rows of a kind or a type as they are in its files, or in the form of another tool."""

from graphmem.contract.store import Dump, DumpRequest
from graphmem.errors import Refused
from graphmem.importers import beads, mcp_memory, tables
from graphmem.ledger.layout import holds
from graphmem.ledger.parts import home_of
from graphmem.ndjson import decode
from graphmem.store.snapshot import Snapshot
from graphmem.usecase.store.split import home_of_kind

OF_TYPES = ("entity", "relation")  # kinds whose rows are in a file for each type


def dump(snapshot: Snapshot, request: DumpRequest) -> Dump:
    """
    Return the good rows of a kind or a type, archived ones too, in the order of its files.

    Raises:
        NotFound: there is no such kind or type.
        Refused: the form cannot hold what is asked for.
    """
    lines = lines_of(snapshot, request.kind)
    found = Dump(kind=request.kind, format=request.format, rows=len(lines), text="")
    if request.format == "csv":
        return found.model_copy(update={"text": tables.written(map(decode, lines))})
    if request.format == "mcp-memory":
        rows = [decode(line) for line in lines]
        if request.kind != "entity" and request.kind not in snapshot.vocabulary.entities:
            raise Refused(
                f"mcp-memory holds entities, and {request.kind!r} is another kind", hint="graphmem dump entity"
            )
        text = mcp_memory.written(rows, [decode(line) for line in lines_of(snapshot, "relation")])
        return found.model_copy(update={"rows": text.count("\n"), "text": text})
    if request.format == "beads":
        if request.kind != "task":
            message = f"beads holds tasks, and {request.kind!r} is another kind"
            raise Refused(message, hint="graphmem dump task --to beads")
        text = beads.written(map(decode, lines), map(decode, lines_of(snapshot, "relation")))
        return found.model_copy(update={"text": text})
    return found.model_copy(update={"text": "".join(f"{line.decode()}\n" for line in lines)})


def lines_of(snapshot: Snapshot, kind: str) -> list[bytes]:
    """Return the lines of the good rows of a kind or a type."""
    files = snapshot.ledger.data_files()
    if kind in OF_TYPES:
        files = [file for file in files if holds(file)[0] == kind]
    else:
        home = home_of_kind(snapshot, kind)
        files = [file for file in files if home_of(file) == home]
    found = [{number: line for line, number in snapshot.catalog.lines(file).items()} for file in files]
    lines = [lines[number] for lines in found for number in sorted(lines)]
    return lines
