"""DOT, read by pydot, which has a parser of its own."""

import pydot
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.features.exchange.exporters import dot
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.names import visible
from tests.features.exchange.exporters.hostile import SIGNS, failure, hostile_graph
from tests.pace import examples


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # pydot's own, of its parser
@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=4).map("".join), max_size=5))
@pytest.mark.long
def test_pydot_finds_every_node_and_edge(texts: list[str]) -> None:
    graph = hostile_graph(texts)
    (text,) = dot.written(graph)[0].values()
    assert text == visible(text)
    (found,) = pydot.graph_from_dot_data(text)
    names = [node.get_name() for node in found.get_nodes() if node.get_name() not in ("node", '"\\n"')]
    assert names == [dot.quoted(key) for key in graph.records]
    assert len(found.get_edges()) == len(graph.edges)


def test_a_label_shows_name_and_text_and_nothing_in_it_is_an_escape() -> None:
    records = [failure("a", 'say "boom" \\N & <b>'), failure("b", "b")]
    edge = GraphEdge("failure/a", "co_occurs", "failure/b", 1.6, {})
    graph = Graph({one.key_ref: one for one in records}, [edge], frozenset({"co_occurs"}))
    (text,) = dot.written(graph)[0].values()
    assert '"failure/a" [label="failure/a\\nsay \\"boom\\" \\\\N &amp; <b>"];' in text
    assert '"failure/a" -> "failure/b" [label="co_occurs", weight=2, dir=none];' in text
