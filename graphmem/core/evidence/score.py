"""Scores and tiers: what a query sorts by (docs/concepts/retrieval.md)."""

import math
from datetime import datetime
from typing import Literal, get_args

from graphmem.constants import ACCESS_BOOST, CRITICAL, EXPLORATION, HALF_LIFE_DAYS, PRODUCTIVE, RECENCY_DAYS
from graphmem.kernel.model.reports import help_ratio

Tier = Literal["critical", "productive", "exploration", "background"]
Band = Literal["exact", "critical", "productive", "exploration", "background"]
TIERS: tuple[Tier, ...] = get_args(Tier)
BANDS: tuple[Band, ...] = get_args(Band)  # what results are sorted by first
Complexity = Literal["trivial", "low", "medium", "high", "very_high"]  # of a task, as estimated
SECONDS_A_DAY = 86_400.0


def age_decay(last: datetime, now: datetime, half_life_days: float = HALF_LIFE_DAYS) -> float:
    """Return 1 for something of now, a half after each half-life; a time in the future counts as now."""
    age_days = max(0.0, (now - last).total_seconds() / SECONDS_A_DAY)
    return float(0.5 ** (age_days / half_life_days))


def recency(last: datetime, now: datetime, days: float = RECENCY_DAYS) -> float:
    """Return 1 for something of now, a half after ``days``, a third after twice that; never near 0 within years."""
    age_days = max(0.0, (now - last).total_seconds() / SECONDS_A_DAY)
    return 1 / (1 + age_days / days)


def cost_factor(cost: float | None) -> float:
    """Return ``log2(cost + 1)``; no cost, or one below 1, counts as 1, so that the factor is 1."""
    return math.log2(max(1.0, cost or 1.0) + 1)


def tier(
    similarity: float, *, critical: float = CRITICAL, productive: float = PRODUCTIVE, exploration: float = EXPLORATION
) -> Tier:
    """Return how near something is to what is asked."""
    if similarity >= critical:
        return "critical"
    if similarity >= productive:
        return "productive"
    return "exploration" if similarity >= exploration else "background"


def band(
    relevance: float,
    exact: float,
    *,
    critical: float = CRITICAL,
    productive: float = PRODUCTIVE,
    exploration: float = EXPLORATION,
) -> Band:
    """Return the band of a result: what is exact first, then by relevance; the score sorts inside a band only."""
    return "exact" if exact > 0 else tier(relevance, critical=critical, productive=productive, exploration=exploration)


def overlap(left: set[str], right: set[str]) -> float:
    """Return the Jaccard overlap of two sets, 0 when both are empty."""
    return len(left & right) / len(left | right) if left or right else 0.0


def size_likeness(left: int, right: int) -> float:
    """Return how alike two numbers of tasks are; none on both sides is equally large."""
    return 1 - abs(left - right) / max(left, right) if left or right else 1.0


def importance(
    value: float | None,
    last: datetime,
    now: datetime,
    accesses: int,
    helped: int,
    failed: int,
    half_life_days: float = HALF_LIFE_DAYS,
) -> float:
    """
    Return what pruning sorts by: 0 and above, the greater the more worth keeping (docs/guides/pruning.md).

    Args:
        value: what the memory cost or saves, in thousands of tokens.
        last: when it was changed last, or helped last, the later.
        accesses: how often it was returned on this machine.
    """
    boost = 1 + ACCESS_BOOST * math.sqrt(accesses)
    return cost_factor(value) * age_decay(last, now, half_life_days) * boost * help_ratio(helped, failed)
