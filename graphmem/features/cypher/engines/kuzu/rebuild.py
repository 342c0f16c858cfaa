"""A new database from the catalog, by bulk copy: complete before it takes the place of the old one."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import orjson

from graphmem.features.cypher.engines.kuzu.engine import Bulk
from graphmem.features.cypher.engines.kuzu.rows import edge_columns, node_columns
from graphmem.features.cypher.engines.kuzu.schema import columns, declare, edge_kinds, model_of
from graphmem.features.cypher.stored_query import quoted
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.names import label, relation_label

NODES = 5_000  # in one copy: bounds the memory of a rebuild
EDGES = 100_000  # that are gathered at most; a copy takes 25 ms, however few edges it has
Ends = dict[int, tuple[str, str]]  # record type and key of a record
Edge = tuple[int, int, float, bytes]  # numbers of the ends, effective weight, row
Pair = tuple[str, str, str]  # relation type, record types of its ends


def fill(bulk: Bulk, catalog: Catalog) -> tuple[int, int]:
    """
    Copy every live record and edge of the catalog into an empty, defined graph.

    Returns:
        How many records and how many edges there are.
    """
    ends: Ends = {}
    for record_type in catalog.record_types():
        for part in _parts(catalog.live_rows(record_type), NODES):
            ends.update((number, (record_type, key)) for number, key, *_ in part)
            bulk.copy(quoted(label(record_type)), _nodes(catalog, record_type, part))
    return len(ends), _fill_edges(bulk, catalog, ends)


def _fill_edges(bulk: Bulk, catalog: Catalog, ends: Ends) -> int:
    """Copy the live edges, gathered by relation type and labels of their ends; return how many there are."""
    gathered: dict[Pair, list[Edge]] = {}
    held = copied = 0
    for kind, src, dst, weight, line in catalog.live_edges():
        gathered.setdefault((kind, ends[src][0], ends[dst][0]), []).append((src, dst, weight, line))
        held += 1
        if held == EDGES:
            pair = max(gathered, key=lambda pair: len(gathered[pair]))
            count = _copy_edges(bulk, pair, gathered.pop(pair), ends)
            held, copied = held - count, copied + count
    for pair in sorted(gathered, key=lambda pair: (pair[0] == "used", pair)):
        copied += _copy_edges(bulk, pair, gathered.pop(pair), ends)
    return copied


def _copy_edges(bulk: Bulk, pair: Pair, part: Sequence[Edge], ends: Ends) -> int:
    """Copy some edges of one type between two labels, and return how many they are."""
    name, source, target = relation_label(pair[0]), label(pair[1]), label(pair[2])
    declare(bulk.connection, name, source, target)
    bulk.copy(quoted(name), _edges(part, ends, edge_kinds(pair[0])), f"from='{source}'", f"to='{target}'")
    return len(part)


def _parts(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield the rows in lists of at most ``size``."""
    while part := list(islice(rows, size)):
        yield part


def _nodes(catalog: Catalog, record_type: str, part: Sequence[tuple[int, str, str, bytes]]) -> bytes:
    """Return the nodes of some records as JSON, their properties in the order of the data definition."""
    numbers, _, shown, lines = zip(*part, strict=True)
    return _as_json(node_columns(catalog, record_type, numbers, shown, lines), columns(model_of(record_type)))


def _edges(part: Sequence[Edge], ends: Ends, kinds: Mapping[str, str]) -> bytes:
    """Return some edges as JSON: the keys of their ends, then their properties."""
    sources, targets, weights, lines = zip(*part, strict=True)
    named = {"from": [ends[end][1] for end in sources], "to": [ends[end][1] for end in targets]}
    found = edge_columns([orjson.loads(line) for line in lines], weights, kinds)
    return _as_json(named | found, [*named, *kinds])


def _as_json(found: Mapping[str, list[Any]], names: Iterable[str]) -> bytes:
    """Return the rows of some columns as one array of JSON objects, with their properties in the order of ``names``."""
    names = list(names)
    return orjson.dumps(
        [dict(zip(names, row, strict=True)) for row in zip(*(found[name] for name in names), strict=True)]
    )
