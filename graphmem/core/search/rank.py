"""What the order of a query's results takes from a record, read from its row: only what is shown is parsed whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, NamedTuple

from graphmem.constants import FINISHED_FACTOR
from graphmem.core.evidence.score import BANDS, age_decay, band, cost_factor, help_ratio, recency
from graphmem.core.search.occasion_rules import Reports, help_factor
from graphmem.kernel.model import MODELS, Constraint, Failure, MemoryRecord, Pattern, Task
from graphmem.kernel.model.field import parse_time


class ScoreFactors(NamedTuple):
    """What relevance is multiplied by."""

    cost: float
    help_ratio: float
    age_decay: float
    finished: float = 1.0


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


@dataclass(frozen=True, slots=True)
class Profile:
    """
    How relevance becomes a score and an order (docs/concepts/retrieval.md, "Score and order").

    Attributes:
        is_classic: the formula whose factors are taken as they are, inside bands of relevance.
        half_life_days: of the classic age decay.
        cost_exponent, recency_exponent: of the factors of the learned profile; 0 leaves one out.
    """

    is_classic: bool
    half_life_days: float
    cost_exponent: float
    recency_exponent: float
    recency_days: float

    def factors(
        self, record: Rankable, relevance: float, reports: Reports, reuse: float, now: datetime
    ) -> ScoreFactors:
        """
        Return what the relevance of a record, above 0, is multiplied by.

        Args:
            reports: those on the record, by how alike their questions are; the classic profile takes its plain counts.
            reuse: how often like questions had an answer in common.
        """
        finished = FINISHED_FACTOR if record.is_finished else 1.0
        if self.is_classic:
            return ScoreFactors(
                cost_factor(record.value),
                help_ratio(record.helped, record.failed),
                age_decay(record.last, now, self.half_life_days),
                finished,
            )
        return ScoreFactors(
            cost_factor(record.value) ** self.cost_exponent,
            help_factor(relevance, reports, reuse),
            recency(record.last, now, self.recency_days) ** self.recency_exponent,
            finished,
        )

    def level(self, relevance: float, exact: float, bounds: Mapping[str, float]) -> int:
        """Return what results are sorted by before their score: the band, or only whether they are exact."""
        return BANDS.index(band(relevance, exact, **bounds)) if self.is_classic else int(not exact)


def places_gained(scores: Sequence[tuple[int, float]], factors: Sequence[float]) -> list[int]:
    """
    Return how many places each result gains by a factor; below 0 where it loses some.

    Args:
        scores: level and score of each result, in their order, factors included.
        factors: the factor of each.
    """
    if len(set(factors)) < 2:
        return [0] * len(scores)
    without = [
        (level, -score / factor, place)
        for place, ((level, score), factor) in enumerate(zip(scores, factors, strict=True))
    ]
    found = [0] * len(scores)
    for place, (*_, number) in enumerate(sorted(without)):
        found[number] = place - number
    return found
