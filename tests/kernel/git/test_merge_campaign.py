"""Branches that worked on one campaign, merged by git in any order: states, disagreements, and what a merge makes."""

import contextlib
import itertools
import os
import random
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import GraphmemError, NotFound
from graphmem.kernel.model import Task
from tests.kernel.git.test_merge import _git_of_nobody, clone_of, commit, git, tree
from tests.sample import START, Clock, open_memory

__all__ = ["_git_of_nobody"]  # each test here runs with it too
PLAN = [
    {"seq": 1, "slug": "choose", "objective": "Choose a provider"},
    {"seq": 2, "slug": "login", "objective": "Log in", "depends": [1]},
    {"seq": 3, "slug": "logout", "objective": "Log out", "depends": [1]},
    {"seq": 4, "slug": "remove", "objective": "Remove the old login", "depends": [2, 3]},
    {"seq": 5, "slug": "tell", "objective": "Tell the users"},
]


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    """A repository with a campaign, of which a task is done and one is under way."""
    folder = tmp_path / "origin"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "main")
    with open_memory(folder) as memory:
        memory.campaigns.create("Add single sign-on", name="sso")
        memory.campaigns.add_tasks("sso", PLAN)
        memory.tasks.start("sso/001")
        memory.tasks.complete("sso/001", delivered="provider X")
        memory.tasks.start("sso/002")
        memory.inbox.add("Say which provider")
        memory.phases.move("explore")
    commit(folder)
    return folder


def planned_again(memory: Memory, rng: random.Random) -> object:
    """Make another plan: some tasks are gone, some new, some need others; also what makes a cycle with another one."""
    seqs = sorted(rng.sample(range(2, 8), rng.randrange(2, 6)))
    rng.shuffle(seqs)
    rows = [
        {
            "seq": seq,
            "slug": rng.choice(["login", "other"]),
            "objective": f"Step {seq} as planned {rng.randrange(3)} times",
            "depends": [seqs[place - 1]] if place and rng.random() < 0.7 else "none",
        }
        for place, seq in enumerate(seqs)
    ]
    return memory.campaigns.merge_plan("sso", rows)


def worked_off(memory: Memory, rng: random.Random) -> object:
    items = memory.inbox.items().items
    return memory.inbox.dismiss(rng.choice(items).id) if items else None


STEPS: dict[str, Callable[[Memory, random.Random, str], object]] = {
    "start": lambda memory, rng, ref: memory.tasks.start(ref),
    "complete": lambda memory, rng, ref: memory.tasks.complete(ref, delivered=f"thing {rng.randrange(3)}"),
    "block": lambda memory, rng, ref: memory.tasks.block(ref, f"ValueError: value {rng.randrange(3)} of the login"),
    "reopen": lambda memory, rng, ref: memory.tasks.reopen(ref, reason="again"),
    "propagate": lambda memory, rng, ref: memory.campaigns.propagate("sso"),
    "plan again": lambda memory, rng, ref: planned_again(memory, rng),
    "observe": lambda memory, rng, ref: memory.observe("sso", yes=True),
    "phase": lambda memory, rng, ref: memory.phases.move(rng.choice(["explore", "plan", "build", "observe", "error"])),
    "note": lambda memory, rng, ref: memory.inbox.add(f"note {rng.randrange(3)}", type="feature"),
    "work off": lambda memory, rng, ref: worked_off(memory, rng),
    "event": lambda memory, rng, ref: memory.events.add("review.verdict", subject=ref, data={"from": "a", "to": "b"}),
    "end": lambda memory, rng, ref: (
        rng.random() < 0.1 and memory.campaigns.complete("sso", outcome="done", status="partial")
    ),
}


def work(folder: Path, rng: random.Random, steps: int) -> None:
    """Work on the campaign in a clone; what is refused there is not done."""
    clock = Clock(START + timedelta(hours=1, seconds=rng.randrange(5)))
    with open_memory(folder, clock=clock) as memory:
        for _ in range(steps):
            refs = [task.ref for task in memory.campaigns.status("sso").tasks]
            with contextlib.suppress(GraphmemError):
                STEPS[rng.choice(list(STEPS))](memory, rng, rng.choice(refs))
    commit(folder)


def standing(folder: Path) -> tuple[object, ...]:
    """Return where the campaign is, by every answer about it; none is an error."""
    with open_memory(folder) as memory:
        status = memory.campaigns.status("sso")
        tasks = [one for one in status.tasks if isinstance(one, Task)]
        found = memory.store.validate().findings
        assert {one.code for one in found if one.severity == "error"} <= {"cycle"}  # two plans can make one
        assert memory.store.export_check().ok
        for task in tasks:
            shown = memory.tasks.show(task.ref)
            assert (shown.disagreement is not None) == (task.ref in {one.ref for one in status.disagreements})
        return (
            status.model_dump(mode="json"),
            memory.campaigns.ready("sso").model_dump(mode="json"),
            memory.phases.status().model_dump(mode="json"),
            memory.inbox.items().model_dump(mode="json"),
            sorted(one.code for one in found),
        )


@pytest.mark.parametrize("seed", range(int(os.environ.get("GRAPHMEM_TEST_HISTORIES", "2"))))
@pytest.mark.slow
@pytest.mark.long
def test_work_of_three_clones_on_one_campaign_merged_in_any_order_is_the_same(origin: Path, seed: int) -> None:
    rng = random.Random(seed)
    clones = [clone_of(origin, name) for name in "abc"]
    for clone in clones:
        work(clone, rng, rng.randrange(4, 14))
    trees, found = set(), []
    for order in itertools.permutations(clones):
        first, *others = order
        git(first, "checkout", "-q", "-B", "merged", "main")
        for other in others:
            git(first, "pull", "-q", "--no-rebase", "--no-edit", str(other), "main")
        trees.add(tree(first))
        found.append(standing(first))
    assert len(trees) == 1
    assert all(one == found[0] for one in found)
    with open_memory(clones[0]) as memory:  # and work goes on, unless the history has ended the campaign
        with contextlib.suppress(GraphmemError):
            memory.campaigns.propagate("sso")
        for task in memory.campaigns.status("sso").tasks:
            with contextlib.suppress(GraphmemError):
                memory.tasks.reopen(task.ref)
        memory.campaigns.status("sso")


def test_a_cycle_that_a_merge_makes_is_found_and_the_status_names_who_waits_for_whom(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    for folder, (first, other) in ((a, (3, 5)), (b, (5, 3))):
        rows = [{"seq": 2, "objective": "Log in"}, {"seq": 4, "objective": "Remove the old login"}]
        rows += [{"seq": first, "objective": "as it was"}, {"seq": other, "objective": "as it was", "depends": [first]}]
        with open_memory(folder) as memory:
            memory.campaigns.merge_plan("sso", rows)
        commit(folder)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    with open_memory(a) as memory:
        (finding,) = memory.store.validate().findings
        assert finding.message == "the plan has a cycle: task/sso/003-logout → task/sso/005-tell → task/sso/003-logout"
        status = memory.campaigns.status("sso")
        causes = {one.ref: one.blocked_by for one in status.unreachable}
        assert causes["task/sso/003-logout"] == ["task/sso/005-tell"]
        assert causes["task/sso/005-tell"] == ["task/sso/003-logout"]
        assert not {"task/sso/003-logout", "task/sso/005-tell"} & {*status.ready}
        memory.campaigns.propagate("sso")
        rows = [{"seq": seq, "objective": "as it was"} for seq in (2, 3, 4, 5)]
        memory.campaigns.merge_plan("sso", rows)
        assert memory.campaigns.status("sso").unreachable == []


def test_a_number_that_two_branches_gave_away_is_said_and_both_tasks_can_be_worked_on(origin: Path) -> None:
    a, b = clone_of(origin, "a"), clone_of(origin, "b")
    for folder, slug in ((a, "docs"), (b, "tests")):
        with open_memory(folder) as memory:
            memory.campaigns.add_tasks("sso", [{"seq": 6, "slug": slug, "objective": f"Write {slug}"}])
        commit(folder)
    git(a, "pull", "-q", "--no-rebase", "--no-edit", str(b), "main")
    with open_memory(a) as memory:
        status = memory.campaigns.status("sso")
        assert status.duplicates == ["006"]
        assert {one.severity for one in memory.store.validate().findings} <= {"warning"}
        with pytest.raises(NotFound, match="'sso/6' is ambiguous") as refused:
            memory.tasks.start("sso/6")
        assert refused.value.hint == "one of: task/sso/006-docs, task/sso/006-tests"
        for ref in ("task/sso/006-docs", "task/sso/006-tests"):
            memory.tasks.start(ref)
            memory.tasks.complete(ref)
        assert memory.campaigns.status("sso").counts["complete"] == 3
