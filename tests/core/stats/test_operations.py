"""What ``stats`` says of stores that were made by hand."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import BadInput, Memory
from graphmem.core.evidence.score import importance
from graphmem.core.stats.contract import Stats
from graphmem.kernel.model.field import format_time
from tests.sample import START, Clock, data, edge, failure, line, open_memory, pattern, write


def days_ago(days: float) -> str:
    return format_time(START - timedelta(days=days))


def still(folder: Path) -> Memory:
    """Open a store whose clock stands still."""
    return open_memory(folder, clock=Clock(step=timedelta(0)))


def test_stats_count_live_records_and_how_they_hang_together(memory: Memory) -> None:
    memory.types.add_entity("part")
    memory.types.add_entity("order")
    for name in ("a", "b", "c", "d"):
        memory.failures.add(f"{name} broke", name=name, fix="x" if name == "d" else None, dedup=False)
    memory.patterns.add("t", "i", name="p")
    memory.entities.add("part", "x")
    memory.relations.link("p", "solves", "a")
    memory.relations.link("a", "causes", "b")
    memory.relations.link("b", "co_occurs", "a")
    memory.feedback("a", helped=True)
    memory.forget("c")
    found = memory.stats()
    there = {kind: number for kind, number in found.records.items() if number}
    assert there == {"failure": 3, "pattern": 1, "entity": 1, "feedback": 1}
    assert found.records.keys() >= {"campaign", "lesson", "experience", "insight", "run", "event"}
    assert found.entities == {"order": 0, "part": 1}
    edges = found.relations
    assert (found.archived, edges["solves"], edges["causes"], edges["variant"]) == (1, 1, 1, 0)
    assert found.connectivity.model_dump() == {
        "edges_per_node": 3 / 5, "isolated_share": 2 / 5, "components": 3, "largest_component": 3,
        "component_sizes": {3: 1, 1: 2}, "unsolved_failures": 1, "unsolved": ["failure/b"],
    }  # fmt: skip
    assert found.coverage.model_dump() == {"solved": 1, "fix_only": 1, "unsolved": 1}


def test_what_happened_is_no_node_of_the_memory(memory: Memory) -> None:
    memory.lessons.add("retries are not idempotent", name="retries")
    before = memory.stats().connectivity
    memory.add_rows([
        orjson.dumps({"kind": "run", "run": "r1", "at": days_ago(0), "seen": ["lesson/retries"]}),
        orjson.dumps({"kind": "event", "id": "e1", "type": "deploy", "at": days_ago(0), "subject": "lesson/retries"}),
    ])  # fmt: skip
    found = memory.stats()
    assert (found.records["run"], found.records["event"], found.relations["seen_in"]) == (1, 1, 1)
    assert found.connectivity == before


def test_stats_of_an_empty_store_divide_by_nothing(memory: Memory) -> None:
    found = memory.stats()
    assert found.connectivity.model_dump() == {
        "edges_per_node": 0.0, "isolated_share": 0.0, "components": 0, "largest_component": 0, "component_sizes": {},
        "unsolved_failures": 0, "unsolved": [],
    }  # fmt: skip
    worth = found.worth
    assert (worth.memories, worth.mean_importance, worth.stale_ratio, worth.untested_ratio) == (0, 0.0, 0.0, 0.0)
    assert [(one.kind, one.used, one.limit, one.prunable) for one in found.capacity] == [
        ("failure", 0, 500, 0), ("pattern", 0, 200, 0), ("experience", 0, 200, 0),
    ]  # fmt: skip
    assert (found.tiers, found.feedback, found.estimates, found.cold_start) == (None, [], [], True)


def test_the_worth_of_memories_is_what_pruning_sorts_by(tmp_path: Path) -> None:
    with still(tmp_path) as memory:
        memory.add_rows([
            failure("new", cost=7),
            failure("old", "an old one", cost=31, created_at=days_ago(120)),
            failure("shown", "it was handed out", fix="y", created_at=days_ago(120)),
            pattern("helps", saved=3, created_at=days_ago(120)),
        ])  # fmt: skip
        memory.context("it was handed out")
        memory.feedback("helps", helped=True)
        now = START
        helped = importance(3, now, now, 0, 1, 0)
        old = importance(31, now - timedelta(days=120), now, 0, 0, 0)
        shown = importance(None, now - timedelta(days=120), now, 1, 0, 0)
        worth = memory.stats().worth
        assert worth.memories == 4
        assert worth.mean_importance == pytest.approx((importance(7, now, now, 0, 0, 0) + helped + old + shown) / 4)
        assert worth.stale_ratio == 1 / 4  # old; shown was handed out, helps has helped today
        assert worth.untested_ratio == 3 / 4
        assert [(band.low, band.number) for band in worth.importances if band.number] == [(0.0, 1), (0.1, 1), (1.0, 2)]


def test_capacity_says_what_prune_would_archive(tmp_path: Path) -> None:
    with still(tmp_path) as memory:
        memory.add_rows([
            *(failure(f"f{number}", f"failure number {number}") for number in range(501)),
            pattern("worthless", created_at=days_ago(300)),
        ])  # fmt: skip
        found = {one.kind: one for one in memory.stats().capacity}
        assert (found["failure"].used, found["failure"].prunable) == (501, 1)
        assert (found["pattern"].used, found["pattern"].prunable) == (1, 1)
        assert len(memory.store.prune(yes=True).records) == 2
        assert [one.prunable for one in memory.stats().capacity] == [0, 0, 0]


def test_a_failure_that_two_patterns_solve_is_solved_once(memory: Memory) -> None:
    memory.add_rows([
        failure("a", fix="y"), failure("b", fix="y"), pattern("p"), pattern("q"),
        edge("pattern/p", "solves", "failure/a"), edge("pattern/q", "solves", "failure/a"),
    ])  # fmt: skip
    assert memory.stats().coverage.model_dump() == {"solved": 1, "fix_only": 1, "unsolved": 0}


def test_an_edge_between_the_wrong_kinds_solves_nothing(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.add_rows([failure("a"), failure("b"), pattern("p")])
        write(data(tmp_path, "relations/solves"), edge("failure/a", "solves", "failure/b"),
              edge("failure/a", "solves", "pattern/p"))  # fmt: skip
        assert memory.stats().coverage.model_dump() == {"solved": 0, "fix_only": 0, "unsolved": 2}


def test_unsolved_failures_are_named_the_most_important_first(tmp_path: Path) -> None:
    with still(tmp_path) as memory:
        memory.add_rows([failure(f"f{cost}", f"failure of {cost}", cost=cost) for cost in range(1, 13)])
        found = memory.stats().connectivity
        assert found.unsolved_failures == 12
        assert found.unsolved == [f"failure/f{cost}" for cost in range(12, 2, -1)]


def test_reports_are_counted_by_week(memory: Memory) -> None:
    memory.failures.add("boom", name="a")
    for at, helped in (("2026-11-02", True), ("2026-11-08", False), ("2026-11-09", True), ("2026-10-26", True)):
        memory.store.feedback_rows(
            [orjson.dumps({"ref": "failure/a", "helped": helped, "at": f"{at}T23:59:59.000Z", "id": at})]
        )
    assert [(week.week, week.helped, week.failed) for week in memory.stats().feedback] == [
        ("2026-10-26", 1, 0), ("2026-11-02", 1, 1), ("2026-11-09", 1, 0),
    ]  # fmt: skip


def test_an_objective_sorts_failures_and_patterns_into_tiers(memory: Memory) -> None:
    memory.add_rows([
        failure("no-yaml", "ImportError: yaml"), failure("other", "the door is open"), pattern("lock"),
        line(kind="lesson", name="l", description="ImportError: yaml"),
    ])  # fmt: skip
    found = memory.stats(objective="ImportError: yaml").tiers
    assert found == {"critical": 1, "productive": 0, "exploration": 0, "background": 2}
    with pytest.raises(BadInput, match="objective is empty"):
        memory.stats(objective=" ")


def test_with_a_model_the_tiers_are_by_meaning(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.failures.add("The login page redirects in an endless loop", name="login")
    memory.failures.add("A disk of the backup server is full", name="disk")
    found = memory.stats(objective="users cannot sign in: the login page loops").tiers
    assert found is not None
    assert (sum(found.values()), found["critical"] + found["productive"], found["background"]) == (2, 1, 1)


def test_the_start_is_cold_until_there_are_ten_experiences(memory: Memory) -> None:
    for number in range(10):
        assert memory.stats().cold_start
        memory.experiences.add(
            "bug", f"task {number}", approach="a", outcome="success", lessons=["l"], complexity_estimated="low",
            complexity_actual="medium",
        )  # fmt: skip
    found = memory.stats()
    assert not found.cold_start
    assert [(one.task_type, one.mean_difference) for one in found.estimates] == [("bug", 1.0)]


def ratios(found: Stats) -> Iterator[float]:
    yield found.worth.stale_ratio
    yield found.worth.untested_ratio
    yield found.connectivity.isolated_share
    yield from (one.equal_ratio for one in found.estimates)


MEMORIES = st.lists(
    st.tuples(st.sampled_from([failure, pattern]), st.floats(0, 400), st.integers(0, 3), st.booleans()), max_size=6
)


@settings(max_examples=15, deadline=None)
@given(made=MEMORIES, links=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=6))
def test_ratios_are_shares_and_sums_agree(
    made: list[tuple[object, float, int, bool]], links: list[tuple[int, int]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    with still(tmp_path_factory.mktemp("store")) as memory:
        rows = [
            (failure if make is failure else pattern)(f"m{place}", created_at=days_ago(age), helped=helped, **fix)
            for place, (make, age, helped, is_fixed) in enumerate(made)
            for fix in [{"fix": "y"} if is_fixed and make is failure else {}]
        ]  # fmt: skip
        refs = [f"{'failure' if make is failure else 'pattern'}/m{place}" for place, (make, *_) in enumerate(made)]
        rows += [
            edge(refs[a], "solves", refs[b])
            for a, b in dict.fromkeys(links)
            if max(a, b) < len(refs) and refs[a].startswith("pattern") and refs[b].startswith("failure")
        ]  # fmt: skip
        memory.add_rows(rows)
        found = memory.stats()
    assert all(0 <= ratio <= 1 for ratio in ratios(found))
    assert sum(band.number for band in found.worth.importances) == found.worth.memories == len(made)
    solved = found.coverage
    assert solved.unsolved == found.connectivity.unsolved_failures == len(found.connectivity.unsolved)
    assert solved.solved + solved.fix_only + solved.unsolved == found.records["failure"]
    assert min(solved.solved, solved.fix_only, solved.unsolved) >= 0
    sizes = found.connectivity.component_sizes
    assert sum(size * number for size, number in sizes.items()) == len(made)
    assert sum(sizes.values()) == found.connectivity.components
