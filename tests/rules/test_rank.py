"""What a record's row says about its place in an order is what the parsed record says."""

from datetime import UTC, datetime, timedelta

import orjson
import pytest

from graphmem import Memory
from graphmem.model import Constraint, Failure, MemoryRecord, Pattern
from graphmem.model.field import format_time
from graphmem.rules.rank import Rankable
from graphmem.rules.score import age_decay, cost_factor, help_ratio

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
    catalog = memory.client.catalog
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


def test_factors_are_those_of_the_score() -> None:
    record = Rankable.of("failure/a", {**ROW, "cost": 7, "helped": 2, "failed": 1}, 1, 0, "2026-11-20T00:00:00.000Z")
    last = datetime(2026, 11, 20, tzinfo=UTC)
    assert record.factors(NOW, 30.0) == (cost_factor(7), help_ratio(3, 1), age_decay(last, NOW, 30.0))


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
