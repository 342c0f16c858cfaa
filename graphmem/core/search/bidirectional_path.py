"""
The strongest chain between two records, sought from both ends, where no edge weighs more than 1.

Then a longer walk is never stronger, so the best walk with the fewest edges visits no record twice, and no prefix of it
is outdone by a walk with fewer edges. Layers of best strengths grow from both ends, the smaller one first, until
together they are as long as a path may be; where they meet is the answer. Two half searches look at the square root of
what one whole search does. Where edges weigh more than 1, ``paths`` has to look at everything.

Source: docs/concepts/retrieval.md, "Traversal". Oracle: brute force in tests/core/search/test_paths.py.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field

from graphmem.core.search.paths import MOST_EDGES, TOLERANCE, Path, edge_order
from graphmem.kernel.catalog.steps import Edge, Step

EdgesOf = Callable[[Collection[int]], Iterable[Edge]]
NamesOf = Callable[[Collection[int]], Mapping[int, str]]


@dataclass
class Side:
    """What is reached from one end: for each number of edges, the strengths that no smaller number gives."""

    end: int
    edges_of: EdgesOf
    layers: list[dict[int, float]] = field(default_factory=list)
    best: dict[int, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.layers.append({self.end: 1.0})
        self.best[self.end] = 1.0


@dataclass
class Meeting:
    """The strongest chain known so far: its strength and its edges."""

    strength: float = 0.0
    hops: int = 1_000_000

    def could_improve(self, strength: float, hops: int) -> bool:
        """Return whether a chain of this strength and length, or one that goes on from it, would be a better one."""
        if abs(strength - self.strength) <= TOLERANCE:
            return hops < self.hops
        return strength > self.strength


def strongest_chain(
    start: int,
    end: int,
    edges_of: EdgesOf,
    edges_into: EdgesOf,
    names_of: NamesOf,
    *,
    max_hops: int,
    most_edges: int = MOST_EDGES,
) -> tuple[Path | None, bool]:
    """
    Return the strongest path from ``start`` to ``end``, and whether no stronger one can have been missed.

    Args:
        start, end: numbers of two records.
        edges_of: the edges that may be walked from some records, as seen from them; none weighs more than 1.
        edges_into: those by which they may be reached, as seen from them.
        names_of: references; of equally strong paths the one with fewer edges is taken, then by the names on it.
        max_hops: edges of a path at most.
        most_edges: looked at; where they do not suffice, what was found until then.
    """
    ahead, behind = Side(start, edges_of), Side(end, edges_into)
    met = Meeting()
    while len(ahead.layers) + len(behind.layers) - 2 < max_hops and most_edges > 0:
        side, other = (ahead, behind) if len(ahead.layers[-1]) <= len(behind.layers[-1]) else (behind, ahead)
        most_edges -= _grow(side, met, most_edges)
        if not side.layers[-1]:
            break
        hops = len(side.layers) - 1
        for node, strength in side.layers[-1].items():
            for more, layer in enumerate(other.layers):
                if node in layer and met.could_improve(strength * layer[node], hops + more):
                    met.strength, met.hops = strength * layer[node], hops + more
    path = None if met.strength == 0.0 else _first_by_name(ahead, behind, met, names_of)
    return path, most_edges > 0


def _grow(side: Side, met: Meeting, most_edges: int) -> int:
    """Add the next layer of a side; return how many edges were looked at."""
    hops = len(side.layers) - 1
    worthy = {node: strength for node, strength in side.layers[-1].items() if met.could_improve(strength, hops)}
    layer: dict[int, float] = {}
    best, seen = side.best, 0
    for seen, (near, far, _, weight, _) in enumerate(side.edges_of(worthy), 1):
        strength = worthy[near] * weight
        if strength > best.get(far, 0.0) + TOLERANCE:
            best[far] = layer[far] = strength
        if seen >= most_edges:
            break
    side.layers.append(layer)
    return seen


def _first_by_name(ahead: Side, behind: Side, met: Meeting, names_of: NamesOf) -> Path:
    """Return the chain of the strength and length that were met; of several the first by the names on it."""
    middle = min(len(ahead.layers) - 1, met.hops)
    left, right = ahead.layers, behind.layers
    on = {
        node
        for node in left[middle]
        if left[middle][node] * right[met.hops - middle].get(node, 0.0) >= met.strength - TOLERANCE
    }
    marked = [on]
    for place in range(middle, 0, -1):
        before, here = left[place - 1], left[place]
        marked.append(
            {
                far
                for near, far, _, weight, _ in behind.edges_of(marked[-1])
                if far in before and before[far] * weight >= here[near] - TOLERANCE
            }
        )
    marked.reverse()
    node, steps = ahead.end, list[Step]()
    for place in range(met.hops):
        options = list[Edge]()
        for edge in ahead.edges_of([node]):
            far, weight = edge[1], edge[3]
            if place < middle:
                fits = far in marked[place + 1] and left[place][node] * weight >= left[place + 1][far] - TOLERANCE
            else:
                rest = right[met.hops - place - 1].get(far, 0.0)
                fits = rest > 0 and weight * rest >= right[met.hops - place][node] - TOLERANCE
            if fits:
                options.append(edge)
        names = names_of({edge[1] for edge in options})
        step = Step(*min(options, key=lambda edge: (names[edge[1]], edge_order(edge))))
        steps.append(step)
        node = step.far
    return Path(node, met.strength, tuple(steps))
