"""A plan of tasks: from what a planner writes to checked tasks that form no cycle (docs/concepts/campaigns.md)."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from pydantic import ValidationError

from graphmem.errors import BadInput, Refused
from graphmem.model.campaign import Campaign
from graphmem.model.task import Task
from graphmem.names import slug

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
    rows = plan.get("tasks") if isinstance(plan, Mapping) else plan
    if not isinstance(rows, list) or not rows:
        raise BadInput(
            f"a plan is a list of tasks, not {str(plan)[:SHOWN]!r}", hint='such as {"tasks": [{"seq": 1, …}]}'
        )
    names = {task.seq: task.key for task in existing}
    parsed = []
    for place, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise BadInput(f"task {place} of the plan is {str(row)[:SHOWN]!r}", hint="a task is a JSON object")
        seq = sequence(row.get("seq"), f"task {place} of the plan")
        if seq in names:
            raise Refused(
                f"seq {seq} appears twice in campaign {campaign.name!r}", hint="give each task a seq of its own"
            )
        names[seq] = f"{campaign.key}/{task_title(seq, row)}"
        parsed.append((seq, row))
    needs = {seq: needed(seq, row.get("depends", "none"), names) for seq, row in parsed}
    before = {task.seq: [seq for seq, name in names.items() if f"task/{name}" in task.depends] for task in existing}
    refuse_cycle({**before, **needs})
    return [
        make_task(campaign, names[seq], row, [f"task/{names[need]}" for need in needs[seq]], now) for seq, row in parsed
    ]


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


def ready_tasks(tasks: Sequence[Task], archived: Iterable[Task] = ()) -> list[Task]:
    """
    Return the pending tasks whose parents are all complete, in the order of the plan.

    Args:
        tasks: of a campaign, they and their parents by shown name.
        archived: parents that are archived; what one of them completed stays complete.
    """
    complete = {task.ref for task in (*tasks, *archived) if task.status == "complete"}
    return [task for task in tasks if task.status == "pending" and complete.issuperset(task.depends)]
