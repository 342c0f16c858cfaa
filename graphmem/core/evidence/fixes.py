"""Every fix that is known of a failure: its own, and those that were set aside (docs/concepts/retrieval.md)."""

from graphmem.core.evidence.citation_contract import Fix
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.reports import help_ratio, tried_fixes


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
        for fix in sorted(tried_fixes(record), key=lambda fix: fix.rank, reverse=True)
    ]
