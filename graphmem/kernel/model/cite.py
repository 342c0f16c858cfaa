"""A cite: a place in the project's code that a memory is about, and the hash of the text that was there."""

import hashlib
from typing import NamedTuple, Self

from graphmem.constants import CITE_CHARACTERS, HASH_DIGITS
from graphmem.names import printable
from graphmem.patterns import lazy_re

SYMBOL = lazy_re(r"(?!\d+$)[\w$?!-]+(?:(?:\.|::)[\w$?!-]+)*")
FORM = lazy_re(r"(?P<path>[^:]+?)(?::(?P<symbol>[^@#\s]+))?(?:@(?P<commit>[^@/:#\s]+))?(?:#(?P<hash>[0-9a-f]{16}))?")


def digest(content: bytes) -> str:
    """Return what distinguishes a text from others, whatever its line ends are."""
    return hashlib.sha256(content.replace(b"\r\n", b"\n")).hexdigest()[:HASH_DIGITS]


class Cite(NamedTuple):
    """
    A place in the project's code: ``src/auth.py:Token.login@1a2b3c4d5e6f#0a1b2c3d4e5f6a7b``.

    Attributes:
        path: of a file, from the project's root, with ``/``.
        symbol: what the file names; None for the whole file.
        commit: at which the text was read; None for the working tree.
        hash: of the text that was there; None where it was not recorded.
    """

    path: str
    symbol: str | None = None
    commit: str | None = None
    hash: str | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the cite that a text is, or raise ``ValueError`` with what is wrong with it."""
        if len(text) > CITE_CHARACTERS:
            raise ValueError(f"longer than {CITE_CHARACTERS:,} characters")
        found = FORM.fullmatch(text)
        if found is None:
            raise ValueError("no path, path:symbol or path:symbol@commit")
        if not printable(found["path"]) or {"", ".", ".."}.intersection(found["path"].split("/")):
            raise ValueError(f"path {found['path']!r} is not one from the project's root, without . and ..")
        if found["symbol"] is not None and not SYMBOL.fullmatch(found["symbol"]):
            raise ValueError(f"symbol {found['symbol']!r} is not a symbol; a line number would not stay true")
        return cls(**found.groupdict())

    @property
    def place(self) -> str:
        """Where it is, as people write it: the path, and the symbol if there is one."""
        return f"{self.path}:{self.symbol}" if self.symbol else self.path

    def __str__(self) -> str:
        commit = f"@{self.commit}" if self.commit else ""
        return f"{self.place}{commit}#{self.hash}" if self.hash else f"{self.place}{commit}"
