"""
Strongest paths: from one record to all it reaches, as `related` and `path` show them.

The strength of a path is the product of its weights, and weights above 1 make a longer path the stronger one, so no
shortest-path algorithm applies. What is computed is the maximum over *simple* paths of at most ``max_hops`` edges,
every prefix of which holds at least ``min_strength``:

1. Layer by layer, the best walk of exactly ``h`` edges to every record that never turns straight back and never meets
   the start again. Kept are the best and the best by another last step, which is all that a walk which may not turn
   back can need. Work: the edges within reach, times the layers.
2. Such a walk of up to three edges visits no record twice, and whenever the best walk is a simple path it is the
   answer. Only where it is not, the simple paths to that record are searched backwards, guided by the walks of step 1
   as an upper bound, within a budget of expansions.

Source: docs/concepts/retrieval.md, "Traversal". Oracle: brute force in tests/core/search/test_paths.py.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice
from typing import TypeVar

from graphmem.kernel.catalog.steps import Edge, Step

TOLERANCE = 1e-9  # strengths that differ by less are equal, in choosing, in sorting and at the cut
ALWAYS_SIMPLE = 3  # edges up to which a walk that does not turn back and avoids its start visits nothing twice
EXPANSIONS = 200_000  # steps of the search among simple paths, over all records that need it
MOST_EDGES = 5_000_000  # edges that one traversal looks at: some ten seconds, and memory of a few GiB at most


@dataclass(slots=True, frozen=True)
class Path:
    """The strongest path to a record: its edges in walking order."""

    node: int
    strength: float
    steps: tuple[Step, ...]

    @property
    def hops(self) -> int:
        return len(self.steps)


@dataclass(slots=True)
class Walk:
    """The best walk to ``node`` of its layer; ``rank`` orders the walks of a layer by the names on them."""

    node: int
    strength: float
    hops: int = 0
    last: int = -1  # the record before this one; the start itself has none
    parent: "Walk | None" = None
    edge: Edge | None = None
    rank: int = 0
    steps: tuple[Step, ...] | None = None

    def nodes(self) -> Iterator[int]:
        """Yield the records on the walk, from its end to its start."""
        walk: Walk | None = self
        while walk is not None:
            yield walk.node
            walk = walk.parent

    def is_simple(self) -> bool:
        """Return whether the walk visits nothing twice."""
        if self.hops <= ALWAYS_SIMPLE:
            return True
        nodes = list(self.nodes())
        return len(set(nodes)) == len(nodes)

    def path(self) -> Path:
        """Return the walk as a path."""
        return Path(self.node, self.strength, self.walked())

    def walked(self) -> tuple[Step, ...]:
        """Return the steps in walking order; they are kept, for the walks of a hub begin with the same few."""
        if self.steps is None:
            self.steps = (*self.parent.walked(), Step(*self.edge)) if self.parent and self.edge else ()
        return self.steps


@dataclass(slots=True)
class Reach:
    """What a traversal found: strongest first; ``is_exhaustive`` is false where it ended at its budget."""

    paths: list[Path]
    is_exhaustive: bool
    is_truncated: bool


Layer = dict[int, list[Walk]]  # the best walk to a record, and the best by another last step
Found = TypeVar("Found", Walk, Path)  # what has a strength and a number of hops


@dataclass
class Search:
    """One traversal: what it asks, what it has found so far."""

    start: int
    edges_of: Callable[[Collection[int]], Iterable[Edge]]
    names_of: Callable[[Collection[int]], Mapping[int, str]]
    max_hops: int
    min_strength: float
    max_weight: float
    limit: int | None
    is_wanted: Callable[[Collection[int]], Collection[int]]
    expansions: int
    edges_left: int
    edges: dict[int, list[Edge]] = field(default_factory=dict)
    names: dict[int, str] = field(default_factory=dict)
    best: dict[int, Walk] = field(default_factory=dict)
    layers: list[Layer] = field(default_factory=list)
    is_pruned: bool = False

    @cached_property
    def into(self) -> dict[int, list[Step]]:
        """The edges that lead to each record, once all layers are there."""
        found: dict[int, list[Step]] = {}
        for edge in chain.from_iterable(self.edges.values()):
            found.setdefault(edge[1], []).append(Step(*edge))
        return found

    @property
    def is_always_simple(self) -> bool:
        """Whether no walk of this search can visit a record twice: then only the best of all layers count."""
        return self.max_hops <= ALWAYS_SIMPLE


def strongest_paths(
    start: int,
    edges_of: Callable[[Collection[int]], Iterable[Edge]],
    names_of: Callable[[Collection[int]], Mapping[int, str]],
    *,
    max_hops: int,
    min_strength: float,
    max_weight: float = 2.0,
    limit: int | None = None,
    is_wanted: Callable[[Collection[int]], Collection[int]] = lambda nodes: nodes,
    expansions: int = EXPANSIONS,
    most_edges: int = MOST_EDGES,
) -> Reach:
    """
    Return the strongest simple path from ``start`` to every record within reach.

    Args:
        start: number of the record to start at; it is never an answer itself.
        edges_of: the edges at each of some records, as seen from them, already filtered by type and direction.
        names_of: references of records; they break ties, by code point.
        max_hops: edges of a path at most, 1 to 6.
        min_strength: no prefix of a path is weaker than this.
        max_weight: no edge weighs more; the lower it is, the earlier a limit can stop.
        limit: at most this many answers; it changes nothing about the first of them.
        is_wanted: of some records, those that can be answers; others are only walked through.
        expansions: steps of the search among simple paths at most, over all records that need it.
        most_edges: looked at, one that is met twice counts twice; where they do not suffice, what was found until then.

    Returns:
        Paths by strength, then hops, then name.

    Cost: the edges within ``max_hops`` - 1 of the start, times ``max_hops``; plus the budget where step 2 is needed.
    """
    search = Search(
        start, edges_of, names_of, max_hops, min_strength, max_weight, limit, is_wanted, expansions, most_edges
    )
    search.layers.append({start: [Walk(start, 1.0)]})
    while len(search.layers) <= max_hops and search.edges_left > 0:
        frontier = _expandable(search, search.layers[-1])
        if not frontier:
            break
        if search.is_always_simple and len(search.layers) == max_hops:
            _last_layer(search, frontier)
            break
        layer = _next_layer(search, frontier)
        search.layers.append(layer)
        for node, walks in layer.items():
            known = search.best.get(node)
            if known is None or walks[0].strength > known.strength + TOLERANCE:
                search.best[node] = walks[0]
    wanted = set(is_wanted(search.best.keys()))
    found: list[Walk] = [walk for node, walk in search.best.items() if node in wanted]
    if search.is_always_simple:
        paths = [walk.path() for walk in _first(search, found)]
        total = len(found)
    else:
        settled = [path for walk in found if (path := _settle(search, walk))]
        paths, total = _first(search, settled), len(settled)
    is_exhaustive = search.expansions > 0 and search.edges_left > 0
    return Reach(paths, is_exhaustive, search.is_pruned or total > len(paths))


def _first(search: Search, found: list[Found]) -> list[Found]:
    """Return what was found by strength, then hops, then name, as far as the limit goes; names are fetched to there."""
    ordered = sorted(found, key=lambda one: -one.strength)
    result: list[Found] = []
    for group in _equally_strong(ordered):
        by_hops = sorted(group, key=lambda one: one.hops)
        if search.limit is not None and len(by_hops) > (room := search.limit - len(result)):
            by_hops = [one for one in by_hops if one.hops <= by_hops[room - 1].hops]
        _name_nodes(search, [one.node for one in by_hops])
        result += sorted(by_hops, key=lambda one: (one.hops, search.names[one.node]))
        if search.limit is not None and len(result) >= search.limit:
            return result[: search.limit]
    return result


def _equally_strong(ordered: Iterable[Found]) -> Iterator[list[Found]]:
    """Yield what is sorted by strength in groups within the tolerance of each other."""
    group: list[Found] = []
    for one in ordered:
        if group and group[-1].strength - one.strength > TOLERANCE:
            yield group
            group = []
        group.append(one)
    if group:
        yield group


def _name_nodes(search: Search, nodes: Collection[int]) -> None:
    """Fetch the names of records that have none yet."""
    unnamed = [node for node in nodes if node not in search.names]
    if unnamed:
        search.names.update(search.names_of(unnamed))


def _expandable(search: Search, layer: Layer) -> Collection[int]:
    """Return the records worth walking on from: all, or with a limit those that can still beat the last answer."""
    if search.limit is None or len(search.best) <= search.limit:
        return layer.keys()
    simple = [walk for walk in search.best.values() if walk.is_simple()]
    wanted = set(search.is_wanted([walk.node for walk in simple]))
    strengths = sorted((walk.strength for walk in simple if walk.node in wanted), reverse=True)
    if len(strengths) <= search.limit:
        return layer.keys()
    # What comes later has more hops, so of equal strength it is behind all that is known.
    last = strengths[search.limit - 1] + TOLERANCE
    gain = max(1.0, search.max_weight) ** (search.max_hops - len(search.layers)) * search.max_weight
    worthy = [node for node, walks in layer.items() if walks[0].strength * gain > last]
    search.is_pruned = search.is_pruned or len(worthy) < len(layer)
    return worthy


def _edges_at(search: Search, frontier: Collection[int], *, is_last: bool) -> Iterator[Edge]:
    """Yield the edges at some records; those of the last layer are not looked at again, so they are not kept."""
    known = chain.from_iterable(search.edges.get(node, ()) for node in frontier)
    unknown = [node for node in frontier if node not in search.edges]
    found: Iterable[Edge] = search.edges_of(unknown)
    if not is_last:
        search.edges.update((node, []) for node in unknown)
        found = _kept(search, found)
    yield from islice(chain(known, found), search.edges_left)


def _kept(search: Search, edges: Iterable[Edge]) -> Iterator[Edge]:
    """Keep the edges that are passed on."""
    for edge in edges:
        search.edges[edge[0]].append(edge)
        yield edge


def _extensions(search: Search, frontier: Collection[int], *, is_last: bool) -> Iterator[tuple[Walk, Edge, float]]:
    """Yield, for each edge at the frontier, the best walk that may go on by it, and how strong it then is."""
    previous, start, cut = search.layers[-1], search.start, search.min_strength - TOLERANCE
    rank(search, [walk for node in frontier for walk in previous[node]])
    for edge in _edges_at(search, frontier, is_last=is_last):
        search.edges_left -= 1
        far = edge[1]
        walks = previous[edge[0]]
        walk = walks[0]
        if walk.last == far:
            if len(walks) == 1:
                continue
            walk = walks[1]
        strength = walk.strength * edge[3]
        if strength >= cut and far != start:
            yield walk, edge, strength


def _next_layer(search: Search, frontier: Collection[int]) -> Layer:
    """Return the best walks that are one edge longer than those of the last layer."""
    # Where no edge weighs more than 1, a longer walk that is not stronger leads nowhere that the shorter one does not.
    passed = search.best if search.max_weight <= 1 else {}
    layer: Layer = {}
    for walk, edge, strength in _extensions(search, frontier, is_last=False):
        near, far = edge[0], edge[1]
        if far not in passed or strength > passed[far].strength + TOLERANCE:
            offer(layer, Walk(far, strength, walk.hops + 1, near, walk, edge))
    return layer


def _last_layer(search: Search, frontier: Collection[int]) -> None:
    """
    Improve the best walks by those of the last layer.

    The same as ``_next_layer``, without what no path continues from: the second best, and their ranks. Most of a search
    from a record of very high degree is here.
    """
    best = search.best
    for walk, edge, strength in _extensions(search, frontier, is_last=True):
        near, far = edge[0], edge[1]
        known = best.get(far)
        if known is None or strength > known.strength + TOLERANCE:
            best[far] = Walk(far, strength, search.max_hops, near, walk, edge)
        elif strength >= known.strength - TOLERANCE and known.hops == search.max_hops:
            made = Walk(far, strength, search.max_hops, near, walk, edge)
            if _is_better(made, known):
                best[far] = made


def offer(layer: Layer, walk: Walk) -> None:
    """Keep a walk where it is the best to its record, or the best by another last step."""
    walks = layer.get(walk.node)
    if walks is None:
        layer[walk.node] = [walk]
        return
    for place, other in enumerate(walks):
        if other.last == walk.last:
            if _is_better(walk, other):
                walks[place] = walk
            break
    else:
        walks.append(walk)
    if len(walks) > 1 and _is_better(walks[1], walks[0]):
        walks[0], walks[1] = walks[1], walks[0]
    if len(walks) > 2:
        if _is_better(walks[2], walks[1]):
            walks[1] = walks[2]
            if _is_better(walks[1], walks[0]):
                walks[0], walks[1] = walks[1], walks[0]
        walks.pop()


def _is_better(walk: Walk, other: Walk) -> bool:
    """Compare two walks of a layer: by strength, then the names on the way, then the last edge itself."""
    if abs(walk.strength - other.strength) > TOLERANCE:
        return walk.strength > other.strength
    assert walk.parent and other.parent and walk.edge and other.edge
    if walk.parent.rank != other.parent.rank:
        return walk.parent.rank < other.parent.rank
    return edge_order(walk.edge) < edge_order(other.edge)


def edge_order(edge: Edge) -> tuple[str, bool]:
    """Order parallel edges of one strength: by type, an edge that leads away first."""
    return (edge[2], not edge[4])


def rank(search: Search, walks: list[Walk]) -> None:
    """Number the walks of a layer in the order of the names on them."""
    _name_nodes(search, [walk.node for walk in walks])
    names = search.names
    walks.sort(key=lambda walk: (walk.parent.rank if walk.parent else 0, names[walk.node]))
    for number, walk in enumerate(walks):
        walk.rank = number


def _settle(search: Search, walk: Walk) -> Path | None:
    """Return the strongest simple path to the end of a best walk, or None."""
    if walk.is_simple():
        return walk.path()
    known: Path | None = None
    for layer in search.layers[1:]:
        for found in layer.get(walk.node, ()):
            if found.is_simple() and (known is None or found.strength > known.strength + TOLERANCE):
                known = found.path()
    return Backwards(search, walk.node, known).find()


@dataclass(slots=True)
class Backwards:
    """The search for the strongest simple path that ends at ``target``, from its end to its start."""

    search: Search
    target: int
    best: Path | None

    def find(self) -> Path | None:
        """Return the best path found, within what is left of the budget."""
        self.extend(self.target, 1.0, [], {self.target})
        return self.best

    def extend(self, node: int, strength: float, suffix: list[Step], visited: set[int]) -> None:
        """Try every edge that leads to ``node``, the most promising first."""
        if len(suffix) >= self.search.max_hops:
            return
        options = []
        for step in self.search.into.get(node, ()):
            if step.near in visited:
                continue
            product = strength * step.weight
            bound, hops = self.bound(step.near, product, self.search.max_hops - len(suffix) - 1)
            if self.is_promising(bound, hops + len(suffix) + 1):
                options.append((-bound, hops, edge_order(step), product, step))
        for bound, hops, _, product, step in sorted(options, key=lambda option: option[:3]):
            if not self.is_promising(-bound, hops + len(suffix) + 1):
                continue
            if self.search.expansions <= 0:
                return
            self.search.expansions -= 1
            suffix.append(step)
            if step.near == self.search.start:
                self.offer(tuple(reversed(suffix)))
            else:
                visited.add(step.near)
                self.extend(step.near, product, suffix, visited)
                visited.discard(step.near)
            suffix.pop()

    def bound(self, node: int, product: float, hops: int) -> tuple[float, int]:
        """Return the most that a path through ``node`` can come to, and the fewest edges before it that reach that."""
        most, fewest = 0.0, 0
        for length, layer in enumerate(self.search.layers[: hops + 1]):
            found = layer.get(node)
            if found and found[0].strength * product > most + TOLERANCE:
                most, fewest = found[0].strength * product, length
        return most, fewest

    def is_promising(self, bound: float, hops: int) -> bool:
        """Return whether a path of that strength and length could be the answer."""
        if bound < self.search.min_strength - TOLERANCE:
            return False
        if self.best is None or bound > self.best.strength + TOLERANCE:
            return True
        return bound >= self.best.strength - TOLERANCE and hops <= self.best.hops

    def offer(self, steps: tuple[Step, ...]) -> None:
        """Keep a whole path where it is better than the best, and no prefix of it is too weak."""
        strength = 1.0
        for step in steps:
            strength *= step.weight
            if strength < self.search.min_strength - TOLERANCE:
                return
        path = Path(self.target, strength, steps)
        if (
            self.best is None
            or strength > self.best.strength + TOLERANCE
            or (strength >= self.best.strength - TOLERANCE and self.order(path) < self.order(self.best))
        ):
            self.best = path

    def order(self, path: Path) -> tuple[int, list[str], list[tuple[str, bool]]]:
        """Order paths of one strength: fewer hops, then the names on the way, then the edges."""
        _name_nodes(self.search, [step.far for step in path.steps])
        return path.hops, [self.search.names[step.far] for step in path.steps], [edge_order(s) for s in path.steps]
