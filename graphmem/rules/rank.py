"""What the order of a query's results takes from a record, read from its row: only what is shown is parsed whole."""

from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from graphmem.model import MODELS, Constraint, Failure, MemoryRecord, Pattern
from graphmem.model.field import parse_time
from graphmem.rules.score import age_decay, cost_factor, help_ratio


class ScoreFactors(NamedTuple):
    """What relevance is multiplied by."""

    cost: float
    help_ratio: float
    age_decay: float


@cache
def fields_of(kind: str) -> tuple[bool, str, bool]:
    """Return whether reports count for a kind, the field of what it cost or saves, if any, and whether it expires."""
    model = MODELS[kind]
    value_field = "cost" if issubclass(model, Failure) else "saved" if issubclass(model, Pattern) else ""
    return issubclass(model, MemoryRecord), value_field, issubclass(model, Constraint)


@dataclass(frozen=True, slots=True)
class Rankable:
    """
    A record as far as its place in an order depends on it.

    Attributes:
        value: what a failure cost or a pattern saves, in thousands of tokens.
        last: when it was changed last, or helped last, the later.
        expires_at: of a constraint.
    """

    ref: str
    is_archived: bool
    value: float | None
    helped: int
    failed: int
    last: datetime
    expires_at: datetime | None

    @classmethod
    def of(cls, ref: str, row: dict[str, Any], helped: int, failed: int, last_helped: str | None) -> "Rankable":
        """
        Return the record of a row that was checked when it was read.

        Args:
            helped, failed: the reports, beside those that the row was imported with.
            last_helped: the time of the last report that it helped.
        """
        is_memory, value_field, expires = fields_of(row["kind"])
        if is_memory:
            helped, failed = helped + (row.get("helped") or 0), failed + (row.get("failed") or 0)
        else:
            helped, failed = 0, 0
        times = [row["created_at"], *(row.get("edited") or {}).values(), *([last_helped] if last_helped else [])]
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
        )

    def holds(self, now: datetime) -> bool:
        """Return whether it is neither archived nor expired."""
        return not self.is_archived and (self.expires_at is None or self.expires_at > now)

    def factors(self, now: datetime, half_life_days: float) -> ScoreFactors:
        """Return what its relevance is multiplied by."""
        return ScoreFactors(
            cost_factor(self.value), help_ratio(self.helped, self.failed), age_decay(self.last, now, half_life_days)
        )
