"""What a terminal shows: lines as long as it is wide, fields and tables."""

import shutil
import sys
import textwrap
from collections.abc import Sequence

from graphmem.kernel.system.surroundings import variables
from graphmem.patterns import lazy_re

NARROW = 40  # characters of a terminal below which lines are as they are
LEAD = lazy_re(r"[ │├└─]*(?:> |\d+  |- )?")  # what is before the text of a line
BELOW = str.maketrans({"├": "│", "└": " ", "─": " ", ">": " ", "-": " ", **dict.fromkeys("0123456789", " ")})
SET_IN = "    "  # before the rest of a line that is broken
INDENT = 18  # characters before the value of a field


def is_terminal() -> bool:
    """Return whether a person reads the answer."""
    return sys.stdout.isatty()


def _width_of_terminal() -> int:
    """Return how many characters the terminal of the caller shows in a line."""
    given = variables().get("COLUMNS", "")
    return int(given) if given.isdecimal() and int(given) else shutil.get_terminal_size().columns


def fitted(text: str) -> str:
    """Return a text with the lines that are too long for the terminal broken at blanks, the rest of each set in."""
    width = _width_of_terminal()
    return "\n".join(part for line in text.split("\n") for part in _broken(line, width))


def _broken(line: str, width: int) -> list[str]:
    """Return a line in parts as long as the terminal is wide; below a branch of a tree its lines go on."""
    if len(line) <= width or width < NARROW:
        return [line]
    lead = LEAD.match(line)
    start = lead[0] if lead else ""
    rest = start.translate(BELOW) + SET_IN
    return _wrapped(line.removeprefix(start), width, start, rest)


def _wrapped(text: str, width: int, first: str = "", rest: str = "") -> list[str]:
    """Return a text in lines broken at blanks alone, so that references stay whole; with what is before each line."""
    return textwrap.wrap(
        text, width, initial_indent=first, subsequent_indent=rest, break_long_words=False, break_on_hyphens=False
    )


def field(name: str, value: str) -> str:
    """Return a field with its value; on a terminal its lines are as long as that is wide, below the name if need be."""
    head, rest, lines = f"  {name + ':':<15} ", " " * INDENT, value.strip().split("\n")
    if is_terminal():
        room = _width_of_terminal()
        if max(map(len, value.split()), default=0) > room - INDENT:
            head, rest = f"  {name}:\n{SET_IN}", SET_IN
        lines = [part for line in lines for part in _wrapped(line, max(40, room - len(rest))) or [""]]
    return head + f"\n{rest}".join(lines)


def table(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table: drawn on a terminal, aligned plain text elsewhere."""
    if is_terminal():
        return _drawn(headers, rows)
    widths = [max(len(row[n]) for row in (headers, *rows)) for n in range(len(headers))]
    lines = [headers, *rows]
    return "\n".join(
        "  ".join(value.ljust(width) for value, width in zip(row, widths, strict=True)).rstrip() for row in lines
    )


def _drawn(headers: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return rows as a table with lines, as wide as the terminal; without colours, so that nothing in it is escaped."""
    from rich.console import Console  # noqa: PLC0415 - only a terminal pays for rich
    from rich.table import Table  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    made = Table()
    for name in headers:
        made.add_column(Text(name), overflow="fold")
    for row in rows:
        made.add_row(*map(Text, row))
    console = Console(color_system=None, width=_width_of_terminal())
    with console.capture() as capture:
        console.print(made)
    return capture.get().rstrip("\n")
