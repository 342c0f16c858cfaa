"""Traversal: what a record is related to, the path between two, and what solves a failure."""

from collections.abc import Collection, Mapping

from graphmem.core.evidence.doubt import is_doubted
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.fixes import fixes
from graphmem.core.records.relation_contract import (
    Connection,
    Direction,
    Edge,
    PathRequest,
    Related,
    RelatedRequest,
    Solution,
    Solutions,
    SolutionsRequest,
)
from graphmem.core.records.validation import refuse_archived
from graphmem.core.search.bidirectional_path import strongest_chain
from graphmem.core.search.paths import Path, strongest_paths
from graphmem.errors import Usage
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.steps import Step
from graphmem.kernel.model import MemoryRecord, Record
from graphmem.kernel.model.reports import help_ratio
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system.collector import collector_paused

AGAINST: Mapping[Direction, Direction] = {"out": "in", "in": "out", "both": "both"}


@operation(
    "related",
    past=True,
    scoped=True,
    example="graphmem related failure/auth-timeout --max-hops 3 --type causes --type solves",
    takes={"types": Taken("T", "relation")},
)
@collector_paused()
def related(snapshot: Snapshot, request: RelatedRequest) -> Related:
    """Return what a record is related to, strongest path first, each path edge by edge."""
    types, kinds, limit, min_strength = request.types or None, request.kinds, request.limit, request.min_strength
    refuse_unknown_filters(snapshot.catalog.vocabulary, types, kinds)
    snapshot.client.refuse_unseen(kinds or ())
    start = snapshot.resolve(request.ref)
    refuse_archived(snapshot.catalog, start)
    reach = strongest_paths(
        start,
        lambda ids: snapshot.catalog.edges_at(ids, types, request.direction),
        snapshot.catalog.refs,
        max_hops=request.max_hops,
        min_strength=snapshot.settings.retrieval.min_strength if min_strength is None else min_strength,
        max_weight=snapshot.catalog.max_weight(types) if limit else 2.0,
        limit=limit,
        is_wanted=(lambda ids: snapshot.catalog.of_record_types(ids, kinds)) if kinds else (lambda ids: ids),
    )
    records = snapshot.catalog.records([path.node for path in reach.paths])
    explain, doubter = Explainer(snapshot.catalog, reach.paths), Doubter(snapshot)
    results = [
        {
            "ref": records[found.node].ref,
            "strength": found.strength,
            "hops": found.hops,
            "path": explain.edges(found),
            "record": records[found.node],
            "doubts": doubter.of(records[found.node]),
        }
        for found in reach.paths
    ]
    start_ref = snapshot.catalog.refs([start])[start]
    return Related.model_validate(
        {"start": start_ref, "results": results, "exhaustive": reach.is_exhaustive, "truncated": reach.is_truncated}
    )


@operation(
    "path",
    past=True,
    scoped=True,
    from_files=True,
    example="graphmem path failure/auth-timeout pattern/retry-with-backoff",
    takes={"source": Taken("FROM", "ref"), "target": Taken("TO", "ref"), "types": Taken("T", "relation")},
    help="Show the strongest chain of edges between two records; exit status 1 if they are not connected.",
)
@collector_paused()
def path(snapshot: Snapshot, request: PathRequest) -> Connection:
    """Return the strongest chain of edges between two records, however weak; strength 0 without one."""
    types = request.types or None
    refuse_unknown_filters(snapshot.catalog.vocabulary, types, None)
    start, end = snapshot.resolve(request.source), snapshot.resolve(request.target)
    for number in (start, end):
        refuse_archived(snapshot.catalog, number)
    names = snapshot.catalog.refs([start, end])
    if start == end:
        return Connection(source=names[start], target=names[end], strength=1.0, hops=0, path=[])
    found, is_exhaustive = _strongest(
        snapshot, start, end, max_hops=request.max_hops, types=types, direction=request.direction
    )
    if found is None:
        return Connection(
            source=names[start], target=names[end], strength=0.0, hops=0, path=[], exhaustive=is_exhaustive
        )
    edges = Explainer(snapshot.catalog, [found]).edges(found)
    return Connection(
        source=names[start],
        target=names[end],
        strength=found.strength,
        hops=found.hops,
        path=edges,
        exhaustive=is_exhaustive,
    )


def _strongest(
    snapshot: Snapshot, start: int, end: int, *, max_hops: int, types: Collection[str] | None, direction: Direction
) -> tuple[Path | None, bool]:
    """Return the strongest path between two records, and whether no stronger one can have been missed."""
    catalog = snapshot.catalog
    max_weight = catalog.max_weight(types)
    if max_weight <= 1:
        return strongest_chain(
            start,
            end,
            lambda ids: catalog.edges_at(ids, types, direction),
            lambda ids: catalog.edges_at(ids, types, AGAINST[direction]),
            catalog.refs,
            max_hops=max_hops,
        )
    reach = strongest_paths(
        start,
        lambda ids: catalog.edges_at(ids, types, direction),
        catalog.refs,
        max_hops=max_hops,
        min_strength=0.0,
        max_weight=max_weight,
        limit=1,
        is_wanted=lambda ids: {end} & set(ids),
    )
    return (reach.paths[0] if reach.paths else None), reach.is_exhaustive


class Explainer:
    """Shows paths edge by edge, with current names, directions and notes."""

    def __init__(self, catalog: Catalog, paths: Collection[Path]) -> None:
        steps = {step for found in paths for step in found.steps}
        self.names = catalog.refs({number for step in steps for number in (step.near, step.far)})
        self.notes = catalog.notes({self.ends(step) for step in steps})
        self.shown = {step: self.edge(step) for step in steps}

    def ends(self, step: Step) -> tuple[int, str, int]:
        """Return an edge as it is stored, whichever way it was walked."""
        return (step.near, step.type, step.far) if step.is_out else (step.far, step.type, step.near)

    def edges(self, found: Path) -> list[Edge]:
        """Return the edges of a path in walking order."""
        return [self.shown[step] for step in found.steps]

    def edge(self, step: Step) -> Edge:
        """Return one edge; ``direction`` says how it is walked."""
        src, kind, dst = self.ends(step)
        return Edge(
            source=self.names[src],
            type=kind,
            target=self.names[dst],
            weight=step.weight,
            note=self.notes.get((src, kind, dst)),
            direction="out" if step.is_out else "in",
        )


def refuse_unknown_filters(
    vocabulary: Vocabulary, types: Collection[str] | None, kinds: Collection[str] | None
) -> None:
    """Raise ``Usage`` for a relation type or kind that does not exist: such a filter hides the answer."""
    for given, known, noun in (
        (types, vocabulary.relations, "relation type"),
        (kinds, vocabulary.record_types, "kind"),
    ):
        for name in given or ():
            if name not in known:
                raise Usage(
                    f"{noun} {name!r} is unknown", hint=did_you_mean(name, known) or f"known: {', '.join(known)}"
                )


def solutions(snapshot: Snapshot, request: SolutionsRequest) -> Solutions:
    """Return the fixes of a failure, the patterns that solve it, then those that solve a variant or a cause of it."""
    number = snapshot.resolve(request.ref, ["failure"])
    refuse_archived(snapshot.catalog, number)
    direct, nearby = _ways_to_solve(snapshot.catalog, number)
    records = snapshot.catalog.records({way.node for way in (*direct, *nearby)})
    seen = {way.node for way in direct}
    shown = Explainer(snapshot.catalog, [*direct, *nearby])
    ranked = _ranked_solutions(direct, records, shown)
    ranked += _ranked_solutions([way for way in nearby if way.node not in seen], records, shown)
    doubter = Doubter(snapshot)
    numbers = {record.ref: one for one, record in records.items()}
    handed = snapshot.catalog.handed_out(numbers.values())
    results: list[Solution] = []
    for found in ranked:
        if len(results) == request.limit:
            break
        cites = doubter.tree.cites_of(found.record)
        doubts = doubter.of(found.record, cites)
        if not (request.strict and is_doubted(doubts)):
            tasks, worked = handed.get(numbers[found.ref], (0, 0))
            made = {"cites": cites, "doubts": doubts, "handed_out": tasks, "worked": worked}
            results.append(found.model_copy(update=made))
    failure = snapshot.catalog.records([number])[number]
    return Solutions(failure=failure.ref, fixes=fixes(failure), doubts=doubter.of(failure), results=results)


def _ways_to_solve(catalog: Catalog, failure: int) -> tuple[list[Path], list[Path]]:
    """Return the edges from a failure to the patterns that solve it, and to those of a variant or a cause of it."""
    direct = [Path(step.far, step.weight, (step,)) for step in catalog.steps([failure], ["solves"], "in")]
    alike = [*catalog.steps([failure], ["variant"], "both"), *catalog.steps([failure], ["causes"], "in")]
    failures = catalog.of_record_types({step.far for step in alike}, ["failure"])
    solved: dict[int, list[Step]] = {}
    for step in catalog.steps(failures, ["solves"], "in"):
        solved.setdefault(step.near, []).append(step)
    nearby = [
        Path(last.far, first.weight * last.weight, (first, last))
        for first in alike
        for last in solved.get(first.far, ())
    ]
    return direct, nearby


def solving(catalog: Catalog, failures: Collection[int]) -> dict[int, list[Record]]:
    """Return what solves each of these failures in one step, the strongest first: weight times how often it helped."""
    steps = list(catalog.steps(failures, ["solves"], "in"))
    records = catalog.records({step.far for step in steps})

    def strength(step: Step) -> float:
        record = records[step.far]
        return step.weight * help_ratio(record.helped, record.failed) if isinstance(record, MemoryRecord) else 0.0

    found: dict[int, list[Record]] = {}
    for step in sorted(steps, key=lambda step: (-strength(step), records[step.far].ref)):
        found.setdefault(step.near, []).append(records[step.far])
    return found


def _ranked_solutions(ways: Collection[Path], records: Mapping[int, Record], shown: Explainer) -> list[Solution]:
    """Return each pattern once, by its strongest way, strongest first: weights times how often it helped."""
    best: dict[int, Solution] = {}
    for way in ways:
        record = records[way.node]
        assert isinstance(record, MemoryRecord)  # a pattern: nothing else solves
        ratio = help_ratio(record.helped, record.failed)
        strength = ratio * way.strength
        if way.node not in best or strength > best[way.node].strength:
            best[way.node] = Solution(
                ref=record.ref, strength=strength, help_ratio=ratio, path=shown.edges(way), record=record
            )
    return sorted(best.values(), key=lambda solution: (-solution.strength, len(solution.path), solution.ref))
