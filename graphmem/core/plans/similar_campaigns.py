"""Which campaigns that have ended resemble a campaign or an objective (docs/concepts/campaigns.md)."""

import math
from collections import Counter
from collections.abc import Sequence

from graphmem.constants import FILES_SHARE, OBJECTIVE_SHARE, SIZE_SHARE
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.score import overlap, size_likeness
from graphmem.core.plans.campaign_contract import Parts, Similar, SimilarCampaign, SimilarRequest
from graphmem.core.plans.campaign_plan import actual_of, tasks_of
from graphmem.errors import BadInput, NotFound
from graphmem.kernel.catalog.words import query_terms
from graphmem.kernel.model import Campaign, Task
from graphmem.kernel.model.campaign import Fingerprint
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot


def fingerprint(campaign: Campaign, tasks: Sequence[Task]) -> Fingerprint:
    """Return what `similar` compares of a campaign."""
    return Fingerprint(
        delta=tuple(sorted({file for task in tasks for file in task.delta})),
        tasks=len(tasks),
        framework=campaign.framework,
        task_types=dict(sorted(Counter(task.type for task in tasks).items())),
    )


@operation(
    "similar",
    past=True,
    scoped=True,
    example='graphmem similar "add a login page"',
    takes={"text": Taken("CAMPAIGN-OR-OBJECTIVE", "campaign"), "limit": Taken(flag="--max")},
)
def similar(client: Client, request: SimilarRequest) -> Similar:
    """
    Return campaigns that have ended in any way and resemble a campaign or an objective.

    What has no vector is embedded before the moment: a model may be asked.
    """
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
    """Return the campaigns of a snapshot that have ended and resemble a campaign or an objective."""
    text, threshold = request.text, request.threshold
    bound = snapshot.settings.retrieval.similar_threshold if threshold is None else threshold
    number, campaign = _asked_campaign(snapshot, text)
    objective = campaign.objective if campaign else text
    mine = None
    if campaign and number is not None:
        mine = campaign.fingerprint or fingerprint(campaign, tasks_of(snapshot, number))
    others = snapshot.catalog.records(
        [other for other, *_ in snapshot.catalog.live_rows("campaign") if other != number]
    )
    ended = {n: c for n, c in others.items() if isinstance(c, Campaign) and c.has_ended}
    likeness = _objective_likeness(snapshot, objective, ended)
    results = []
    for other, record in ended.items():
        parts = _compare(likeness[other], mine, record.fingerprint or Fingerprint())
        total = parts.objective if mine is None else _weighed(parts)
        if total >= bound:
            results.append(described(snapshot, other, record, total, parts))
    results.sort(key=lambda found: (-found.similarity, found.ref))
    return Similar(objective=objective, results=results[: request.limit])


def _asked_campaign(snapshot: Snapshot, text: str) -> tuple[int | None, Campaign | None]:
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


def _objective_likeness(snapshot: Snapshot, objective: str, others: dict[int, Campaign]) -> dict[int, float]:
    """Return the cosine of an objective with those of other campaigns; of their terms where there is no model."""
    if not others:
        return {}  # the objective need not be embedded
    if snapshot.vectors is not None and snapshot.client.embedder is not None:
        with snapshot.client.asking_model():
            vector = snapshot.client.embedder.encode_documents([objective])[0]
            found = {number: float(row @ vector) for number, row in snapshot.vectors.of(others)}
            return {number: min(1.0, max(0.0, found.get(number, 0.0))) for number in others}
    mine = set(query_terms(objective))
    return {number: _term_cosine(mine, set(query_terms(record.objective))) for number, record in others.items()}


def _term_cosine(left: set[str], right: set[str]) -> float:
    """Return the cosine of two sets of terms."""
    return len(left & right) / math.sqrt(len(left) * len(right)) if left and right else 0.0


def _compare(objective: float, mine: Fingerprint | None, other: Fingerprint) -> Parts:
    """Return the three parts of a similarity; a bare objective has only the first."""
    if mine is None:
        return Parts(objective=objective, files=0.0, size=0.0)
    files = overlap(set(mine.delta), set(other.delta))
    return Parts(objective=objective, files=files, size=size_likeness(mine.tasks, other.tasks))


def _weighed(parts: Parts) -> float:
    """Return the similarity of two campaigns from its parts."""
    return OBJECTIVE_SHARE * parts.objective + FILES_SHARE * parts.files + SIZE_SHARE * parts.size


def described(snapshot: Snapshot, number: int, record: Campaign, total: float, parts: Parts) -> SimilarCampaign:
    """Return a similar campaign with what blocked it and what its tasks used."""
    tasks = tasks_of(snapshot, number)
    known = snapshot.catalog.known({ref for task in tasks for ref in (*task.blocked_by, *task.utilized)})
    records, doubter = snapshot.catalog.records(set(known.values())), Doubter(snapshot)
    names = {found: one.ref for found, one in records.items()}
    doubts = {one.ref: marks for one in records.values() if (marks := [d for d in doubter.of(one) if d.is_mark])}
    current = {ref: names[found] for ref, found in known.items()}
    blocked = {current.get(ref, ref) for task in tasks for ref in task.blocked_by}
    used = {current.get(ref, ref) for task in tasks for ref in task.utilized}
    return SimilarCampaign(
        ref=record.ref,
        similarity=total,
        parts=parts,
        status=record.status,
        outcome=record.outcome,
        blocked_by=sorted(blocked),
        solved_by=sorted(used),
        doubts=doubts,
        took=actual_of(tasks),
        record=record,
    )
