"""What operations on experiences take and return."""

from typing import ClassVar, Literal

from pydantic import Field

from graphmem.core.records.record_contract import AddRequest, Listed
from graphmem.features.learning.lesson_contract import OfferedLesson
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model.experience import Complexity, Confidence, ExperienceType, Outcome
from graphmem.kernel.model.insight import Category
from graphmem.kernel.parameters import DryRun, Name, Sources, Supersedes, Tags, Texts, Verbatim, Yes
from graphmem.kernel.request import Request


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

    experiences: list[Listed]
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
