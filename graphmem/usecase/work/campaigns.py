"""Campaigns: a plan of tasks in the graph, what can start, what came of it, what resembles it."""

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from statistics import fmean
from typing import Any

from graphmem.catalog.words import query_terms
from graphmem.constants import FILES_SHARE, MOST_TOGETHER, OBJECTIVE_SHARE, SIZE_SHARE
from graphmem.contract.campaigns import (
    Actual,
    CampaignRequest,
    CampaignStage,
    CampaignStanding,
    CampaignTasks,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    Disagreement,
    Estimate,
    Parts,
    Ready,
    ReadyRequest,
    Similar,
    SimilarCampaign,
    SimilarRequest,
    Stopped,
)
from graphmem.contract.query import QueryRequest
from graphmem.contract.records import Changed
from graphmem.contract.stats import CampaignSizes
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.ledger.row import entry
from graphmem.model import Campaign, Failure, Record, Relation, Task
from graphmem.model.campaign import FINISHED, Fingerprint
from graphmem.names import edge_key, row_id, split_ref
from graphmem.rules.cascade import REPLAN_FROM, state_of, unreachable
from graphmem.rules.estimate import complexity, planned_task_count, usual_ratio
from graphmem.rules.plan import ready_tasks
from graphmem.rules.score import overlap, size_likeness
from graphmem.store.runtime import Client, Snapshot, counted
from graphmem.system.collector import collector_paused
from graphmem.system.shell import command
from graphmem.usecase.records.change import add
from graphmem.usecase.records.screening import screened
from graphmem.usecase.records.validation import changed, refuse_archived
from graphmem.usecase.retrieval.query import query
from graphmem.usecase.work.events import disagreement_text, event, task_moves

MOST_OPEN = 5  # tasks that a message names
NEAR = ("critical", "productive")  # tiers of the failures whose costs an estimate counts


def tasks_of(snapshot: Snapshot, campaign: int) -> list[Task]:
    """Return the live tasks of a campaign in the order of the plan, as answers show them."""
    return list(plan_of(snapshot, campaign).tasks.values())


@dataclass(frozen=True)
class Plan:
    """
    A campaign with its live tasks, as answers show them, in the order of the plan.

    Attributes:
        tasks: by number.
        settled: what they need outside of the plan that counts as complete: archived tasks that were.
    """

    campaign: Campaign
    tasks: Mapping[int, Task]
    settled: frozenset[str]

    @property
    def is_open(self) -> bool:
        """Whether the campaign has not ended."""
        return self.campaign.status == "active"

    @cached_property
    def stopped(self) -> dict[str, list[str]]:
        """The tasks that cannot run as things are, each with what stops it; none of a campaign that has ended."""
        return unreachable(self.tasks.values(), self.settled) if self.is_open else {}

    @property
    def ready(self) -> list[Task]:
        """The tasks that can start now; none of a campaign that has ended."""
        return ready_tasks(list(self.tasks.values()), self.settled) if self.is_open else []

    @property
    def state(self) -> CampaignStage:
        """Where the campaign is; one that has ended is as it ended."""
        ended = self.campaign.status
        return ended if ended != "active" else state_of(list(self.tasks.values()), self.stopped)

    @property
    def unmarked(self) -> dict[int, list[str]]:
        """What stops each task, by key, of those whose rows do not say so: nothing where one can run again."""
        found = {number: self.stopped.get(task.ref, []) for number, task in self.tasks.items()}
        return {
            number: [self.keys.get(ref, ref) for ref in causes]
            for number, causes in found.items()
            if (causes or self.tasks[number].status == "unreachable") and not is_marked(self.tasks[number], causes)
        }

    @cached_property
    def keys(self) -> dict[str, str]:
        """The references by key, by shown reference."""
        return {task.ref: task.key_ref for task in self.tasks.values()}

    def moved(self, number: int, status: str) -> "Plan":
        """Return the plan with a task in another state."""
        moved = self.tasks[number].model_copy(update={"status": status})
        return Plan(self.campaign, {**self.tasks, number: moved}, self.settled)


def is_marked(task: Task, causes: Sequence[str]) -> bool:
    """Return whether a task is unreachable already, and for these causes; all by shown name."""
    marked = [ref for ref in task.blocked_by if split_ref(ref)[0] == "task"]
    return task.status == "unreachable" and bool(causes) and marked == list(causes)


def plan_of(snapshot: Snapshot, number: int) -> Plan:
    """Return the plan of a campaign."""
    campaign = snapshot.catalog.records([number])[number]
    assert isinstance(campaign, Campaign)
    steps = snapshot.catalog.steps([number], ["part_of"], "in")
    records = snapshot.catalog.records([step.far for step in steps])
    tasks = {one: record for one, record in records.items() if isinstance(record, Task)}
    ordered = dict(sorted(tasks.items(), key=lambda item: (item[1].seq, item[1].name)))
    needed = {need for task in tasks.values() for need in task.depends}.difference(task.ref for task in tasks.values())
    known = snapshot.catalog.known(needed)
    outside = snapshot.catalog.records(set(known.values()))
    settled = {ref for ref, one in known.items() if getattr(outside.get(one), "status", None) == "complete"}
    return Plan(campaign, ordered, frozenset(settled))


def campaign_of(snapshot: Snapshot, ref: str) -> tuple[int, Campaign]:
    """Return a campaign by reference or name."""
    number = snapshot.resolve(ref, ["campaign"])
    refuse_archived(snapshot.catalog, number)
    record = snapshot.catalog.records([number])[number]
    assert isinstance(record, Campaign)
    return number, record


def create(client: Client, request: CreateCampaignRequest) -> Changed:
    """Begin a campaign; where its sections are given, with what failures cost that are known for it."""
    fields = dict(request.row)
    if request.sections is not None and request.failure_cost_k is None:
        fields["failure_cost_k"] = known_cost(client, request.objective)
    return add(client, request.kind, fields, **request.options)


def known_cost(client: Client, objective: str) -> float:
    """Return what the failures cost that are near an objective, in thousands of tokens."""
    found = query(client, QueryRequest(text=objective, kinds=("failure",)))
    near = [hit.record for hit in found.results if hit.band in NEAR or hit.tier in NEAR]
    return sum(one.cost or 0.0 for one in near if isinstance(one, Failure)) if found.known != "false" else 0.0


def status(client: Client, request: CampaignRequest) -> CampaignStanding:
    """Return where a campaign is."""
    with client.reading() as snapshot, collector_paused():
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
        disagreements=list(disagreements(snapshot, plan)),
        duplicates=sorted(seq for seq, times in seqs.items() if times > 1),
        estimate=estimate_of(snapshot, plan.campaign),
        actual=actual_of(tasks),
        tasks=tasks,
        changed=sorted(plan.tasks[number].ref for number in changed_tasks),
    )


def disagreements(snapshot: Snapshot, plan: Plan) -> Iterator[Disagreement]:
    """Yield the tasks that two branches moved to different states."""
    for number, moves in task_moves(snapshot, plan.tasks, is_unsettled=True).items():
        if text := disagreement_text(moves):
            yield Disagreement(ref=plan.tasks[number].ref, text=text)


def estimate_of(snapshot: Snapshot, campaign: Campaign) -> Estimate | None:
    """Return how large a campaign was thought to be; None if it was not estimated."""
    if campaign.sections is None:
        return None
    points = points_of(campaign)
    return Estimate(complexity=points, tasks=planned_task_count(points), usual=usual(snapshot))


def points_of(campaign: Campaign) -> float:
    """Return the complexity of a campaign that has an estimate."""
    return complexity(campaign.sections or 0, campaign.failure_cost_k or 0.0, campaign.framework_level or 0)


def usual(snapshot: Snapshot) -> float | None:
    """Return how many tasks the finished campaigns took for each that was estimated."""
    campaigns = snapshot.catalog.of_kind(Campaign).values()
    return usual_ratio(
        (planned_task_count(points_of(one)), one.fingerprint.tasks)
        for one in campaigns
        if one.status in FINISHED and one.sections is not None and one.fingerprint is not None
    )


def campaign_sizes(snapshot: Snapshot) -> CampaignSizes | None:
    """Return what finished campaigns took on the mean; None where none is finished."""
    finished = {number: one for number, one in snapshot.catalog.of_kind(Campaign).items() if one.status in FINISHED}
    if not finished:
        return None
    took = [actual_of(tasks_of(snapshot, number)) for number in finished]
    return CampaignSizes(
        finished=len(finished),
        tasks=fmean(one.tasks for one in took),
        minutes=fmean(one.minutes for one in took),
        estimated=sum(one.sections is not None for one in finished.values()),
        usual=usual(snapshot),
    )


def actual_of(tasks: Sequence[Task]) -> Actual:
    """Return what tasks took."""
    finished = [task for task in tasks if task.status == "complete"]
    times = [task.completed_at - task.started_at for task in finished if task.completed_at and task.started_at]
    return Actual(
        tasks=len(tasks),
        finished=len(finished),
        minutes=round(sum(max(0.0, time.total_seconds()) for time in times) / 60, 2),
        budget=sum(task.budget or 0.0 for task in tasks),
        spent=sum(task.spent or 0.0 for task in tasks),
        blocked=sum(task.blocked_at is not None for task in tasks),
    )


def ready(client: Client, request: ReadyRequest) -> Ready:
    """Return the tasks that can start now: pending, every parent complete."""
    with client.reading() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref)
        return Ready(campaign=campaign.ref, ready=plan_of(snapshot, number).ready)


def complete(client: Client, request: CompleteCampaignRequest) -> CampaignTasks:
    """Finish a campaign: note its fingerprint, and link the failures that blocked its tasks as seen together."""
    request = screened(client, request, "campaign")
    with client.writing() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref)
        tasks = tasks_of(snapshot, number)
        if campaign.status != "active":
            raise Refused(f"campaign {campaign.name!r} is {campaign.status} already", hint="legal from there: none")
        if request.status in (None, "complete"):
            refuse_open(campaign, tasks)
        changes = {
            "status": request.status or "complete",
            "completed_at": client.now(),
            "outcome": request.outcome,
            "fingerprint": fingerprint(campaign, tasks).model_dump(),
        }
        after = changed(snapshot.catalog.stored(number), changes, client.now())
        assert isinstance(after, Campaign)
        symmetric = client.ledger.symmetric
        said = {"from": campaign.status, "to": after.status, "outcome": request.outcome}
        ended = event(client, "campaign-completed", after.edited["status"], after.key_ref, said)
        edges = [entry(edge, symmetric) for edge in seen_together(snapshot, tasks)]
        snapshot.commit([entry(after, symmetric), ended, *edges])
        record = snapshot.catalog.records([number])[number]
        return CampaignTasks(campaign=record.ref, record=record, tasks=tasks_of(snapshot, number))


def refuse_open(campaign: Campaign, tasks: Sequence[Task]) -> None:
    """Raise ``Refused`` for a campaign that is not complete; the message names the tasks that are open."""
    left = [f"{task.ref} ({task.status})" for task in tasks if task.status != "complete"]
    if left:
        more = f" and {len(left) - MOST_OPEN:,} more" if len(left) > MOST_OPEN else ""
        raise Refused(
            f"{campaign.ref} has {counted(len(left), 'open task')}: {', '.join(left[:MOST_OPEN])}{more}",
            hint=f"end it as partial: {command('graphmem', 'campaign', 'complete', campaign.name, '--partial')}",
        )


def fingerprint(campaign: Campaign, tasks: Sequence[Task]) -> Fingerprint:
    """Return what `similar` compares of a campaign."""
    return Fingerprint(
        delta=tuple(sorted({file for task in tasks for file in task.delta})),
        tasks=len(tasks),
        framework=campaign.framework,
        task_types=dict(sorted(Counter(task.type for task in tasks).items())),
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


def similar(client: Client, request: SimilarRequest) -> Similar:
    """Return finished campaigns that resemble a campaign or an objective (docs/concepts/campaigns.md)."""
    if not request.text.strip():
        raise BadInput("the objective is empty", hint='say what it is for: graphmem similar "add a login page"')
    client.sync()
    client.embed_missing(lambda: campaign_numbers(client))
    with client.reading() as snapshot:
        return find_similar(snapshot, request)


def campaign_numbers(client: Client) -> list[int]:
    """Return the live campaigns, by number."""
    return [number for number, *_ in client.catalog.live_rows("campaign")]


def find_similar(snapshot: Snapshot, request: SimilarRequest) -> Similar:
    """Return the finished campaigns of a snapshot that resemble a campaign or an objective."""
    text, threshold = request.text, request.threshold
    bound = snapshot.settings.retrieval.similar_threshold if threshold is None else threshold
    number, campaign = asked_campaign(snapshot, text)
    objective = campaign.objective if campaign else text
    mine = own_fingerprint(snapshot, number, campaign) if campaign and number is not None else None
    others = snapshot.catalog.records(
        [other for other, *_ in snapshot.catalog.live_rows("campaign") if other != number]
    )
    finished = {n: c for n, c in others.items() if isinstance(c, Campaign) and c.status in FINISHED}
    likeness = objective_likeness(snapshot, objective, finished)
    results = []
    for other, record in finished.items():
        parts = compare(likeness[other], mine, record.fingerprint or Fingerprint())
        total = parts.objective if mine is None else weighed(parts)
        if total >= bound:
            results.append(described(snapshot, other, record, total, parts))
    results.sort(key=lambda found: (-found.similarity, found.ref))
    return Similar(objective=objective, results=results[: request.limit])


def asked_campaign(snapshot: Snapshot, text: str) -> tuple[int | None, Campaign | None]:
    """Return the campaign that a text names, if it names one; a reference that names none is an error."""
    if not text.startswith("campaign/") and not snapshot.catalog.anywhere(text, ["campaign"]):
        return None, None  # an error would look among all names for what was meant
    try:
        number = snapshot.resolve(text, ["campaign"])
    except NotFound:
        if text.startswith("campaign/"):
            raise
        return None, None
    record = snapshot.catalog.records([number])[number]
    assert isinstance(record, Campaign)
    return number, record


def own_fingerprint(snapshot: Snapshot, number: int, campaign: Campaign) -> Fingerprint:
    """Return the fingerprint of a campaign: the stored one, or what it would be now."""
    return campaign.fingerprint or fingerprint(campaign, tasks_of(snapshot, number))


def objective_likeness(snapshot: Snapshot, objective: str, others: dict[int, Campaign]) -> dict[int, float]:
    """Return the cosine of an objective with those of other campaigns; of their terms where there is no model."""
    if not others:
        return {}  # the objective need not be embedded
    if snapshot.vectors is not None and snapshot.embedder is not None:
        with snapshot.client.asking_model():
            vector = snapshot.embedder.encode_documents([objective])[0]
            found = {number: float(row @ vector) for number, row in snapshot.vectors.of(others)}
            return {number: min(1.0, max(0.0, found.get(number, 0.0))) for number in others}
    mine = set(query_terms(objective))
    return {number: term_cosine(mine, set(query_terms(record.objective))) for number, record in others.items()}


def term_cosine(left: set[str], right: set[str]) -> float:
    """Return the cosine of two sets of terms."""
    return len(left & right) / math.sqrt(len(left) * len(right)) if left and right else 0.0


def compare(objective: float, mine: Fingerprint | None, other: Fingerprint) -> Parts:
    """Return the three parts of a similarity; a bare objective has only the first."""
    if mine is None:
        return Parts(objective=objective, files=0.0, size=0.0)
    files = overlap(set(mine.delta), set(other.delta))
    return Parts(objective=objective, files=files, size=size_likeness(mine.tasks, other.tasks))


def weighed(parts: Parts) -> float:
    """Return the similarity of two campaigns from its parts."""
    return OBJECTIVE_SHARE * parts.objective + FILES_SHARE * parts.files + SIZE_SHARE * parts.size


def described(snapshot: Snapshot, number: int, record: Record, total: float, parts: Parts) -> SimilarCampaign:
    """Return a similar campaign with what blocked it and what its tasks used."""
    tasks = tasks_of(snapshot, number)
    known = snapshot.catalog.known({ref for task in tasks for ref in (*task.blocked_by, *task.utilized)})
    names = snapshot.catalog.refs(set(known.values()))
    current = {ref: names[found] for ref, found in known.items()}
    blocked = {current.get(ref, ref) for task in tasks for ref in task.blocked_by}
    used = {current.get(ref, ref) for task in tasks for ref in task.utilized}
    outcome = record.outcome if isinstance(record, Campaign) else None
    return SimilarCampaign(
        ref=record.ref,
        similarity=total,
        parts=parts,
        outcome=outcome,
        blocked_by=sorted(blocked),
        solved_by=sorted(used),
        took=actual_of(tasks),
        record=record,
    )
