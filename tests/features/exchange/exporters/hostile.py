"""Records with texts that some form could read as its own, and edges between them."""

from typing import Any

from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.kernel.model import Entity, Failure, Pattern, Record

AT = "2026-11-01T09:30:00.000Z"
SIGNS = [
    "</script><script>alert(1)</script>", '"', "'", "\\", '\\"', "\n", "\r\n", "\t", "]]>", "<![CDATA[", "-->", "<!--",
    "`", "```", "~~~", "\u202e", "\u2028", "\ufeff", "\U000e0041", "&amp;", "&", "#34;", "#", "%%", "%%{init: {}}%%",
    "[a](http://evil.example)", "![a](http://evil.example)", "<b>", "{{", "}", ";", "end", "subgraph", "--", "---",
    "\\N", "@context", "$x$", "<!-- graphmem: {} -->", "---\ntype: x\n---", "# title", "- item", "1. item", "\x07",
    "|", "]", "==", "é", "⚠️",
]  # fmt: skip


def failure(name: str, trigger: str, **fields: Any) -> Record:
    return Failure.model_validate({"kind": "failure", "name": name, "trigger": trigger, "created_at": AT, **fields})


def hostile_graph(texts: list[str]) -> Graph:
    """Return a graph in which each text is what a record says, its note, a tag, and where it can, a name."""
    records: list[Record] = [
        failure(f"f{number}", f"{text} ", fix=f"{text}\n{text}", tags=[text or "x"], versions={"a": text or "1"},
                x_other={"@context": "http://evil.example/context", "@id": text})
        for number, text in enumerate(texts)
        if text.strip()
    ]  # fmt: skip
    records += [
        Entity.model_validate(
            {"kind": "entity", "type": "thing", "name": name, "created_at": AT, "@type": "x", "a:b": 1}
        )
        for name in {text.strip() for text in texts if text.strip()}
        if "\n" not in name and "\r" not in name and name.isprintable()
    ]
    records.append(Pattern.model_validate({
        "kind": "pattern", "name": "p", "trigger": "t", "insight": "i", "created_at": AT, "cost": 1.5,
    }))  # fmt: skip
    edges = [
        GraphEdge("pattern/p", "solves", record.key_ref, 0.5, {"created_at": AT, "note": record.headline or "n"})
        for record in records[:-1]
    ]
    return Graph({record.key_ref: record for record in records}, edges)
