"""Every fix that is known of a failure: its own, and those that merges set aside (docs/concepts/retrieval.md)."""

from datetime import datetime

from graphmem.model import Failure, Record
from graphmem.model.field import format_time
from graphmem.model.result import Fix
from graphmem.rules.score import help_ratio

UNKNOWN = help_ratio(0, 0)  # reports are on the failure, and speak for its current fix


def fixes(record: Record) -> list[Fix]:
    """Return the fixes of a failure, what helped first, then the newest; none of any other record."""
    if not isinstance(record, Failure):
        return []
    found: list[tuple[float, datetime | None, str]] = []
    if record.fix:
        at = record.edited.get("fix", record.created_at)
        found.append((help_ratio(record.helped, record.failed), at, record.fix))
    aside = [other for other in record.alternates if other.field == "fix" and other.text != record.fix]
    found += [(UNKNOWN, other.at, other.text) for other in aside]
    found.sort(key=lambda fix: (fix[0], fix[1].timestamp() if fix[1] else 0.0), reverse=True)
    return [Fix(text=text, at=at and format_time(at), help_ratio=ratio, is_current=text == record.fix)
            for ratio, at, text in found]  # fmt: skip
