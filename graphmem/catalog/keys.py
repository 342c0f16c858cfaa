"""What the catalog stores of a memory to find it again: hashes of texts, numbers of signatures."""

import hashlib

from graphmem.logs.diagnosis import statement
from graphmem.model import Failure, Frozen, MemoryRecord, Record
from graphmem.names import row_id
from graphmem.rules.dedup import signature


def meaning_hashes(record: Frozen | None) -> dict[bytes, str]:
    """Return the texts whose vectors find a record, by hash; that of its search text first."""
    return {hash_of(text): text for text in record.meanings if text.strip()} if isinstance(record, Record) else {}


def signature_of(record: MemoryRecord) -> int:
    """Return the number that represents the signature of a memory's trigger."""
    return row_id(f"{record.kind}\n{signature(record.subject)}")


def repeat_keys(record: MemoryRecord) -> set[int]:
    """Return the signature numbers of a memory: of its text and of the errors in it; duplicates share at least one."""
    problems = statement(record.trigger) if isinstance(record, Failure) else ()
    return {signature_of(record), *(row_id(key) for problem in problems for key in problem.keys)}


def hash_of(text: str) -> bytes:
    """Return the hash of a search text: 16 bytes of its SHA-256."""
    return hashlib.sha256(text.encode()).digest()[:16]
