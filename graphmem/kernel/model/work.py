"""Guarded work: what goes through the stages of a flow on a branch of its own; its state follows from its events."""

from typing import Literal

from graphmem.kernel.model.field import Item, Text
from graphmem.kernel.model.record import Record


class Work(Record):
    """A piece of work of a flow, and the branch that it is done on."""

    named_from = "objective"
    advises = (("goal", "goal"),)

    kind: Literal["work"]
    flow: Item
    cycle: Item  # that it began with
    objective: Text
    goal: Text | None = None
    branch: Item
    base_branch: Item
    base_commit: Item

    @property
    def qualifier(self) -> str:
        return self.flow

    @property
    def search_text(self) -> str:
        return f"{self.objective}\n{self.goal}" if self.goal else self.objective
