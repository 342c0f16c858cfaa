"""Plans: tasks are added, marked where they cannot run, and planned again (docs/concepts/campaigns.md)."""

from collections.abc import Collection

from graphmem.constants import DELIVERED_SHOWN
from graphmem.core.plans.campaign_contract import (
    PLAN_EXAMPLE,
    AddTasksRequest,
    BlockedWork,
    CampaignRequest,
    CampaignStanding,
    CampaignTasks,
    CompletedWork,
    MergedPlan,
    MergePlanRequest,
    ReplanInput,
)
from graphmem.core.plans.campaign_plan import plan_of, tasks_of
from graphmem.core.plans.plan import planned_tasks, revision
from graphmem.core.records.events import move_event
from graphmem.core.records.limits import refuse_oversize
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import changed
from graphmem.errors import Refused
from graphmem.features.work.campaigns import campaign_of, standing
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Campaign, Task
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.names import row_id, split_ref

# What stays of a task that another plan changes: what it is, and what happened to it.
LASTING = frozenset(
    "kind key name campaign created_at edited aliases sources alternates prior_knowledge lineage delivered utilized"
    " blocked_reason blocked_at started_at completed_at spent archived_at archive_reason superseded_by status"
    " blocked_by".split()
)


@operation(
    "campaigns.add_tasks",
    writes=True,
    example="graphmem campaign add-tasks sso plan.json",
    takes={"ref": Taken("NAME", "campaign"), "plan": Taken("FILE|-", reads="json", such_as=PLAN_EXAMPLE)},
)
def add_tasks(snapshot: Writing, request: AddTasksRequest) -> CampaignTasks:
    """Add the tasks of a plan (a list, or ``{"tasks": […]}``), all or none; cycles are refused with their path."""
    request = screened(snapshot, request, "tasks")
    number, campaign = _active_campaign(snapshot, request.ref)
    made = planned_tasks(
        _stored_campaign(snapshot, number), request.tasks, list(_stored_tasks(snapshot, number)), snapshot.now
    )
    snapshot.commit([entry(task, snapshot.symmetric) for task in _validated_new(snapshot, made)])
    return CampaignTasks(campaign=campaign.ref, record=campaign, tasks=tasks_of(snapshot, number))


def _active_campaign(snapshot: Snapshot, ref: str) -> tuple[int, Campaign]:
    """Return a campaign that has not ended."""
    number, campaign = campaign_of(snapshot, ref)
    if campaign.status != "active":
        raise Refused(f"campaign {campaign.name!r} is {campaign.status}; its tasks no longer change")
    return number, campaign


def _stored_campaign(snapshot: Snapshot, number: int) -> Campaign:
    """Return a campaign as its row has it."""
    stored = snapshot.catalog.stored(number)
    assert isinstance(stored, Campaign)
    return stored


def _stored_tasks(snapshot: Snapshot, campaign: int) -> list[Task]:
    """Return the live tasks of a campaign as their rows have them, in the order of the plan."""
    found = [snapshot.catalog.stored(number) for number in plan_of(snapshot, campaign).tasks]
    return [task for task in found if isinstance(task, Task)]


def _validated_new(snapshot: Snapshot, made: Collection[Task]) -> Collection[Task]:
    """Return new tasks, each within the limits and of a name that nothing has."""
    for task in made:
        refuse_oversize(task)
        if snapshot.catalog.has(row_id(task.key_ref)):
            raise Refused(f"{task.ref} is there already", hint="take another seq or slug")
    return made


@operation(
    "campaigns.propagate",
    writes=True,
    example="graphmem campaign propagate sso",
    takes={"ref": Taken("NAME", "campaign")},
)
def propagate(snapshot: Writing, request: CampaignRequest) -> CampaignStanding:
    """Mark the tasks that cannot run as unreachable, and those that can again as pending."""
    number, _ = _active_campaign(snapshot, request.ref)
    plan = plan_of(snapshot, number)
    rows: list[Entry] = []
    written: list[int] = []
    for one, causes in plan.unmarked.items():
        made = remarked(snapshot, one, causes)
        rows += made
        written += [one] if made else []
    if rows:
        snapshot.commit(rows)
    return standing(snapshot, plan_of(snapshot, number), written)


def remarked(snapshot: Snapshot, number: int, causes: Collection[str]) -> list[Entry]:
    """
    Return the rows that mark a task as unreachable, or as pending again where nothing stops it; none for no change.

    Args:
        causes: what stops it, by key.
    """
    before = snapshot.catalog.stored(number)
    assert isinstance(before, Task)
    failures = [ref for ref in before.blocked_by if split_ref(ref)[0] != "task"]
    status = "unreachable" if causes else "pending"
    after = changed(before, {"status": status, "blocked_by": sorted({*failures, *causes})}, snapshot.now)
    if after is before:
        return []
    is_move = before.status != status
    moved = [move_event(snapshot, before, after)] if is_move else []
    return [entry(after, snapshot.symmetric), *moved]


@operation(
    "campaigns.replan_input",
    example="graphmem campaign replan-input sso --json",
    takes={"ref": Taken("NAME", "campaign")},
)
def replan_input(snapshot: Snapshot, request: CampaignRequest) -> ReplanInput:
    """Return what a planner needs to plan the unfinished part again."""
    number, campaign = campaign_of(snapshot, request.ref)
    tasks = tasks_of(snapshot, number)
    return ReplanInput(
        campaign=campaign.ref,
        objective=campaign.objective,
        completed=[
            CompletedWork(ref=task.ref, seq=task.seq, delivered=(task.delivered or "")[:DELIVERED_SHOWN] or None)
            for task in tasks
            if task.status == "complete"
        ],
        blocked=[
            BlockedWork(ref=task.ref, seq=task.seq, reason=task.blocked_reason)
            for task in tasks
            if task.status == "blocked"
        ],
        remaining=[task for task in tasks if task.status not in ("complete", "blocked")],
    )


@operation(
    "campaigns.merge_plan",
    writes=True,
    example="graphmem campaign merge-plan sso plan.json",
    takes={"ref": Taken("NAME", "campaign"), "plan": Taken("FILE|-", reads="json", such_as=PLAN_EXAMPLE)},
)
def merge_plan(snapshot: Writing, request: MergePlanRequest) -> MergedPlan:
    """Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays as it is."""
    request = screened(snapshot, request, "tasks")
    number, campaign = _active_campaign(snapshot, request.ref)
    found = revision(_stored_campaign(snapshot, number), request.tasks, _stored_tasks(snapshot, number), snapshot.now)
    rows: list[Entry] = []
    altered: list[str] = []
    kept = [task.key_ref for task in found.kept]
    for before, planned in found.revised:
        made = _revised(snapshot, before, planned)
        rows += made
        (altered if made else kept).append(before.key_ref)
    added = [_restored_or_new(snapshot, task, rows) for task in found.added]
    for task in found.removed:
        gone = {"archived_at": snapshot.now, "archive_reason": "planned again"}
        rows.append(entry(changed(task, gone, snapshot.now), snapshot.symmetric))
    if rows:
        snapshot.commit(rows)
    names = snapshot.catalog.shown_refs({*altered, *added, *kept, *(task.key_ref for task in found.removed)})
    return MergedPlan(
        campaign=campaign.ref,
        kept=sorted(names[ref] for ref in kept),
        added=sorted(names[ref] for ref in added),
        changed=sorted(names[ref] for ref in altered),
        removed=sorted(names[task.key_ref] for task in found.removed),
        tasks=tasks_of(snapshot, number),
    )


def _revised(snapshot: Snapshot, before: Task, planned: Task) -> list[Entry]:
    """Return the rows that make a task what a plan says; a task that is not active becomes pending."""
    given = {name: getattr(planned, name) for name in type(planned).model_fields if name not in LASTING}
    failures = [ref for ref in before.blocked_by if split_ref(ref)[0] != "task"]
    status = "active" if before.status == "active" else "pending"
    after = changed(before, {**given, "status": status, "blocked_by": failures}, snapshot.now)
    if after is before:
        return []
    refuse_oversize(after)
    is_move = before.status != status
    moved = [move_event(snapshot, before, after, {"reason": "planned again"})] if is_move else []
    return [entry(after, snapshot.symmetric), *moved]


def _restored_or_new(snapshot: Snapshot, task: Task, rows: list[Entry]) -> str:
    """Add the rows of a task that is new, or that an earlier plan removed; return its reference by key."""
    refuse_oversize(task)
    number = row_id(task.key_ref)
    if not snapshot.catalog.has(number):
        rows.append(entry(task, snapshot.symmetric))
        return task.key_ref
    before = snapshot.catalog.stored(number)
    assert isinstance(before, Task)
    if not before.is_archived or before.status == "complete":
        raise Refused(f"{task.ref} is there already", hint="take another seq or slug")
    back = changed(before, {"archived_at": None, "archive_reason": None}, snapshot.now)
    rows += _revised(snapshot, back, task) or [entry(back, snapshot.symmetric)]
    return task.key_ref
