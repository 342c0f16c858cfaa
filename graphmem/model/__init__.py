"""Frozen pydantic records, one file per kind: no I/O, no clock, no randomness."""

from graphmem.model.campaign import Campaign
from graphmem.model.entity import Entity
from graphmem.model.failure import Failure
from graphmem.model.feedback import Feedback
from graphmem.model.pattern import Pattern
from graphmem.model.record import Frozen, Memory, Record
from graphmem.model.relation import Relation
from graphmem.model.task import Task

# The model of each kind of row; the order is that of the docs.
MODELS: dict[str, type[Frozen]] = {
    "failure": Failure,
    "pattern": Pattern,
    "entity": Entity,
    "campaign": Campaign,
    "task": Task,
    "relation": Relation,
    "feedback": Feedback,
}

__all__ = [
    "MODELS",
    "Campaign",
    "Entity",
    "Failure",
    "Feedback",
    "Frozen",
    "Memory",
    "Pattern",
    "Record",
    "Relation",
    "Task",
]
