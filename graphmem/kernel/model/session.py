"""What a session leaves behind: its decisions, the constraints it works under, and the session itself."""

from datetime import datetime
from typing import Annotated, Literal, Self

from pydantic import model_validator

from graphmem.kernel.model.field import Count, Flag, GrowingSet, Item, StringSet, Text, Time
from graphmem.kernel.model.record import Record, Refers


class Decision(Record):
    """What was decided, and why."""

    named_from = "decision"
    identity = ("decision",)
    word = "decided"
    advises = (("reasoning", "because"),)

    kind: Literal["decision"]
    decision: Text
    reasoning: Text | None = None
    task: Annotated[Item | None, Refers()] = None  # that it was made in
    session: Item | None = None  # name of the session that made it
    pinned: Flag = False

    @model_validator(mode="after")
    def validate_decision(self) -> Self:
        """Refuse a decision that says nothing."""
        self.refuse_blank("decision", self.decision)
        return self

    @property
    def search_text(self) -> str:
        return f"{self.decision}\n{self.reasoning}" if self.reasoning else self.decision


class Constraint(Record):
    """A rule to follow, its author, and its last day."""

    named_from = "constraint"
    identity = ("constraint",)

    kind: Literal["constraint"]
    constraint: Text
    source: Item | None = None
    expires_at: Time | None = None
    session: Item | None = None  # name of the session that it binds; none for all of them
    pinned: Flag = False

    def holds(self, now: datetime) -> bool:
        """Return whether it has not expired."""
        return self.expires_at is None or self.expires_at > now

    @model_validator(mode="after")
    def validate_constraint(self) -> Self:
        """Refuse a constraint that says nothing."""
        self.refuse_blank("constraint", self.constraint)
        return self

    @property
    def search_text(self) -> str:
        return self.constraint


class Session(Record):
    """A session that ended; the current one is of this machine and is in ``state/``."""

    says = "task"

    kind: Literal["session"]
    started_at: Time
    ended_at: Time
    task: Text | None = None  # what it worked on
    conversation: Item | None = None
    messages: Count = 0
    skills: StringSet = ()
    used: Annotated[GrowingSet, Refers(edge="used")] = ()  # decisions, constraints and memories
