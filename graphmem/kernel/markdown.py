"""Markdown for a comment on a forge: texts of a memory or a log are shown as code, so nothing of them is markup."""

import re
from collections.abc import Iterable, Iterator

from graphmem.constants import COMMENT_CHARS
from graphmem.names import visible


def code(content: str) -> str:
    """Return a text as code: between more backticks than occur together anywhere in it."""
    line = visible(" ".join(content.split())) or " "
    fence = "`" * (1 + max(map(len, re.findall("`+", line)), default=0))
    space = " " if line.startswith("`") or line.endswith("`") else ""
    return f"{fence}{space}{line}{space}{fence}"


def item(lines: Iterable[str]) -> str:
    """Return an item of a list: its first line, and the others in a list below it, all as code."""
    return "\n".join(f"{'  ' * bool(place)}- {code(line)}" for place, line in enumerate(lines))


def bounded(parts: Iterable[str]) -> Iterator[str]:
    """Yield the parts of a list that fit into a comment, then how many were left out."""
    room, left_out = COMMENT_CHARS, 0
    for part in parts:
        room -= len(part)
        left_out += room < 0
        if room >= 0:
            yield part
    if left_out:
        yield f"- and {left_out:,} more"
