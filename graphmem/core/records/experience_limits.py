"""What experiences and insights have to keep to, however they are written."""

from graphmem.constants import FEW_EXPERIENCES, MOST_EXPERIENCES
from graphmem.core.records.experience import Agreement, over_bound, statements_of
from graphmem.core.records.validation import changed
from graphmem.errors import Refused
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Experience, Insight
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.store.snapshot import Snapshot


def as_allowed(snapshot: Snapshot, made: Experience) -> tuple[Experience, list[Entry]]:
    """
    Return a new experience as the store takes it, and the rows of those that go for it.

    While there are few, each has confidence low; beyond the bound the oldest of low confidence are archived, then of
    medium.
    """
    there, may_tell = list(snapshot.catalog.of_kind(Experience).values()), snapshot.catalog.may_tell(made.kind)
    if len(there) < FEW_EXPERIENCES and made.confidence != "low":
        if may_tell:
            snapshot.notify_once(f"confidence low: there are {len(there)} experiences, fewer than {FEW_EXPERIENCES}")
        made = made.replaced({"confidence": "low"})
    gone = over_bound(there, MOST_EXPERIENCES - 1)  # one place is for the new one, whatever its confidence
    for one in gone if may_tell else ():
        snapshot.notify_once(f"archived {one.ref}: over the bound of {MOST_EXPERIENCES} experiences")
    return made, [_archived(snapshot, one) for one in gone]


def _archived(snapshot: Snapshot, experience: Experience) -> Entry:
    """Return the row of an experience that has to go."""
    reason = f"the oldest of {experience.confidence} confidence, over the bound of {MOST_EXPERIENCES}"
    changes = {"archived_at": snapshot.now, "archive_reason": reason}
    return entry(changed(experience, changes, snapshot.now), snapshot.symmetric)


def refuse_chance(snapshot: Snapshot, insight: Insight) -> None:
    """Raise ``Refused`` for an insight that was not seen on two days in two tasks: that may be chance."""
    records = [snapshot.catalog.stored(number) for number in snapshot.catalog.known(set(insight.derived_from)).values()]
    statements = statements_of(record for record in records if isinstance(record, Experience))
    if not Agreement(insight.statement, tuple(statements)).is_enough:
        raise Refused(
            f"an insight from {', '.join(insight.derived_from) or 'no experience'}",
            hint="it needs two experiences of different days and different tasks",
        )
