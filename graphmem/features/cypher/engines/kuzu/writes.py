"""Changes of the graph, one record or edge at a time, each through its stored query."""

from collections.abc import Mapping
from typing import Any

from graphmem.features.cypher.engines.kuzu.engine import Connection
from graphmem.features.cypher.engines.kuzu.schema import declare
from graphmem.features.cypher.stored_query import stored
from graphmem.kernel.model.vocabulary import KINDS
from graphmem.names import label, relation_label


def run(connection: Connection, name: str, parameters: Mapping[str, Any], names: Mapping[str, str]) -> int:
    """Run a stored query that writes; return the number that it gives, 0 where it gives none."""
    query = stored(name)
    query.refuse_parameters(parameters)
    rows = connection.execute(query.filled(names), dict(parameters)).get_all()
    return int(rows[0][0]) if query.columns and rows else 0


def put_node(connection: Connection, record_type: str, properties: Mapping[str, Any]) -> None:
    """Write the node of a record; ``properties`` are exactly its columns, times as aware datetimes."""
    if record_type in KINDS:
        run(connection, f"{record_type}/put", properties, {})
    else:
        run(connection, "entity/put", properties, {"label": label(record_type)})


def remove_node(connection: Connection, record_type: str, key: str) -> None:
    """Take a node out with its edges, where it is there."""
    run(connection, "record/remove", {"key": key}, {"label": label(record_type)})


def put_edge(
    connection: Connection, kind: str, source: tuple[str, str], target: tuple[str, str], properties: Mapping[str, Any]
) -> None:
    """Write an edge between two records, each given by record type and key; their pair of labels is declared first."""
    names = {"relation": relation_label(kind), "from": label(source[0]), "to": label(target[0])}
    declare(connection, names["relation"], names["from"], names["to"])
    parameters = {"source": source[1], "target": target[1], **properties}
    # Not MERGE: of several in one transaction the engine (0.11.3) loses some.
    if kind == "used":
        if not run(connection, "relation/put_used", parameters, names):
            run(connection, "relation/create_used", parameters, names)
    elif not run(connection, "relation/put", parameters, names):
        run(connection, "relation/create", parameters, names)


def remove_edge(connection: Connection, kind: str, source: tuple[str, str], target: tuple[str, str]) -> None:
    """Take an edge out, where it is there."""
    names = {"relation": relation_label(kind), "from": label(source[0]), "to": label(target[0])}
    run(connection, "relation/remove", {"source": source[1], "target": target[1]}, names)
