"""The numbers by which the catalog finds memories that tell the same."""

from collections.abc import Sequence

from graphmem.core.logs.diagnosis import statement
from graphmem.core.logs.line import last_word, trigger_lines
from graphmem.core.records.dedup import signature
from graphmem.kernel.catalog.clues import Clues
from graphmem.kernel.model import Failure, MemoryRecord
from graphmem.names import row_id


def signature_of(record: MemoryRecord) -> int:
    """Return the number that represents the signature of a memory's trigger."""
    return row_id(f"{record.kind}\n{signature(record.subject)}")


def repeat_keys(record: MemoryRecord) -> set[int]:
    """Return the signature numbers of a memory: of its text and of the errors in it; duplicates share at least one."""
    problems = statement(record.trigger) if isinstance(record, Failure) else ()
    return {signature_of(record), *(row_id(key) for problem in problems for key in problem.keys)}


def clues_of(record: MemoryRecord) -> Clues:
    """Return what a memory is recognised by: of a failure also the errors and lines of each trigger."""
    triggers = record.texts("trigger") if isinstance(record, Failure) else ()
    errors = {row_id(key) for trigger in triggers for problem in statement(trigger) for key in problem.keys}
    found = (lines for trigger in triggers if (lines := trigger_lines(trigger)))
    return Clues(signature_of(record), errors, [_line_row(lines) for lines in found])


def _line_row(lines: Sequence[str]) -> tuple[int, str, bytes]:
    """Return the lines of a trigger as the catalog keeps them."""
    rest = b"".join(row_id(line).to_bytes(8, "big") for line in lines[1:])
    return row_id(lines[0]), last_word(lines[0]), rest
