"""A new database from the catalog, by bulk copy: complete before it takes the place of the old one."""

import importlib.util
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from graphmem.catalog.catalog import Catalog
from graphmem.graph.kuzu.engine import Connection
from graphmem.graph.kuzu.rows import edge_columns, node_columns
from graphmem.graph.kuzu.schema import columns, declare, edge_kinds, model_of
from graphmem.graph.query import quoted
from graphmem.names import label, relation_label

ARROW = {
    "STRING": pa.string(),
    "DOUBLE": pa.float64(),
    "INT64": pa.int64(),
    "BOOLEAN": pa.bool_(),
    "STRING[]": pa.list_(pa.string()),
}
PART = 50_000  # rows in one copy: bounds the memory of a rebuild
Progress = Callable[[int], None]
Ends = dict[int, tuple[str, str]]  # record type and key of a record
Edge = tuple[int, int, float, bytes]  # numbers of the ends, effective weight, row
Pair = tuple[str, str, str]  # relation type, record types of its ends

assert importlib.util  # the engine's copy from arrow looks for it and does not import it


def fill(connection: Connection, catalog: Catalog, progress: Progress | None = None) -> tuple[int, int]:
    """
    Copy every live record and edge of the catalog into an empty, defined graph.

    Returns:
        How many records and how many edges there are.
    """
    ends: Ends = {}
    for record_type in catalog.record_types():
        for part in parts(catalog.live_rows(record_type), PART):
            ends.update((number, (record_type, key)) for number, key, *_ in part)
            copy(connection, quoted(label(record_type)), node_table(catalog, record_type, part))
            if progress:
                progress(len(part))
    return len(ends), sum(fill_edges(connection, catalog, ends, progress))


def fill_edges(connection: Connection, catalog: Catalog, ends: Ends, progress: Progress | None) -> Iterator[int]:
    """Copy the live edges, gathered by relation type and labels of their ends; yield how many each copy took."""
    gathered: dict[Pair, list[Edge]] = {}
    for kind, src, dst, weight, line in catalog.live_edges():
        pair = (kind, ends[src][0], ends[dst][0])
        found = gathered.setdefault(pair, [])
        found.append((src, dst, weight, line))
        if len(found) == PART:
            yield copy_edges(connection, pair, edge_table(gathered.pop(pair), ends, edge_kinds(kind)), progress)
    # What is left of pairs with the same columns becomes one table: one for each costs more than to copy its few rows.
    for kinds, group in groupby(
        sorted(gathered.items(), key=lambda item: (item[0][0] == "used", item[0])), lambda item: edge_kinds(item[0][0])
    ):
        left = list(group)
        rest = edge_table([edge for _, found in left for edge in found], ends, kinds)
        place = 0
        for pair, found in left:
            yield copy_edges(connection, pair, rest.slice(place, len(found)), progress)
            place += len(found)


def copy_edges(connection: Connection, pair: Pair, rows: pa.Table, progress: Progress | None) -> int:
    """Copy some edges of one type between two labels."""
    name, source, target = relation_label(pair[0]), label(pair[1]), label(pair[2])
    declare(connection, name, source, target)
    copy(connection, quoted(name), rows, f" (from='{source}', to='{target}')")
    if progress:
        progress(len(rows))
    return len(rows)


def parts(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield the rows in lists of at most ``size``."""
    part: list[Any] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def copy(connection: Connection, name: str, table: pa.Table, options: str = "") -> None:
    """Copy an arrow table into a table of the graph."""
    connection.execute(f"COPY {name} FROM $rows{options}", {"rows": table})


def node_table(catalog: Catalog, record_type: str, part: Sequence[tuple[int, str, str, bytes]]) -> pa.Table:
    """Return the nodes of some records, one column a property."""
    numbers, _, shown, lines = zip(*part, strict=True)
    return table(node_columns(catalog, record_type, numbers, shown, lines), columns(model_of(record_type)))


def edge_table(part: Sequence[Edge], ends: Ends, kinds: Mapping[str, str]) -> pa.Table:
    """Return some edges: the keys of their ends, then one column a property."""
    sources, targets, weights, lines = zip(*part, strict=True) if part else ([], [], [], [])
    named = {"source": [ends[end][1] for end in sources], "target": [ends[end][1] for end in targets]}
    found = edge_columns([orjson.loads(line) for line in lines], weights, kinds)
    return table(named | found, {"source": "STRING", "target": "STRING", **kinds})


def table(found: Mapping[str, list[Any]], kinds: Mapping[str, str]) -> pa.Table:
    """Return columns as an arrow table of the engine's types."""
    return pa.table({name: column(found[name], kind) for name, kind in kinds.items()})


def column(values: list[Any], kind: str) -> pa.Array:
    """Return values as an arrow column of the engine's type."""
    if kind == "TIMESTAMP":
        return pc.cast(pc.cast(pa.array(values, pa.string()), pa.timestamp("us", "UTC")), pa.timestamp("us"))
    return pa.array(values, ARROW[kind])
