"""
Paths of a machine in a text: below a project's root, in a home, or in a temporary folder.

They tell who works where, and mean nothing in another clone. A system's own path, such as /usr/include/x.h, is none.
"""

import re
from collections.abc import Collection, Mapping
from typing import Any

from graphmem.patterns import lazy_re

BEFORE = r"(?:(?<![\w./~$+@-])|(?<=\s-[A-Za-z]))(?:file://(?:localhost)?)?"  # where a path begins, as in -I/usr/include
PART = r"[^\s/\\'\"`:,;|()<>\[\]{}]+"
HOMES = (
    r"/home/(?!linuxbrew\b)" + PART,  # the package manager's own folder
    r"/Users/(?!Shared\b)" + PART,
    r"/root(?=[/\\]|$|[\s'\"`:,;)])",
    r"[A-Za-z]:[\\/]+(?:Users|Documents and Settings)[\\/]+(?!Public\b)" + PART,
)
TEMPORARY = (
    r"(?:/private)?/tmp",
    r"(?:/private)?/var/tmp",
    rf"(?:/private)?/var/folders/{PART}/{PART}/T",
    rf"[A-Za-z]:[\\/]+Users[\\/]+{PART}[\\/]+AppData[\\/]+Local[\\/]+Temp",
)
# Fields that name what is there, that are run, or that a program compares as they are.
KEPT = frozenset(
    "ref refs key name kind type source target from to match verify command cites id task run campaign asked old new"
    " supersedes unset untag tag tags edited origin proven".split()
)
MOST_DEPTH = 100  # of values in each other
SIGNS = lazy_re(rb"/(?:home|users|root|tmp|var)\b|[a-z]:[\\/]", re.IGNORECASE)
FOLDERS = (b"/home", b"/users", b"/root", b"/tmp", b"/var")


class Places:
    """The paths that count as a machine's own: a project's root, by each name that it has, and the user's home."""

    def __init__(self, roots: Collection[str], home: str = "") -> None:
        known = sorted({root.rstrip("/\\") for root in roots if len(root) > 1}, key=len, reverse=True)
        own = [*known, *([home] if len(home) > 1 else ())]
        self.own = [place.encode("utf-8", "surrogateescape") for place in own]
        of_root = "|".join(map(re.escape, known))
        homes = [*([re.escape(home)] if len(home) > 1 else ()), *HOMES]
        self.root = re.compile(rf"{BEFORE}(?:{of_root})(?:([/\\]+)(?={PART})|[/\\]*(?![\w.+@-]))") if known else None
        self.temporary = re.compile(rf"{BEFORE}(?:{'|'.join(TEMPORARY)})(?:[/\\]+{PART})*[/\\]+({PART})")
        self.home = re.compile(rf"{BEFORE}(?:{'|'.join(homes)})(?![\w.+@-])")

    def may_be_in(self, line: bytes) -> bool:
        """Return whether a text in UTF-8 may hold such a path; most do not, and a look is cheaper than a search."""
        lower = line.lower()
        has_sign = any(place in lower for place in FOLDERS) or b":\\" in line or line.count(b":/") > line.count(b"://")
        return (has_sign and SIGNS.search(line) is not None) or any(place in line for place in self.own)

    def shortened(self, text: str) -> str:
        """Return a text with paths below the root as they are from there, homes as ~, and temporary folders cut."""
        if "/" not in text and "\\" not in text:
            return text
        if self.root is not None:
            text = self.root.sub(lambda found: "" if found[1] else ".", text)
        text = self.temporary.sub(r"$TMPDIR/\1", text)
        return self.home.sub("~", text)


def shortened_fields(value: Any, places: Places, called: str = "", depth: int = 0) -> Any:
    """Return a JSON value with the texts of its fields shortened; the same object where nothing is."""
    if depth > MOST_DEPTH:  # it is refused where rows are checked
        return value
    if isinstance(value, str):
        return value if called in KEPT else places.shortened(value)
    if isinstance(value, Mapping):
        found = {key: shortened_fields(part, places, str(key), depth + 1) for key, part in value.items()}
        return found if any(found[key] is not part for key, part in value.items()) else value
    if isinstance(value, list | tuple):
        parts = [shortened_fields(part, places, called, depth + 1) for part in value]
        return type(value)(parts) if any(new is not old for new, old in zip(parts, value, strict=True)) else value
    return value
