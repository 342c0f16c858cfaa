"""The data of the page: records with their places, edges, what waits, what happened."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.core.page.operations import MOST_TEXT
from tests.features.harvest.test_review import put
from tests.sample import Clock, open_memory


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path, clock=Clock(step=timedelta(0))) as memory:
        memory.failures.add("the disk is full", name="full")
        memory.failures.add("the network is down", name="down", fix="wait")
        memory.failures.add("the key is gone", name="gone")
        memory.patterns.add("no key", "make another", name="key")
        memory.relations.link("pattern/key", "solves", "failure/gone")
        yield memory


def test_records_edges_and_failures_without_a_fix_are_there(memory: Memory, tmp_path: Path) -> None:
    found = memory.store.view()
    refs = [one.ref for one in found.records]
    assert refs == ["failure/down", "failure/full", "failure/gone", "pattern/key"]
    assert [(refs[one.source], one.type, refs[one.target]) for one in found.edges] == [
        ("pattern/key", "solves", "failure/gone")
    ]
    assert [refs[place] for place in found.unsolved] == ["failure/full"]
    assert [found.health.coverage.unsolved, found.health] == [1, memory.stats()]
    assert (found.project, found.left_out) == (tmp_path.name, 0)
    assert found.records[0].fields["fix"] == "wait"
    assert memory.store.view() == found


def test_what_waits_and_what_happened_is_there(memory: Memory) -> None:
    name = put(memory)
    memory.inbox.add("look at it")
    found = memory.store.view()
    assert [one.id for one in found.candidates] == [name]
    assert [one.type for one in found.events] == ["inbox-added"]
    assert [one.model_dump()["content"] for one in found.inbox] == ["look at it"]


def test_of_many_candidates_the_page_has_the_first_and_says_how_many_wait(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("graphmem.features.harvest.review.MOST_ON_PAGE", 2)
    names = [put(memory, text, base=0.9 - number / 10) for number, text in enumerate(("one", "two", "three"))]
    found = memory.store.view()
    assert ([one.id for one in found.candidates], found.waiting) == (names[:2], 3)


def test_of_too_many_the_most_important_are_kept_and_long_texts_are_cut(memory: Memory) -> None:
    memory.edit("failure/full", {"fix": "x" * 9_000, "cost": 30})
    memory.edit("failure/gone", {"cost": 3})
    memory.types.add_entity("part")
    memory.entities.add("part", "lock")
    found = memory.store.view(most=2)
    weighed = {one.ref: one.importance for one in memory.store.view().records}
    assert [one.ref for one in found.records] == ["failure/full", "failure/gone"]
    assert weighed["part/lock"] is None
    assert weighed["failure/full"] == max(filter(None, weighed.values()))
    assert found.left_out == 3
    assert len(found.records[0].fields["fix"]) == MOST_TEXT + 1


def test_what_speaks_against_a_record_is_there(memory: Memory) -> None:
    memory.edit("failure/gone", {"check_after": "2026-10-01"})
    assert {one.ref: [doubt.sign for doubt in one.doubts] for one in memory.store.view().records if one.doubts} == {
        "failure/gone": ["date"]
    }


def test_an_empty_memory_has_an_empty_page(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert memory.store.view().records == []
