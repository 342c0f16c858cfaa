"""The shape of the graph: its tables, and the properties that rows have as nodes and edges."""

from collections.abc import Iterator
from typing import Any

import orjson

from graphmem.files import shipped
from graphmem.graph.columns import columns, model_of
from graphmem.graph.engine import Connection
from graphmem.graph.query import quoted
from graphmem.model.vocabulary import Vocabulary
from graphmem.names import label


def statements(file: str) -> Iterator[str]:
    """Yield the statements of a file of ``schema/``, without its comments."""
    text = shipped("schema").joinpath(file).read_text(encoding="utf-8")
    body = "\n".join(line for line in text.split("\n") if not line.startswith("//"))
    yield from (statement.strip() for statement in body.split(";\n") if statement.strip())


def define(connection: Connection, vocabulary: Vocabulary) -> None:
    """Make every table that the vocabulary asks for and that is not there yet."""
    for statement in statements("graph.cypher"):
        connection.execute(statement)
    (entity,) = statements("entity.cypher")
    (relation,) = statements("relation.cypher")
    for name in vocabulary.entities:
        connection.execute(entity.replace("{label}", quoted(label(name))))
    known = set(vocabulary.scopes)
    for made in vocabulary.project_relations.values():
        source = next((end for end in made.sources if end in known), "failure")
        target = next((end for end in made.targets if end in known), "failure")
        filled = relation.replace("{relation}", quoted(made.label))
        connection.execute(filled.replace("{from}", quoted(label(source))).replace("{to}", quoted(label(target))))


def properties(scope: str, row: dict[str, Any], shown: str, helped: int, failed: int) -> dict[str, Any]:
    """Return the properties of a node from the row of its record; times are texts."""
    edited = row.get("edited") or {}
    found = {**row, "key": row.get("key") or row["name"], "name": shown, "ref": f"{scope}/{shown}"}
    found["updated_at"] = max((row["created_at"], *edited.values()))
    for name, kind in columns(model_of(scope)).items():
        default = [] if kind == "STRING[]" else DEFAULTS.get((scope, name))
        value = found.get(name, default)
        if kind == "STRING" and value is not None and not isinstance(value, str):
            value = orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
        found[name] = value
    if scope == "task":
        found["seq"], found["slug"] = row["name"].rpartition("/")[2][:3], row["name"].rpartition("/")[2][4:]
    if "helped" in columns(model_of(scope)):
        found["helped"] = (row.get("helped") or 0) + helped
        found["failed"] = (row.get("failed") or 0) + failed
    return found


# Defaults that a row leaves out and that a query wants to see.
DEFAULTS: dict[tuple[str, str], object] = {
    ("failure", "flaky"): False,
    ("campaign", "status"): "active",
    ("task", "status"): "pending",
    ("task", "type"): "other",
}


def edge_properties(row: dict[str, Any], weight: float) -> dict[str, Any]:
    """Return the properties of an edge from its row; times are texts."""
    created = row["created_at"]
    updated = max((created, *(row.get("edited") or {}).values()))
    return {"weight": weight, "note": row.get("note"), "created_at": created, "updated_at": updated}
