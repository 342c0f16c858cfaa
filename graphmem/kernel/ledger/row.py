"""From records to rows of the ledger, and from lines to records."""

from collections.abc import Container
from functools import lru_cache
from typing import Any

import orjson

from graphmem.kernel.ledger.codec import validated
from graphmem.kernel.model import MODELS, Frozen
from graphmem.kernel.model.authors import Author, changed_by
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time, instant
from graphmem.kernel.model.record import Row, plain
from graphmem.kernel.model.relation import MAX_WEIGHT
from graphmem.kernel.ndjson import BadLine, decode, encode
from graphmem.names import edge_key, row_id, row_key
from graphmem.patterns import lazy_re

PLAIN_EDGE = {"kind", "from", "type", "to", "created_at"}  # the fields of a plain edge: its ends
PLAIN_TOO = {"weight", "by", "via"}  # and what it may have beside
PLAIN_LINE = b'{%b"created_at":"%b","from":%b,"kind":"relation","to":%b,"type":"%b"%b}'  # its canonical line
PLAIN_TEXT = lazy_re(  # that line where no text needs an escape: taken apart without a parser
    r'\{(?:"by":"([^"\\\0-\x1f]+)",)?"created_at":"([^"\\\0-\x1f]+)","from":"([a-z][a-z0-9_]*/[^"\\\0-\x1f]+)",'
    r'"kind":"relation","to":"([a-z][a-z0-9_]*/[^"\\\0-\x1f]+)","type":"([a-z][a-z0-9_]*)"'
    r'(?:,"via":"([^"\\\0-\x1f]+)")?(?:,"weight":([01]\.[0-9]{0,14}[1-9]|[12]))?\}'
)


@lru_cache(65_536)  # the ends of edges recur: a record has several
def _json_text(text: str) -> bytes:
    """Return a text as JSON."""
    return bytes(memoryview(orjson.dumps(text)))


def entry(record: Frozen, symmetric: Container[str]) -> Entry:
    """Return the row of a record in canonical form."""
    row = record.to_row()
    return Entry(row_id(row_key(row, symmetric)), record.kind, encode(row), record)


def signed_entry(
    found: Entry, before: bytes | None, author: Author, symmetric: Container[str], *, is_proven: bool
) -> Entry:
    """
    Return a row that is to be written with its authors.

    Args:
        before: the line of the row as it was; None for one that is new.
        is_proven: as ``changed_by`` takes it.
    """
    row = changed_by(author, None if before is None else orjson.loads(before), found.row, is_proven=is_proven)
    if (made := found.record) is None:
        if is_plain_edge(row):
            return plain_edge(row, symmetric)
        made = MODELS["relation"].model_validate(row)
    says = {"by": row.get("by"), "via": row.get("via"), "authors": row.get("authors", {})}
    return entry(made.model_copy(update=says), symmetric)


def plain_edge(row: dict[str, Any], symmetric: Container[str]) -> Entry:
    """Return a checked plain edge with a canonical time as a row of the ledger."""
    source, kind, target, by, rest = row["from"], row["type"], row["to"], b"", b""
    if "by" in row:
        by = b'"by":%b,' % _json_text(row["by"])
    if "via" in row:
        rest = b',"via":%b' % _json_text(row["via"])
    if "weight" in row:
        value = plain(row["weight"])
        row = row if value is row["weight"] else {**row, "weight": value}
        rest += b',"weight":%b' % orjson.dumps(value)
    line = PLAIN_LINE % (by, row["created_at"].encode(), _json_text(source), _json_text(target), kind.encode(), rest)
    return Entry(row_id(edge_key(source, kind, target, symmetric=kind in symmetric)), "relation", line, None)


def read_entry(line: bytes, symmetric: Container[str]) -> Entry:
    """
    Return the row on a line of a file.

    Raises:
        BadLine: it is none.
    """
    if edge := _read_plain_edge(line, symmetric):
        return edge
    row = decode(line)
    record = None if is_plain_edge(row) else validated(model_of(row), row, line)
    return Entry(row_id(row_key(row, symmetric)), str(row["kind"]), line, record, row)


def _read_plain_edge(line: bytes, symmetric: Container[str]) -> Entry | None:
    """Return the row on a line that is the canonical one of a plain edge; None for any other line."""
    try:
        found = PLAIN_TEXT.fullmatch(line.decode())
        if found is None:
            return None
        by, created_at, source, target, kind, via, weight = found.groups()
        instant(created_at)
    except ValueError:
        return None
    if source == target:
        return None
    row: Row = {"created_at": created_at, "from": source, "kind": "relation", "to": target, "type": kind}
    if weight:
        row["weight"] = float(weight)
    row.update((name, value) for name, value in (("by", by), ("via", via)) if value)
    return Entry(row_id(edge_key(source, kind, target, symmetric=kind in symmetric)), "relation", line, None, row)


def canonical_line(line: bytes, symmetric: Container[str]) -> bytes:
    """Return the canonical form of a line that was read before."""
    found = read_entry(line.rstrip(b"\r"), symmetric)
    if found.record is None:
        return plain_edge({**found.row, "created_at": time_text(found.row["created_at"])}, symmetric).line
    return entry(found.record, symmetric).line


@lru_cache(4096)  # rows that were written together share their times
def time_text(time: str) -> str:
    """Return the canonical form of a time that was checked."""
    return format_time(instant(time))


def is_plain_edge(row: Row) -> bool:
    """Return whether a row is an edge of its ends, perhaps a weight and an author: a model could refuse nothing."""
    if row.get("kind") != "relation" or not row.keys() >= PLAIN_EDGE or not row.keys() - PLAIN_EDGE <= PLAIN_TOO:
        return False
    if not all(isinstance(row.get(name, ""), str) for name in ("by", "via")):
        return False
    weight = row.get("weight", MAX_WEIGHT)
    if not isinstance(weight, float | int) or isinstance(weight, bool) or not 0 < weight <= MAX_WEIGHT:
        return False
    source, kind, target, created = row["from"], row["type"], row["to"], row["created_at"]
    if not (isinstance(source, str) and isinstance(target, str) and isinstance(kind, str) and isinstance(created, str)):
        return False
    if source == target:
        return False
    if not 0 < source.find("/") < len(source) - 1 or not 0 < target.find("/") < len(target) - 1:
        return False
    try:
        instant(created)
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
