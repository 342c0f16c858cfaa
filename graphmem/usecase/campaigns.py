"""Campaigns: a plan of tasks in the graph, what can start, what came of it, what resembles it."""

import math
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

from graphmem.catalog.words import query_terms
from graphmem.constants import FILES_SHARE, OBJECTIVE_SHARE, SIZE_SHARE
from graphmem.contract.campaigns import (
    AddTasksRequest,
    CampaignTasks,
    CompleteCampaignRequest,
    Parts,
    Ready,
    ReadyRequest,
    Similar,
    SimilarCampaign,
    SimilarRequest,
)
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.ledger.row import entry
from graphmem.model import Campaign, Record, Relation, Task
from graphmem.model.campaign import FINISHED, Fingerprint
from graphmem.names import edge_key, row_id, split_ref
from graphmem.rules.limits import refuse_oversize
from graphmem.rules.plan import planned_tasks, ready_tasks
from graphmem.rules.score import overlap, size_likeness
from graphmem.runtime import Client, Snapshot
from graphmem.usecase.records.screening import screened
from graphmem.usecase.records.validation import changed, refuse_archived


def tasks_of(snapshot: Snapshot, campaign: int) -> list[Task]:
    """Return the live tasks of a campaign in the order of the plan, as answers show them."""
    steps = snapshot.catalog.steps([campaign], ["part_of"], "in")
    records = snapshot.catalog.records([step.far for step in steps]).values()
    return sorted((record for record in records if isinstance(record, Task)), key=lambda task: (task.seq, task.name))


def campaign_of(snapshot: Snapshot, ref: str) -> tuple[int, Campaign]:
    """Return a campaign by reference or name."""
    number = snapshot.resolve(ref, ["campaign"])
    refuse_archived(snapshot.catalog, number)
    record = snapshot.catalog.records([number])[number]
    assert isinstance(record, Campaign)
    return number, record


def add_tasks(client: Client, request: AddTasksRequest) -> CampaignTasks:
    """Add the tasks of a plan to a campaign, all or none."""
    request = screened(client, request, "tasks")
    with client.writing() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref)
        if campaign.status != "active":
            raise Refused(f"campaign {campaign.name!r} is {campaign.status}; it takes no more tasks")
        stored = snapshot.catalog.stored(number)
        existing = [snapshot.catalog.stored(row_id(f"task/{task.key}")) for task in tasks_of(snapshot, number)]
        assert isinstance(stored, Campaign)
        made = planned_tasks(stored, request.plan, [task for task in existing if isinstance(task, Task)], client.now())
        for task in made:
            refuse_oversize(task)
            if snapshot.catalog.has(row_id(task.key_ref)):
                raise Refused(f"{task.ref} is there already", hint="take another seq or slug")
        client.ledger.commit([entry(task, client.ledger.symmetric) for task in made])
        return CampaignTasks(campaign=campaign.ref, record=campaign, tasks=tasks_of(snapshot, number))


def ready(client: Client, request: ReadyRequest) -> Ready:
    """Return the tasks that can start now: pending, every parent complete."""
    with client.reading() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref)
        tasks = tasks_of(snapshot, number)
        needed = snapshot.catalog.known(
            {parent for task in tasks for parent in task.depends}.difference(task.ref for task in tasks)
        )
        archived = [record for record in snapshot.catalog.records(needed.values()).values() if isinstance(record, Task)]
        return Ready(campaign=campaign.ref, ready=ready_tasks(tasks, archived))


def complete(client: Client, request: CompleteCampaignRequest) -> CampaignTasks:
    """Finish a campaign: note its fingerprint, and link the failures that blocked its tasks as seen together."""
    request = screened(client, request, "campaign")
    with client.writing() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref)
        tasks = tasks_of(snapshot, number)
        if campaign.status != "active":
            raise Refused(f"campaign {campaign.name!r} is {campaign.status} already", hint="legal from there: none")
        is_done = all(task.status == "complete" for task in tasks)
        changes = {
            "status": request.status or ("complete" if is_done else "partial"),
            "completed_at": client.now(),
            "outcome": request.outcome,
            "fingerprint": fingerprint(campaign, tasks).model_dump(),
        }
        after = changed(snapshot.catalog.stored(number), changes, client.now())
        symmetric = client.ledger.symmetric
        client.ledger.commit(
            [entry(after, symmetric), *(entry(edge, symmetric) for edge in seen_together(snapshot, tasks))]
        )
        record = snapshot.catalog.records([number])[number]
        return CampaignTasks(campaign=record.ref, record=record, tasks=tasks_of(snapshot, number))


def fingerprint(campaign: Campaign, tasks: Sequence[Task]) -> Fingerprint:
    """Return what `similar` compares of a campaign."""
    return Fingerprint(
        delta=tuple(sorted({file for task in tasks for file in task.delta})),
        tasks=len(tasks),
        framework=campaign.framework,
        task_types=dict(sorted(Counter(task.type for task in tasks).items())),
    )


def seen_together(snapshot: Snapshot, tasks: Sequence[Task]) -> list[Relation]:
    """Return the co_occurs edges that are still missing between the failures that blocked these tasks."""
    refs = {ref for task in tasks for ref in task.blocked_by if split_ref(ref)[0] == "failure"}
    failures = sorted(key for _, key in snapshot.catalog.live(refs).values())
    edges = []
    for source, target in combinations(failures, 2):
        if snapshot.catalog.relation(row_id(edge_key(source, "co_occurs", target, symmetric=True))) is None:
            row: dict[str, Any] = {"kind": "relation", "from": source, "type": "co_occurs", "to": target}
            edges.append(Relation.model_validate({**row, "created_at": snapshot.now}))
    return edges


def similar(client: Client, request: SimilarRequest) -> Similar:
    """Return finished campaigns that resemble a campaign or an objective (docs/concepts/campaigns.md)."""
    text, threshold = request.text, request.threshold
    if not text.strip():
        raise BadInput("the objective is empty", hint='say what it is for: graphmem similar "add a login page"')
    bound = client.settings.retrieval.similar_threshold if threshold is None else threshold
    client.sync()
    client.embed_missing(lambda: [number for number, *_ in client.catalog.live_rows("campaign")])
    with client.reading() as snapshot:
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
        record=record,
    )
