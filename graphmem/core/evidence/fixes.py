"""Every fix that is known of a failure: its own, and those that were set aside (docs/concepts/retrieval.md)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.core.evidence.citation_contract import Fix
from graphmem.core.evidence.score import help_ratio
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.model.field import format_time


@dataclass
class TriedFix:
    """A fix with the reports that count for it."""

    text: str
    at: datetime | None
    helped: int = 0
    failed: int = 0
    disputed: int = 0

    @property
    def rank(self) -> tuple[bool, float, float, str]:
        """What orders fixes: whether it is undisputed, how often it helped, then when it was given."""
        at = self.at.timestamp() if self.at else 0.0
        return self.disputed <= 0, help_ratio(self.helped, self.failed), at, self.text


def fixes(record: Record) -> list[Fix]:
    """Return the fixes of a failure, what helped first, then the newest; none of any other record."""
    return [
        Fix(
            text=fix.text,
            at=fix.at and format_time(fix.at),
            help_ratio=help_ratio(fix.helped, fix.failed),
            is_current=isinstance(record, Failure) and fix.text == record.fix,
            disputed=fix.disputed > 0,
        )
        for fix in sorted(_tried(record), key=lambda fix: fix.rank, reverse=True)
    ]


def _tried(record: Record) -> list[TriedFix]:
    """Return the fixes of a failure, the current one first; reports of no older fix are counted for the current one."""
    if not isinstance(record, Failure):
        return []
    aside = [other for other in record.alternates if other.field == "fix" and other.text != record.fix]
    found = [TriedFix(other.text, other.at, other.helped, other.failed, other.disputed) for other in aside]
    if not record.fix:
        return found
    helped = record.helped - sum(fix.helped for fix in found)
    failed = record.failed - sum(fix.failed for fix in found)
    disputed = record.disputed - sum(fix.disputed for fix in found)
    return [TriedFix(record.fix, record.edited.get("fix", record.created_at), helped, failed, disputed), *found]


def credited(record: Record, reports: Sequence[tuple[datetime, bool, bool]]) -> Record:
    """
    Return a failure with each report counted for the fix that was the first to try when it was made.

    So a newer fix does not get the good name of an older one, nor the older one the bad name of the newer.

    Args:
        record: as answers show it, ``helped`` and ``failed`` with all reports.
        reports: when each was made, whether it said that the memory helped, and whether that it is wrong; in the order
            of time.
    """
    found = _tried(record)
    if len(found) < 2:
        return record
    if isinstance(record, Failure) and record.fix:  # what was imported with the record is of its current fix
        found[0].helped -= sum(is_good for _, is_good, _ in reports)
        found[0].failed -= sum(not is_good for _, is_good, _ in reports)
        found[0].disputed = 0
    for at, is_good, is_wrong in reports:
        known = [fix for fix in found if fix.at is None or fix.at <= at] or found[:1]
        first = max(known, key=lambda fix: fix.rank)
        first.helped += is_good
        first.failed += not is_good
        first.disputed += is_wrong
    counts = {fix.text: {"helped": fix.helped, "failed": fix.failed, "disputed": fix.disputed} for fix in found}
    alternates = tuple(
        other.model_copy(update=counts[other.text]) if other.field == "fix" and other.text in counts else other
        for other in record.alternates
    )
    return record.model_copy(update={"alternates": alternates})
