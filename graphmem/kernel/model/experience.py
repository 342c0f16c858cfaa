"""An experience: what one finished task taught."""

from typing import Any, Literal, Self

from pydantic import computed_field, model_validator

from graphmem.kernel.model.field import Item, Number, StringSet, Text, TextSet, Time
from graphmem.kernel.model.record import Record
from graphmem.names import mark
from graphmem.patterns import lazy_re

ExperienceType = Literal[
    "feature", "bug", "refactor", "investigation", "configuration", "documentation", "test", "deploy"
]
Outcome = Literal["success", "partial", "failure"]
Complexity = Literal["trivial", "low", "medium", "high", "very_high"]
Confidence = Literal["low", "medium", "high"]
DAY = lazy_re(r"\d{4}-\d\d-\d\d_")


class Experience(Record):
    """
    How a task was done, what came of it, and what to know the next time; its name begins with its day.

    The same words on another day, or with another approach, are another experience.
    """

    derived = frozenset({"updated_at", "ref", "recorded_at"})
    named_from = "description"
    identity = ("day", "description", "approach")
    word = "task"
    advises = (("approach", "approach"),)
    parts = (("lessons", "lesson"),)

    kind: Literal["experience"]
    task_type: ExperienceType
    description: Text
    approach: Text
    outcome: Outcome
    lessons: TextSet
    time_taken: Number | None = None  # minutes
    complexity_estimated: Complexity | None = None
    complexity_actual: Complexity | None = None
    capabilities_used: StringSet = ()
    tags: StringSet = ()
    confidence: Confidence = "low"

    @classmethod
    def completed(cls, values: Any) -> Any:
        """A row may say when it was recorded, as older files do: that is its ``created_at``."""
        if isinstance(values, dict) and values.get("recorded_at") and not values.get("created_at"):
            values = {**values, "created_at": values["recorded_at"]}
        return super().completed(values)

    @model_validator(mode="after")
    def validate_lessons(self) -> Self:
        """Refuse an experience that teaches nothing."""
        if not any(lesson.strip() for lesson in self.lessons):
            raise ValueError("lessons are empty; say at least one thing to know the next time")
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def recorded_at(self) -> Time:
        """When it was recorded."""
        return self.created_at

    @property
    def qualifier(self) -> str:
        return f"{self.task_type}, {self.outcome}"

    @property
    def search_text(self) -> str:
        return "\n".join([self.description, self.approach, *self.lessons])

    @property
    def plain_name(self) -> str:
        return f"{self.created_at:%Y-%m-%d}_{super().plain_name or mark(self.identity_text)}"

    @property
    def day(self) -> Item:
        """The day in its name: ``2026-11-22``; the day it was recorded where the name has none."""
        return self.name[:10] if DAY.match(self.name) else f"{self.created_at:%Y-%m-%d}"

    @property
    def slug(self) -> Item:
        """The name without the day."""
        return self.name[11:] if DAY.match(self.name) else self.name
