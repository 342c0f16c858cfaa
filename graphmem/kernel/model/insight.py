"""An insight: what several experiences agree on."""

from typing import Annotated, Literal, Self, get_args

from pydantic import computed_field, model_validator

from graphmem.constants import HIGH_OCCURRENCES, MEDIUM_OCCURRENCES
from graphmem.kernel.model.experience import Confidence
from graphmem.kernel.model.field import Count, GrowingSet, StringSet, Text
from graphmem.kernel.model.record import Record, Refers

CONFIDENCES: tuple[Confidence, ...] = get_args(Confidence)  # the least first
Category = Literal["codebase_insight", "execution_pattern", "user_behavior", "recurring_issue"]

# The fields that an insight of each category may have beside its statement.
PARTS: dict[str, tuple[str, ...]] = {
    "codebase_insight": ("file_pattern",),
    "execution_pattern": ("context", "outcome"),
    "user_behavior": ("context", "frequency"),
    "recurring_issue": ("symptoms", "root_cause", "resolution"),
}


class Insight(Record):
    """
    A statement with the experiences that it was promoted from; for a recurring issue the statement is its title.

    ``imported_occurrences`` and ``imported_confidence`` are what it had earned where it was imported from.
    """

    derived = frozenset({"updated_at", "ref", "occurrences", "confidence"})
    named_from = "statement"
    identity = ("category", "statement")
    word = "insight"

    kind: Literal["insight"]
    category: Category
    statement: Text
    derived_from: Annotated[GrowingSet, Refers("experience", edge="derived_from", is_required=True)]
    file_pattern: Text | None = None
    context: Text | None = None
    outcome: Text | None = None
    frequency: Literal["rarely", "sometimes", "usually", "always"] | None = None
    symptoms: Text | None = None
    root_cause: Text | None = None
    resolution: Text | None = None
    imported_occurrences: Count = 0
    imported_confidence: Confidence | None = None
    tags: StringSet = ()

    @model_validator(mode="after")
    def validate_parts(self) -> Self:
        """Refuse an empty statement, and a field of another category."""
        self.refuse_blank("statement", self.statement)
        for name in sorted({part for parts in PARTS.values() for part in parts}.difference(PARTS[self.category])):
            if getattr(self, name) is not None:
                raise ValueError(f"{name} is not a field of category {self.category!r}; it has {PARTS[self.category]}")
        return self

    @computed_field  # type: ignore[prop-decorator]
    @property
    def occurrences(self) -> int:
        """How often it was seen: in experiences, and where it was imported from."""
        return self.imported_occurrences + len(self.derived_from)

    @computed_field  # type: ignore[prop-decorator]
    @property
    def confidence(self) -> Confidence:
        """How sure it is, by how often it was seen; at least the confidence that it was imported with."""
        counted = (self.occurrences >= MEDIUM_OCCURRENCES) + (self.occurrences >= HIGH_OCCURRENCES)
        return CONFIDENCES[max(counted, CONFIDENCES.index(self.imported_confidence or "low"))]

    @property
    def qualifier(self) -> str:
        return self.confidence

    @property
    def search_text(self) -> str:
        parts = (self.statement, self.context, self.symptoms, self.root_cause, self.resolution)
        return "\n".join(part for part in parts if part)
