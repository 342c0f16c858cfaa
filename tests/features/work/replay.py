"""Real histories of trackers, replayed through commands: what can start in each version is what the tracker says."""

import contextlib
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import networkx as nx

from graphmem import Memory
from graphmem.kernel.model import Task
from tests.public_sets import read
from tests.sample import open_memory

DONE = frozenset({"done", "closed"})
ACTIVE = frozenset({"in-progress", "in_progress", "review", "hooked"})
OPEN = frozenset({"pending", "open"})  # every other state is one in which nobody works: blocked
LARGEST = 1_000  # tasks of a plan


@dataclass(frozen=True)
class Snapshot:
    """One dated version of a tracker: items with their states, what each needs, and which can start."""

    tracker: str
    day: str
    states: Mapping[str, str]
    needs: Mapping[str, list[str]]
    ready: frozenset[str]


@dataclass
class Tally:
    """What came of a replay."""

    snapshots: int = 0
    right: int = 0
    items: int = 0
    moves: int = 0
    begun_early: int = 0  # items that were begun before what they need was done
    wrong: list[str] = field(default_factory=list)


@contextlib.contextmanager
def store() -> Iterator[Memory]:
    """Yield a store in a temporary folder, without a model."""
    with tempfile.TemporaryDirectory() as folder, open_memory(Path(folder)) as memory:
        yield memory


# --- histories --------------------------------------------------------------------------------------------------------


def snapshots(folder: Path) -> dict[str, list[Snapshot]]:
    """Return the dated versions of each tracker of a set, the oldest first."""
    found: dict[str, list[Snapshot]] = defaultdict(list)
    for row in read(folder, "graph_questions"):
        if row["task"] != "ready_work":
            continue
        tracker, _, day = row["snapshot"].partition("@")
        states = dict(row["items"])
        needs, parents = defaultdict[str, list[str]](list), dict[str, str]()
        for source, kind, target in row["edges"]:
            if kind == "depends_on" and target in states:
                needs[source].append(target)
            elif kind == "part_of":
                parents[source] = target
        ready = frozenset(one for one in row["gold"] if states[one] in OPEN)
        found[tracker].append(Snapshot(tracker, day, states, inherited(states, needs, parents), ready))
    return {tracker: sorted(versions, key=lambda one: one.day) for tracker, versions in found.items()}


def inherited(
    states: Mapping[str, str], needs: Mapping[str, list[str]], parents: Mapping[str, str]
) -> dict[str, list[str]]:
    """Return what each item needs, also what the items that it is part of need."""
    found = {}
    for item in states:
        wanted, above, seen = set(needs.get(item, ())), parents.get(item), {item}
        while above is not None and above not in seen:
            seen.add(above)
            wanted |= set(needs.get(above, ())) - {item}
            above = parents.get(above)
        found[item] = sorted(wanted)
    return found


def plan_row(item: str, numbers: Mapping[str, int], one: Snapshot) -> dict[str, Any]:
    """Return an item as a task of a plan; one that was begun before what it needs was done does not need that."""
    is_begun = one.states[item] in DONE | ACTIVE
    depends = [numbers[need] for need in one.needs[item] if not is_begun or one.states[need] in DONE]
    return {"seq": numbers[item], "slug": "item", "objective": f"Item {item}", "depends": depends or "none"}


def replay(memory: Memory, versions: Sequence[Snapshot], tally: Tally) -> None:
    """Replay the versions of a tracker one after the other in one campaign, and compare each with what is known."""
    numbers: dict[str, int] = {}
    for one in versions:
        numbers |= {item: len(numbers) + place for place, item in enumerate(sorted(one.states.keys() - numbers.keys()))}
    assert len(numbers) <= LARGEST, len(numbers)
    items = {f"{number:03d}": item for item, number in numbers.items()}
    made = memory.campaigns.create(versions[0].tracker).ref
    for one in versions:
        bring(memory, made, one, numbers, items, tally)
        check(memory, made, one, items, tally)


def bring(
    memory: Memory, campaign: str, one: Snapshot, numbers: Mapping[str, int], items: Mapping[str, str], tally: Tally
) -> None:
    """Bring a campaign to a version of its tracker: another plan, then the moves of its tasks."""

    def tasks() -> dict[str, Task]:
        return {items[task.seq]: task for task in memory.campaigns.status(campaign).tasks if isinstance(task, Task)}

    for item, task in tasks().items():
        if task.status == "active" or (task.status == "complete" and one.states.get(item) not in DONE):
            memory.tasks.reopen(task.ref)
            tally.moves += 1
    rows = [plan_row(item, numbers, one) for item in one.states]
    tally.begun_early += sum(
        state in DONE | ACTIVE and any(one.states[need] not in DONE for need in one.needs[item])
        for item, state in one.states.items()
    )
    memory.campaigns.merge_plan(campaign, rows)
    refs = {item: task.ref for item, task in tasks().items() if task.status != "complete"}
    for item in nx.topological_sort(nx.DiGraph([(need, one) for one, found in one.needs.items() for need in found])):
        if item in refs:
            move(memory, refs.pop(item), one.states[item], tally)
    for item, ref in refs.items():
        if item in one.states:
            move(memory, ref, one.states[item], tally)


def move(memory: Memory, ref: str, state: str, tally: Tally) -> None:
    """Move a task to a state of its tracker, by commands."""
    if state in OPEN:
        return
    tally.moves += 1
    if state in DONE | ACTIVE:
        memory.tasks.start(ref)
    if state in DONE:
        memory.tasks.complete(ref, delivered="done")
    elif state not in ACTIVE:
        memory.tasks.block(ref, f"the tracker says {state}")


def check(memory: Memory, campaign: str, one: Snapshot, items: Mapping[str, str], tally: Tally) -> None:
    """Compare where a campaign is with a version of its tracker."""
    memory.campaigns.propagate(campaign)
    standing = memory.campaigns.status(campaign)
    shown = {items[task.seq]: task for task in standing.tasks if isinstance(task, Task)}
    by_ref = {task.ref: item for item, task in shown.items()}
    ready = {by_ref[ref] for ref in standing.ready} & one.states.keys()
    states = Counter[str](shown[item].status for item in one.states)
    expected = Counter(
        "complete" if state in DONE else "active" if state in ACTIVE else "pending" if state in OPEN else "blocked"
        for state in one.states.values()
    )
    states["pending"] += states.pop("unreachable", 0)
    tally.snapshots += 1
    tally.items += len(one.states)
    if ready == one.ready and +states == expected:
        tally.right += 1
    else:
        tally.wrong.append(f"{one.tracker}@{one.day}: ready {sorted(ready ^ one.ready)}, {states - expected}")
