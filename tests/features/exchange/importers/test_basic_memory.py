"""Basic Memory: notes, their relations, and relations to notes that are not there yet."""

import time
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.features.exchange.importers.basic_memory import OBSERVATION, RELATION
from tests.pace import within
from tests.sample import open_memory

COFFEE = """---
title: Coffee Brewing
type: note
permalink: coffee/brewing
tags:
- coffee
created: 2025-03-01T10:00:00Z
---

# Coffee Brewing

See [[Water]] first.

## Observations
- [method] Pour over is best #brewing (tried often)

## Relations
- requires [[Grinder]]
- relates_to [[Water|the water]] (it matters)
- [[coffee/brewing]]
"""
WATER = "---\ntitle: Water\npermalink: water\n---\n\n- part-of [[Coffee Brewing]]\n"


def write(folder: Path, **notes: str) -> Path:
    (folder / "notes").mkdir(exist_ok=True)
    for name, text in notes.items():
        (folder / "notes" / f"{name}.md").write_text(text)
    return folder / "notes"


def edges(memory: Memory, ref: str) -> list[tuple[str, str, str]]:
    return [(edge.source, edge.type, edge.target) for edge in memory.get(ref).relations]


def test_notes_are_entities_and_relations_edges(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        path = write(tmp_path, brewing=COFFEE, water=WATER)
        answer = memory.imports.file(path)
        assert answer.format == "basic-memory"
        assert answer.read == {"note": 2, "observation": 1, "relation": 5}
        assert (answer.created, answer.dangling) == ({"entity": 2, "relation": 3}, 1)
        assert [one.reason for one in answer.skipped] == ["'Coffee Brewing' is related to itself"]
        made: Any = memory.get("note/Coffee Brewing").record
        assert made.sources == ("basic-memory:coffee/brewing",)
        assert made.value.startswith("# Coffee Brewing\n\nSee [[Water]] first.")
        assert made.x_basic_memory == {
            "title": "Coffee Brewing", "type": "note", "permalink": "coffee/brewing", "tags": ["coffee"],
        }  # fmt: skip
        assert sorted(edges(memory, "note/Water")) == [
            ("note/Coffee Brewing", "links_to", "note/Water"),
            ("note/Coffee Brewing", "relates_to", "note/Water"),
            ("note/Water", "their_part_of", "note/Coffee Brewing"),
        ]
        again = memory.imports.file(path)
        assert (again.created, again.updated, again.dangling) == ({}, {}, 1)


@pytest.mark.parametrize(
    "text", ["\n" * 30_000, f"- {' ' * 30_000}x", "- [" + " " * 30_000, f"- [[x]] {'( ' * 9_000}", "- [[" * 9_000]
)
def test_a_note_takes_no_time_whatever_it_is_made_of(text: str) -> None:
    began = time.process_time()
    RELATION.findall(text)
    OBSERVATION.findall(text)
    assert within(time.process_time() - began, 0.3, time.process_time)


def test_a_relation_comes_alive_when_the_note_that_it_names_comes(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.imports.file(write(tmp_path, brewing=COFFEE))
        assert edges(memory, "note/Coffee Brewing") == []
        answer = memory.imports.file(
            write(tmp_path, grinder="---\ntitle: Grinder\npermalink: grinder\n---\nIt grinds.\n")
        )
        assert answer.created == {"entity": 1}
        assert edges(memory, "note/Coffee Brewing") == [("note/Coffee Brewing", "requires", "note/Grinder")]
