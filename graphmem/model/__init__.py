"""Frozen pydantic records, one file per kind: no I/O, no clock, no randomness."""

from typing import TypeAlias

from graphmem.model.campaign import Campaign
from graphmem.model.entity import Entity
from graphmem.model.experience import Experience
from graphmem.model.exploration import Exploration
from graphmem.model.fact import Event, Fact, Run
from graphmem.model.failure import Failure
from graphmem.model.feedback import Feedback
from graphmem.model.insight import Insight
from graphmem.model.lesson import Lesson
from graphmem.model.pattern import Pattern
from graphmem.model.purge import Purge
from graphmem.model.record import Frozen, MemoryRecord, Record
from graphmem.model.relation import Relation
from graphmem.model.session import Constraint, Decision, Session
from graphmem.model.task import Task

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
    "Run",
    "Session",
    "Task",
]
