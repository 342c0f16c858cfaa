"""Mermaid: what is kept where there is no room for all, and what its own parser, from npm, finds in it."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.exchange.exporters import mermaid
from graphmem.features.exchange.exporters.graph import Graph, GraphEdge
from tests.features.exchange.exporters.hostile import SIGNS, failure, hostile_graph
from tests.npm import apart, installed

LINE = re.compile(r'  n\d+\["[^"<>`]+(<br/>[^"<>`]+)?"\]|  n\d+ --[->]\|\w+\| n\d+|flowchart LR|%% left out: [\w ,;]+')


def star(edges: int, text: str = "short") -> Graph:
    """Return records around one, with edges of rising weight, and one record alone."""
    records = [failure(f"f{number}", text) for number in range(edges + 2)]
    made = [GraphEdge("failure/f0", "causes", f"failure/f{n}", n / edges, {}) for n in range(1, edges + 1)]
    return Graph({one.key_ref: one for one in records}, made)


@given(st.lists(st.lists(st.sampled_from(SIGNS) | st.text(max_size=4), max_size=4).map("".join), max_size=5))
def test_every_line_is_a_box_or_an_arrow_whatever_the_texts(texts: list[str]) -> None:
    graph = hostile_graph(texts)
    (text,) = mermaid.written(graph)[0].values()
    assert all(LINE.fullmatch(line) for line in text.splitlines()), text
    assert text.count("-->") == len(graph.edges)


def test_the_strongest_five_hundred_edges_are_kept_and_the_file_says_what_is_left_out() -> None:
    files, counts = mermaid.written(star(620))
    (text,) = files.values()
    assert (
        text.splitlines()[1] == "%% left out: 120 of 622 failure, 120 of 620 relation; the strongest relations are kept"
    )
    assert counts == {"failure": 502, "relation": 500}
    assert "failure/f620" in text and "failure/f121" in text and "failure/f120" not in text


def test_a_drawing_has_no_more_characters_than_mermaid_reads() -> None:
    (text,) = mermaid.written(star(400, "ü" * 200))[0].values()
    assert 40_000 < len(text) <= 50_000
    assert "left out: " in text.splitlines()[1]


def test_what_fits_is_whole_and_says_nothing() -> None:
    files, counts = mermaid.written(star(2))
    assert files == {
        "memory.mmd": """flowchart LR
  n1["failure/f0<br/>short"]
  n2["failure/f2<br/>short"]
  n1 -->|causes| n2
  n3["failure/f1<br/>short"]
  n1 -->|causes| n3
  n4["failure/f3<br/>short"]
"""
    }
    assert counts == {"failure": 4, "relation": 2}


@pytest.mark.npm
def test_mermaids_own_parser_finds_every_box_and_arrow(tmp_path: Path) -> None:
    graphs = [hostile_graph(SIGNS), hostile_graph(["".join(SIGNS)]), star(700)]
    files = [tmp_path / f"{number}.mmd" for number in range(len(graphs))]
    counts = []
    for path, graph in zip(files, graphs, strict=True):
        made, count = mermaid.written(graph)
        path.write_text(*made.values())
        counts.append(count)
    with installed("mermaid@11", "jsdom@26") as programs:
        script = shutil.copy(Path(__file__).with_name("mermaid.mjs"), programs.parents[1])
        command = ["node", str(script), *map(str, files)]
        done = subprocess.run(command, env=apart(tmp_path), capture_output=True, text=True, check=True, timeout=120)
    found = [json.loads(line) for line in done.stdout.splitlines()]
    for one, count in zip(found, counts, strict=True):
        assert len(one["nodes"]) == count.total() - count["relation"]
        assert len(one["edges"]) == count["relation"]
        assert all("<script" not in text for _, text in one["nodes"])
