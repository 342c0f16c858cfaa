"""The tables of the graph: their columns are made from the fields of the models, so that the two cannot differ."""

import hashlib
import types
from collections.abc import Iterator, Mapping
from datetime import datetime
from functools import cache
from typing import Literal, Union, get_args, get_origin

from graphmem.features.cypher.engines.kuzu.engine import Connection
from graphmem.features.cypher.stored_query import quoted
from graphmem.kernel.model import MODELS, Entity
from graphmem.kernel.model.field import as_versions, passes_through
from graphmem.kernel.model.record import Frozen, row_fields
from graphmem.kernel.model.vocabulary import KINDS, Vocabulary
from graphmem.kernel.system.files import shipped
from graphmem.names import label

SCALARS = {str: "STRING", float: "DOUBLE", int: "INT64", bool: "BOOLEAN", datetime: "TIMESTAMP"}
EDGE_COLUMNS = {
    "weight": "DOUBLE",
    "note": "STRING",
    "created_at": "TIMESTAMP",
    "updated_at": "TIMESTAMP",
    "by": "STRING",
    "via": "STRING",
}
GRAPH_NAMES = {"match": "expression"}  # of fields whose own name is a keyword of an engine
FIRST = {"key": "STRING", "ref": "STRING", "name": "STRING", "kind": "STRING"}
COMPUTED: dict[str, dict[str, str]] = {  # columns that follow from the fields of a kind
    "task": {"seq": "STRING", "slug": "STRING", "unmet": "STRING[]"},
    "insight": {"occurrences": "INT64", "confidence": "STRING"},
}


def _column_type(annotation: object) -> str:
    """Return the engine's type for a field: typed scalars and lists of texts, all else as JSON text."""
    if get_origin(annotation) in (Union, types.UnionType):
        return _column_type(next(part for part in get_args(annotation) if part is not type(None)))
    if get_origin(annotation) is Literal:
        return "STRING"
    if get_origin(annotation) is tuple and get_args(annotation)[0] is not None:
        inner = get_args(annotation)[0]
        return "STRING[]" if _unwrapped(inner) is str else "STRING"
    found = _unwrapped(annotation)
    return SCALARS.get(found, "STRING") if isinstance(found, type) else "STRING"


def _unwrapped(annotation: object) -> object:
    """Return what an ``Annotated`` type is at heart."""
    return _unwrapped(annotation.__origin__) if hasattr(annotation, "__metadata__") else annotation  # type: ignore[attr-defined]


@cache
def columns(model: type[Frozen]) -> Mapping[str, str]:
    """Return the columns of the node table of a kind: name to type, in the order of the data definition."""
    found = dict(FIRST)
    for name, alias, _ in row_fields(model):
        field = model.model_fields[name]
        is_map = passes_through(field.metadata, as_versions)  # a list of texts such as ``werkzeug 2.3.8``
        found.setdefault(
            GRAPH_NAMES.get(alias, alias), "STRING[]" if is_map else _column_type(_unwrapped(field.annotation))
        )
    found["updated_at"] = "TIMESTAMP"
    if "helped" in found:
        found["last_helped"] = "TIMESTAMP"
    return found | COMPUTED.get(next((kind for kind in COMPUTED if MODELS[kind] is model), ""), {})


def edge_kinds(relation: str) -> Mapping[str, str]:
    """Return the columns of the edges of a relation type."""
    return {**EDGE_COLUMNS, "helped": "BOOLEAN"} if relation == "used" else EDGE_COLUMNS


def model_of(record_type: str) -> type[Frozen]:
    """Return the model of the records of a record type: a kind, or an entity type."""
    return MODELS[record_type] if record_type in KINDS else Entity


# --- in an open graph -----------------------------------------------------------------------------------------------


def _statements(file: str) -> Iterator[str]:
    """Yield the statements of a file of ``schema/``, without its comments."""
    text = shipped("schema").joinpath(file).read_text(encoding="utf-8")
    body = "\n".join(line for line in text.split("\n") if not line.startswith("//"))
    yield from (statement.strip() for statement in body.split(";\n") if statement.strip())


def define(connection: Connection, vocabulary: Vocabulary) -> None:
    """Make every table that the vocabulary asks for and that is not there yet."""
    for statement in _statements("graph.cypher"):
        connection.execute(statement)
    (entity,) = _statements("entity.cypher")
    (relation,) = _statements("relation.cypher")
    for name in vocabulary.entities:
        connection.execute(entity.replace("{label}", quoted(label(name))))
    known = set(vocabulary.record_types)
    for made in vocabulary.project_relations.values():
        source = next((end for end in made.sources if end in known), "failure")
        target = next((end for end in made.targets if end in known), "failure")
        filled = relation.replace("{relation}", quoted(made.label))
        connection.execute(filled.replace("{from}", quoted(label(source))).replace("{to}", quoted(label(target))))


@cache
def schema_version() -> str:
    """Return what distinguishes this version of the data definition from another one."""
    files = ("graph.cypher", "entity.cypher", "relation.cypher")
    text = "".join(shipped("schema").joinpath(file).read_text(encoding="utf-8") for file in files)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def declare(connection: Connection, relation: str, source: str, target: str) -> None:
    """Let a relation type connect two labels."""
    connection.execute(f"ALTER TABLE {quoted(relation)} ADD IF NOT EXISTS FROM {quoted(source)} TO {quoted(target)}")
