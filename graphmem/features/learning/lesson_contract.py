"""What operations on lessons take and return."""

from typing import ClassVar, Literal

from pydantic import Field

from graphmem.core.records.record_contract import AddRequest, Listed
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model.experience import Confidence, Outcome
from graphmem.kernel.model.lesson import LessonType, Severity
from graphmem.kernel.parameters import (
    Cites,
    Dedup,
    DryRun,
    Files,
    InputName,
    Name,
    Replace,
    Sources,
    Supersedes,
    Tags,
    Verbatim,
)
from graphmem.kernel.request import Request


class AddLessonRequest(AddRequest):
    """A lesson to add by hand; most come from the events of runs."""

    kind: ClassVar[str] = "lesson"

    description: str = Field(description="The lesson")
    type: LessonType | None = Field(
        None, description="Type of lesson; a preference is injected at once, others after two runs"
    )
    name: Name = None
    domain: str | None = Field(None, description="Domain where the lesson applies; general if not given")
    severity: Severity | None = Field(None, description="Severity of ignoring the lesson; info if not given")
    archetype: str | None = Field(None, description="Kind of project that an archetype_hint is for")
    source: str | None = Field(None, description="Who raised the lesson")
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None


class LearnRequest(Request):
    """How to take lessons from the events of a finished run."""

    name: InputName = "<events>"
    run: str | None = Field(None, description="Id of the run; taken from the events or the input's name if not given")
    semantic: bool = Field(False, description="Count a finding that means the same as a lesson, in other words")


class DecayRequest(Request):
    """A run that saw no lesson."""

    run: str = Field(description="Id of the run")


class InjectRequest(Request):
    """Which lessons belong into a prompt."""

    domain: str | None = Field(None, description="Domain of the task, such as code or writing")
    archetype: str | None = Field(None, description="Kind of project that the task belongs to")


class SeenLesson(Part):
    """A lesson that a run saw: by which rule, in which finding; ``overlap`` is of keywords, ``similarity`` a cosine."""

    ref: str
    rule: Literal["keywords", "similarity", "new"]
    finding: str
    overlap: float | None = None
    similarity: float | None = None


class Moved(Part):
    """A lesson whose frequency a run changed; ``faded`` when it counts as archived now."""

    ref: str
    before: int
    after: int
    faded: bool


class Learned(Answer):
    """What a run taught; ``passed_over`` are findings below a warning, or equal to a forgotten lesson."""

    run: str
    action: Literal["created", "updated", "unchanged"]
    seen: list[SeenLesson]
    created: list[str]
    passed_over: int
    moved: list[Moved]


class Injected(Answer):
    """Lessons for a prompt, and the block that says them; empty where none is eligible."""

    text: str
    lessons: list[Listed]


class OfferedLesson(Part):
    """A lesson of an experience."""

    text: str
    ref: str
    confidence: Confidence
    outcome: Outcome
