"""Health: how much there is, what it is worth, how it hangs together, how good estimates are."""

from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from datetime import date, timedelta
from typing import Any, NamedTuple

from graphmem.constants import (
    BRIEFED_CANDIDATES,
    FEW_EXPERIENCES,
    MOST_EXPERIENCES,
    MOST_RESULTS,
    PRUNE_FAILURES,
    PRUNE_PATTERNS,
    SHOWN_UNSOLVED,
    STALE_DAYS,
)
from graphmem.core.evidence.score import TIERS, Tier
from graphmem.core.plans.campaign_plan import campaign_sizes
from graphmem.core.records.candidates import waiting
from graphmem.core.records.experience import over_bound
from graphmem.core.records.prune import WeighedRecord, least, weighed
from graphmem.core.search.query import find, prepare
from graphmem.core.search.query_contract import QueryRequest
from graphmem.core.stats.contract import Capacity, Connectivity, Coverage, Stats, StatsRequest, Week, Worth
from graphmem.core.stats.health import accuracies, bands, ratio
from graphmem.errors import BadInput
from graphmem.kernel.model import Experience, Failure
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.vocabulary import KINDS
from graphmem.kernel.registry import operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot

MEMORIES = ("failure", "pattern")  # what has an importance


@operation(
    "stats",
    past=True,
    scoped=True,
    help="""
    Count records and edges, and report what they are worth, how they hang together, and how good estimates are.

    Importance, stale and untested are of failures and patterns: stale is what was neither changed, nor helped, nor was
    returned on this machine for 90 days, untested is what has no reports. Estimates differ by steps of complexity;
    above 0 tasks were harder than estimated.
    """,
    example='graphmem stats --objective "add a login page" --plot health.svg\ngraphmem stats --impact',
)
def stats(client: Client, request: StatsRequest) -> Stats:
    """
    Return counts, capacity, worth, connectivity, and estimates; with an objective also the tiers for it.

    The objective is embedded before the moment: a model may be asked.
    """
    objective = request.objective
    if objective is None:
        with client.reading() as snapshot:
            return _with_candidates(snapshot, health(snapshot, memories_of(snapshot)))
    if not objective.strip():
        raise BadInput(
            "the objective is empty", hint='say what is to be done: graphmem stats --objective "add a login"'
        )
    prepare(client, _question(objective, MOST_RESULTS))
    with client.unchanging(client.clues, client.lexical) as snapshot:
        return _with_candidates(snapshot, health(snapshot, memories_of(snapshot), _tiers(snapshot, objective)))


class Memories(NamedTuple):
    """The live failures and patterns, the least important first; ``others`` are the failures that no pattern solves."""

    failures: list[WeighedRecord]
    patterns: list[WeighedRecord]
    others: list[Failure]

    @property
    def unsolved(self) -> list[str]:
        """The failures without a fix of their own or a pattern that solves them, the most important first."""
        return [record.ref for record in reversed(self.others) if record.fix is None]


def memories_of(snapshot: Snapshot) -> Memories:
    """Return the failures and patterns of a snapshot with what they are worth."""
    failures, patterns = (weighed(snapshot, kind) for kind in MEMORIES)
    solved = set(snapshot.catalog.refs(snapshot.catalog.solved()).values())
    others = [one.record for one in failures if one.record.ref not in solved]
    return Memories(failures, patterns, [record for record in others if isinstance(record, Failure)])


def health(snapshot: Snapshot, memories: Memories, nearest: dict[Tier, int] | None = None) -> Stats:
    """Return the health of a snapshot but for the candidates; ``nearest`` are the tiers for an objective."""
    failures, patterns, others = memories
    experiences = list(snapshot.catalog.of_kind(Experience).values())
    return Stats(
        **counts(snapshot),
        search="lexical" if snapshot.vectors is None else "sketch" if snapshot.vectors.is_sketched else "exact",
        connectivity=_connectivity(snapshot, memories.unsolved),
        capacity=[
            _capacity("failure", failures, PRUNE_FAILURES),
            _capacity("pattern", patterns, PRUNE_PATTERNS),
            Capacity(
                kind="experience",
                used=len(experiences),
                limit=MOST_EXPERIENCES,
                prunable=len(over_bound(experiences)),
            ),
        ],
        worth=_worth([*failures, *patterns]),
        tiers=nearest,
        coverage=_coverage(failures, others),
        feedback=list(_weeks(snapshot)),
        estimates=accuracies(experiences),
        campaigns=campaign_sizes(snapshot),
        cold_start=len(experiences) < FEW_EXPERIENCES,
    )


def _with_candidates(snapshot: Snapshot, found: Stats) -> Stats:
    """Return the health of a snapshot with what waits for a review on this machine."""
    best = waiting(snapshot.client).waiting()[:BRIEFED_CANDIDATES]
    return found.model_copy(update={"candidates": [one.id for one in best]})


def counts(snapshot: Snapshot) -> dict[str, Any]:
    """Return how many live records there are of each kind and type, live edges of each type, and archived records."""
    catalog = snapshot.catalog
    found = Counter(catalog.counts_by_type())
    entities = {name: found[name] for name in sorted(catalog.vocabulary.entities)}
    records = {kind: found[kind] for kind in KINDS} | {"entity": sum(entities.values())}
    records["feedback"] = catalog.report_count()
    edges = Counter(catalog.edge_counts())
    archived = len(catalog.archived())
    relations = {kind: edges[kind] for kind in sorted(catalog.vocabulary.relations)}
    return {"records": records, "entities": entities, "relations": relations, "archived": archived}


def _question(objective: str, limit: int) -> QueryRequest:
    """Return the query of an objective."""
    return QueryRequest(text=objective, kinds=MEMORIES, limit=limit)


def _tiers(snapshot: Snapshot, objective: str) -> dict[Tier, int]:
    """Return how many failures and patterns are in each tier for an objective; what no search finds is background."""
    total = sum(1 for kind in MEMORIES for _ in snapshot.catalog.live_rows(kind))
    found = find(snapshot, _question(objective, max(1, total))).results
    sorted_out = Counter(hit.tier for hit in found)
    sorted_out["background"] += max(0, total - len(found))
    return {name: sorted_out[name] for name in TIERS}


def _capacity(kind: str, order: Sequence[WeighedRecord], limit: int) -> Capacity:
    """Return how full a kind is."""
    prunable = sum(1 for _ in least(order, limit))
    return Capacity.model_validate({"kind": kind, "used": len(order), "limit": limit, "prunable": prunable})


def _worth(memories: Collection[WeighedRecord]) -> Worth:
    """Return what memories are worth."""
    stale = sum(one.age_days > STALE_DAYS and not one.accesses for one in memories)
    untested = sum(not one.record.helped and not one.record.failed for one in memories)
    total = len(memories)
    return Worth(
        memories=total,
        mean_importance=sum(one.importance for one in memories) / total if total else 0.0,
        stale_ratio=ratio(stale, total),
        untested_ratio=ratio(untested, total),
        importances=bands(one.importance for one in memories),
    )


def _coverage(failures: Collection[WeighedRecord], others: Collection[Failure]) -> Coverage:
    """Return how many failures are solved, and by what; ``others`` are those that no pattern solves."""
    fix_only = sum(record.fix is not None for record in others)
    return Coverage(solved=len(failures) - len(others), fix_only=fix_only, unsolved=len(others) - fix_only)


def _weeks(snapshot: Snapshot) -> Iterator[Week]:
    """Yield how many reports of each week say that a memory helped, and that it did not."""
    helped, total = Counter[date](), Counter[date]()
    for day, good, number in snapshot.catalog.reports_by_day():
        at = date.fromisoformat(day)
        monday = at - timedelta(days=at.weekday())
        helped[monday] += good
        total[monday] += number
    for monday in sorted(total):
        yield Week(week=monday.isoformat(), helped=helped[monday], failed=total[monday] - helped[monday])


def _connectivity(snapshot: Snapshot, unsolved: Sequence[str]) -> Connectivity:
    """Return how well the live records hang together, without what happened; ``unsolved`` are failures, worth first."""
    import networkx as nx  # noqa: PLC0415 - 160 ms that only this command and plans need

    graph: nx.Graph[int] = nx.Graph()
    graph.add_nodes_from(snapshot.catalog.all_live(without=FACTS))
    edges = [(source, target) for source, target in snapshot.catalog.live_ends() if source in graph and target in graph]
    graph.add_edges_from(edges)
    nodes = graph.number_of_nodes()
    sizes = Counter(len(found) for found in nx.connected_components(graph))
    return Connectivity(
        edges_per_node=len(edges) / nodes if nodes else 0.0,
        isolated_share=ratio(sizes[1], nodes),
        components=sizes.total(),
        largest_component=max(sizes, default=0),
        component_sizes=dict(sorted(sizes.items(), reverse=True)),
        unsolved_failures=len(unsolved),
        unsolved=[*unsolved[:SHOWN_UNSOLVED]],
    )
