"""What operations on campaigns take and return."""

from typing import ClassVar, Literal

from pydantic import Field

from graphmem.constants import SIMILAR_MAX, SIMILAR_THRESHOLD
from graphmem.contract.answer import Answer, Part, Shown
from graphmem.contract.parameters import Name, Sources, Tags
from graphmem.contract.records import AddRequest
from graphmem.contract.request import Request
from graphmem.errors import BadInput, GraphmemError

PLAN_EXAMPLE = 'such as {"tasks": [{"seq": 1, "objective": "…"}]}'
CampaignStage = Literal["complete", "all_blocked", "stuck", "in_progress", "partial", "failed"]
FinalStatus = Literal["complete", "partial", "failed"]


class CreateCampaignRequest(AddRequest):
    """A campaign to begin: work that is more than one task."""

    kind: ClassVar[str] = "campaign"

    objective: str = Field(description="What the campaign is for")
    name: Name = None
    framework: str | None = Field(None, description="Framework or tool that the work is built with")
    tags: Tags = None
    sources: Sources = None
    sections: int | None = Field(None, ge=0, description="Sections of the specification, for an estimate of its size")
    framework_level: int | None = Field(None, ge=0, description="How unknown the framework is: 0 for well known")
    failure_cost_k: float | None = Field(
        None,
        ge=0,
        allow_inf_nan=False,
        description="Thousands of tokens that known failures cost; with sections, what the memory knows if not given",
    )


class AddTasksRequest(Request):
    """The tasks of a plan, to be added all or none."""

    ref: str = Field(description="The campaign")
    plan: object = Field(description='Tasks in JSON: a list, or {"tasks": […]}')


class ReadyRequest(Request):
    """Of which campaign to return the tasks that can start now."""

    ref: str = Field(description="The campaign")


class CompleteCampaignRequest(Request):
    """Which campaign to finish, and how it ended."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    ref: str = Field(description="The campaign")
    outcome: str | None = Field(None, description="Outcome of the campaign, in words")
    status: FinalStatus | None = Field(
        None, description="How the campaign ended; partial or failed where tasks are open"
    )


class SimilarRequest(Request):
    """Which finished campaigns to return: those that resemble a campaign or an objective."""

    text: str = Field(description="A campaign, or an objective in words")
    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description=f"Return only campaigns at least this similar; the setting ({SIMILAR_THRESHOLD:g}) if not given",
    )
    limit: int = Field(SIMILAR_MAX, ge=1, description="Return at most this many campaigns")


class CampaignRequest(Request):
    """Which campaign."""

    ref: str = Field(description="The campaign")


class MergePlanRequest(AddTasksRequest):
    """The tasks that take the place of the unfinished part of a plan, all or none."""


class Estimate(Part):
    """
    How large a campaign was thought to be, in points and tasks.

    ``usual`` is how many tasks finished campaigns took for each estimated one, the median; None before the first.
    """

    complexity: float
    tasks: int
    usual: float | None


class Actual(Part):
    """What a campaign took so far: ``minutes`` from start to end of its finished tasks, ``spent`` of their budgets."""

    tasks: int
    finished: int
    minutes: float
    budget: float
    spent: float
    blocked: int


class Stopped(Part):
    """A task that cannot run as things are, and what stops it."""

    ref: str
    blocked_by: list[str]


class Disagreement(Part):
    """A task that two branches moved to different states, in words; the later move decides."""

    ref: str
    text: str


class CampaignStanding(Answer):
    """
    Where a campaign is, with its tasks in the order of the plan.

    ``state`` of a campaign that has ended is how it ended; else it is ``complete`` where every task is, ``all_blocked``
    where nothing that is left can run, ``stuck`` where some of it cannot, else ``in_progress``.
    ``changed`` are the tasks that ``propagate`` wrote, ``duplicates`` the numbers that two tasks have after a merge.
    """

    campaign: str
    state: CampaignStage
    counts: dict[str, int]
    ready: list[str]
    unreachable: list[Stopped]
    replan_suggested: bool
    disagreements: list[Disagreement]
    duplicates: list[str]
    estimate: Estimate | None
    actual: Actual
    tasks: list[Shown]
    changed: list[str] = []


class CompletedWork(Part):
    """A task that is complete, for a planner; ``delivered`` is cut to 200 characters."""

    ref: str
    seq: str
    delivered: str | None


class BlockedWork(Part):
    """A task that is blocked, for a planner."""

    ref: str
    seq: str
    reason: str | None


class ReplanInput(Answer):
    """What a planner needs to plan the unfinished part of a campaign again."""

    campaign: str
    objective: str
    completed: list[CompletedWork]
    blocked: list[BlockedWork]
    remaining: list[Shown]


class MergedPlan(Answer):
    """What became of the tasks of a campaign; ``removed`` ones are archived."""

    campaign: str
    kept: list[str]
    added: list[str]
    changed: list[str]
    removed: list[str]
    tasks: list[Shown]


class Parts(Part):
    """The three parts of the similarity of two campaigns."""

    objective: float
    files: float
    size: float


class SimilarCampaign(Part):
    """A finished campaign that resembles the one asked about."""

    ref: str
    similarity: float
    parts: Parts
    outcome: str | None
    blocked_by: list[str]
    solved_by: list[str]
    took: Actual
    record: Shown


class Similar(Answer):
    """Finished campaigns, most similar first."""

    objective: str
    results: list[SimilarCampaign]


class CampaignTasks(Answer):
    """A campaign with its tasks, in the order of the plan."""

    campaign: str
    record: Shown
    tasks: list[Shown]


class Ready(Answer):
    """The tasks of a campaign that can start now."""

    campaign: str
    ready: list[Shown]
