"""A lesson: what runs taught, seen again or forgotten (docs/concepts/learning.md)."""

from typing import Literal, Self

from pydantic import model_validator

from graphmem.kernel.model.field import Count, Item, Text, Time
from graphmem.kernel.model.record import MemoryRecord
from graphmem.names import collapsed

LessonType = Literal["pattern", "preference", "archetype_hint", "anti_pattern"]
Severity = Literal["bug", "warning", "info", "recommendation"]


class Lesson(MemoryRecord):
    """
    Something to know in the next run; how often it was seen follows from the rows of runs.

    ``frequency``, ``runs_since_last_seen`` and ``last_seen_run`` in a row are what was imported with it, and the fold
    over the runs begins there; in answers they are what the fold comes to.
    """

    counted = frozenset({"frequency", "runs_since_last_seen", "last_seen_run", "restored_at"})
    states = (*MemoryRecord.states, ("frequency", "runs_since_last_seen", "last_seen_run"))
    named_from = "description"
    identity = ("description",)
    word = "lesson"

    kind: Literal["lesson"]
    type: LessonType = "pattern"
    description: Text
    source: Item | None = None  # who raised it
    domain: Item = "general"
    severity: Severity = "info"
    archetype: Item | None = None
    frequency: Count = 0
    runs_since_last_seen: Count = 0
    last_seen_run: Item | None = None
    restored_at: Time | None = None  # from here on it counts as seen once, whatever it had faded to

    @model_validator(mode="after")
    def validate_archetype(self) -> Self:
        """Refuse an archetype on a lesson of another type, and an archetype_hint without one."""
        self.refuse_blank("description", self.description)
        if (self.archetype is not None) != (self.type == "archetype_hint"):
            raise ValueError("an archetype_hint needs an archetype, and nothing else has one")
        return self

    def seen_by_hand(self) -> Self:
        """Return the lesson as seen once, by its author, where nothing says how often it was seen."""
        return self.replaced({"frequency": max(1, self.frequency)})

    @property
    def qualifier(self) -> str:
        return f"{self.type}, {collapsed(self.domain)}, seen {self.frequency}x"

    @property
    def search_text(self) -> str:
        return "\n".join([self.description, *([" ".join(self.tags)] if self.tags else [])])
