"""GraphML, read by networkx."""

import networkx as nx
from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.exchange.exporters import graphml
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.names import visible
from tests.features.exchange.exporters.hostile import AT, SIGNS, failure, hostile_graph


def as_xml_has_it(text: str) -> str:
    """Return a text with what XML cannot hold replaced."""
    return graphml.NOT_XML.sub("\ufffd", text)


@given(st.lists(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=4).map("".join), max_size=5))
def test_networkx_reads_every_text_as_it_was(texts: list[str]) -> None:
    graph = hostile_graph(texts)
    files, counts = graphml.written(graph)
    (text,) = files.values()
    assert text == visible(text)
    found = nx.parse_graphml(text)
    assert (found.number_of_nodes(), found.number_of_edges()) == (len(graph.records), len(graph.edges))
    assert counts["relation"] == len(graph.edges)
    for key, record in graph.records.items():
        node = found.nodes[as_xml_has_it(key)]
        row = record.to_row()
        assert node["kind"] == record.kind
        for name in ("trigger", "fix", "value"):
            assert node.get(name) == (as_xml_has_it(str(row[name])) if name in row else None)
    assert all(data["weight"] == 0.5 and data["type"] == "solves" for _, _, data in found.edges(data=True))


def test_numbers_and_flags_keep_their_type_and_edges_without_direction_say_so() -> None:
    records = [failure("a", "a", cost=2.5, x_deep=True), failure("b", "b", tags=["x", "y"])]
    edge = GraphEdge("failure/a", "co_occurs", "failure/b", 0.8, {"created_at": AT})
    graph = Graph({one.key_ref: one for one in records}, [edge], frozenset({"co_occurs"}))
    (text,) = graphml.written(graph)[0].values()
    assert '<edge source="failure/a" target="failure/b" directed="false">' in text
    found = nx.parse_graphml(text.replace(' directed="false"', ""))  # networkx takes no mixed graphs
    assert found.nodes["failure/a"]["cost"] == 2.5 and found.nodes["failure/a"]["x_deep"] is True
    assert found.nodes["failure/b"]["tags"] == '["x", "y"]'


def test_a_text_of_a_megabyte_is_written_whole() -> None:
    graph = Graph({"failure/a": failure("a", '<"' * 2**19)}, [])
    (text,) = graphml.written(graph)[0].values()
    assert nx.parse_graphml(text).nodes["failure/a"]["trigger"] == '<"' * 2**19
