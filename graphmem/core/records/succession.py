"""Succession: a record takes the place of another one, which is archived and names it."""

from datetime import datetime

from graphmem.core.records.validation import changed, refuse_archived, refuse_pinned
from graphmem.errors import Refused
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.model import Record
from graphmem.names import split_ref


def archived_for(catalog: Catalog, number: int, successor: Record, reason: str | None, now: datetime) -> Record:
    """
    Return the copy of a record that is archived because another one takes its place.

    Args:
        successor: it may be new, and not in the catalog yet.

    Raises:
        Refused: the record is archived, pinned, of another kind, or is itself what the successor leads to.
    """
    before = catalog.stored(number)
    if before.kind != successor.kind:
        raise Refused(
            f"{before.ref} is of the kind {before.kind}, {successor.ref} of the kind {successor.kind}",
            hint="one record takes the place of another one of its kind",
        )
    refuse_archived(catalog, number)
    refuse_pinned(catalog, number)
    _refuse_circle(catalog, number, successor)
    return changed(before, {"archived_at": now, "archive_reason": reason, "superseded_by": successor.key_ref}, now)


def _refuse_circle(catalog: Catalog, number: int, successor: Record) -> None:
    """Raise ``Refused`` where a record's successors lead back to the record that it is to take the place of."""
    seen: set[int] = set()
    at: Record | None = successor
    while at is not None and at.superseded_by:
        found = catalog.lookup(*split_ref(at.superseded_by))
        if found == number:
            raise Refused(
                f"{successor.ref} is superseded by {catalog.stored(number).ref}, which it would supersede",
                hint=f"take superseded_by out of the row of {at.ref} first",
            )
        at = catalog.stored(found) if found is not None and found not in seen else None
        seen.add(found or 0)
