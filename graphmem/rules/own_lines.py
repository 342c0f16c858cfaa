"""What is of the project in an output, without what graphmem showed there of the user's own store."""

import re
from collections.abc import Sequence

from graphmem.system.user import OF_USER

NAMES = re.compile(rf"(?<!\w){OF_USER}[a-z][a-z0-9_]*/[^\s/]")
IN_JSON = re.compile(r'"store": ?"user"')
MARKS = ("- ", "* ", "> ")  # before what begins an entry
ASKS_USER = re.compile(rf"\bgraphmem\b[^\n]*?\s(?:--user\b|{OF_USER})")
DEEPER = ("  ", "\t")  # begin what belongs to the line before


class OwnLines:
    """Tells line by line what is the project's: no line that names a record of the other store, nor what is below."""

    column: int | None = None  # where such a line begins

    def has(self, line: str) -> bool:
        """Return whether the next line is the project's."""
        if found := NAMES.search(line):
            before = line[: found.start()].rstrip("`\"'")
            self.column = len(before) - 2 * before.endswith(MARKS)
        elif self.column is not None and not line[self.column :].startswith(DEEPER):
            self.column = None
        return self.column is None and not IN_JSON.search(line)

    def of(self, lines: Sequence[bytes]) -> Sequence[bytes]:
        """Return the next lines of a log, an empty one for each that is not the project's."""
        text = b"\n".join(lines)
        if self.column is None and OF_USER.encode() not in text and b'"user"' not in text:
            return lines
        return [line if self.has(line.decode("latin-1")) else b"" for line in lines]


def own_text(output: str, command: str = "") -> str:
    """Return what of an output is the project's; nothing of a command that asks the user's own store alone."""
    if ASKS_USER.search(command):
        return ""
    return "".join(filter(OwnLines().has, output.splitlines(keepends=True))) if "user" in output else output
