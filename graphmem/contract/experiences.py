"""What operations on experiences return."""

from typing import Literal

from graphmem.contract.answer import Answer, Part
from graphmem.contract.lessons import OfferedLesson
from graphmem.contract.records import Listed
from graphmem.model.experience import Confidence
from graphmem.model.insight import Category


class Recalled(Answer):
    """Experiences with tasks of a kind, newest first, and their lessons, those of sure or successful ones first."""

    experiences: list[Listed]
    lessons: list[OfferedLesson]


class Promotion(Part):
    """What several experiences agree on; ``said`` is in whose words."""

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
