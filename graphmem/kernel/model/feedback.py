"""Feedback: a report that a memory helped, or did not; a fact, never a counter."""

from collections.abc import Iterator
from typing import Annotated, Any, Literal, Self

from pydantic import Strict, model_validator

from graphmem.constants import QUESTION_BYTES
from graphmem.kernel.model.field import Flag, Item, Limit, Text, Time
from graphmem.kernel.model.record import Frozen, OwnEdge, Row
from graphmem.names import split_ref


class Feedback(Frozen):
    """One report; with a task its key is (task, ref), so that reporting again replaces it."""

    kind: Literal["feedback"]
    ref: Item
    helped: Flag
    at: Time
    task: Item | None = None
    id: Item | None = None
    question: Annotated[str, Strict(), Limit(QUESTION_BYTES)] | None = None  # what was asked when it was handed out
    wrong: Flag = False  # what the memory says is not true
    note: Text | None = None  # why

    @classmethod
    def completed(cls, values: Any) -> Any:
        """A fact has one time, ``at``; it represents the ``created_at`` that every record has."""
        values = super().completed(values)
        if isinstance(values, dict) and "at" in values:
            return {**values, "created_at": values["at"]}
        return values

    @model_validator(mode="after")
    def validate_key(self) -> Self:
        """Refuse a report that nothing identifies."""
        if not all(split_ref(self.ref)):
            raise ValueError(f"ref {self.ref!r} is not a reference; kind/name would be, such as failure/import-error")
        if not self.task and not self.id:
            raise ValueError("a report without a task needs an id")
        if self.wrong and self.helped:
            raise ValueError("a memory that is wrong did not help; helped must be false")
        return self

    @property
    def own_edges(self) -> Iterator[OwnEdge]:
        """The task used the memory, and it helped or not: what a count is made of."""
        if self.task:
            task = self.task if self.task.startswith("task/") else f"task/{self.task}"
            yield OwnEdge(task, "used", self.ref, (("helped", self.helped),))

    def to_row(self) -> Row:
        row = super().to_row()
        del row["created_at"]
        return row
