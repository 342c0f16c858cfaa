"""What is of the project in an output, without what graphmem showed there of other stores."""

from collections.abc import Sequence
from itertools import takewhile

from graphmem.core.logs.line import ESCAPES
from graphmem.kernel.system.user import STORES
from graphmem.patterns import lazy_re

OTHERS = f"(?:{'|'.join(STORES)})"
MARK = rf"(?<!\w){OTHERS}:"
NAMES = lazy_re(rf"{MARK}[a-z][a-z0-9_]*/[^\s/]")
# A field of an answer as JSON, also within other JSON, as Python prints it, or as YAML on a line of its own.
FIELD = lazy_re(rf"""\\*["']store\\*["']: ?\\*["']{OTHERS}\\*["']|^\s+(?:- )?store: ["']?{OTHERS}["']?\s*$""")
SUSPECT = lazy_re(f"{OTHERS}:[a-z]|store.{{1,40}}{OTHERS}".encode())  # where neither is, no line is looked at
MARKS = ("- ", "* ", "> ")  # before what begins an entry
ASKS_USER = lazy_re(rf"\s--user\b|[\"'=]--user\b|{MARK}[a-z]|\bshare/graphmem\b")
MOST_DEEP = 1_000
DEEPER = ("  ", "\t")  # begin what belongs to the line before


class OwnLines:
    """Tells line by line what is the project's: no line that names a record of the other store, nor what is below."""

    begins: str | None = None  # what is before the name in such a line

    def has(self, line: str) -> bool:
        """Return whether the next line is the project's."""
        line = ESCAPES.sub("", line)
        if found := NAMES.search(line):
            self.begins = line[: found.start()].rstrip("`\"'")
        elif self.begins is not None and not self.is_below(line, self.begins):
            self.begins = None
        return self.begins is None and not FIELD.search(line)

    def is_below(self, line: str, begins: str) -> bool:
        """Return whether a line belongs to the one that a name is in."""
        column = len(begins) - 2 * begins.endswith(MARKS)
        quoted = line[len(begins) :] if line.startswith(begins) else ""
        longer = line[column + 1 :] if column else ""  # as where the number of a line has a digit more
        return any(rest.startswith(DEEPER) for rest in (line[column:], quoted, longer))

    def of(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return the next lines of a log, an empty one for each that is not the project's."""
        text = b"\n".join(lines)
        may_be = b"user:" in text or b"organisation:" in text or b"store" in text  # a look is cheaper than a search
        if self.begins is None and not (may_be and SUSPECT.search(text)):
            return lines
        return [line if self.has(line.decode("latin-1")) else b"" for line in lines]


def own_text(output: str, command: str = "") -> str:
    """Return what of an output is the project's; nothing of a command that asks another store alone."""
    if "graphmem" in command and ASKS_USER.search(command):
        return ""
    if not any(store in output for store in STORES):
        return output
    lines = output.splitlines(keepends=True)
    for number in [number for number, line in enumerate(lines) if FIELD.search(line)]:
        _blank_object(lines, number)
    return "".join(filter(OwnLines().has, lines))


def _blank_object(lines: list[str], number: int) -> None:
    """Empty the lines of an object that has a line of its own for each field, by one of them."""
    column = _depth(lines[number])
    if column:
        before = [*takewhile(lambda at: _depth(lines[at]) >= column, range(number - 1, -1, -1))]
        after = [*takewhile(lambda at: _depth(lines[at]) >= column, range(number, len(lines)))]
        lines[number - len(before) : number + len(after)] = [""] * (len(before) + len(after))


def _depth(line: str) -> int:
    """Return how far a line is indented; no less than any other where it is empty already."""
    return len(line) - len(line.lstrip(" \t")) if line else MOST_DEEP
