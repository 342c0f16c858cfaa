"""An exploration: what several agents found out about an objective before it was planned."""

from typing import Literal

from graphmem.kernel.model.field import Item, Text
from graphmem.kernel.model.record import Record

ExplorationMode = Literal["structure", "pattern", "memory", "delta"]


class Exploration(Record):
    """What was found, in four parts; a part without a report is absent."""

    named_from = "objective"
    identity = ("objective",)
    parts = (
        ("structure", "structure"),
        ("pattern", "pattern"),
        ("memory", "memory"),
        ("delta", "delta"),
    )

    kind: Literal["exploration"]
    objective: Text
    structure: Text | None = None  # how the code is laid out
    pattern: Text | None = None  # how things are done there
    memory: Text | None = None  # what the project remembers
    delta: Text | None = None  # what has to change
    session: Item | None = None  # id of the exploration session

    @property
    def search_text(self) -> str:
        parts = (self.objective, self.structure, self.pattern, self.memory, self.delta)
        return "\n".join(part for part in parts if part)
