"""What speaks against relying on records, for one answer: the working tree, the lock files, the reports and the day."""

import sys
from functools import cached_property

from graphmem.core.evidence.citation_contract import Cited
from graphmem.core.evidence.citations import CitedTree
from graphmem.core.evidence.doubt import conditions_met, doubts
from graphmem.core.evidence.doubt_contract import Doubt, StaleRecord, StaleRecords
from graphmem.core.evidence.versions import Known, packages_of
from graphmem.kernel.model import MemoryRecord, Record
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.proof import valid_proof
from graphmem.kernel.model.record import Triggered
from graphmem.kernel.model.reports import last_said
from graphmem.kernel.registry import operation
from graphmem.kernel.settings.trust import proofs_run
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import row_id

STALE = ("code", "date", "versions")  # what `stale` lists: the record is as it was, and something else is not


class Doubter:
    """What the records of one answer are compared with."""

    def __init__(self, snapshot: Snapshot, *, is_thorough: bool = False) -> None:
        self.snapshot = snapshot
        self.tree = CitedTree(snapshot, is_thorough=is_thorough)

    @cached_property
    def versions(self) -> Known | None:
        """What the project uses now; None where no file says so, and in the past."""
        return None if self.snapshot.is_past else packages_of(self.snapshot.client.root)

    @cached_property
    def proofs_run(self) -> set[str]:
        """The proofs that ran in this clone."""
        return proofs_run(self.snapshot.layout.config)

    def of(self, record: Record, cites: list[Cited] | None = None) -> list[Doubt]:
        """Return what speaks against relying on a record; ``cites`` are those of it, where they were compared."""
        if not isinstance(record, MemoryRecord):
            return []
        cites = self.tree.cites_of(record) if cites is None else cites
        versions = self.versions if isinstance(record, Triggered) and record.versions else None
        dispute = self.snapshot.catalog.last_dispute(row_id(record.key_ref)) if record.disputed else None
        return doubts(record, cites, versions, self.snapshot.now.date(), dispute, self.counts_of(record), sys.platform)

    def conditions_met(self, record: Record, cites: list[Cited] | None = None) -> list[str]:
        """Return which conditions of a record hold here, a clause each; ``cites`` as for ``of``."""
        if not isinstance(record, MemoryRecord):
            return []
        cites = self.tree.cites_of(record) if cites is None else cites
        versions = self.versions if isinstance(record, Triggered) and record.versions else None
        ran = self.proofs_run if valid_proof(record) else ()
        return conditions_met(record, cites, versions, sys.platform, ran)

    def counts_of(self, record: MemoryRecord) -> tuple[int, int]:
        """Return how many reports since the last edit of what a record says say that it helped, and that it did not."""
        edited = {name: format_time(time) for name, time in record.edited.items()}
        last = last_said(edited)
        if not last or record.failed <= 0:
            return record.helped, record.failed
        reports = self.snapshot.catalog.times_of_reports(row_id(record.key_ref))
        since = [is_good for at, is_good, _ in reports if format_time(at) > last]
        return sum(since), len(since) - sum(since)


@operation(
    "stale",
    scoped=True,
    help="""
    List the records whose cited code moved, changed or is gone, that are past their date, or of another major version.
    """,
    example="graphmem stale",
)
def stale(snapshot: Snapshot) -> StaleRecords:
    """Return the records that may no longer hold: of changed code, past their day, of another major version."""
    catalog = snapshot.catalog
    doubter = Doubter(snapshot, is_thorough=True)
    numbers = {number for field in ("cites", "check_after", "versions") for number in catalog.with_field(field)}
    results, checked = [], 0
    for record in sorted(catalog.records(numbers).values(), key=lambda record: record.ref):
        cites = doubter.tree.cites_of(record)
        found = doubter.of(record, cites)
        checked += bool(cites or getattr(record, "check_after", None) or getattr(record, "versions", None))
        if any(doubt.sign in STALE for doubt in found) or any(one.state == "moved" for one in cites):
            results.append(StaleRecord(ref=record.ref, cites=cites, doubts=found, record=record))
    return StaleRecords(results=results, checked=checked)
