"""What a model says of a row, and where a bad line is."""

import json

from pydantic import ValidationError

from graphmem.contract.findings import Finding
from graphmem.model.record import Frozen, Row
from graphmem.names import one_line
from graphmem.ndjson import ROW_BYTES, BadLine, column_of

MENDS = {"duplicate_key": "take one of the two lines out", "conflict_marker": "graphmem resolve"}  # by code


def finding(bad: BadLine, file: str, line: int) -> Finding:
    """Return where a bad line is."""
    return Finding(
        file=file,
        line=line,
        column=bad.column,
        code=bad.code,
        severity="error",
        message=one_line(bad.message),
        expected=one_line(bad.expected),
        fix=MENDS.get(bad.code),
    )


def refusal(line: bytes, error: ValidationError) -> BadLine:
    """Turn the first complaint of a model into one about a line."""
    first = error.errors()[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    message, expected = complaint(error)
    at = column_of(line, json.dumps(field).encode()) if field else 1
    return BadLine(message, expected, column=at, code="bad_row")


def complaint(error: ValidationError) -> tuple[str, str]:
    """Return what a model refuses, and what it expects, in words."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"field {field!r} is missing", f"a value for {field!r}"
    text = first["msg"].removeprefix("Value error, ").removeprefix("expected ")
    if not field:
        return text, "see docs/format.md"
    shown = repr(first["input"])
    return f"field {field!r} is {shown[:80]}", text[:1].lower() + text[1:]


def checked(model: type[Frozen], row: Row, line: bytes) -> Frozen:
    """
    Return ``row`` as a record.

    Raises:
        BadLine: the model refuses it.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        raise refusal(line, error) from None


def too_large(line: bytes) -> BadLine | None:
    """Report when a canonical line is over the limit of a row."""
    if len(line) > ROW_BYTES:
        return BadLine(f"the row is {len(line):,} bytes", f"at most {ROW_BYTES:,}", code="too_large")
    return None
