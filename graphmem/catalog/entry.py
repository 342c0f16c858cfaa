"""A checked row of the ledger, as it goes into the catalog."""

import hashlib
from dataclasses import dataclass

from graphmem.model import Frozen, Record


@dataclass(slots=True, frozen=True)
class Entry:
    """A checked row: its number, its kind, its line without the line end, its record."""

    id: int
    kind: str
    line: bytes
    record: Frozen


def text_hash(record: Frozen) -> bytes | None:
    """Return the hash under which the vector of a record is kept; None where it has no search text."""
    text = record.search_text if isinstance(record, Record) else ""
    return hashlib.sha256(text.encode()).digest()[:16] if text.strip() else None
