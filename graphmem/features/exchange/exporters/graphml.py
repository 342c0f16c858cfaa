"""GraphML, for programs that compute with graphs: every field of a record and an edge is an attribute."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphmem.features.exchange.exporters.graph import Graph
from graphmem.names import HIDDEN
from graphmem.patterns import lazy_re

HEAD = """<?xml version="1.0" encoding="UTF-8"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
"""
NOT_XML = lazy_re(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")  # XML 1.0 has no way to write them
SIGNS = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\n": "&#10;"}


def written(graph: Graph) -> tuple[dict[str, str], Counter[str]]:
    """Return the file of a graph; the identity of a node is the key of its record."""
    nodes = [(key, {**record.to_row(), "ref": record.ref}) for key, record in graph.records.items()]
    edges = [(edge, {"type": edge.type, "weight": edge.weight, **edge.says}) for edge in graph.edges]
    kinds = {
        "node": _types_of(fields for _, fields in nodes),
        "edge": _types_of(fields for _, fields in edges),
    }
    lines = [HEAD]
    for owner, types in kinds.items():
        for number, (name, sort) in enumerate(types.items()):
            said = f'attr.name="{text(name)}" attr.type="{sort}"'
            lines.append(f'<key id="{owner[0]}{number}" for="{owner}" {said}/>\n')
    lines.append('<graph id="graphmem" edgedefault="directed">\n')
    for key, fields in nodes:
        lines += [f'<node id="{text(key)}">\n', *_attributes("n", kinds["node"], fields), "</node>\n"]
    for edge, fields in edges:
        ends = f'source="{text(edge.source)}" target="{text(edge.target)}"'
        directed = ' directed="false"' if edge.type in graph.symmetric else ""
        lines += [f"<edge {ends}{directed}>\n", *_attributes("e", kinds["edge"], fields), "</edge>\n"]
    return {"memory.graphml": "".join([*lines, "</graph>\n</graphml>\n"])}, graph.counts


def _types_of(rows: Iterable[Mapping[str, Any]]) -> dict[str, str]:
    """Return the type of each attribute: a number or a flag where all its values are, else a text."""
    found: dict[str, set[str]] = {}
    for row in rows:
        for name, value in row.items():
            sort = "boolean" if isinstance(value, bool) else "double" if isinstance(value, int | float) else "string"
            found.setdefault(name, set()).add(sort)
    return {name: sorts.pop() if len(sorts) == 1 else "string" for name, sorts in sorted(found.items())}


def _attributes(start: str, types: Mapping[str, str], fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the attributes of a node or an edge; what is not a text, a number or a flag is written as JSON."""
    for number, name in enumerate(types):
        if name in fields:
            value = fields[name]
            said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
            yield f'<data key="{start}{number}">{text(said)}</data>\n'


def text(value: str) -> str:
    """Return a text as XML holds it, what is invisible as references; what XML cannot hold is replaced by a sign."""
    safe = NOT_XML.sub("\ufffd", value)
    return HIDDEN.sub(lambda found: f"&#x{ord(found[0]):x};", "".join(SIGNS.get(char, char) for char in safe))
