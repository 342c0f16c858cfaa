"""What a model says of a row, and where a bad line is."""

import json

from pydantic import ValidationError

from graphmem.errors import GraphmemError
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.model.record import Frozen, Row
from graphmem.kernel.ndjson import ROW_BYTES, BadLine, column_of
from graphmem.kernel.request import right_value
from graphmem.names import one_line

FIXES = {Code.DUPLICATE_KEY: "take one of the two lines out", Code.CONFLICT_MARKER: "graphmem resolve"}


def finding(bad: BadLine, file: str, line: int) -> Finding:
    """Return where a bad line is; a code that no finding can have raises ``ValueError``."""
    code = Code(bad.code)
    fix = bad.fix or FIXES.get(code)
    message, expected = one_line(bad.message), one_line(bad.expected)
    made = Finding.of(file, code, message, expected, fix and one_line(fix), line=line, severity="error")
    return made.model_copy(update={"column": bad.column})


def _refusal(line: bytes, error: ValidationError) -> BadLine:
    """Turn the first complaint of a model into one about a line."""
    first = error.errors()[0]
    field = str(first["loc"][0]) if first["loc"] else ""
    message, expected = complaint(error)
    at = column_of(line, json.dumps(field).encode()) if field else 1
    return BadLine(message, expected or "", column=at, code="bad_row")


def refused_row(error: GraphmemError) -> BadLine:
    """Return what is wrong with a row of an input that a rule refuses."""
    code = str(error.details.get("code", error.code))
    return BadLine(error.message, "", code=code if code in set(Code) else Code.BAD_ROW, fix=error.hint)


def complaint(error: ValidationError) -> tuple[str, str | None]:
    """Return what a model refuses, in words, and what would be right there, which a message may say itself."""
    first = error.errors()[0]
    field = ".".join(str(part) for part in first["loc"])
    if first["type"] == "missing":
        return f"field {field!r} is missing", f"a value for {field!r}"
    text = first["msg"].removeprefix("Value error, ")
    if not field:
        return text, None
    right = right_value(first)
    return f"field {field!r} is {repr(first['input'])[:80]}" + ("" if right else f": {text}"), right


def validated(model: type[Frozen], row: Row, line: bytes) -> Frozen:
    """
    Return ``row`` as a record.

    Raises:
        BadLine: the model refuses it.
    """
    try:
        return model.model_validate(row)
    except ValidationError as error:
        raise _refusal(line, error) from None


def too_large(line: bytes) -> BadLine | None:
    """Report when a canonical line is over the limit of a row."""
    if len(line) > ROW_BYTES:
        return BadLine(f"the row is {len(line):,} bytes", f"at most {ROW_BYTES:,}", code="too_large")
    return None
