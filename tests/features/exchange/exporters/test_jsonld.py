"""JSON-LD, read by pyld, which may fetch nothing."""

import json
from typing import Any
from urllib.parse import quote

from hypothesis import given, settings
from hypothesis import strategies as st
from pyld import jsonld as processor

from graphmem.features.exchange.exporters import jsonld
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.names import visible
from tests.features.exchange.exporters.hostile import AT, SIGNS, failure, hostile_graph
from tests.pace import examples


def fetch_nothing(url: str, options: Any) -> Any:
    raise AssertionError(f"{url} was asked for")


def expanded(text: str) -> list[dict[str, Any]]:
    """Return the nodes of a document as a processor sees them."""
    found: list[dict[str, Any]] = processor.expand(json.loads(text), {"documentLoader": fetch_nothing})
    return found


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=4).map("".join), max_size=5))
def test_pyld_reads_every_text_as_it_was_and_fetches_nothing(texts: list[str]) -> None:
    graph = hostile_graph(texts)
    (text,) = jsonld.written(graph)[0].values()
    assert text == visible(text) and "</script" not in text
    nodes = expanded(text)
    records = {node["@id"]: node for node in nodes if "@id" in node}
    assert len(records) == len(graph.records) and len(nodes) == len(graph.records) + len(graph.edges)
    for key, record in graph.records.items():
        node = records[jsonld.RECORDS + quote(key)]
        assert node["@type"] == [f"urn:x-graphmem:type:{record.record_type}"]
        for name in ("trigger", "fix"):
            values = [one["@value"] for one in node.get(jsonld.FIELDS + name, ())]
            assert values == ([record.to_row()[name]] if name in record.to_row() else [])


def test_a_relation_is_a_node_and_a_property_and_an_object_is_a_literal() -> None:
    records = [failure("a", "a", versions={"@id": "http://evil.example"}), failure("b", "b", tags=["x", "y"])]
    edge = GraphEdge("failure/a", "causes", "failure/b", 1.5, {"created_at": AT, "note": "often"})
    first, second, relation = expanded(
        *jsonld.written(Graph({one.key_ref: one for one in records}, [edge]))[0].values()
    )
    assert first["urn:x-graphmem:relation:causes"] == [{"@id": "urn:x-graphmem:record:failure/b"}]
    assert first["urn:x-graphmem:field:versions"] == [{"@type": "@json", "@value": {"@id": "http://evil.example"}}]
    assert [one["@value"] for one in second["urn:x-graphmem:field:tags"]] == ["x", "y"]
    assert relation["urn:x-graphmem:field:to"] == [{"@id": "urn:x-graphmem:record:failure/b"}]
    assert relation["urn:x-graphmem:field:weight"] == [{"@value": 1.5}]
