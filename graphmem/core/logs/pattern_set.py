"""Many patterns in one pass of RE2: which of them a text may have, before ``re`` looks for each of these."""

import contextlib
import mmap
import re
from collections.abc import Collection, Sequence
from functools import cached_property
from typing import Any

import re2

from graphmem.patterns import lazy_re

ROOM = 32 << 20  # bytes that a set may take
PART = r"\\.|\[\^?(?:\\.|[^\]\\])+\]"  # of a pattern: an escaped character, or a class
NESTED = rf"(?:{PART}|[^()\[\\]|\((?:{PART}|[^()\[\\]|\((?:{PART}|[^()\[\\])*\))*\))*"
AROUND = re.compile(rf"({PART})|\(\?<?[=!]{NESTED}\)")  # what has to be, or not to be, around a match
OTHERWISE = lazy_re(r"[^\0-\n\f-\x1b -\x7f]")  # characters that RE2 takes for others than ``re`` does


def require_room() -> None:
    """Raise ``MemoryError`` where a set has no room to work; RE2 would end the process."""
    with contextlib.suppress(OSError), mmap.mmap(-1, ROOM):
        return
    raise MemoryError


def set_options() -> Any:
    """Return how a set is made: many patterns need more memory than RE2 takes by itself."""
    made = re2.Options()
    made.max_mem = ROOM
    made.log_errors = False
    made.never_capture = True
    return made


class PatternSet:
    """
    Patterns of ``re`` as one set of RE2, without what they say of the text around a match, which RE2 cannot tell.

    So a pattern that a text has is always among those that it may have.
    """

    def __init__(self, patterns: Sequence[str], *, ignores_case: bool = True) -> None:
        self.patterns = patterns
        self.ignores_case = ignores_case

    @cached_property
    def made(self) -> Any:
        """The set, made when it is first needed."""
        require_room()
        options = set_options()
        options.case_sensitive = not self.ignores_case
        found = re2.Set.SearchSet(options)
        for pattern in self.patterns:
            found.Add("(?m)" + AROUND.sub(r"\1", pattern))
        found.Compile()
        return found

    def may_find(self, text: str) -> Collection[int]:
        """Return the places of the patterns that a text may have."""
        if OTHERWISE.search(text):
            return range(len(self.patterns))
        return self.made.Match(text) or ()
