"""DOT, the language of Graphviz: a picture of records and the edges between them."""

from collections import Counter

from graphmem.features.exchange.exporters.graph import Graph, name_of, title_of


def written(graph: Graph) -> tuple[dict[str, str], Counter[str]]:
    """Return the file of a graph to be drawn; the identity of a node is the key of its record."""
    lines = ["digraph graphmem {", "  rankdir=LR;", "  node [shape=box];"]
    for key, record in graph.records.items():
        lines.append(f"  {quoted(key)} [label={_label(name_of(record), title_of(record))}];")
    for edge in graph.edges:
        direction = ", dir=none" if edge.type in graph.symmetric else ""
        said = f"label={_label(edge.type)}, weight={max(1, round(edge.weight))}{direction}"
        lines.append(f"  {quoted(edge.source)} -> {quoted(edge.target)} [{said}];")
    return {"memory.dot": "\n".join([*lines, "}\n"])}, graph.counts


def quoted(text: str) -> str:
    """Return a text as DOT quotes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _label(*lines: str) -> str:
    """Return what a node or an edge shows: in it Graphviz reads escapes, and references as HTML has them."""
    return '"' + "\\n".join(quoted(line.replace("&", "&amp;"))[1:-1] for line in lines if line) + '"'
