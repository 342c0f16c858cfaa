"""Markdown for people: a page for each kind, with what each record says and how it relates to others."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from textwrap import indent
from typing import Any

from graphmem.features.exchange.exporters.graph import Graph, name_of
from graphmem.kernel.model import Record
from graphmem.names import visible
from graphmem.patterns import lazy_re

HIDDEN_FIELDS = frozenset({"kind", "type", "name", "key", "edited", "alternates"})
SIGNS = lazy_re(r"[\\`*_\[\]<>#|~&$]")
STARTS = lazy_re(r"^(\d+(?=[.)])|(?=[-+=]))(.)")  # of a line that Markdown reads as an item or the end of a heading
FENCES = lazy_re(r"`{3,}")


def written(graph: Graph) -> tuple[dict[str, str], Counter[str]]:
    """Return a page for each kind and entity type, by the name of its file."""
    edges: dict[str, list[str]] = defaultdict(list)
    names = {key: name_of(record) for key, record in graph.records.items()}
    for edge in graph.edges:
        edges[edge.source].append(f"- {edge.type}: {_inline(names[edge.target])}\n")
        word = edge.type if edge.type in graph.symmetric else f"{edge.type} (from)"
        edges[edge.target].append(f"- {word}: {_inline(names[edge.source])}\n")
    pages: dict[str, list[str]] = defaultdict(list)
    for key, record in sorted(graph.records.items(), key=lambda pair: pair[1].ref):
        pages[record.record_type].append("".join(_section(record, edges[key])))
    made = {f"{kind}.md": f"# {_inline(kind)}\n\n" + "\n".join(found) for kind, found in sorted(pages.items())}
    return made, graph.counts


def _section(record: Record, edges: Sequence[str]) -> Iterator[str]:
    """Yield what a page says of one record."""
    row: Mapping[str, Any] = record.to_row()
    yield f"## {_inline(name_of(record))}\n\n"
    if record.headline.strip():
        yield block(record.headline) + "\n"
    for name, value in row.items():
        if name not in HIDDEN_FIELDS and name != record.says:
            yield from _field(name, value)
    yield from edges


def _field(name: str, value: Any) -> Iterator[str]:
    """Yield a field as an item of a list, a text of several lines below it."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        value = ", ".join(value)
    said = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    if "\n" not in said:
        yield f"- {_inline(name)}: {_inline(said)}\n"
    else:
        yield f"- {_inline(name)}:\n\n" + indent(block(said), "  ") + "\n"


def block(text: str) -> str:
    """Return a text as a paragraph, or as it is between fences where it has several lines: nothing in it is read."""
    shown = visible(text.strip("\n"))
    if "\n" not in shown:
        return f"{_inline(shown)}\n"
    fence = "`" * max([3, *(len(found) + 1 for found in FENCES.findall(shown))])
    return f"{fence}text\n{shown}\n{fence}\n"


def _inline(text: str) -> str:
    """Return a text on one line, in which Markdown and HTML find nothing to read."""
    shown = SIGNS.sub(r"\\\g<0>", visible(" ".join(text.split())))
    return STARTS.sub(r"\1\\\2", shown)
