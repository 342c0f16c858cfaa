"""The strongest path is that of brute force, with its ties, its bound and its honesty."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem.core.search.bidirectional_path import strongest_chain
from graphmem.core.search.paths import TOLERANCE, Path, edge_order, strongest_paths
from graphmem.kernel.catalog.steps import Step
from tests.pace import examples

Edges = list[tuple[int, int, str, float]]

TYPES = {"solves": 1.5, "causes": 1.0, "prerequisite": 1.0, "co_occurs": 0.8, "variant": 0.7}


def names(nodes: Collection[int]) -> Mapping[int, str]:
    # Names in another order than the numbers, so that a tie broken by number is seen.
    return {node: f"failure/{(node * 7) % 11:02d}-{node}" for node in nodes}


class Graph:
    """Edges as the catalog gives them: from both ends, filtered."""

    def __init__(self, edges: Edges, types: Collection[str] | None = None, direction: str = "both") -> None:
        self.at: dict[int, list[Step]] = defaultdict(list)
        self.asked = 0
        for a, b, kind, weight in edges:
            if types is not None and kind not in types:
                continue
            if direction in ("both", "out"):
                self.at[a].append(Step(a, b, kind, weight, True))
            if direction in ("both", "in"):
                self.at[b].append(Step(b, a, kind, weight, False))

    def edges_of(self, nodes: Collection[int]) -> Iterator[Step]:
        for node in nodes:
            self.asked += len(self.at[node])
            yield from self.at[node]


def brute_force(graph: Graph, start: int, max_hops: int, cut: float) -> dict[int, Path]:
    """Every simple path there is, the best one to each record."""
    found: dict[int, Path] = {}

    def order(path: Path) -> tuple[int, list[str], list[tuple[str, bool]]]:
        return path.hops, [names([s.far])[s.far] for s in path.steps], [edge_order(s) for s in path.steps]

    def walk(node: int, strength: float, steps: tuple[Step, ...], visited: frozenset[int]) -> None:
        if steps:
            path, known = Path(node, strength, steps), found.get(node)
            if (
                known is None
                or strength > known.strength + TOLERANCE
                or (abs(strength - known.strength) <= TOLERANCE and order(path) < order(known))
            ):
                found[node] = path
        if len(steps) < max_hops:
            for step in graph.at[node]:
                product = strength * step.weight
                if step.far not in visited and product >= cut - TOLERANCE:
                    walk(step.far, product, (*steps, step), visited | {step.far})

    walk(start, 1.0, (), frozenset({start}))
    return found


@st.composite
def graphs(draw: st.DrawFn) -> Edges:
    size, most = draw(st.integers(2, 8)), draw(st.sampled_from([1.0, 2.0]))
    ends = st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)).filter(lambda pair: pair[0] != pair[1])
    found: dict[tuple[int, int, str], float] = {}
    for a, b in draw(st.lists(ends, max_size=16)):
        kind = draw(st.sampled_from(sorted(TYPES)))
        found[a, b, kind] = min(most, draw(st.sampled_from([TYPES[kind], TYPES[kind], 0.5, 0.9, 1.1, 2.0])))
    return [(a, b, kind, weight) for (a, b, kind), weight in found.items()]


@settings(max_examples=examples(400), deadline=None)
@given(
    edges=graphs(),
    max_hops=st.integers(1, 6),
    cut=st.sampled_from([0.5, 0.5, 0.1, 1.0]),
    direction=st.sampled_from(["both", "out", "in"]),
    types=st.one_of(st.none(), st.sets(st.sampled_from(sorted(TYPES)), min_size=1)),
    limit=st.one_of(st.none(), st.integers(1, 4)),
)
def test_the_answer_is_that_of_brute_force(
    edges: Edges, max_hops: int, cut: float, direction: str, types: set[str] | None, limit: int | None
) -> None:
    graph = Graph(edges, types, direction)
    expected = brute_force(graph, 0, max_hops, cut)
    most = max([1.0, *(weight for *_, weight in edges)])
    reach = strongest_paths(0, graph.edges_of, names, max_hops=max_hops, min_strength=cut, max_weight=most, limit=limit)
    assert reach.is_exhaustive
    ordered = sorted(expected.values(), key=lambda p: (-round(p.strength, 8), p.hops, names([p.node])[p.node]))
    assert [p.node for p in reach.paths] == [p.node for p in ordered[:limit]]
    for path in reach.paths:
        assert path.strength == pytest.approx(expected[path.node].strength, abs=1e-9)
        assert path.steps == expected[path.node].steps
    assert reach.is_truncated == (limit is not None and len(expected) > limit)


@settings(max_examples=examples(400), deadline=None)
@given(
    edges=graphs(), max_hops=st.integers(1, 6), direction=st.sampled_from(["both", "out", "in"]),
    types=st.one_of(st.none(), st.sets(st.sampled_from(sorted(TYPES)), min_size=1)), end=st.integers(1, 7),
)  # fmt: skip
def test_the_chain_between_two_is_that_of_brute_force(
    edges: Edges, max_hops: int, direction: str, types: set[str] | None, end: int
) -> None:
    light = [(a, b, kind, min(1.0, weight)) for a, b, kind, weight in edges]
    graph, back = Graph(light, types, direction), Graph(light, types, {"out": "in", "in": "out"}.get(direction, "both"))
    expected = brute_force(graph, 0, max_hops, 0.0).get(end)
    found, is_exhaustive = strongest_chain(0, end, graph.edges_of, back.edges_of, names, max_hops=max_hops)
    assert is_exhaustive
    assert (found and found.steps) == (expected and expected.steps)
    if found and expected:
        assert found.strength == pytest.approx(expected.strength, abs=1e-9)


def test_a_chain_is_sought_from_both_ends() -> None:
    """A tree of ten branches at each record: three steps from both ends, not six from one."""
    edges: Edges = [(n, 10 * n + d, "causes", 1.0) for n in range(1_111) for d in range(1, 11)]
    edges += [(100_000 + n, 100_000 + 10 * n + d, "causes", 1.0) for n in range(1_111) for d in range(1, 11)]
    edges.append((1_111, 101_111, "causes", 0.6))
    graph = Graph(edges)
    found, _ = strongest_chain(1, 100_001, graph.edges_of, graph.edges_of, names, max_hops=6)
    assert found is None
    found, is_exhaustive = strongest_chain(11, 100_011, graph.edges_of, graph.edges_of, names, max_hops=6)
    assert found and is_exhaustive
    assert (found.strength, found.hops) == (0.6, 5)
    assert graph.asked < 6_000  # of 24,421 edges, each seen from both ends
    found, is_exhaustive = strongest_chain(11, 100_011, graph.edges_of, graph.edges_of, names, max_hops=6, most_edges=9)
    assert found is None and not is_exhaustive


def test_a_record_is_reported_once_and_the_start_never() -> None:
    graph = Graph([(0, 1, "causes", 1.0), (1, 0, "causes", 1.0), (0, 1, "variant", 0.7), (1, 2, "causes", 1.0)])
    reach = strongest_paths(0, graph.edges_of, names, max_hops=6, min_strength=0.5)
    assert [path.node for path in reach.paths] == [1, 2]


def test_a_longer_path_wins_where_it_is_stronger() -> None:
    graph = Graph([(1, 0, "solves", 1.5), (1, 2, "solves", 1.5), (0, 2, "causes", 1.0)])
    reach = strongest_paths(0, graph.edges_of, names, max_hops=2, min_strength=0.5)
    assert [(path.node, path.strength, path.hops) for path in reach.paths] == [(2, 2.25, 2), (1, 1.5, 1)]


def test_a_longer_path_that_is_weaker_is_left_out() -> None:
    graph = Graph([(0, 1, "causes", 1.0), (0, 2, "causes", 0.8), (2, 1, "causes", 0.8), (1, 3, "causes", 1.0)])
    reach = strongest_paths(0, graph.edges_of, names, max_hops=4, min_strength=0.5, max_weight=1.0)
    assert [(path.node, path.strength, path.hops) for path in reach.paths] == [(1, 1.0, 1), (3, 1.0, 2), (2, 0.8, 1)]


def test_two_hops_look_at_each_edge_within_reach_once() -> None:
    """From a start of very high degree the work is the number of edges, not the number of paths."""
    spokes = range(1, 2_001)
    edges: Edges = [(0, n, "causes", 1.0) for n in spokes] + [(n, 5_000 + n % 50, "causes", 1.0) for n in spokes]
    graph = Graph(edges)
    reach = strongest_paths(0, graph.edges_of, names, max_hops=2, min_strength=0.5)
    assert len(reach.paths) == 2_050
    assert graph.asked <= 2 * len(edges)


def test_a_limit_stops_before_the_weak_part_is_fetched() -> None:
    weak: Edges = [(0, n, "variant", 0.7) for n in range(100, 300)]
    beyond: Edges = [(n, n + 1_000, "causes", 1.0) for n in range(100, 300)]
    strong: Edges = [(0, n, "causes", 1.0) for n in range(1, 6)]
    graph = Graph(weak + beyond + strong)
    reach = strongest_paths(0, graph.edges_of, names, max_hops=2, min_strength=0.5, max_weight=1.0, limit=3)
    assert len(reach.paths) == 3
    assert reach.is_truncated
    assert graph.asked < 250


def test_a_nasty_graph_ends_and_says_that_it_was_not_exhaustive() -> None:
    """Dense, weights over 1, six hops: the budget ends it, and the answer admits that."""
    size = 40
    edges: Edges = [(a, b, "solves", 1.1 + (a * b % 7) / 10) for a in range(size) for b in range(a + 1, size)]
    graph = Graph(edges)
    reach = strongest_paths(0, graph.edges_of, names, max_hops=6, min_strength=0.5, expansions=500)
    assert len(reach.paths) == size - 1
    assert not reach.is_exhaustive


def test_a_graph_larger_than_the_budget_ends_and_says_so() -> None:
    edges: Edges = [(n, n + 1 + d, "causes", 1.0) for n in range(300) for d in range(3)]
    graph = Graph(edges)
    reach = strongest_paths(0, graph.edges_of, names, max_hops=6, min_strength=0.5, most_edges=20)
    assert not reach.is_exhaustive
    assert 0 < len(reach.paths) < 20
    assert graph.asked < 100
    whole = strongest_paths(0, graph.edges_of, names, max_hops=6, min_strength=0.5)
    assert whole.is_exhaustive
    assert {path.node for path in reach.paths} < {path.node for path in whole.paths}


def test_a_limit_is_met_without_walking_on_from_a_hub() -> None:
    """What comes later has more hops, so of equal strength it stands behind the answers that are there."""
    spokes = range(1, 201)
    graph = Graph([(0, n, "causes", 1.0) for n in spokes] + [(n, n + 1_000, "causes", 1.0) for n in spokes])
    reach = strongest_paths(0, graph.edges_of, names, max_hops=3, min_strength=0.5, max_weight=1.0, limit=20)
    assert len(reach.paths) == 20
    assert reach.is_truncated
    assert graph.asked == 200
