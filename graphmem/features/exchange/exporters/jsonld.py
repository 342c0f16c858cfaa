"""
JSON-LD, for programs that read linked data: records and relations as nodes, with the context in the document.

Nothing of a record is read as JSON-LD: a field whose name could be a keyword or an address is kept in ``more``, and an
object is a JSON literal, in which a processor finds no context to fetch.
"""

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

from graphmem.features.exchange.exporters.graph import Graph
from graphmem.names import inert
from graphmem.patterns import lazy_re

RECORDS = "urn:x-graphmem:record:"
FIELDS = "urn:x-graphmem:field:"
TYPES = "urn:x-graphmem:type:"
RELATIONS = "urn:x-graphmem:relation:"
TERM = lazy_re(r"[a-z][a-z0-9_]*")
PREFIXES = {"field": FIELDS, "record": RECORDS, "relation": RELATIONS, "type": TYPES}
RELATION = "type:relation"
MORE = "field:more"  # fields whose names are no terms
ENDS = ("from", "to")


def written(graph: Graph) -> tuple[dict[str, str], Counter[str]]:
    """Return the file of a graph; a relation is a node with its ends, and a property of the record at its beginning."""
    nodes: dict[str, dict[str, Any]] = {}
    rows: list[Mapping[str, Any]] = []
    for key, record in graph.records.items():
        row = record.to_row()
        rows.append(row)
        nodes[key] = {"@id": _identity(key), "@type": f"type:{record.record_type}", **_properties(row)}
    for edge in graph.edges:
        nodes[edge.source].setdefault(f"relation:{edge.type}", []).append({"@id": _identity(edge.target)})
    relations = []
    for edge in graph.edges:
        row = {"type": edge.type, "weight": edge.weight, **edge.says}
        rows.append(row)
        ends = {
            f"field:{end}": {"@id": _identity(key)} for end, key in zip(ENDS, (edge.source, edge.target), strict=True)
        }
        relations.append({"@type": RELATION, **ends, **_properties(row)})
    document = {"@context": _context_of(rows), "@graph": [*nodes.values(), *relations]}
    text = json.dumps(document, ensure_ascii=False, indent=1)
    safe = inert(text).replace("<", "\\u003c")  # it can be a part of a page of HTML
    return {"memory.jsonld": f"{safe}\n"}, graph.counts


def _identity(key: str) -> str:
    """Return the address of a record."""
    return f"record:{quote(key)}"


def _properties(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields of a row as properties."""
    found = {f"field:{name}": value for name, value in row.items() if TERM.fullmatch(name)}
    rest = {name: value for name, value in row.items() if not TERM.fullmatch(name)}
    return found | ({MORE: rest} if rest else {})


def _context_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Return the context: what the prefixes mean, and which properties hold JSON."""
    objects = {name for row in rows for name, value in _properties(row).items() if _is_nested(value)}
    literal = {name: {"@id": FIELDS + name.partition(":")[2], "@type": "@json"} for name in sorted(objects)}
    return {"@version": 1.1, **PREFIXES, **literal}


def _is_nested(value: object) -> bool:
    """Return whether a value is an object, or a list that holds more than texts."""
    return isinstance(value, dict) or (isinstance(value, list) and not all(isinstance(item, str) for item in value))
