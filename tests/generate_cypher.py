"""The files of ``schema/`` and ``queries/`` that hold Cypher and are made from the fields of the models."""

from collections.abc import Sequence

from graphmem.features.cypher.engines.kuzu.schema import columns, edge_kinds
from graphmem.kernel.model import MODELS, Entity
from graphmem.kernel.model.record import Frozen
from graphmem.kernel.model.vocabulary import ANY, BUILT_IN_RELATIONS, KINDS, OWNED_RELATIONS
from graphmem.names import label, relation_label


def _node_table(name: str, model: type[Frozen]) -> str:
    """Return the statement that makes the node table ``name``."""
    lines = [f"  `{column}` {kind}" for column, kind in columns(model).items()]
    return f"CREATE NODE TABLE IF NOT EXISTS `{name}` (\n" + ",\n".join([*lines, "  PRIMARY KEY (`key`)"]) + "\n);\n"


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
