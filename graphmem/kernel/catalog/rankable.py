"""A record as far as its place in an order depends on it, read from its row: only what is shown is parsed whole."""

from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from graphmem.kernel.model import MODELS, Constraint, Failure, MemoryRecord, Pattern, Task
from graphmem.kernel.model.field import parse_time


@cache
def _fields_of(kind: str) -> tuple[bool, str, bool, bool]:
    """Return whether reports count for a kind, the field of what it cost or saves, whether it expires, and is work."""
    model = MODELS[kind]
    value_field = "cost" if issubclass(model, Failure) else "saved" if issubclass(model, Pattern) else ""
    return issubclass(model, MemoryRecord), value_field, issubclass(model, Constraint), issubclass(model, Task)


class Rankable(NamedTuple):
    """
    A record as far as its place in an order depends on it.

    Attributes:
        value: what a failure cost or a pattern saves, in thousands of tokens.
        last: when it was changed last, or helped last, the later.
        expires_at: of a constraint.
        is_finished: it is a task that is complete.
        is_pinned: it goes before what has the same score.
    """

    ref: str
    is_archived: bool
    value: float | None
    helped: int
    failed: int
    last: datetime
    expires_at: datetime | None
    is_finished: bool = False
    is_pinned: bool = False

    @classmethod
    def of(cls, ref: str, row: dict[str, Any], helped: int, failed: int, last_helped: str | None) -> "Rankable":
        """
        Return the record of a row that was checked when it was read.

        Args:
            helped, failed: the reports, beside those that the row was imported with.
            last_helped: the time of the last report that it helped.
        """
        is_memory, value_field, expires, is_task = _fields_of(row["kind"])
        if is_memory:
            helped, failed = helped + (row.get("helped") or 0), failed + (row.get("failed") or 0)
        else:
            helped, failed = 0, 0
        edits = [time for name, time in (row.get("edited") or {}).items() if name != "pinned"]  # a pin renews nothing
        times = [row["created_at"], *edits, *([last_helped] if last_helped else [])]
        expires_at = row.get("expires_at") if expires else None
        value = row.get(value_field) if value_field else None
        return cls(
            ref,
            row.get("archived_at") is not None,
            value,
            helped,
            failed,
            max(map(parse_time, times)),
            parse_time(expires_at) if expires_at else None,
            is_task and row.get("status") == "complete",
            row.get("pinned") is True,
        )

    def holds(self, now: datetime) -> bool:
        """Return whether it is neither archived nor expired."""
        return not self.is_archived and (self.expires_at is None or self.expires_at > now)
