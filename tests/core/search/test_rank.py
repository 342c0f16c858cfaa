"""What a record's row says about its place in an order is what the parsed record says."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.constants import COST_EXPONENT, RECENCY_EXPONENT
from graphmem.core.search.occasion_rules import NO_REPORTS, Reports, help_factor
from graphmem.core.search.rank import Profile, Rankable, places_gained
from graphmem.kernel.model import Constraint, Failure, MemoryRecord, Pattern
from graphmem.kernel.model.field import format_time

NOW = datetime(2026, 11, 23, tzinfo=UTC)
ROW = {"kind": "failure", "name": "a", "trigger": "t", "created_at": "2026-11-01T00:00:00.000Z"}


def test_a_row_ranks_as_the_record_that_it_holds(memory: Memory) -> None:
    memory.failures.add("the disk is full", name="disk", cost=7.5)
    memory.failures.add("the disk is slow", name="slow", dedup=False)
    memory.patterns.add("a full disk", "delete logs", name="logs", saved=3)
    memory.lessons.add("name the disk", name="name", type="preference")
    memory.feedback("failure/disk", helped=True)
    memory.feedback("failure/disk", helped=False)
    memory.edit("failure/disk", {"fix": "delete logs"})
    memory.forget("failure/slow")
    catalog = memory.store.client.catalog
    numbers = [number for ref in ("disk", "slow", "logs", "name") for number in catalog.anywhere(ref)]
    ranked, records = catalog.rankable(numbers), catalog.records(numbers)
    reports = catalog.reports(numbers)
    assert len(ranked) == 4
    for number, record in records.items():
        got = ranked[number]
        value = record.cost if isinstance(record, Failure) else record.saved if isinstance(record, Pattern) else None
        assert isinstance(record, MemoryRecord)
        last = max(format_time(record.updated_at), reports.get(number, (0, 0, None))[2] or "")
        assert (got.ref, got.is_archived, got.value) == (record.ref, record.is_archived, value)
        assert (got.helped, got.failed, format_time(got.last)) == (record.helped, record.failed, last)


CLASSIC = Profile(True, 30.0, 0.5, 0.5, 7.0)
LEARNED = Profile(False, 30.0, 0.1, 0.02, 7.0)
RECORD = Rankable.of("failure/a", {**ROW, "cost": 7, "helped": 2, "failed": 1}, 1, 0, "2026-11-20T00:00:00.000Z")
SOME = Reports(helped=1.2, failed=0.4, nearest=0.9)


def test_the_factors_of_the_classic_profile_are_those_of_the_formula() -> None:
    assert CLASSIC.factors(RECORD, 0.5, SOME, 0.9, NOW) == (3.0, 4 / 6, 0.5 ** (3 / 30), 1.0)


def test_the_factors_of_the_learned_profile_are_like_reports_and_powers_of_cost_and_age() -> None:
    factors = LEARNED.factors(RECORD, 0.5, SOME, 0.9, NOW)
    assert tuple(factors) == pytest.approx((3.0**0.1, help_factor(0.5, SOME, 0.9), (1 + 3 / 7) ** -0.02, 1.0))


def test_the_classic_profile_sorts_by_band_before_score_and_the_learned_one_only_by_what_is_exact() -> None:
    bounds = {"critical": 0.6, "productive": 0.4, "exploration": 0.25}
    places = [(0.1, 1.0), (0.9, 0.0), (0.5, 0.0), (0.3, 0.0), (0.1, 0.0)]  # relevance, exact
    assert [CLASSIC.level(*found, bounds) for found in places] == [0, 1, 2, 3, 4]
    assert [LEARNED.level(*found, bounds) for found in places] == [0, 1, 1, 1, 1]


def test_a_record_without_reports_keeps_its_relevance() -> None:
    profile = Profile(False, 30.0, COST_EXPONENT, RECENCY_EXPONENT, 7.0)
    assert profile.factors(RECORD, 0.5, NO_REPORTS, 1.0, NOW) == (1.0, 1.0, 1.0, 1.0)


@given(st.lists(st.tuples(st.floats(0.01, 1), st.floats(0.1, 2), st.booleans()), max_size=12))
def test_places_gained_are_those_between_the_two_orders(rows: list[tuple[float, float, bool]]) -> None:
    ordered = sorted(rows, key=lambda row: (not row[2], -row[0] * row[1]))
    scores = [(int(not exact), relevance * factor) for relevance, factor, exact in ordered]
    gained = places_gained(scores, [factor for _, factor, _ in ordered])
    for place, (relevance, factor, exact) in enumerate(ordered):
        better = sum(
            (not other, -score / by, there) < (not exact, -(relevance * factor) / factor, place)
            for there, ((_, score), (_, by, other)) in enumerate(zip(scores, ordered, strict=True))
        )
        assert gained[place] == better - place


@pytest.mark.parametrize(("expires", "holds"), [(None, True), (timedelta(1), True), (timedelta(-1), False)])
def test_an_expired_constraint_does_not_hold(expires: timedelta | None, holds: bool) -> None:
    row = {**ROW, "kind": "constraint", "constraint": "never"}
    if expires is not None:
        row["expires_at"] = format_time(NOW + expires)
    record = Rankable.of("constraint/a", row, 0, 0, None)
    assert record.holds(NOW) is holds is Constraint.model_validate(orjson.loads(orjson.dumps(row))).holds(NOW)


def test_fields_of_other_kinds_do_not_count() -> None:
    row = {**ROW, "kind": "entity", "type": "module", "cost": 9, "helped": 9, "expires_at": "2020-01-01T00:00:00.000Z"}
    record = Rankable.of("module/a", row, 5, 5, None)
    assert (record.value, record.helped, record.failed, record.expires_at) == (None, 0, 0, None)
