"""A plan of tasks: from what a planner writes to checked tasks that form no cycle (docs/concepts/campaigns.md)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from graphmem.core.plans.campaign_contract import PlannedTask
from graphmem.core.plans.cascade import WAITING
from graphmem.core.records.cycle import refuse_cycle
from graphmem.core.records.limits import refuse_blank
from graphmem.errors import BadInput, Refused
from graphmem.kernel.model.campaign import Campaign
from graphmem.kernel.model.task import Task
from graphmem.kernel.request import complaint
from graphmem.kernel.suggest import refuse_unknown
from graphmem.names import slug


def planned_tasks(
    campaign: Campaign, plan: Sequence[PlannedTask], existing: Sequence[Task], now: datetime
) -> list[Task]:
    """
    Return the tasks of a plan, each with the references of what it needs.

    Args:
        campaign: its key begins the keys of its tasks, its name their names.
        existing: tasks that the campaign has already; a new one may need them.
        now: when they are created.

    Raises:
        BadInput: a task that does not check out.
        Refused: a sequence number that is unknown or taken, or a cycle; the message shows its path.
    """
    keys = {task.seq: task.key for task in existing}
    parsed = _by_seq(plan)
    for seq in parsed:
        if seq in keys:
            raise _twice(seq, campaign)
    keys |= {seq: f"{campaign.key}/{_task_title(task)}" for seq, task in parsed.items()}
    _refuse_needs(parsed, existing, keys)
    return [make_task(campaign, place, task, keys, now) for place, task in enumerate(plan, 1)]


@dataclass(frozen=True)
class PlanRevision:
    """
    What another plan makes of a campaign; all tasks by their keys.

    Attributes:
        kept: tasks that stay as they are: complete, or active and not in the plan.
        revised: tasks that were there, as the plan has them now.
        added: tasks that are new. removed: tasks that nobody is to do.
    """

    kept: tuple[Task, ...]
    revised: tuple[tuple[Task, Task], ...]
    added: tuple[Task, ...]
    removed: tuple[Task, ...]


def revision(campaign: Campaign, plan: Sequence[PlannedTask], existing: Sequence[Task], now: datetime) -> PlanRevision:
    """
    Return what another plan makes of the unfinished part of a campaign.

    A task is the one with the same number. What is complete stays, whatever the plan says of it. An active task that is
    not in the plan stays too. A task that waits or is blocked becomes what the plan says, and pending; where the plan
    does not have it, it is removed.

    Args:
        existing: the live tasks of the campaign, by their keys.

    Raises:
        BadInput: a task that does not check out.
        Refused: a sequence number that is unknown, a cycle, or a task that stays needs one that does not.
    """
    parsed = _by_seq(plan)
    kept = [
        task for task in existing if task.status == "complete" or (task.status == "active" and task.seq not in parsed)
    ]
    done = {task.seq for task in kept}
    planned = {seq: task for seq, task in parsed.items() if seq not in done}
    open_tasks: dict[str, Task] = {}
    for task in existing:
        if task.seq in planned:
            open_tasks.setdefault(task.seq, task)
    stays = {task.key for task in (*kept, *open_tasks.values())}
    keys = {task.seq: task.key for task in kept}
    keys |= {
        seq: open_tasks[seq].key if seq in open_tasks else f"{campaign.key}/{_task_title(task)}"
        for seq, task in planned.items()
    }
    _refuse_lost(kept, existing, {*keys.values()})
    _refuse_needs(planned, kept, keys)
    made = {
        task.seq: make_task(campaign, place, task, keys, now)
        for place, task in enumerate(plan, 1)
        if task.seq in planned
    }
    return PlanRevision(
        kept=tuple(kept),
        revised=tuple((open_tasks[seq], task) for seq, task in made.items() if seq in open_tasks),
        added=tuple(task for seq, task in made.items() if seq not in open_tasks),
        removed=tuple(task for task in existing if task.key not in stays),
    )


def _refuse_lost(kept: Sequence[Task], existing: Sequence[Task], keys: Collection[str]) -> None:
    """Raise ``Refused`` where a task that stays needs one that the plan takes away."""
    taken = {task.key_ref: task.seq for task in existing if task.key not in keys}
    for task in kept:
        for need in task.depends:
            if need in taken:
                raise Refused(
                    f"task {task.seq} is {task.status} and needs task {taken[need]}, which the plan leaves out",
                    hint=f"put task {taken[need]} into the plan",
                )


def _needs_of(tasks: Sequence[Task], keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the sequence numbers that tasks depend on, among those that have a key."""
    return {task.seq: [seq for seq, key in keys.items() if f"task/{key}" in task.depends] for task in tasks}


def _by_seq(tasks: Iterable[PlannedTask]) -> dict[str, PlannedTask]:
    """
    Return the tasks of a plan by their sequence numbers, in its order.

    Raises:
        Refused: a number appears twice.
    """
    found: dict[str, PlannedTask] = {}
    for task in tasks:
        if task.seq in found:
            raise _twice(task.seq)
        found[task.seq] = task
    return found


def moved(task: PlannedTask) -> str | None:
    """Return what to do where a task of a plan has a field of a task that no plan sets."""
    given = [name for name in task.model_extra or () if name in Task.model_fields.keys() | Task.derived]
    what = "a plan says what is to be done; tasks are moved by: graphmem task start, task complete, task block"
    return what if given else None


def _twice(seq: str, campaign: Campaign | None = None) -> Refused:
    """Return the error for a sequence number that two tasks have."""
    where = f"in campaign {campaign.name!r}" if campaign else "in the plan"
    return Refused(f"seq {seq} appears twice {where}", hint="give each task a seq of its own")


def _task_title(task: PlannedTask) -> str:
    """Return the part of a task's name after its campaign: its number, then its slug or that of its objective."""
    return f"{task.seq}-{task.slug or slug(task.objective or '') or 'task'}"


def _refuse_needs(planned: Mapping[str, PlannedTask], others: Sequence[Task], keys: Mapping[str, str]) -> None:
    """Raise ``Refused`` where a task of a plan depends on one that there is not, or in the end on itself."""
    for task in planned.values():
        for need in task.depends:
            if need not in keys:
                hint = f"known: {', '.join(sorted(keys))}"
                raise Refused(f"task {task.seq} depends on {need}, and no task has that seq", hint=hint)
    refuse_cycle({**_needs_of(others, keys), **{seq: task.depends for seq, task in planned.items()}})


def make_task(campaign: Campaign, place: int, planned: PlannedTask, keys: Mapping[str, str], now: datetime) -> Task:
    """
    Return one task of a plan as a record.

    Args:
        place: of the task in the plan, for messages.
        keys: of all tasks that it may depend on and its own, by their sequence numbers.
    """
    refuse_unknown(f"task {place}", planned.model_extra or (), PlannedTask.model_fields, hint=moved(planned))
    key = keys[planned.seq]
    fields = {name: value for name, value in planned if name in planned.model_fields_set}
    refuse_blank(Task, fields)
    given = {
        "kind": "task",
        "key": key,
        "name": f"{campaign.name}/{key.rpartition('/')[2]}",
        "campaign": campaign.key_ref,
        "depends": [f"task/{keys[need]}" for need in planned.depends],
        "created_at": now,
    }
    try:
        return Task.model_validate({**fields, **given})
    except ValidationError as error:
        field, message, hint = complaint(Task, error, f"task {place}")
        raise BadInput(
            message, hint=hint or "see: graphmem campaign add-tasks --help", details={"field": field}
        ) from None


def ready_tasks(tasks: Sequence[Task], settled: Collection[str] = ()) -> list[Task]:
    """
    Return the tasks that wait and whose parents are all complete, in the order of the plan.

    Args:
        tasks: of a campaign, they and their parents by shown name.
        settled: references outside of the plan that count as complete: what an archived task completed stays complete.
    """
    complete = {task.ref for task in tasks if task.status == "complete"} | set(settled)
    return [task for task in tasks if task.status in WAITING and complete.issuperset(task.depends)]
