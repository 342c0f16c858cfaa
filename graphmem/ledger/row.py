"""From records to rows of the ledger, and from lines to records."""

from collections.abc import Container

from graphmem.catalog.entry import Entry
from graphmem.ledger.codec import BadLine, checked, decode, encode
from graphmem.model import MODELS, Frozen
from graphmem.model.record import Row
from graphmem.names import row_id, row_key


def entry(record: Frozen, symmetric: Container[str]) -> Entry:
    """Return the row of a record in canonical form."""
    row = record.to_row()
    return Entry(row_id(row_key(row, symmetric)), record.kind, encode(row), record)


def read_entry(line: bytes, symmetric: Container[str]) -> Entry:
    """
    Return the row on a line of a file.

    Raises:
        BadLine: it is none.
    """
    row = decode(line)
    record = checked(model_of(row), row, line)
    return Entry(row_id(row_key(row, symmetric)), record.kind, line, record)


def model_of(row: Row) -> type[Frozen]:
    """
    Return the model of a row's kind.

    Raises:
        BadLine: the kind is missing or unknown.
    """
    kind = row.get("kind")
    if not isinstance(kind, str) or kind not in MODELS:
        raise BadLine(f"kind {kind!r} is unknown", ", ".join(MODELS), code="unknown_kind")
    return MODELS[kind]


def line_id(line: bytes, symmetric: Container[str]) -> int:
    """Return the number of the row on a line that was read before."""
    return row_id(row_key(decode(line.rstrip(b"\r")), symmetric))

