"""A new database from the catalog, by bulk copy: complete before it takes the place of the old one."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

import orjson

from graphmem.features.cypher.engines.kuzu.engine import Bulk
from graphmem.features.cypher.engines.kuzu.rows import edge_columns, node_columns
from graphmem.features.cypher.engines.kuzu.schema import columns, declare, edge_kinds, model_of
from graphmem.features.cypher.stored_query import quoted
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.names import label, relation_label

PART = 50_000  # rows in one copy: bounds the memory of a rebuild
Progress = Callable[[int], None]
Ends = dict[int, tuple[str, str]]  # record type and key of a record
Edge = tuple[int, int, float, bytes]  # numbers of the ends, effective weight, row
Pair = tuple[str, str, str]  # relation type, record types of its ends


def fill(bulk: Bulk, catalog: Catalog, progress: Progress | None = None) -> tuple[int, int]:
    """
    Copy every live record and edge of the catalog into an empty, defined graph.

    Returns:
        How many records and how many edges there are.
    """
    ends: Ends = {}
    for record_type in catalog.record_types():
        for part in _parts(catalog.live_rows(record_type), PART):
            ends.update((number, (record_type, key)) for number, key, *_ in part)
            bulk.copy(quoted(label(record_type)), _nodes(catalog, record_type, part))
            if progress:
                progress(len(part))
    return len(ends), sum(_fill_edges(bulk, catalog, ends, progress))


def _fill_edges(bulk: Bulk, catalog: Catalog, ends: Ends, progress: Progress | None) -> Iterator[int]:
    """Copy the live edges, gathered by relation type and labels of their ends; yield how many each copy took."""
    gathered: dict[Pair, list[Edge]] = {}
    for kind, src, dst, weight, line in catalog.live_edges():
        pair = (kind, ends[src][0], ends[dst][0])
        found = gathered.setdefault(pair, [])
        found.append((src, dst, weight, line))
        if len(found) == PART:
            yield _copy_edges(bulk, pair, edges(gathered.pop(pair), ends, edge_kinds(kind)), progress)
    for pair, found in sorted(gathered.items(), key=lambda item: (item[0][0] == "used", item[0])):
        yield _copy_edges(bulk, pair, edges(found, ends, edge_kinds(pair[0])), progress)


def _copy_edges(bulk: Bulk, pair: Pair, rows: Sequence[bytes], progress: Progress | None) -> int:
    """Copy some edges of one type between two labels."""
    name, source, target = relation_label(pair[0]), label(pair[1]), label(pair[2])
    declare(bulk.connection, name, source, target)
    bulk.copy(quoted(name), rows, f"from='{source}'", f"to='{target}'")
    if progress:
        progress(len(rows))
    return len(rows)


def _parts(rows: Iterator[Any], size: int) -> Iterator[list[Any]]:
    """Yield the rows in lists of at most ``size``."""
    part: list[Any] = []
    for row in rows:
        part.append(row)
        if len(part) == size:
            yield part
            part = []
    if part:
        yield part


def _nodes(catalog: Catalog, record_type: str, part: Sequence[tuple[int, str, str, bytes]]) -> list[bytes]:
    """Return the nodes of some records as JSON, their properties in the order of the data definition."""
    numbers, _, shown, lines = zip(*part, strict=True)
    return _as_json(node_columns(catalog, record_type, numbers, shown, lines), columns(model_of(record_type)))


def edges(part: Sequence[Edge], ends: Ends, kinds: Mapping[str, str]) -> list[bytes]:
    """Return some edges as JSON: the keys of their ends, then their properties."""
    sources, targets, weights, lines = zip(*part, strict=True) if part else ([], [], [], [])
    named = {"from": [ends[end][1] for end in sources], "to": [ends[end][1] for end in targets]}
    found = edge_columns([orjson.loads(line) for line in lines], weights, kinds)
    return _as_json(named | found, [*named, *kinds])


def _as_json(found: Mapping[str, list[Any]], names: Iterable[str]) -> list[bytes]:
    """Return the rows of some columns as JSON objects, in the order of ``names``."""
    names = list(names)
    return [
        orjson.dumps(dict(zip(names, row, strict=True))) for row in zip(*(found[name] for name in names), strict=True)
    ]
