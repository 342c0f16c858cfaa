"""A plan of tasks: from what a planner writes to checked tasks that form no cycle (docs/concepts/campaigns.md)."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from graphmem.contract.campaigns import PLAN_EXAMPLE
from graphmem.errors import BadInput, Refused
from graphmem.model.campaign import Campaign
from graphmem.model.task import Task
from graphmem.names import slug
from graphmem.rules.cascade import WAITING
from graphmem.rules.limits import refuse_blank
from graphmem.rules.suggest import refuse_unknown

FIELDS = Task.model_fields.keys() | Task.derived | {"title"}  # that a task of a plan may have
SHOWN = 60  # characters of a bad value in a message


def planned_tasks(campaign: Campaign, plan: object, existing: Sequence[Task], now: datetime) -> list[Task]:
    """
    Return the tasks of a plan, each with the references of what it needs.

    Args:
        campaign: its key begins the keys of its tasks, its name their names.
        plan: a list of tasks, or ``{"tasks": […]}``; a task has ``seq``, ``objective`` and the fields of a task.
        existing: tasks that the campaign has already; a new one may need them.
        now: when they are created.

    Raises:
        BadInput: no such list, or a task that does not check out.
        Refused: a sequence number that is unknown or taken, or a cycle; the message shows its path.
    """
    keys = {task.seq: task.key for task in existing}
    parsed = rows_of(plan)
    for seq in parsed:
        if seq in keys:
            raise twice(seq, campaign)
    keys |= {seq: f"{campaign.key}/{task_title(seq, row)}" for seq, row in parsed.items()}
    needs = {seq: needed(seq, row.get("depends", "none"), keys) for seq, row in parsed.items()}
    refuse_cycle({**needs_of(existing, keys), **needs})
    return [
        make_task(campaign, keys[seq], row, [f"task/{keys[need]}" for need in needs[seq]], now)
        for seq, row in parsed.items()
    ]


@dataclass(frozen=True)
class Revision:
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


def revision(campaign: Campaign, plan: object, existing: Sequence[Task], now: datetime) -> Revision:
    """
    Return what another plan makes of the unfinished part of a campaign.

    A task is the one with the same number. What is complete stays, whatever the plan says of it. An active task that is
    not in the plan stays too. A task that waits or is blocked becomes what the plan says, and pending; where the plan
    does not have it, it is removed.

    Args:
        existing: the live tasks of the campaign, by their keys.

    Raises:
        BadInput: no list of tasks, or a task that does not check out.
        Refused: a sequence number that is unknown, a cycle, or a task that stays needs one that does not.
    """
    parsed = rows_of(plan)
    by_seq: dict[str, list[Task]] = {}
    for task in existing:
        by_seq.setdefault(task.seq, []).append(task)
    kept = [
        task for task in existing if task.status == "complete" or (task.status == "active" and task.seq not in parsed)
    ]
    done = {task.seq for task in kept}
    open_tasks = {seq: found[0] for seq, found in by_seq.items() if seq in parsed and seq not in done}
    stays = {task.key for task in (*kept, *open_tasks.values())}
    keys = {task.seq: task.key for task in kept}
    keys |= {
        seq: open_tasks[seq].key if seq in open_tasks else f"{campaign.key}/{task_title(seq, row)}"
        for seq, row in parsed.items()
        if seq not in done
    }
    needs = {seq: needed(seq, row.get("depends", "none"), keys) for seq, row in parsed.items() if seq not in done}
    refuse_lost(kept, existing, {*keys.values()})
    refuse_cycle({**needs_of(kept, keys), **needs})
    made = {
        seq: make_task(campaign, keys[seq], row, [f"task/{keys[need]}" for need in needs[seq]], now)
        for seq, row in parsed.items()
        if seq not in done
    }
    return Revision(
        kept=tuple(kept),
        revised=tuple((open_tasks[seq], task) for seq, task in made.items() if seq in open_tasks),
        added=tuple(task for seq, task in made.items() if seq not in open_tasks),
        removed=tuple(task for task in existing if task.key not in stays),
    )


def refuse_lost(kept: Sequence[Task], existing: Sequence[Task], keys: Collection[str]) -> None:
    """Raise ``Refused`` where a task that stays needs one that the plan takes away."""
    taken = {task.key_ref: task.seq for task in existing if task.key not in keys}
    for task in kept:
        for need in task.depends:
            if need in taken:
                raise Refused(
                    f"task {task.seq} is {task.status} and needs task {taken[need]}, which the plan leaves out",
                    hint=f"put task {taken[need]} into the plan",
                )


def needs_of(tasks: Sequence[Task], keys: Mapping[str, str]) -> dict[str, list[str]]:
    """Return the sequence numbers that tasks depend on, among those that have a key."""
    return {task.seq: [seq for seq, key in keys.items() if f"task/{key}" in task.depends] for task in tasks}


def rows_of(plan: object) -> dict[str, Mapping[str, Any]]:
    """
    Return the tasks of a plan by their sequence numbers.

    Raises:
        BadInput: it is no list of tasks, or a task has a field that there is not. Refused: a number appears twice.
    """
    rows = plan.get("tasks") if isinstance(plan, Mapping) else plan
    if not isinstance(rows, list):
        raise BadInput(f"a plan is a list of tasks, not {str(plan)[:SHOWN]!r}", hint=PLAN_EXAMPLE)
    if not rows:
        raise BadInput("the plan has no tasks", hint=PLAN_EXAMPLE)
    parsed: dict[str, Mapping[str, Any]] = {}
    for place, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise BadInput(f"task {place} of the plan is {str(row)[:SHOWN]!r}", hint="a task is a JSON object")
        seq = sequence(row.get("seq"), f"task {place} of the plan")
        if seq in parsed:
            raise twice(seq)
        refuse_unknown(f"task {seq} of the plan", row, FIELDS)
        parsed[seq] = row
    return parsed


def twice(seq: str, campaign: Campaign | None = None) -> Refused:
    """Return the error for a sequence number that two tasks have."""
    where = f"in campaign {campaign.name!r}" if campaign else "in the plan"
    return Refused(f"seq {seq} appears twice {where}", hint="give each task a seq of its own")


def sequence(value: object, where: str) -> str:
    """Return a sequence number as three digits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 999:
        return f"{value:03d}"
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 3:
        return f"{int(value):03d}"
    raise BadInput(f"seq {value!r} of {where} is not a number of up to three digits", hint='such as 1 or "001"')


def task_title(seq: str, row: Mapping[str, Any]) -> str:
    """Return the part of a task's name after its campaign: its number, then its slug or that of its objective."""
    given = row.get("slug")
    made = given if isinstance(given, str) and given else slug(str(row.get("objective") or row.get("title") or ""))
    return f"{seq}-{made or 'task'}"


def needed(seq: str, value: object, names: Mapping[str, str]) -> list[str]:
    """Return the sequence numbers that a task depends on, each of a task that there is."""
    if value is None or value == "none":
        return []
    found = [sequence(item, f"depends of task {seq}") for item in (value if isinstance(value, list) else [value])]
    for need in found:
        if need not in names:
            raise Refused(
                f"task {seq} depends on {need}, and no task has that seq", hint=f"known: {', '.join(sorted(names))}"
            )
    return sorted(set(found))


def refuse_cycle(needs: Mapping[str, Iterable[str]]) -> None:
    """Raise ``Refused`` where tasks wait for each other; the message is the way round, from its lowest number."""
    for around in cycles(needs):
        path = " → ".join(around)
        raise Refused(
            f"the plan has a cycle: {path}", hint="take one of these dependencies out", details={"cycle": path}
        )


def cycles(needs: Mapping[str, Iterable[str]]) -> list[list[str]]:
    """Return a way round for each group of tasks that wait for each other, from its lowest and back to it."""
    import networkx as nx  # noqa: PLC0415 - 160 ms that only plans and stats need

    graph = nx.DiGraph([(task, need) for task, found in needs.items() for need in found])
    found = []
    for group in nx.strongly_connected_components(graph):
        part = graph.subgraph(group)
        if part.number_of_edges():
            around = [edge[0] for edge in nx.find_cycle(part)]
            first = around.index(min(around))
            found.append([*around[first:], *around[:first], around[first]])
    return sorted(found)


def make_task(campaign: Campaign, key: str, row: Mapping[str, Any], depends: list[str], now: datetime) -> Task:
    """Return one task of a plan as a record."""
    name = f"{campaign.name}/{key.rpartition('/')[2]}"
    fields = {key: value for key, value in row.items() if key not in ("seq", "slug", "depends", "kind", "title")}
    if "objective" not in fields and "title" in row:
        fields["objective"] = row["title"]
    refuse_blank(Task, fields)
    given = {
        "kind": "task",
        "key": key,
        "name": name,
        "campaign": campaign.key_ref,
        "depends": depends,
        "created_at": now,
    }
    try:
        return Task.model_validate({**fields, **given})
    except ValidationError as error:
        first = error.errors()[0]
        field = ".".join(str(part) for part in first["loc"])
        text = first["msg"].removeprefix("Value error, ")
        raise BadInput(
            f"task {name} of the plan{f', field {field!r}' if field else ''}: {text}",
            hint="see docs/reference/records.md",
            details={"field": field},
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
