"""
The rows of a data file for people: ``git diff`` shows which field of which record changed.

Git runs it for both sides of every file of a diff, so nothing here loads the models or the command line.
"""

import sys
from pathlib import Path

import orjson

from graphmem.kernel.ndjson import BOM, BadLine, Row, decode
from graphmem.names import row_title, visible

IN_EVERY_TITLE = {"kind", "key"}
IN_TITLE = {
    "relation": {"kind", "from", "type", "to"},
    "feedback": {"kind", "ref", "task", "id"},
    "entity": {"kind", "type", "key"},
}


def main(path: str) -> int:
    """Print a data file for people and return the exit status."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        print(visible(f"error: {path!r} cannot be read: {(error.strerror or '').lower()}"), file=sys.stderr)
        return 4
    sys.stdout.buffer.write(described(data).encode("utf-8", "backslashreplace"))
    return 0


def described(data: bytes) -> str:
    """Return a block for each row, by reference, then the lines that are not rows as they are; inert on a terminal."""
    blocks: list[tuple[str, str]] = []
    rest: list[str] = []
    for line in data.removeprefix(BOM).split(b"\n"):
        try:
            row = decode(line)
            title = row_title({**row, "name": row["key"]} if "key" in row else row)  # by key: a name may change
            blocks.append((title, "\n".join([_one_line(title), *fields(row), ""])))
        except (BadLine, KeyError, TypeError):
            rest += [line.decode("utf-8", "backslashreplace")] if line.strip() else []
    tail = ["".join(f"{line}\n" for line in rest)] if rest else []
    return visible("\n".join([*(block for _, block in sorted(blocks)), *tail]))


def fields(row: Row) -> list[str]:
    """Return the lines of the fields that the title does not tell."""
    lines: list[str] = []
    titled = IN_TITLE.get(row["kind"], IN_EVERY_TITLE)
    for name in sorted(row):
        if name not in titled:
            _add_field(lines, _one_line(name), row[name])
    return lines


def _add_field(lines: list[str], name: str, value: object) -> None:
    """Add the lines of one field: a list one item a line, a structure one member a line, a text line by line."""
    if isinstance(value, str):  # nearly all are; a large file has a million of them, and git waits for it twice
        if "\n" in value:
            lines.append(f"  {name}:")
            lines += [f"    {line}" for line in value.split("\n")]
        else:
            lines.append(f"  {name}: {value}")
    elif isinstance(value, dict) and value:
        for member, found in sorted(value.items()):
            _add_field(lines, f"{name}.{_one_line(member)}", found)
    elif isinstance(value, list) and value:
        lines.append(f"  {name}:")
        lines += [f"    - {_one_line(item if isinstance(item, str) else _plain(item))}" for item in value]
    else:
        lines.append(f"  {name}: {_plain(value)}")


def _plain(value: object) -> str:
    """Return a value as JSON."""
    return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()


def _one_line(text: str) -> str:
    """Return a text with its line ends escaped."""
    return text.replace("\n", "\\n")
