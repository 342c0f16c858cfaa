"""Where the records of a graph are drawn."""

from math import dist

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.page.drawing import PAIRS, drawn

GRAPHS = st.integers(1, 60).flatmap(
    lambda number: st.tuples(st.just(number), st.lists(st.tuples(*[st.integers(0, number - 1)] * 2), max_size=90))
)


@given(GRAPHS)
@pytest.mark.long
def test_places_are_within_the_drawing_and_the_same_each_time(graph: tuple[int, list[tuple[int, int]]]) -> None:
    places = drawn(*graph)
    assert len(places) == graph[0]
    assert all(-1 <= value <= 1 for place in places for value in place)
    assert drawn(*graph) == places


@pytest.mark.parametrize("number", [100, 10 * PAIRS // 9 + 10])
def test_what_has_an_edge_is_nearer_than_what_has_none(number: int) -> None:
    number -= number % 10
    chains = [(start + step, start + step + 1) for start in range(0, number, 10) for step in range(9)]
    places = drawn(number, chains)
    near = sum(dist(places[a], places[b]) for a, b in chains) / len(chains)
    every = [dist(places[a], places[b]) for a in range(0, number, 7) for b in range(a)]
    assert near < sum(every) / len(every) / 2


def test_nothing_is_drawn_of_nothing() -> None:
    assert drawn(0, []) == []
