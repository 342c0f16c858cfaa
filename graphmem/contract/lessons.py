"""What operations on lessons return."""

from typing import Literal

from graphmem.contract.answer import Answer, Part
from graphmem.contract.records import Listed
from graphmem.model.experience import Confidence, Outcome


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
    """What a run taught; ``passed_over`` are findings that are no warning, or that a forgotten lesson says."""

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
