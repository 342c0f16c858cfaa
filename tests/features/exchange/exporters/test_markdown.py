"""Markdown, read by markdown-it, a parser of CommonMark with tables and raw HTML."""

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from graphmem.features.exchange.exporters import markdown
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from graphmem.names import visible
from tests.features.exchange.exporters.hostile import SIGNS, failure, hostile_graph
from tests.pace import examples

HARMLESS = {
    "heading_open", "heading_close", "inline", "text", "paragraph_open", "paragraph_close", "fence", "softbreak",
    "bullet_list_open", "bullet_list_close", "list_item_open", "list_item_close", "text_special",
}  # fmt: skip


def tokens(text: str) -> list[Token]:
    """Return what a page consists of, what is within lines too."""
    found = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"]).parse(text)
    return [part for token in found for part in (token, *(token.children or ()))]


@settings(max_examples=examples(50), deadline=None)
@given(st.lists(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=4).map("".join), max_size=5))
def test_no_text_is_read_as_anything_but_text(texts: list[str]) -> None:
    graph = hostile_graph(texts)
    pages, _ = markdown.written(graph)
    for name, text in pages.items():
        assert text == visible(text)
        found = tokens(text)
        assert {token.type for token in found} <= HARMLESS, name
        headings = [token.tag for token in found if token.type == "heading_open"]
        assert headings == ["h1", *["h2"] * sum(f"{one.record_type}.md" == name for one in graph.records.values())]


def test_a_page_says_what_a_record_says_and_how_it_relates() -> None:
    records = [failure("a", "- it *goes* boom", fix="one\n\n```\ntwo"), failure("b", "b|c", tags=["x", "y"])]
    edges = [
        GraphEdge("failure/a", "causes", "failure/b", 1, {}),
        GraphEdge("failure/a", "variant", "failure/b", 1, {}),
    ]
    pages, _ = markdown.written(Graph({one.key_ref: one for one in records}, edges, frozenset({"variant"})))
    assert (
        pages["failure.md"]
        == """# failure

## failure/a

\\- it \\*goes\\* boom

- created\\_at: 2026-11-01T09:30:00.000Z
- fix:

  ````text
  one

  ```
  two
  ````

- causes: failure/b
- variant: failure/b

## failure/b

b\\|c

- created\\_at: 2026-11-01T09:30:00.000Z
- tags: x, y
- causes (from): failure/a
- variant: failure/a
"""
    )
