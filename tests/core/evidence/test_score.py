"""Importance: what pruning sorts by; retrieval.md, section 4."""

from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.evidence.score import importance

NOW = datetime(2026, 11, 1, tzinfo=UTC)
COUNT = st.integers(0, 10_000)


def test_importance_is_value_by_age_by_use_by_help() -> None:
    assert importance(None, NOW, NOW, accesses=0, helped=0, failed=0) == 0.5
    assert importance(7, NOW, NOW, accesses=0, helped=0, failed=0) == 3 * 0.5
    assert importance(0.2, NOW - timedelta(days=30), NOW, accesses=0, helped=0, failed=0) == 0.25
    assert importance(1, NOW, NOW, accesses=16, helped=2, failed=0) == pytest.approx(1.2 * 0.75)
    month = timedelta(days=30)
    assert importance(1, NOW - month, NOW, accesses=0, helped=0, failed=2, half_life_days=15) == 0.25 * 0.25


@given(st.floats(0, 1e9) | st.none(), st.floats(-1e4, 1e4), st.floats(0, 1e4), COUNT, COUNT, COUNT)
def test_importance_never_rises_with_age_also_from_a_date_in_the_future(
    value: float | None, days: float, more: float, accesses: int, helped: int, failed: int
) -> None:
    def at(age: float) -> float:
        last = NOW - timedelta(days=age)
        return importance(value, last, NOW, accesses=accesses, helped=helped, failed=failed)

    assert at(days + more) <= at(days) <= at(-1.0)
    assert at(days) > 0 or days > 30_000
