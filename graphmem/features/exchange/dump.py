"""Dump: rows as they are in their files, or in the form of another program."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from graphmem.core.foreign import okf
from graphmem.core.page.operations import MOST_DRAWN, page_of
from graphmem.core.page.render import page_of as rendered
from graphmem.core.records.read import home_of_kind
from graphmem.errors import Refused, Usage
from graphmem.features.exchange.dump_contract import Dump, DumpRequest
from graphmem.features.exchange.exporters import dot, graphml, jsonld, markdown, mermaid
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.features.exchange.importers import beads, mcp_memory, tables
from graphmem.features.exchange.standing import rules
from graphmem.kernel.ledger.parts import holds, home_of
from graphmem.kernel.model import MODELS, Fact, Record
from graphmem.kernel.model.record import CHECKED
from graphmem.kernel.ndjson import Row, decode
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system.shell import command
from graphmem.names import row_id

OF_TYPES = ("entity", "relation")  # kinds whose rows are in a file for each type
RECORDS = tuple(kind for kind, model in MODELS.items() if issubclass(model, Record) and not issubclass(model, Fact))
PICTURES = ("markdown", "dot", "mermaid")  # for people: what was archived is not in them
ENDS = frozenset({"kind", "from", "type", "to", "weight"})  # of a row of an edge, what an edge itself says
# What each form makes of records and relations: its files, and how many rows of each kind are in them.
Writer = Callable[[Sequence[Row], Sequence[Row]], tuple[Mapping[str, str], Counter[str]]]
# The forms of other memories: the kinds of records that each holds, and its writer.
FOREIGN: Mapping[str, tuple[Sequence[str], Writer]] = {
    "beads": (beads.KINDS, beads.written),
    "mcp-memory": (mcp_memory.KINDS, mcp_memory.written),
    "okf": (okf.KINDS, okf.written),
}
GRAPHS: Mapping[str, Callable[[Graph], tuple[Mapping[str, str], Counter[str]]]] = {
    "dot": dot.written, "graphml": graphml.written, "jsonld": jsonld.written, "markdown": markdown.written,
    "mermaid": mermaid.written,
}  # fmt: skip


@operation("dump", positional=1, past=True)
def dump(snapshot: Snapshot, request: DumpRequest) -> Dump:
    """
    Return all rows, or those of kinds and types, one JSON object a line, or in the form of another program.

    Raises:
        NotFound: there is no such kind or type.
        Refused: the form cannot hold what is asked for.
        Usage: a budget is given for a form that has none.
    """
    if request.format == "rules":
        return rules(snapshot, request)
    if request.budget is not None:
        hint = command("graphmem", "dump", "--to", "rules", "--budget", str(request.budget))
        field = {"request": "DumpRequest", "field": "budget"}
        raise Usage(f"budget is of the form rules, and {request.format} has none", hint=hint, details=field)
    if request.format in ("ndjson", "csv"):
        lines = _lines_of(snapshot, request.kinds or (None,))
        is_table = request.format == "csv"
        content = tables.written(map(decode, lines)) if is_table else "".join(f"{line.decode()}\n" for line in lines)
        files = {f"memory.{request.format}": content}
        return Dump(format=request.format, rows=len(lines), left_out={}, files=files)
    records, relations = _chosen(snapshot, request)
    if request.format == "html":
        return page(snapshot, request, records)
    asked = Counter(row["kind"] for row in (*records, *relations))
    if request.format in FOREIGN:
        made, written = FOREIGN[request.format][1](records, relations)
    else:
        graph = _graph_of(snapshot, records, relations, is_picture=request.format in PICTURES)
        asked["relation"] += sum(not edge.says for edge in graph.edges)
        made, written = GRAPHS[request.format](graph)
    left_out = dict(sorted((asked - written).items()))
    return Dump(format=request.format, rows=written.total(), left_out=left_out, files=dict(made))


def page(snapshot: Snapshot, request: DumpRequest, records: Sequence[Row]) -> Dump:
    """Return the page of ``view`` with some records, and without what waits on this machine."""
    kinds = {kind for kind in request.kinds if kind in snapshot.vocabulary.linkable}
    numbers = {row_id(key_ref(row)) for row in records}
    data = page_of(snapshot, MOST_DRAWN, records_of=numbers, types=kinds or None)
    data = data.model_copy(update={"events": []})
    left_out = {"record": data.left_out} if data.left_out else {}
    return Dump(
        format="html",
        rows=len(data.records) + len(data.edges),
        left_out=left_out,
        files={"memory.html": rendered(data)},
    )


def _lines_of(snapshot: Snapshot, kinds: Sequence[str | None]) -> list[bytes]:
    """Return the lines of the good rows of kinds and types; None is all."""
    homes = {kind: home_of_kind(snapshot, kind) for kind in kinds if kind is not None and kind not in OF_TYPES}
    files = [
        file
        for file in snapshot.ledger.place.parts()
        if any(
            kind is None or (home_of(file) == homes[kind] if kind in homes else holds(file)[0] == kind)
            for kind in kinds
        )
    ]
    found = ({number: line for line, number in snapshot.catalog.lines(file).items()} for file in files)
    return [lines[number] for lines in found for number in sorted(lines)]


def _chosen(snapshot: Snapshot, request: DumpRequest) -> tuple[list[Row], list[Row]]:
    """
    Return the rows of the records that are asked for, and of the relations between them.

    Where only relation types are named, the records are those at their ends.
    """
    held = FOREIGN[request.format][0] if request.format in FOREIGN else RECORDS
    linkable, entities = snapshot.vocabulary.linkable, snapshot.vocabulary.entities
    edges = [kind for kind in request.kinds if kind == "relation" or kind in linkable]
    kinds = [kind for kind in request.kinds if kind not in edges]
    kinds += ["campaign"] if request.format == "beads" and "task" in kinds else []  # a task has one
    for kind in kinds:
        if kind not in OF_TYPES:
            home_of_kind(snapshot, kind)
        if ("entity" if kind in entities else kind) not in held:
            message = f"{request.format} holds records of kind {', '.join(held)}; {kind!r} is another kind"
            hint = command("graphmem", "dump", "--to", request.format, *(f"--kind={name}" for name in held))
            raise Refused(message, hint=hint)
    records = [decode(line) for line in _lines_of(snapshot, kinds or held)]
    types = {row["type"] if row["kind"] == "entity" else row["kind"] for row in records}
    relations = [
        row
        for row in map(decode, _lines_of(snapshot, edges or ("relation",)))
        if all(str(row[end]).partition("/")[0] in types for end in ("from", "to"))
    ]
    if edges and not kinds:
        ends = {row[end] for row in relations for end in ("from", "to")}
        records = [row for row in records if key_ref(row) in ends]
    return records, relations


def key_ref(row: Row) -> str:
    """Return the reference by key of the record in a row."""
    return f"{row['type'] if row['kind'] == 'entity' else row['kind']}/{row.get('key', row['name'])}"


def _graph_of(snapshot: Snapshot, rows: Sequence[Row], relations: Sequence[Row], *, is_picture: bool) -> Graph:
    """Return records with all edges between them, also those that are fields of a record."""
    found = (MODELS[row["kind"]].model_validate(row, context=CHECKED) for row in rows)
    records = {
        record.key_ref: record
        for record in found
        if isinstance(record, Record) and not (is_picture and record.is_archived)
    }
    types = snapshot.vocabulary.relations
    edges = []
    for row in relations:
        if row["from"] in records and row["to"] in records:
            weight = row.get("weight") or types[row["type"]].weight
            says = {name: value for name, value in row.items() if name not in ENDS}
            edges.append(GraphEdge(row["from"], row["type"], row["to"], weight, says))
    for edge in (edge for record in records.values() for edge in record.own_edges):
        if edge.source in records and edge.target in records:
            edges.append(GraphEdge(edge.source, edge.type, edge.target, types[edge.type].weight, {}))
    return Graph(records, edges, snapshot.symmetric)
