"""Applies changes of the catalog to an open graph, each as the catalog has it now: applying one twice does no harm."""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson

from graphmem.features.cypher.engines.kuzu.engine import Connection
from graphmem.features.cypher.engines.kuzu.rows import edge_columns, node_columns
from graphmem.features.cypher.engines.kuzu.schema import columns, edge_kinds, model_of
from graphmem.features.cypher.engines.kuzu.writes import put_edge, put_node, remove_edge, remove_node
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.model.field import parse_time
from graphmem.names import row_id, split_ref

Change = tuple[str | None, str, str | None]  # relation type, source, target; for a node only the source


def apply_changes(connection: Connection, catalog: Catalog, changes: Sequence[Change]) -> None:
    """Write every node and edge that changed, in one transaction."""
    connection.execute("BEGIN TRANSACTION")
    for kind, source, target in changes:
        if kind is None or target is None:
            _sync_node(connection, catalog, source)
        else:
            _sync_edge(connection, catalog, source, kind, target)
    for ref in _dependents(catalog, [source for _, source, _ in changes]):
        _sync_node(connection, catalog, ref)
    connection.execute("COMMIT")


def _dependents(catalog: Catalog, refs: Sequence[str]) -> list[str]:
    """Return the live tasks whose ``unmet`` may have changed: they depend on a changed task, or on one that is gone."""
    changed = {row_id(ref) for ref in refs if split_ref(ref)[0] == "task"}
    if not changed:
        return []
    depends = {f"task/{key}": orjson.loads(line).get("depends", ()) for _, key, _, line in catalog.live_rows("task")}
    meant = catalog.known({parent for parents in depends.values() for parent in parents})
    return [
        ref
        for ref, parents in depends.items()
        if any(parent not in meant or meant[parent] in changed for parent in parents)
    ]


def _sync_node(connection: Connection, catalog: Catalog, ref: str) -> None:
    """Make the node of a record what the record is: there with its properties, or gone."""
    record_type, key = split_ref(ref)
    number = row_id(ref)
    row = catalog.live_row(number)
    if row is None:
        remove_node(connection, record_type, key)
        return
    shown, line = row
    properties = node_columns(catalog, record_type, [number], [shown], [line])
    put_node(connection, record_type, _typed(properties, columns(model_of(record_type))))


def _sync_edge(connection: Connection, catalog: Catalog, source: str, kind: str, target: str) -> None:
    """Make an edge what its row says, or take it out; a symmetric one is there once, as its row has it."""
    found = catalog.edge(source, kind, target)
    ends = split_ref(source), split_ref(target)
    if catalog.vocabulary.relations[kind].symmetric:
        remove_edge(connection, kind, *reversed(ends))
        if found is not None and not catalog.begins_at(source, kind, target):
            remove_edge(connection, kind, *ends)
            ends = ends[1], ends[0]
    if found is None:
        remove_edge(connection, kind, *ends)
        return
    weight, row = found
    kinds = edge_kinds(kind)
    put_edge(connection, kind, *ends, _typed(edge_columns([row], [weight], kinds), kinds))


def _typed(found: Mapping[str, Sequence[Any]], kinds: Mapping[str, str]) -> dict[str, Any]:
    """Return the properties of the one node or edge in some columns as the engine takes them."""
    made = {name: value for name, (value,) in found.items()}
    times = {name: parse_time(made[name]) for name, kind in kinds.items() if kind == "TIMESTAMP" and made[name]}
    numbers = {name: float(made[name]) for name, kind in kinds.items() if kind == "DOUBLE" and made[name] is not None}
    return made | numbers | {name: time.replace(tzinfo=None) for name, time in times.items()}
