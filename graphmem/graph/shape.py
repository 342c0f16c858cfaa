"""The shape of the graph: its tables, and the properties that rows have as nodes and edges."""

from collections.abc import Iterator, Sequence
from typing import Any

import orjson

from graphmem.files import shipped
from graphmem.graph.columns import columns, model_of
from graphmem.graph.engine import Connection
from graphmem.graph.query import quoted
from graphmem.model.record import Row
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


# Defaults that a row leaves out and that a query wants to see.
DEFAULTS: dict[tuple[str, str], object] = {
    ("failure", "flaky"): False,
    ("campaign", "status"): "active",
    ("task", "status"): "pending",
    ("task", "type"): "other",
}


def node_columns(
    scope: str, rows: Sequence[Row], shown: Sequence[str], counts: Sequence[tuple[int, int]]
) -> dict[str, list[Any]]:
    """
    Return the properties of nodes, one column each, as the data definition has them; times are texts.

    Args:
        rows: of the records.
        shown: their names in answers.
        counts: how often each was reported to have helped and to have failed.
    """
    made: dict[str, list[Any]] = {
        "key": [row.get("key") or row["name"] for row in rows],
        "name": list(shown),
        "ref": [f"{scope}/{name}" for name in shown],
        "updated_at": [latest(row) for row in rows],
    }
    wanted = columns(model_of(scope))
    if scope == "task":
        slugs = [str(row["name"]).rpartition("/")[2] for row in rows]
        made |= {"seq": [slug[:3] for slug in slugs], "slug": [slug[4:] for slug in slugs]}
    if "helped" in wanted:
        for place, name in enumerate(("helped", "failed")):
            made[name] = [(row.get(name) or 0) + count[place] for row, count in zip(rows, counts, strict=True)]  # type: ignore[operator]
    for name, kind in wanted.items():
        if name not in made:
            default: Any = [] if kind == "STRING[]" else DEFAULTS.get((scope, name))
            values = [row.get(name, default) for row in rows]
            made[name] = [as_text(value) for value in values] if kind == "STRING" else values
    return {name: made[name] for name in wanted}


def as_text(value: object) -> str | None:
    """Return what a text column holds of a value: JSON of what is no text."""
    if value is None or isinstance(value, str):
        return value
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def edge_columns(rows: Sequence[Row], weights: Sequence[float]) -> dict[str, list[Any]]:
    """Return the properties of edges, one column each, from their rows and effective weights; times are texts."""
    return {
        "weight": list(weights),
        "note": [row.get("note") for row in rows],
        "created_at": [row["created_at"] for row in rows],
        "updated_at": [latest(row) for row in rows],
    }


def latest(row: Row) -> str:
    """Return when a row was last changed."""
    edited = row.get("edited")
    times = [row["created_at"], *edited.values()] if isinstance(edited, dict) else [row["created_at"]]
    return max(map(str, times))
