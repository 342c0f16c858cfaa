"""What reports say of a record: how likely it helps, for which of its fixes they count, which disputes are open."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from graphmem.kernel.model.failure import Failure
from graphmem.kernel.model.record import Record

# Fields whose change answers reports. A merge adds sources, tags, cites, versions, a match by itself: no answer.
SAYING = frozenset({"trigger", "fix", "insight", "description"})


def help_ratio(helped: int, failed: int) -> float:
    """Return how likely a memory helps: 0.5 when nothing is known, never 0 and never 1."""
    return (helped + 1) / (helped + failed + 2)


def open_disputes(edited: Mapping[str, str], disputes: Sequence[str]) -> int:
    """
    Return how many disputes no edit of what the record says has answered since.

    Args:
        edited: the times of the last changes, by field.
        disputes: the times of the reports that it is wrong. All times are canonical texts.
    """
    last = last_said(edited)
    return sum(time > last for time in disputes)


def last_said(edited: Mapping[str, str]) -> str:
    """Return when what a record says was edited last, by the times of all edits; empty where it never was."""
    return max((time for name, time in edited.items() if name in SAYING), default="")


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


def tried_fixes(record: Record) -> list[TriedFix]:
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
    found = tried_fixes(record)
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
