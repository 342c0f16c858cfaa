"""Pruning: what is worth least is archived, never destroyed (docs/guides/pruning.md)."""

from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import NamedTuple

from graphmem.constants import MOST_EXPERIENCES, PRUNE_AGE_DAYS, PRUNE_IMPORTANCE
from graphmem.core.evidence.score import importance
from graphmem.core.records.experience import over_bound
from graphmem.core.records.record_contract import Pruned, PrunedRecord, PruneRequest
from graphmem.core.records.validation import changed
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.machine.usage import accesses
from graphmem.kernel.model import Experience, MemoryRecord
from graphmem.kernel.model.field import parse_time
from graphmem.kernel.registry import operation
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.names import row_id


@operation("prune", writes=True, previews="yes", example="graphmem prune --max-failures 300 --yes")
def prune(snapshot: Snapshot, request: PruneRequest) -> Pruned:
    """Archive the least important memories over a cap, and old ones worth little; without ``yes`` only a preview."""
    going = [
        *least(weighed(snapshot, "failure"), request.max_failures, request.min_importance),
        *least(weighed(snapshot, "pattern"), request.max_patterns, request.min_importance),
        *surplus(snapshot),
    ]
    if isinstance(snapshot, Writing) and going:
        now = snapshot.now
        puts = []
        for found in going:
            record = snapshot.catalog.stored(snapshot.resolve(found.ref))
            changes = {"archived_at": now, "archive_reason": f"pruned: {found.reason}"}
            puts.append(entry(changed(record, changes, now), snapshot.symmetric))
        snapshot.commit(puts)
    return Pruned(done=request.yes, records=going)


class WeighedRecord(NamedTuple):
    """A memory with what it is worth."""

    record: MemoryRecord
    importance: float
    age_days: float  # since it was changed or helped last
    accesses: int  # on this machine


def weighed(snapshot: Snapshot, kind: str) -> list[WeighedRecord]:
    """Return the live memories of a kind with what they are worth, the least important first."""
    catalog, now = snapshot.catalog, snapshot.now
    numbers = [number for number, *_ in list(catalog.live_rows(kind))]
    records, reports = catalog.records(numbers), catalog.reports(numbers)
    counted = accesses(snapshot.client.state, [record.key_ref for record in records.values()])
    found = []
    for number, record in records.items():
        assert isinstance(record, MemoryRecord)
        helped_last = reports.get(number, (0, 0, None))[2]
        last = max(record.updated_at, parse_time(helped_last)) if helped_last else record.updated_at
        value = getattr(record, "cost", None) or getattr(record, "saved", None)
        count, _ = counted.get(record.key_ref, (0, ""))
        worth = importance(
            value, last, now, count, record.helped, record.failed, snapshot.settings.retrieval.half_life_days
        )
        found.append(WeighedRecord(record, worth, max(0.0, (now - last) / timedelta(days=1)), count))
    return sorted(found, key=lambda one: (one.importance, -one.age_days, one.record.ref))


def least(order: Sequence[WeighedRecord], cap: int, minimum: float = PRUNE_IMPORTANCE) -> Iterator[PrunedRecord]:
    """Yield what goes of a kind, the least important first; what is pinned counts for the cap and stays."""
    surplus = max(0, len(order) - cap)
    going = (one for one in order if not one.record.is_pinned)
    for place, (record, worth, age_days, _) in enumerate(going):
        if place < surplus:
            reason = f"one of {surplus:,} over the cap of {cap:,}"
        elif worth < minimum and age_days > PRUNE_AGE_DAYS:
            reason = f"importance below {minimum:g}, {age_days:.0f} days old"
        else:
            continue
        yield PrunedRecord(ref=record.ref, importance=worth, age_days=age_days, reason=reason)


def surplus(snapshot: Snapshot) -> Iterator[PrunedRecord]:
    """Yield the experiences over their bound."""
    now = snapshot.now
    going = over_bound(snapshot.catalog.of_kind(Experience).values())
    refs = snapshot.catalog.refs([row_id(found.key_ref) for found in going])
    for found in going:
        age = max(0.0, (now - found.created_at) / timedelta(days=1))
        yield PrunedRecord(
            ref=refs[row_id(found.key_ref)],
            importance=None,
            age_days=age,
            reason=f"confidence {found.confidence}, over the bound of {MOST_EXPERIENCES}",
        )
