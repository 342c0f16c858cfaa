"""
What a block stops: which tasks of a plan cannot run any more, and where that leaves the campaign.

Source: docs/concepts/campaigns.md, "What a block stops".
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol

CampaignState = Literal["complete", "all_blocked", "stuck", "in_progress"]
WAITING = ("pending", "unreachable")  # not begun: whether it can be depends on others
REPLAN_FROM = 2  # tasks that cannot run, from which another plan is worth making


class Planned(Protocol):
    """What is read of a task: its reference, its state, and the references of what it needs."""

    @property
    def ref(self) -> str: ...
    @property
    def status(self) -> str: ...
    @property
    def depends(self) -> Sequence[str]: ...


def unreachable(tasks: Iterable[Planned], settled: Iterable[str] = ()) -> dict[str, list[str]]:
    """
    Return the tasks that cannot run as things are, each with what stops it.

    A task that waits runs once all it needs is complete. It cannot where a task that it needs, directly or through
    others that wait, is blocked, is not in the plan any more, or waits for it in turn. What comes before a task that is
    complete no longer matters.

    Args:
        tasks: of one campaign.
        settled: references outside of the plan that count as complete.

    Returns:
        By reference, in the order of the tasks, what stops a task: blocked tasks and missing ones; of a cycle its
        members.
    """
    plan = {task.ref: task for task in tasks}
    done = {ref for ref, task in plan.items() if task.status == "complete"} | set(settled)
    needs = {
        ref: [need for need in task.depends if need not in done] if task.status in WAITING else []
        for ref, task in plan.items()
    }
    needed_by: dict[str, list[str]] = {}
    for ref, found in needs.items():
        for need in found:
            needed_by.setdefault(need, []).append(ref)
    able = [ref for ref, task in plan.items() if not needs[ref] and task.status != "blocked"]
    missing = {ref: len(found) for ref, found in needs.items()}
    for ref in able:  # grows as we go
        for other in needed_by.get(ref, ()):
            missing[other] -= 1
            if not missing[other]:
                able.append(other)
    runs = set(able)
    lost = plan.keys() - runs
    stopped = [ref for ref, task in plan.items() if ref in lost and task.status in WAITING]
    causes: dict[str, set[str]] = {ref: set() for ref in stopped}
    for cause in {need for ref in stopped for need in needs[ref] if need not in causes and need not in runs}:
        _spread(cause, cause, needed_by, causes)
    for ref in stopped:
        if not causes[ref]:  # it waits for a cycle, or is in one
            causes[ref] = {need for need in needs[ref] if need in causes}
    return {ref: sorted(causes[ref]) for ref in stopped}


def _spread(cause: str, start: str, needed_by: Mapping[str, Sequence[str]], causes: Mapping[str, set[str]]) -> None:
    """Add a cause to every task that waits for it, directly or through others."""
    found = [start]
    for ref in found:
        for other in needed_by.get(ref, ()):
            if other in causes and cause not in causes[other]:
                causes[other].add(cause)
                found.append(other)


def state_of(tasks: Sequence[Planned], stopped: Mapping[str, Sequence[str]]) -> CampaignState:
    """
    Return where a campaign is.

    ``complete``: every task is. ``all_blocked``: there are others, and none of them can run. ``stuck``: some cannot,
    others can. ``in_progress``: all that is left can run, or there is no task yet.

    Args:
        stopped: what ``unreachable`` returned.
    """
    left = [task for task in tasks if task.status != "complete"]
    if not left:
        return "complete" if tasks else "in_progress"
    if all(task.status == "blocked" or task.ref in stopped for task in left):
        return "all_blocked"
    return "stuck" if stopped else "in_progress"
