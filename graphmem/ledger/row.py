"""From records to rows of the ledger, and from lines to records."""

from collections.abc import Container

from graphmem.catalog.entry import Entry
from graphmem.ledger.codec import BadLine, checked, decode, encode
from graphmem.model import MODELS, Frozen
from graphmem.model.field import format_time, parse_time
from graphmem.model.record import Row
from graphmem.names import edge_key, row_id, row_key

PLAIN_EDGE = frozenset({"kind", "from", "type", "to", "created_at"})


def entry(record: Frozen, symmetric: Container[str]) -> Entry:
    """Return the row of a record in canonical form."""
    row = record.to_row()
    return Entry(row_id(row_key(row, symmetric)), record.kind, encode(row), row, record)


def plain_edge(source: str, kind: str, target: str, created_at: str, symmetric: Container[str]) -> Entry:
    """Return the row of an edge that is nothing but its checked ends; ``created_at`` is a canonical time."""
    row: Row = {"created_at": created_at, "from": source, "kind": "relation", "to": target, "type": kind}
    return Entry(
        row_id(edge_key(source, kind, target, symmetric=kind in symmetric)), "relation", encode(row), row, None
    )


def read_entry(line: bytes, symmetric: Container[str]) -> Entry:
    """
    Return the row on a line of a file.

    Raises:
        BadLine: it is none.
    """
    row = decode(line)
    record = None if is_plain_edge(row) else checked(model_of(row), row, line)
    return Entry(row_id(row_key(row, symmetric)), str(row["kind"]), line, row, record)


def canonical_line(line: bytes, symmetric: Container[str]) -> bytes:
    """Return the canonical form of a line that was read before."""
    found = read_entry(line.rstrip(b"\r"), symmetric)
    if found.record is not None:
        return entry(found.record, symmetric).line
    row = found.row
    made = format_time(parse_time(row["created_at"]))
    return plain_edge(str(row["from"]), str(row["type"]), str(row["to"]), made, symmetric).line


def is_plain_edge(row: Row) -> bool:
    """Tell whether a row is an edge and nothing but its ends, all of it well: there is nothing a model could refuse."""
    if row.get("kind") != "relation" or not row.keys() <= PLAIN_EDGE:
        return False
    source, kind, target, created = row.get("from"), row.get("type"), row.get("to"), row.get("created_at")
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(kind, str) and isinstance(created, str)):
        return False
    if not 0 < source.find("/") < len(source) - 1 or not 0 < target.find("/") < len(target) - 1 or source == target:
        return False
    try:
        parse_time(created)
    except ValueError:
        return False
    return True


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
