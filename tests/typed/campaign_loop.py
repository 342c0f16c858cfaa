"""A loop over a campaign: what is ready is started, worked on, and completed or blocked."""

from collections.abc import Callable
from pathlib import Path

from graphmem import Campaign, Changed, Memory, Task, TaskChanged, Workspace


def begin(memory: Memory, ref: str) -> Workspace:
    """Start a task, and return what it begins with."""
    started: TaskChanged[Workspace] = memory.tasks.start(ref)
    return started.workspace


def solution_of(memory: Memory, blocked: TaskChanged[None]) -> str | None:
    """Return what solves the first failure that a blocked task reports."""
    for hit in blocked.known:
        if hit.solved_by:
            return hit.solved_by[0].record.insight
        for solution in memory.solutions(hit.ref).results:
            return solution.record.insight
    return None


def loop(project: Path, work: Callable[[Task, str], str | None]) -> list[str]:
    """
    Work on a new campaign until no task is ready; return what happened.

    Args:
        work: does a task, by its prompt; returns what went wrong.
    """
    lines = []
    with Memory(project) as memory:
        created: Changed[Campaign] = memory.campaigns.create("Log in by SSO", name="sso")
        plan = [
            {"seq": 1, "slug": "route", "objective": "Add the route", "delta": ["src/route.py"]},
            {"seq": 2, "slug": "test", "objective": "Test the route", "depends": [1]},
        ]
        for task in memory.campaigns.add_tasks(created.ref, plan).tasks:
            lines.append(f"{task.name}: {', '.join(task.delta)}")
        while ready := memory.campaigns.ready(created.ref).ready:
            for task in ready:
                error = work(task, begin(memory, task.ref).text)
                if error is None:
                    done = memory.tasks.complete(task.ref, delivered=task.objective)
                    lines.append(f"{done.record.name}: {done.record.status}")
                else:
                    lines.append(f"{task.name}: {solution_of(memory, memory.tasks.block(task.ref, error))}")
        campaign = memory.campaigns.complete(created.ref, status="partial").record
        lines.append(f"{campaign.objective}: {campaign.status}")
    return lines
