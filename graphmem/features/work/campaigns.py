"""Campaigns: a plan of tasks in the graph, what can start, what came of it, what resembles it."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import combinations
from typing import Any

from graphmem.constants import MOST_TOGETHER
from graphmem.core.plans.campaign_contract import (
    CampaignRequest,
    CampaignStanding,
    CampaignTasks,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    Disagreement,
    Estimate,
    Ready,
    ReadyRequest,
    Stopped,
)
from graphmem.core.plans.campaign_plan import Plan, actual_of, plan_of, points_of, tasks_of, usual_ratio_of
from graphmem.core.plans.cascade import REPLAN_FROM
from graphmem.core.plans.estimate import planned_task_count
from graphmem.core.plans.similar_campaigns import fingerprint
from graphmem.core.records.change import add
from graphmem.core.records.events import disagreement_text, event, task_moves
from graphmem.core.records.record_contract import Changed
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import changed, refuse_archived
from graphmem.core.search.query import query
from graphmem.core.search.query_contract import QueryRequest
from graphmem.errors import Refused
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Campaign, Failure, Relation, Task
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.collector import collector_paused
from graphmem.kernel.system.shell import command
from graphmem.kernel.text import count
from graphmem.names import edge_key, row_id, split_ref

MOST_OPEN = 5  # tasks that a message names
NEAR = ("critical", "productive")  # tiers of the failures whose costs an estimate counts


def campaign_of(snapshot: Snapshot, ref: str) -> tuple[int, Campaign]:
    """Return a campaign by reference or name."""
    number = snapshot.resolve(ref, ["campaign"])
    refuse_archived(snapshot.catalog, number)
    record = snapshot.catalog.records([number])[number]
    assert isinstance(record, Campaign)
    return number, record


@operation(
    "campaigns.create",
    writes=True,
    example='graphmem campaign create "Add single sign-on" --name sso',
    leaves=("tags", "sources"),
)
def create(client: Client, request: CreateCampaignRequest) -> Changed[Campaign]:
    """
    Begin a campaign.

    Those are searched for before the lock is taken: a model may be asked.
    """
    fields = dict(request.row)
    if request.sections is not None and request.failure_cost_k is None:
        fields["failure_cost_k"] = _known_cost(client, request.objective)
    return add(client, request.kind, fields, **request.options)


def _known_cost(client: Client, objective: str) -> float:
    """Return what the failures cost that are near an objective, in thousands of tokens."""
    found = query(client, QueryRequest(text=objective, kinds=("failure",)))
    near = [hit.record for hit in found.results if hit.band in NEAR or hit.tier in NEAR]
    return sum(one.cost or 0.0 for one in near if isinstance(one, Failure)) if found.certainty != "none" else 0.0


@operation("campaigns.status", example="graphmem campaign status sso", takes={"ref": Taken("NAME", "campaign")})
@collector_paused()
def status(snapshot: Snapshot, request: CampaignRequest) -> CampaignStanding:
    """Return where a campaign is: its tasks, which of them cannot run and why, and what it took so far."""
    number, _ = campaign_of(snapshot, request.ref)
    return standing(snapshot, plan_of(snapshot, number))


def standing(snapshot: Snapshot, plan: Plan, changed_tasks: Collection[int] = ()) -> CampaignStanding:
    """Return where a campaign is; ``changed_tasks`` are those that were just written."""
    tasks = list(plan.tasks.values())
    seqs = Counter(task.seq for task in tasks)
    return CampaignStanding(
        campaign=plan.campaign.ref,
        state=plan.state,
        counts=dict(sorted(Counter(task.status for task in tasks).items())),
        ready=[task.ref for task in plan.ready],
        unreachable=[Stopped(ref=ref, blocked_by=causes) for ref, causes in plan.stopped.items()],
        replan_suggested=len(plan.stopped) >= REPLAN_FROM,
        disagreements=[
            Disagreement(ref=plan.tasks[number].ref, text=text)
            for number, moves in task_moves(snapshot, plan.tasks, is_unsettled=True).items()
            if (text := disagreement_text(moves))  # two branches moved it to different states
        ],
        duplicates=sorted(seq for seq, times in seqs.items() if times > 1),
        estimate=_estimate_of(snapshot, plan.campaign),
        actual=actual_of(tasks),
        tasks=tasks,
        changed=sorted(plan.tasks[number].ref for number in changed_tasks),
    )


def _estimate_of(snapshot: Snapshot, campaign: Campaign) -> Estimate | None:
    """Return how large a campaign was thought to be; None if it was not estimated."""
    if campaign.sections is None:
        return None
    points = points_of(campaign)
    return Estimate(complexity=points, tasks=planned_task_count(points), usual=usual_ratio_of(snapshot))


@operation(
    "campaigns.ready", from_files=True, example="graphmem campaign ready sso", takes={"ref": Taken("NAME", "campaign")}
)
def ready(snapshot: Snapshot, request: ReadyRequest) -> Ready:
    """Return the tasks that can start now: pending, every parent complete."""
    number, campaign = campaign_of(snapshot, request.ref)
    return Ready(campaign=campaign.ref, ready=plan_of(snapshot, number).ready)


@operation(
    "campaigns.complete",
    writes=True,
    takes={"ref": Taken("NAME", "campaign")},
    help="Finish a campaign and keep its fingerprint for similar; with open tasks it needs --partial.",
    example='graphmem campaign complete sso --outcome "login works with two providers"',
)
def complete(snapshot: Writing, request: CompleteCampaignRequest) -> CampaignTasks:
    """Finish a campaign, complete or partly, and keep its fingerprint for ``similar``."""
    request = screened(snapshot, request, "campaign")
    number, campaign = campaign_of(snapshot, request.ref)
    tasks = tasks_of(snapshot, number)
    if campaign.status != "active":
        raise Refused(f"campaign {campaign.name!r} is {campaign.status} already", hint="legal from there: none")
    if request.status in (None, "complete"):
        _refuse_open(campaign, tasks)
    changes = {
        "status": request.status or "complete",
        "completed_at": snapshot.now,
        "outcome": request.outcome,
        "fingerprint": fingerprint(campaign, tasks).model_dump(),
    }
    after = changed(snapshot.catalog.stored(number), changes, snapshot.now)
    assert isinstance(after, Campaign)
    symmetric = snapshot.symmetric
    said = {"from": campaign.status, "to": after.status, "outcome": request.outcome}
    ended = event(snapshot, "campaign-completed", after.edited["status"], after.key_ref, said)
    edges = [entry(edge, symmetric) for edge in seen_together(snapshot, tasks)]
    snapshot.commit([entry(after, symmetric), ended, *edges])
    record = snapshot.catalog.records([number])[number]
    return CampaignTasks(campaign=record.ref, record=record, tasks=tasks_of(snapshot, number))


def _refuse_open(campaign: Campaign, tasks: Sequence[Task]) -> None:
    """Raise ``Refused`` for a campaign that is not complete; the message names the tasks that are open."""
    left = [f"{task.ref} ({task.status})" for task in tasks if task.status != "complete"]
    if left:
        more = f" and {len(left) - MOST_OPEN:,} more" if len(left) > MOST_OPEN else ""
        raise Refused(
            f"{campaign.ref} has {count(len(left), 'open task')}: {', '.join(left[:MOST_OPEN])}{more}",
            hint=f"end it as partial: {command('graphmem', 'campaign', 'complete', campaign.name, '--partial')}",
        )


def seen_together(snapshot: Snapshot, tasks: Sequence[Task]) -> list[Relation]:
    """
    Return the co_occurs edges that are still missing between the failures that blocked these tasks.

    Of very many failures only those that blocked most tasks are linked: what all of them share is the campaign.
    """
    times = Counter(ref for task in tasks for ref in task.blocked_by if split_ref(ref)[0] == "failure")
    often = sorted(times, key=lambda ref: (-times[ref], ref))[:MOST_TOGETHER]
    failures = sorted(key for _, key in snapshot.catalog.live(often).values())
    edges = []
    for source, target in combinations(failures, 2):
        if snapshot.catalog.relation(row_id(edge_key(source, "co_occurs", target, symmetric=True))) is None:
            row: dict[str, Any] = {"kind": "relation", "from": source, "type": "co_occurs", "to": target}
            edges.append(Relation.model_validate({**row, "created_at": snapshot.now}))
    return edges
