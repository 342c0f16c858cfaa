"""Experiences: taken in with what the store allows, offered for a task, and promoted to insights."""

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from pydantic import Field

from graphmem.constants import PROMOTE_SIMILARITY
from graphmem.core.records.experience import Agreement, agreements, by_worth, offered, share_keywords, statements_of
from graphmem.core.records.record_contract import AddRequest, Listed
from graphmem.core.records.validation import build, changed, identified
from graphmem.features.learning.lessons import OfferedLesson
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Experience, Insight
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.kernel.model.insight import Category
from graphmem.kernel.parameters import DryRun, Name, Sources, Supersedes, Tags, Texts, Verbatim, Yes
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.names import row_id


class AddExperienceRequest(AddRequest):
    """What a finished task taught."""

    kind: ClassVar[str] = "experience"

    task_type: ExperienceType = Field(description="Type of the task")
    description: str = Field(description="What the task was")
    approach: str = Field(description="Approach that was taken")
    outcome: Outcome = Field(description="Outcome of the task")
    lessons: Texts = Field(description="Lessons that the task taught, for the next time")
    name: Name = None
    time_taken: float | None = Field(None, description="Minutes that the task took")
    complexity_estimated: Complexity | None = Field(None, description="Estimated complexity of the task")
    complexity_actual: Complexity | None = Field(None, description="Complexity of the task as it turned out")
    capabilities_used: Texts | None = Field(None, description="Tools and skills that the task was done with")
    confidence: Confidence | None = Field(
        None, description="Confidence in the experience; low while there are few experiences"
    )
    tags: Tags = None
    sources: Sources = None
    dry_run: DryRun = False
    verbatim: Verbatim = False
    supersedes: Supersedes = None


class RecallRequest(Request):
    """Which experiences to recall: those with this type of task, or with one of the tags."""

    task_type: ExperienceType | None = Field(None, description="Type of the task")
    tags: Texts = Field((), description="Tags of the task")


class PromoteRequest(Request):
    """How to find what experiences agree on."""

    category: Category | None = Field(None, description="Category of the insights; the likely one if not given")
    yes: Yes = False


class Recalled(Answer):
    """Experiences with tasks of a kind, newest first, and their lessons, those of sure or successful ones first."""

    experiences: list[Listed[Experience]]
    lessons: list[OfferedLesson]


class Promotion(Part):
    """What several experiences agree on; ``said`` is in their words."""

    ref: str
    action: Literal["created", "updated"]
    category: Category
    statement: str
    experiences: list[str]
    occurrences: int
    confidence: Confidence
    said: list[str]


class Promoted(Answer):
    """What was promoted; ``done`` is false where it was only shown."""

    done: bool
    promotions: list[Promotion]


@operation(
    "experiences.recall",
    past=True,
    scoped=True,
    from_files=True,
    command="experience",
    takes={"task_type": Taken(flag="--type")},
    help="Show the newest experiences with tasks of this type or with one of these tags, then their lessons.",
    example="graphmem experience --type bug --tag auth",
)
def recall(snapshot: Snapshot, request: RecallRequest) -> Recalled:
    """Return the newest experiences with this type of task or one of these tags, and their lessons."""
    numbers = [
        row_id(one.key_ref)
        for one in offered(snapshot.catalog.of_kind(Experience).values(), request.task_type, request.tags)
    ]
    records = snapshot.catalog.records(numbers)
    found = [record for number in numbers if isinstance(record := records[number], Experience)]
    lessons = [
        OfferedLesson(text=text, ref=one.ref, confidence=one.confidence, outcome=one.outcome)
        for one in by_worth(found)
        for text in one.lessons
    ]
    return Recalled(experiences=[Listed(ref=one.ref, record=one) for one in found], lessons=lessons)


# --- insights ------------------------------------------------------------------------------------------------------


@operation(
    "experiences.promote",
    writes=True,
    previews="yes",
    command="experience insights",
    example="graphmem experience insights --yes",
    help="Find what experiences of different days and tasks agree on, and write it as insights.",
)
def promote(client: Client, request: PromoteRequest) -> Promoted:
    """
    Find what experiences of different days and tasks agree on; ``yes`` writes it as insights.

    An insight that says it already is given the experiences it lacks; one that was archived stays archived.
    The texts are embedded before the lock is taken.
    """
    if client.vectors is not None:
        with client.reading() as snapshot:
            texts = [one.text for one in statements_of(snapshot.catalog.of_kind(Experience).values())]
        client.embed_ahead(texts)
    with client.deciding(is_real=request.yes) as snapshot:
        statements = statements_of(snapshot.catalog.of_kind(Experience).values())
        is_alike = _likeness(snapshot, [one.text for one in statements])
        insights = list(snapshot.catalog.of_kind(Insight, is_live=False).values())
        puts: list[Entry] = []
        shown: list[Promotion] = []
        for agreement in agreements(statements, is_alike):
            made, action = _promoted(snapshot, agreement, insights, request.category)
            if made is None or action == "unchanged":
                continue
            insights = [*(one for one in insights if one.key_ref != made.key_ref), made]
            puts.append(entry(made, snapshot.symmetric))
            shown.append(
                Promotion(
                    ref=made.ref,
                    action=action,
                    category=made.category,
                    statement=made.statement,
                    experiences=list(made.derived_from),
                    occurrences=made.occurrences,
                    confidence=made.confidence,
                    said=[one.text for one in agreement.statements],
                )
            )
        if isinstance(snapshot, Writing) and puts:
            snapshot.commit(puts)
        return Promoted(done=request.yes, promotions=shown)


def _promoted(
    snapshot: Snapshot, agreement: Agreement, insights: list[Insight], category: Category | None
) -> tuple[Insight | None, Literal["created", "updated", "unchanged"]]:
    """Return the insight that an agreement comes to, and what writing it does; none where it was archived."""
    texts = {one.text for one in agreement.statements}
    for insight in insights:
        if " ".join(insight.statement.split()) in texts or share_keywords(insight.statement, agreement.statement):
            if insight.is_archived:
                return None, "unchanged"
            both = sorted({*insight.derived_from, *agreement.experiences})
            after = changed(insight, {"derived_from": both}, snapshot.now)
            return after, "unchanged" if after is insight else "updated"
    fields: dict[str, Any] = {
        "category": category or agreement.category,
        "statement": agreement.statement,
        "derived_from": list(agreement.experiences),
    }
    made = build("insight", {**fields, "name": "unnamed"}, snapshot.now)
    assert isinstance(made, Insight)
    taken = {insight.ref: insight.key_ref for insight in insights}
    made = identified(snapshot.catalog, made, taken)
    return made, "created"


def _likeness(snapshot: Snapshot, texts: list[str]) -> Callable[[int, int], bool]:
    """Return a function that decides whether two texts, by their places, say the same: by keywords or by meaning."""
    vectors = snapshot.client.document_vectors(texts) if texts else None
    cosines = None if vectors is None else vectors @ vectors.T

    def is_alike(left: int, right: int) -> bool:
        if share_keywords(texts[left], texts[right]):
            return True
        return cosines is not None and float(cosines[left, right]) >= PROMOTE_SIMILARITY

    return is_alike
