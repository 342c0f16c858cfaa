"""Frozen pydantic records, one file per kind: no I/O, no clock, no randomness."""

from typing import TypeAlias

from graphmem.kernel.model.campaign import Campaign
from graphmem.kernel.model.entity import Entity
from graphmem.kernel.model.experience import Experience
from graphmem.kernel.model.exploration import Exploration
from graphmem.kernel.model.fact import Event, Fact, Run
from graphmem.kernel.model.failure import Failure
from graphmem.kernel.model.feedback import Feedback
from graphmem.kernel.model.insight import Insight
from graphmem.kernel.model.lesson import Lesson
from graphmem.kernel.model.pattern import Pattern
from graphmem.kernel.model.purge import Purge
from graphmem.kernel.model.record import Frozen, MemoryRecord, Record
from graphmem.kernel.model.relation import Relation
from graphmem.kernel.model.review_item import ReviewItem
from graphmem.kernel.model.session import Constraint, Decision, Session
from graphmem.kernel.model.task import Task
from graphmem.kernel.model.work import Work

# What an answer shows: one of these, so that a type checker knows the fields once the class is known.
AnyRecord: TypeAlias = (
    Failure
    | Pattern
    | Lesson
    | Experience
    | Insight
    | Entity
    | Campaign
    | Task
    | Decision
    | Constraint
    | Exploration
    | Session
    | Work
    | ReviewItem
    | Run
    | Event
)

# The model of each kind of row; the order is that of the docs.
MODELS: dict[str, type[Frozen]] = {
    "failure": Failure,
    "pattern": Pattern,
    "lesson": Lesson,
    "experience": Experience,
    "insight": Insight,
    "entity": Entity,
    "campaign": Campaign,
    "task": Task,
    "decision": Decision,
    "constraint": Constraint,
    "exploration": Exploration,
    "session": Session,
    "work": Work,
    "item": ReviewItem,
    "relation": Relation,
    "feedback": Feedback,
    "run": Run,
    "event": Event,
    "purge": Purge,
}

__all__ = [
    "MODELS",
    "AnyRecord",
    "Campaign",
    "Constraint",
    "Decision",
    "Entity",
    "Event",
    "Experience",
    "Exploration",
    "Fact",
    "Failure",
    "Feedback",
    "Frozen",
    "Insight",
    "Lesson",
    "MemoryRecord",
    "Pattern",
    "Purge",
    "Record",
    "Relation",
    "ReviewItem",
    "Run",
    "Session",
    "Task",
    "Work",
]
