"""What operations on campaigns take and return."""

import json
from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    JsonValue,
    PlainValidator,
    ValidationError,
    model_validator,
)

from graphmem.constants import SIMILAR_MAX, SIMILAR_THRESHOLD
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.records.record_contract import AddRequest
from graphmem.errors import BadInput
from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model import Campaign, Task
from graphmem.kernel.model.campaign import CampaignStatus
from graphmem.kernel.model.field import Item, Number, StringSet, Text, TextList
from graphmem.kernel.model.task import Confidence, Idioms, TaskType
from graphmem.kernel.parameters import Name, Sources, Tags
from graphmem.kernel.request import InputRequest, Request, complaint, shown

PLAN = {"tasks": [{"seq": 1, "objective": "…"}]}
PLAN_EXAMPLE = f"such as {json.dumps(PLAN, ensure_ascii=False)}"
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


def _sequence(value: object) -> str:
    """Return a sequence number as three digits."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= 999:
        return f"{value:03d}"
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= 3:
        return f"{int(value):03d}"
    raise ValueError('expected a number of up to three digits, such as 1 or "001"')


def _sequences(value: object) -> list[str]:
    """Return the sequence numbers that a task depends on, each once; it may have one, a list, or none."""
    if value is None or value == "none":
        return []
    return sorted({_sequence(item) for item in (value if isinstance(value, list | tuple) else [value])})


Digits = Annotated[str, Field(pattern=r"^\d{1,3}$")]
SeqInput = Annotated[int, Field(ge=0, le=999)] | Digits
Seq = Annotated[str, BeforeValidator(_sequence, json_schema_input_type=SeqInput)]
Needs = Annotated[
    tuple[str, ...],
    BeforeValidator(_sequences, json_schema_input_type=Literal["none"] | SeqInput | list[SeqInput] | None),
]
Slug = Annotated[str | None, BeforeValidator(lambda value: value if isinstance(value, str) else None)]


class PlannedTask(BaseModel):
    """
    A task of a plan, as a planner writes it; ``title`` is another name of ``objective``.

    Its state is no part of a plan: tasks are started, completed and blocked one at a time.
    """

    model_config = ConfigDict(defer_build=True, frozen=True, extra="allow")

    seq: Seq = Field(description="Number of the task in the plan")
    objective: Text | None = Field(None, description="What the task is for; only a task that is complete needs none")
    depends: Needs = Field((), description="Numbers of the tasks that must be complete before it")
    slug: Slug = Field(None, description="Its name after the number; made from the objective if not given")
    type: TaskType = Field("other", description="Sort of work")
    delta: StringSet = Field((), description="Files that it may change")
    verify: Text | None = Field(None, description="Command that shows that it is done")
    verify_source: Item | None = Field(None, description="Test file to read first")
    budget: Number | None = Field(None, description="How much it may spend, in any unit")
    framework: Text | None = Field(None, description="Framework or tool that it is built with")
    framework_confidence: Confidence | None = Field(None, description="How well the framework is known")
    idioms: Idioms | None = Field(None, description="What its code must and must not use")
    code_contexts: TextList = Field((), description="Pieces of code to show when it begins")
    preflight: JsonValue = Field(None, description="What was found out before it began")
    tags: StringSet = Field((), description="Words to find it by")

    @model_validator(mode="before")
    @classmethod
    def complete(cls, given: Any) -> Any:
        """Take a title as the objective, and ``null`` as not given."""
        if not isinstance(given, Mapping):
            return given
        values = {
            k: value for k, value in given.items() if not (k == "title" or (value is None and k in cls.model_fields))
        }
        return {"objective": given["title"], **values} if given.get("title") is not None else values


class TaskList(BaseModel):
    """A plan as an object."""

    model_config = ConfigDict(defer_build=True)

    tasks: list[PlannedTask] = Field(description="The tasks, in any order")


def _tasks_in(plan: object) -> tuple[PlannedTask, ...]:
    """
    Return the tasks of a plan.

    Raises:
        BadInput: it is not a list of tasks; the message has the place of the first task that does not check out.
    """
    rows = plan.get("tasks") if isinstance(plan, Mapping) else plan
    if not isinstance(rows, list | tuple):
        raise BadInput(f"a plan is a list of tasks, not {shown(plan)}", hint=PLAN_EXAMPLE)
    if not rows:
        raise BadInput("the plan has no tasks", hint=PLAN_EXAMPLE)
    return tuple(_planned(row, f"task {place}") for place, row in enumerate(rows, 1))


def _planned(row: object, called: str) -> PlannedTask:
    """Return a task of a plan, or raise ``BadInput``; ``called`` is its place."""
    try:
        return PlannedTask.model_validate(row)
    except ValidationError as error:
        field, message, hint = complaint(PlannedTask, error, called)
        raise BadInput(message, hint=hint, details={"field": field}) from None


def _valid_plan(plan: object) -> object:
    """Return a plan as it was given, once its tasks check out."""
    _tasks_in(plan)
    return plan


class AddTasksRequest(Request):
    """The tasks of a plan, to be added all or none."""

    ref: str = Field(description="The campaign")
    plan: Annotated[object, PlainValidator(_valid_plan, json_schema_input_type=list[PlannedTask] | TaskList)] = Field(
        description=f'Tasks in JSON: a list, or {{"tasks": […]}}; a task has {", ".join(PlannedTask.model_fields)}',
        examples=[PLAN],
    )

    @property
    def tasks(self) -> tuple[PlannedTask, ...]:
        """The tasks of the plan."""
        return _tasks_in(self.plan)


class ReadyRequest(Request):
    """Of which campaign to return the tasks that can start now."""

    ref: str = Field(description="The campaign")


class CompleteCampaignRequest(InputRequest):
    """Which campaign to finish, and how it ended."""

    ref: str = Field(description="The campaign")
    outcome: str | None = Field(None, description="Outcome of the campaign, in words")
    status: FinalStatus | None = Field(
        None, description="How the campaign ended; partial or failed where tasks are open"
    )


class SimilarRequest(Request):
    """Which campaigns that have ended to return: those that resemble a campaign or an objective."""

    asks: ClassVar[bool] = True

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

    ``usual`` is how many tasks campaigns that have ended took for each estimated one, the median; None before the
    first.
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
    tasks: list[Shown[Task]]
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
    remaining: list[Shown[Task]]


class MergedPlan(Answer):
    """What became of the tasks of a campaign; ``removed`` ones are archived."""

    campaign: str
    kept: list[str]
    added: list[str]
    changed: list[str]
    removed: list[str]
    tasks: list[Shown[Task]]


class Parts(Part):
    """The three parts of the similarity of two campaigns."""

    objective: float
    files: float
    size: float


class SimilarCampaign(Part):
    """A campaign that has ended and resembles the one asked about; ``doubts`` are about the records that it names."""

    ref: str
    similarity: float
    parts: Parts
    status: CampaignStatus
    outcome: str | None
    blocked_by: list[str]
    solved_by: list[str]
    doubts: dict[str, list[Doubt]] = {}
    took: Actual
    record: Shown[Campaign]


class Similar(Answer):
    """Campaigns that have ended, most similar first."""

    objective: str
    results: list[SimilarCampaign]


class CampaignTasks(Answer):
    """A campaign with its tasks, in the order of the plan."""

    campaign: str
    record: Shown[Campaign]
    tasks: list[Shown[Task]]


class Ready(Answer):
    """The tasks of a campaign that can start now."""

    campaign: str
    ready: list[Shown[Task]]


class CampaignSizes(Part):
    """
    What campaigns took that have ended, on the mean; ``finished`` is how many did, ``ended`` counts them by how.

    ``usual`` is how many tasks they took for each that was estimated, the median of ``estimated`` campaigns; None for
    none.
    """

    finished: int
    ended: dict[str, int]
    tasks: float
    minutes: float
    estimated: int
    usual: float | None
