"""What a block stops, and where that leaves a campaign, against oracles that follow each path."""

from typing import NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.plans.cascade import state_of, unreachable


class Step(NamedTuple):
    ref: str
    status: str = "pending"
    depends: tuple[str, ...] = ()


def ancestors(plan: dict[str, Step], ref: str) -> set[str]:
    """Every task before one, up to those that are complete or under way."""
    found: set[str] = set()
    left = list(plan[ref].depends)
    while left:
        other = left.pop()
        if other in found or (other in plan and plan[other].status == "complete"):
            continue
        found.add(other)
        if other in plan and plan[other].status in ("pending", "unreachable"):
            left += plan[other].depends
    return found


def oracle(tasks: list[Step]) -> dict[str, set[str] | None]:
    """Which tasks cannot run, with the blocked and missing ones before them; None where only a cycle stops one."""
    plan = {task.ref: task for task in tasks}
    found: dict[str, set[str] | None] = {}
    for task in tasks:
        if task.status not in ("pending", "unreachable"):
            continue
        before = ancestors(plan, task.ref)
        causes = {ref for ref in before if ref not in plan or plan[ref].status == "blocked"}
        waiting = {ref for ref in {*before, task.ref} if ref in plan and plan[ref].status in ("pending", "unreachable")}
        round_about = {ref for ref in waiting if ref in ancestors(plan, ref)}
        if causes or round_about:
            found[task.ref] = causes or None
    return found


NAMES = "abcdefg"
plans = st.lists(
    st.tuples(
        st.sampled_from(["pending", "active", "complete", "blocked", "unreachable"]),
        st.frozensets(st.sampled_from([*NAMES, "missing"]), max_size=3),
    ),
    min_size=1,
    max_size=len(NAMES),
).map(
    lambda found: [
        Step(name, status, tuple(sorted(depends - {name})))
        for name, (status, depends) in zip(NAMES, found, strict=False)
    ]
)


@given(plans)
def test_what_cannot_run_and_why_is_what_following_each_path_gives(tasks: list[Step]) -> None:
    plan = {task.ref for task in tasks}
    wanted = oracle(tasks)
    found = unreachable(tasks)
    assert found.keys() == wanted.keys()
    for ref, causes in wanted.items():
        if causes is not None:
            assert set(found[ref]) == causes
        else:
            assert set(found[ref]) <= plan
            assert found[ref]


@given(plans)
def test_the_state_follows_from_what_is_left(tasks: list[Step]) -> None:
    stopped = unreachable(tasks)
    left = [task for task in tasks if task.status != "complete"]
    can = [task for task in left if task.status != "blocked" and task.ref not in stopped]
    state = state_of(tasks, stopped)
    assert (state == "complete") == (not left)
    assert (state == "all_blocked") == (bool(left) and not can)
    assert (state == "stuck") == (bool(can) and bool(stopped))


@pytest.mark.parametrize(
    ("tasks", "state", "stopped"),
    [
        ([], "in_progress", {}),
        ([Step("a", "complete")], "complete", {}),
        ([Step("a"), Step("b", depends=("a",))], "in_progress", {}),
        ([Step("a", "blocked"), Step("b", depends=("a",))], "all_blocked", {"b": ["a"]}),
        ([Step("a", "blocked"), Step("b", "blocked"), Step("c", depends=("a", "b"))], "all_blocked", {"c": ["a", "b"]}),
        ([Step("a", "blocked"), Step("b"), Step("c", depends=("a",))], "stuck", {"c": ["a"]}),
        ([Step("a", "blocked"), Step("b")], "in_progress", {}),  # one root still ready
        ([Step("a", "blocked"), Step("b", "complete"), Step("c", depends=("b",))], "in_progress", {}),
        ([Step("a", "blocked"), Step("b", "complete", ("a",)), Step("c", depends=("b",))], "in_progress", {}),
        ([Step("a", depends=("b",)), Step("b", depends=("a",))], "all_blocked", {"a": ["b"], "b": ["a"]}),
        ([Step("a", depends=("gone",))], "all_blocked", {"a": ["gone"]}),
        ([Step("a", "blocked"), Step("b", "active"), Step("c", depends=("a", "b"))], "stuck", {"c": ["a"]}),
    ],
)
def test_the_four_states(tasks: list[Step], state: str, stopped: dict[str, list[str]]) -> None:
    assert unreachable(tasks) == stopped
    assert state_of(tasks, stopped) == state


def test_what_an_archived_task_completed_counts() -> None:
    assert unreachable([Step("a", depends=("gone",))], ["gone"]) == {}
