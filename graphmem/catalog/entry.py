"""A checked row of the ledger, as it goes into the catalog."""

import hashlib
from typing import NamedTuple

from graphmem.model import Frozen, Record
from graphmem.model.record import Row


class Entry(NamedTuple):
    """
    A checked row: its number, its line without the line end, its fields, its record.

    An edge that is nothing but its ends has no record made for it: there are too many of them.
    """

    id: int
    kind: str
    line: bytes
    row: Row
    record: Frozen | None


def text_hash(record: Frozen | None) -> bytes | None:
    """Return the hash under which the vector of a record is kept; None where it has no search text."""
    text = record.search_text if isinstance(record, Record) else ""
    return hashlib.sha256(text.encode()).digest()[:16] if text.strip() else None
