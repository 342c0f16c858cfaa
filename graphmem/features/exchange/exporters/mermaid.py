"""Mermaid, which many pages of Markdown draw: the strongest edges, as many as its programs take."""

import re
from collections import Counter

from graphmem.features.exchange.exporters.graph import Graph, GraphEdge, name_of, title_of
from graphmem.patterns import lazy_re

EDGES = 500  # that Mermaid draws unless a page allows more (its setting maxEdges)
CHARACTERS = 50_000  # that it reads unless a page allows more (its setting maxTextSize)
HEAD = "flowchart LR\n"
HEAD_CHARACTERS = 600  # of the head with what is left out
UNSAFE = lazy_re(r"[^\w .,:/-]", re.ASCII)


def written(graph: Graph) -> tuple[dict[str, str], Counter[str]]:
    """Return the file of a drawing, and what is in it: where there is no room for all, the strongest edges."""
    drawing = MermaidDrawing(graph)
    drawn = 0
    for edge in sorted(graph.edges, key=lambda edge: (-edge.weight, edge[:3]))[:EDGES]:
        if not drawing.add(edge.source, edge.target, edge=edge):
            break
        drawn += 1
    tied = {end for edge in graph.edges for end in (edge.source, edge.target)}
    for key in graph.records:
        if key not in tied and not drawing.add(key):
            break
    counts = Counter(graph.records[key].kind for key in drawing.numbers) + Counter(relation=drawn)
    left_out = graph.counts - counts
    said = ", ".join(f"{number:,} of {graph.counts[kind]:,} {kind}" for kind, number in sorted(left_out.items()))
    comment = f"%% left out: {said}; the strongest relations are kept\n" if said else ""
    return {"memory.mmd": f"{HEAD}{comment}{''.join(drawing.lines)}"}, counts


class MermaidDrawing:
    """The lines of a drawing, with the number of each record in it."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.lines: list[str] = []
        self.numbers: dict[str, int] = {}
        self.room = CHARACTERS - HEAD_CHARACTERS

    def add(self, *keys: str, edge: GraphEdge | None = None) -> bool:
        """Add records that are not there yet, and an edge; return whether there was room."""
        fresh = [key for key in dict.fromkeys(keys) if key not in self.numbers]
        numbers = self.numbers | {key: len(self.numbers) + place for place, key in enumerate(fresh, 1)}
        lines = [f"  n{numbers[key]}{self.label(key)}\n" for key in fresh]
        if edge is not None:
            line = "---" if edge.type in self.graph.symmetric else "-->"
            lines.append(f"  n{numbers[edge.source]} {line}|{edge.type}| n{numbers[edge.target]}\n")
        self.room -= sum(map(len, lines))
        if self.room < 0:
            return False
        self.lines += lines
        self.numbers = numbers
        return True

    def label(self, key: str) -> str:
        """Return what the box of a record shows."""
        record = self.graph.records[key]
        title = title_of(record)
        return f'["{text(name_of(record))}{f"<br/>{text(title)}" if title else ""}"]'


def text(value: str) -> str:
    """Return a text as Mermaid shows it: a sign that it or HTML could read otherwise is written as its number."""
    return "".join(f"#{ord(char)};" if char.isascii() and UNSAFE.match(char) else char for char in value)
