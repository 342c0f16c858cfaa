"""What the imports of a tool make of its rows: what they changed before is theirs, what was edited here is not."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache
from typing import Any, TypeVar

from graphmem.core.records.reimport import Known, known_after, reimported, unedited
from graphmem.core.records.validation import changed
from graphmem.errors import Refused
from graphmem.kernel.model import Frozen, Record
from graphmem.kernel.model.field import as_set, passes_through
from graphmem.kernel.model.purges import Purges
from graphmem.kernel.model.record import Alternate, Row, row_fields

Kept = TypeVar("Kept", bound=Frozen)


@dataclass(frozen=True)
class EarlierImports:
    """What imports of a tool made and gave before, and what this one gives."""

    origins: Mapping[tuple[str, str], int]  # records that came from it, by record type and origin
    purges: Purges  # of this store
    known: Mapping[int, Known]  # what it gave, by the number of the row
    notes: dict[int, Known] = field(default_factory=dict)  # what it gives now

    def number_of(self, record: Record) -> int | None:
        """Return the record of the store that has the origin of one of the input."""
        found = (self.origins.get((record.record_type, source)) for source in record.sources)
        return next((number for number in found if number is not None), None)

    def refuse_purged(self, record: Record, symmetric: frozenset[str]) -> None:
        """Raise ``Refused`` for a record that was purged here since the tool made it."""
        at = self.purges.purged_at(record.to_row(), symmetric)
        if at is not None:
            raise Refused(f"it was purged here at {at}")

    def note_new(self, number: int, given: Frozen) -> None:
        """Note what a new row is given."""
        self.notes[number] = known_after(None, given.to_row(), {}, **_parts_of(type(given)))

    def changed(self, before: Kept, given: Frozen, number: int, now: datetime) -> Kept:
        """Return a record or an edge with what a file says of it, but for what was edited here; note what it said."""
        ours: dict[str, Any] = before.to_row()
        theirs: dict[str, Any] = given.to_row()
        how = _parts_of(type(before))
        if ours == theirs:  # of most rows of a file that comes again
            self.notes[number] = known_after(None, theirs, {}, **how)
            return before
        known = self.known.get(number)
        if known is None:  # an edge is its own if its time is that of the file
            is_own = ours["kind"] == "relation" or not set(theirs.get("sources", ())).isdisjoint(
                ours.get("sources", ())
            )
            known = unedited(ours, theirs, **how) if is_own else {}
        changes, aside = reimported(ours, theirs, known, **how)
        self.notes[number] = known_after(ours, theirs, known, **how)
        if isinstance(before, Record):
            changes |= with_aside(before, aside, given)
        return changed(before, changes, now)


def _parts_of(model: type[Frozen]) -> dict[str, Any]:
    """Return the fields of a kind that are sets, and those that say one thing together."""
    return {"sets": sets_of(model), "states": model.states}


@cache
def sets_of(model: type[Frozen]) -> frozenset[str]:
    """Return the fields of a kind that are sets."""
    fields = model.model_fields
    return frozenset(alias for name, alias, _ in row_fields(model) if passes_through(fields[name].metadata, as_set))


def with_aside(record: Record, aside: Sequence[tuple[str, str]], given: Frozen | None = None) -> Row:
    """Return the change that keeps texts beside those of a record, also those that the given one keeps so."""
    found = {(one.field, one.text): one for one in record.alternates}
    at = getattr(given, "created_at", record.created_at)
    more = [Alternate(field=name, text=text, at=at) for name, text in aside]
    more += given.alternates if isinstance(given, Record) else ()
    added = {(one.field, one.text): one for one in more if (one.field, one.text) not in found}
    added = {pair: one for pair, one in added.items() if getattr(record, pair[0], None) != pair[1]}
    return {"alternates": [one.model_dump() for _, one in sorted((found | added).items())]} if added else {}
