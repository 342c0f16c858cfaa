"""A pattern: when something applies, and what to do then."""

from typing import Literal

from graphmem.kernel.model.field import Number, Text
from graphmem.kernel.model.record import Triggered, united


class Pattern(Triggered):
    """What works: ``trigger`` says when it applies, ``insight`` what to do."""

    named_from = "trigger"
    identity = ("trigger", "insight")
    word = "when"
    advises = (("insight", "do"),)

    kind: Literal["pattern"]
    insight: Text
    saved: Number | None = None  # thousands of tokens it saves

    @property
    def search_text(self) -> str:
        return united(self.trigger, self.insight)
