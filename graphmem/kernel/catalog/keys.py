"""The numbers by which the catalog finds memories that tell the same; what reads and compares texts is loaded here."""

from graphmem.core.logs.diagnosis import statement
from graphmem.core.records.dedup import signature
from graphmem.kernel.model import Failure, MemoryRecord
from graphmem.names import row_id


def signature_of(record: MemoryRecord) -> int:
    """Return the number that represents the signature of a memory's trigger."""
    return row_id(f"{record.kind}\n{signature(record.subject)}")


def repeat_keys(record: MemoryRecord) -> set[int]:
    """Return the signature numbers of a memory: of its text and of the errors in it; duplicates share at least one."""
    problems = statement(record.trigger) if isinstance(record, Failure) else ()
    return {signature_of(record), *(row_id(key) for problem in problems for key in problem.keys)}
