"""A task: one step of a campaign, with what it needs and what it delivered."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict, computed_field

from graphmem.kernel.model.field import Item, Number, StringSet, Text, TextList, Time
from graphmem.kernel.model.record import Record, Refers
from graphmem.names import TASK_NAME

Confidence = Annotated[float, Strict(), Field(ge=0, le=1, allow_inf_nan=False)]
TaskType = Literal["spec", "impl", "test", "refactor", "docs", "other"]
TaskStatus = Literal["pending", "active", "complete", "blocked", "unreachable"]


class Idioms(BaseModel):
    """What a task's code must and must not use."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    required: StringSet = Field((), description="What the code must use")
    forbidden: StringSet = Field((), description="What the code must not use")


class Task(Record):
    """A node of a campaign's plan; ``depends`` are references to the tasks that must be complete before it."""

    derived = frozenset({"updated_at", "ref", "seq", "slug"})

    states = (
        *Record.states,
        ("status", "blocked_reason", "blocked_by", "started_at", "completed_at", "blocked_at"),
    )
    says = "objective"

    kind: Literal["task"]
    campaign: Annotated[Item, Refers("campaign", edge="part_of")]
    objective: Text
    type: TaskType = "other"
    status: TaskStatus = "pending"
    depends: Annotated[StringSet, Refers("task", edge="depends_on")] = ()
    delta: StringSet = ()  # files it may change
    verify: Text | None = None  # command that shows that it is done
    verify_source: Item | None = None  # test file to read first
    budget: Number | None = None
    spent: Number | None = None  # of the budget
    framework: Text | None = None
    framework_confidence: Confidence | None = None
    idioms: Idioms | None = None
    prior_knowledge: Annotated[StringSet, Refers(edge="handed_out")] = ()  # memories that it got when it began
    lineage: tuple[JsonValue, ...] = ()  # parents and what they delivered
    delivered: Text | None = None
    blocked_reason: Text | None = None
    blocked_by: Annotated[StringSet, Refers(edge="blocked_by")] = ()  # failures, or the tasks that it waits for in vain
    utilized: Annotated[StringSet, Refers()] = ()  # memories that it used
    code_contexts: TextList = ()
    preflight: JsonValue = None
    tags: StringSet = ()
    started_at: Time | None = None
    completed_at: Time | None = None
    blocked_at: Time | None = None

    @classmethod
    def refuse_name(cls, name: str) -> None:
        if not TASK_NAME.fullmatch(name):
            raise ValueError(f"name {name!r} is not the name of a task; auth/001-setup would be")

    @computed_field  # type: ignore[prop-decorator]
    @property
    def seq(self) -> str:
        """Three digits that order the plan for people."""
        return self.name.rpartition("/")[2][:3]

    @computed_field  # type: ignore[prop-decorator]
    @property
    def slug(self) -> str:
        """The name without campaign and digits."""
        return self.name.rpartition("/")[2][4:]

    @property
    def qualifier(self) -> str:
        return self.status

    @property
    def search_text(self) -> str:
        return f"{self.objective}\n{self.delivered}" if self.delivered else self.objective
