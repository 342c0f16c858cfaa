"""
Canonical NDJSON: one row a line, and what is wrong with any other line.

Source: docs/format.md. ``decode(encode(row)) == row``, and ``encode`` gives the same bytes on every platform. The merge
driver runs for every file of a merge, so nothing here loads the models.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any, BinaryIO

import orjson

from graphmem.patterns import lazy_re

Row = dict[str, Any]

ROW_BYTES = 256 * 1024  # UTF-8 bytes of a row
LINE_BYTES = 16 * ROW_BYTES  # bytes of a line of a file: merges may make rows larger than commands take in
BLOCK_BYTES = 2**20  # bytes of a file that are held at once, beside the line that they end
WIDTH = 80  # of the lines of a document
NESTING = 32  # levels of a JSON value
MAX_INTEGER = 2**53
BOM = b"\xef\xbb\xbf"
BRACKET = lazy_re(rb'"(?:[^"\\]|\\.)*+"?|[\[{]|[\]}]')  # one, or a string, also one without its end
CONFLICT_MARKS = (b"<<<<<<< ", b"=======", b">>>>>>> ", b"||||||| ")


class BadLine(Exception):
    """
    A line that cannot be a row.

    Attributes:
        expected: what would be right there, a noun with what belongs to it; empty where the message says all.
        column: counts characters from 1.
        code: one of ``contract.findings.Code``.
        fix: what to do, if that is known.
    """

    def __init__(
        self, message: str, expected: str, *, column: int = 1, code: str = "bad_json", fix: str | None = None
    ) -> None:
        super().__init__(message)
        self.message, self.expected, self.column, self.code, self.fix = message, expected, column, code, fix


class Lines:
    """
    The lines of a file, without their ends and without a byte-order mark, read a block at a time.

    A line over ``LINE_BYTES`` is given longer than that, but never whole: it is to be refused, not to be held.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.sha256 = hashlib.sha256()  # of what was read so far
        self.is_usual = True  # no byte-order mark, and a line end at the end

    def __iter__(self) -> Iterator[bytes]:
        rest = b""
        is_first = True
        while block := self.file.read(BLOCK_BYTES):
            self.sha256.update(block)
            if is_first and block.startswith(BOM):
                block, self.is_usual = block[len(BOM) :], False
            is_first = False
            if len(rest) > LINE_BYTES:
                end = block.find(b"\n")
                if end < 0:
                    continue
                block = block[end:]
            *lines, rest = (rest + block).split(b"\n")
            yield from lines
        if rest:
            self.is_usual = False
            yield rest

    def rest_of_sha256(self) -> bytes:
        """Read what is left, and return the hash of the whole file."""
        while block := self.file.read(BLOCK_BYTES):
            self.sha256.update(block)
        return self.sha256.digest()


def read_input(lines: Iterable[bytes], most_bad: int) -> list[bytes]:
    """
    Return the lines of an input, all read before a command takes a lock: what writes a pipe may be slow.

    Args:
        most_bad: lines that cannot be rows, with which it is no such input, and the rest is not read.
    """
    found: list[bytes] = []
    bad = 0
    for line in lines:
        found.append(line)
        text = line.removeprefix(BOM).strip()
        bad += len(line) > LINE_BYTES or (text != b"" and not text.startswith(b"{"))
        if bad >= most_bad:
            break
    return found


def refuse_long(line: bytes) -> None:
    """Raise ``BadLine`` for a line so long that it is not worth reading."""
    if len(line) > LINE_BYTES:
        raise BadLine(f"the line is over {LINE_BYTES:,} bytes", f"at most {ROW_BYTES:,}", code="too_large")


def encode(row: Mapping[str, Any]) -> bytes:
    """Return the canonical line of ``row``, without its line end."""
    # A copy: what orjson returns holds 4 KiB however short it is, and the lines of a bulk add are held together.
    return bytes(memoryview(orjson.dumps(row, option=orjson.OPT_SORT_KEYS)))


def document(value: Any, depth: int = 0, room: int = WIDTH) -> str:
    """
    Return a JSON value over lines, as formatters write it: an array on one line where it has room, keys in order.

    Args:
        depth: how many values it lies in. room: characters that its line has left.
    """
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        parts, last = list[str](), max(value)
        for key in sorted(value):
            head = f"{inner}{json.dumps(key, ensure_ascii=False)}: "
            parts.append(head + document(value[key], depth + 1, WIDTH - len(head) - (key != last)))
        return "{\n" + ",\n".join(parts) + f"\n{outer}}}"
    if isinstance(value, list) and value:
        parts = [document(part, depth + 1, WIDTH - len(inner)) for part in value]
        flat = f"[{', '.join(parts)}]"
        if len(flat) <= room and "\n" not in flat:
            return flat
        return "[\n" + ",\n".join(inner + part for part in parts) + f"\n{outer}]"
    return json.dumps(value, ensure_ascii=False)


def decode(line: bytes) -> Row:
    """
    Return the object on ``line``, a line without its line end.

    Raises:
        BadLine: no JSON object; a repeated key, an integer beyond 2^53, a lone surrogate; nested over 32 levels.
    """
    try:
        row = orjson.loads(line)
    except orjson.JSONDecodeError as error:
        raise _explain(line, error) from None
    if not isinstance(row, dict):
        raise BadLine(f"a row is a JSON object, not {type(row).__name__}", 'a line such as {"kind":"failure",…}')
    # A repeated key, or a quote within a text, makes more quotes than the value needs; a line in canonical form repeats
    # no key. What is neither goes to the slow check.
    quotes = _quotes_needed(row)
    if quotes is None or (line.count(b'"') != quotes and encode(row) != line):
        _refuse_laxities(line)
    return row


def _quotes_needed(value: Row | list[Any], levels: int = NESTING) -> int | None:
    """Return how many quotes enclose the keys and texts of a value; None where a closer look is needed."""
    quotes, items = (2 * len(value), value.values()) if isinstance(value, dict) else (0, value)
    for item in items:
        kind = type(item)
        if kind is str:
            quotes += 2
            continue
        if kind is int and not -MAX_INTEGER <= item <= MAX_INTEGER:
            return None
        if kind is float and abs(item) >= MAX_INTEGER:  # an integer too long for orjson
            return None
        if kind is dict or kind is list:
            more = _quotes_needed(item, levels - 1) if levels > 1 else None
            if more is None:
                return None
            quotes += more
    return quotes


def _refuse_laxities(line: bytes) -> None:
    """Raise ``BadLine`` for what orjson lets through: repeated keys, large integers, deep nesting."""
    depth = _nesting(line)
    if depth > NESTING:
        raise BadLine(f"nested {depth} levels deep", f"at most {NESTING}", code="too_deep")

    def once(pairs: list[tuple[str, object]]) -> dict[str, object]:
        seen: dict[str, object] = {}
        for key, value in pairs:
            if key in seen:
                at = column_of(line, json.dumps(key, ensure_ascii=False).encode(), nth=2)
                raise BadLine(
                    f"key {key!r} appears twice in one object", "each key once", column=at, code="repeated_key"
                )
            seen[key] = value
        return seen

    def integer(digits: str) -> int:
        value = int(digits) if len(digits) < 20 else MAX_INTEGER + 1
        if abs(value) > MAX_INTEGER:
            at = column_of(line, digits.encode())
            raise BadLine(f"integer {digits[:30]} is beyond 2^53", "a number every reader keeps", column=at)
        return value

    json.loads(line, object_pairs_hook=once, parse_int=integer)


def _nesting(line: bytes) -> int:
    """Return how many levels of arrays and objects ``line`` has, strings left aside."""
    depth = deepest = 0
    for token in BRACKET.finditer(line):
        if token[0] in (b"[", b"{"):
            depth += 1
            deepest = max(deepest, depth)
        elif token[0] in (b"]", b"}"):
            depth -= 1
    return deepest


def column_of(line: bytes, part: bytes, nth: int = 1) -> int:
    """Return the column, in characters from 1, of the ``nth`` occurrence of ``part`` in ``line``; 1 where it is not."""
    at = -1
    for _ in range(nth):
        found = line.find(part, at + 1)
        if found < 0:
            break
        at = found
    return len(line[: max(at, 0)].decode(errors="replace")) + 1


def _explain(line: bytes, error: orjson.JSONDecodeError) -> BadLine:
    """Report what is wrong with a line that is not JSON."""
    if line.startswith(CONFLICT_MARKS):
        return BadLine("a conflict marker of git", "the rows of one side or of both", code="conflict_marker")
    try:
        line.decode()
    except UnicodeDecodeError as bad:
        at = len(line[: bad.start].decode(errors="replace")) + 1
        return BadLine(f"byte 0x{line[bad.start]:02x} is not UTF-8", "UTF-8 text", column=at, code="bad_utf8")
    if "surrogate" in str(error):
        return BadLine("a lone surrogate", "a whole character", column=error.colno, code="bad_utf8")
    if _nesting(line) > NESTING:
        return BadLine(f"nested over {NESTING} levels deep", f"at most {NESTING}", code="too_deep")
    return BadLine(f"no JSON: {error.msg}", "a whole JSON object", column=error.colno)


def instant(time: str) -> str:
    """Return a time in its canonical text, in which the order of texts is that of instants."""
    if len(time) == 24 and time[-1] == "Z":
        return time
    moment = datetime.fromisoformat(time).astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"
