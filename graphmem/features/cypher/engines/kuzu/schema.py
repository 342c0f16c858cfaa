"""The tables of the graph: their columns are made from the fields of the models, so that the two cannot differ."""

import hashlib
import types
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Literal, Union, get_args, get_origin

from graphmem.features.cypher.engines.kuzu.engine import Connection
from graphmem.features.cypher.stored_query import quoted
from graphmem.kernel.model import MODELS, Entity
from graphmem.kernel.model.field import as_versions, passes_through
from graphmem.kernel.model.record import Frozen, row_fields
from graphmem.kernel.model.vocabulary import ANY, BUILT_IN_RELATIONS, KINDS, OWNED_RELATIONS, Vocabulary
from graphmem.kernel.system.files import shipped
from graphmem.names import label, relation_label

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


def _node_table(name: str, model: type[Frozen]) -> str:
    """Return the statement that makes the node table ``name``."""
    lines = [f"  `{column}` {kind}" for column, kind in columns(model).items()]
    return f"CREATE NODE TABLE IF NOT EXISTS `{name}` (\n" + ",\n".join([*lines, "  PRIMARY KEY (`key`)"]) + "\n);\n"


def edge_kinds(relation: str) -> Mapping[str, str]:
    """Return the columns of the edges of a relation type."""
    return {**EDGE_COLUMNS, "helped": "BOOLEAN"} if relation == "used" else EDGE_COLUMNS


def _relation_table(name: str, source: str, target: str) -> str:
    """Return the statement that makes the relation table ``name`` with its first pair of ends."""
    kinds = edge_kinds(name.lower())
    lines = [f"  FROM `{source}` TO `{target}`", *(f"  `{column}` {kind}" for column, kind in kinds.items())]
    return f"CREATE REL TABLE IF NOT EXISTS `{name}` (\n" + ",\n".join(lines) + "\n);\n"


def _put_query(kind: str, name: str, model: type[Frozen]) -> str:
    """Return the stored query that writes one node of a kind."""
    found = columns(model)
    noun = f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
    header = [
        f"// Writes {noun}: the node of its key, made where it is missing, every property as given.",
        "//",
        "// write",
    ]
    header += [f"// param  {column:<20} {type_name}" for column, type_name in found.items()]
    sets = ",\n".join(f"  n.`{column}` = ${column}" for column in found if column != "key")
    return "\n".join(header) + f"\nMERGE (n:{name} {{`key`: $key}})\nSET\n{sets};\n"


# Where the table of a type begins that any kind may begin at, if not at a failure: `relation/create_used` needs it.
FIRST_SOURCES = {"used": "task"}


def definitions() -> dict[str, str]:
    """Return every generated file of ``schema/`` and ``queries/`` that holds Cypher, by its path."""
    nodes = [_node_table(label(kind), MODELS[kind]) for kind in KINDS]
    built_in = (*BUILT_IN_RELATIONS.values(), *OWNED_RELATIONS.values())
    relations = [
        _relation_table(
            relation_label(made.type),
            _first_end(made.sources, FIRST_SOURCES.get(made.type, "failure")),
            _first_end(made.targets, "failure"),
        )
        for made in built_in
    ]
    head = "// The graph's own labels and relations, with their usual ends. Generated from the models.\n\n"
    files = {
        "schema/graph.cypher": head + "\n".join(nodes + relations),
        "schema/entity.cypher": "// The label of an entity type.\n\n"
        + _node_table("{label}", Entity).replace("`{label}`", "{label}"),
        "schema/relation.cypher": "// A relation type, with its first pair of ends.\n\n"
        + _relation_table("{relation}", "{from}", "{to}")
        .replace("`{relation}`", "{relation}")
        .replace("`{from}`", "{from}")
        .replace("`{to}`", "{to}"),
    }
    for kind in KINDS:
        files[f"queries/{kind}/put.cypher"] = _put_query(kind, label(kind), MODELS[kind])
    files["queries/entity/put.cypher"] = _put_query("entity", "{label}", Entity)
    return files


def _first_end(ends: Sequence[str], of_any: str) -> str:
    """Return the label of the first end that a relation type allows; ``of_any`` where it allows any."""
    return label(of_any if ends[0] == ANY else ends[0])


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
