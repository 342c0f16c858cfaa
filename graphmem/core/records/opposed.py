"""Whether two texts say opposite things: they differ only in a "not", or in one word that turns the direction."""

import re
from collections import Counter
from functools import lru_cache

from graphmem.core.records.dedup import EMPTY, TURNING, WORD, meaning, plain, same_memory
from graphmem.patterns import lazy_re

INSTEAD = lazy_re(r"[\w-]+,? (?:and )?not ([\w-]+)", re.IGNORECASE)  # "spaces, not tabs"
DIRECTIONS = frozenset(
    frozenset(map(meaning, pair.split()))
    for pair in (
        "before after", "on off", "up down", "in out", "to from", "with without", "enable disable", "allow refuse",
        "allow forbid", "add remove", "start stop", "open close", "lock unlock", "include exclude", "show hide",
        "first last", "more less", "most least", "minimum maximum", "increase decrease", "raise lower", "left right",
        "true false", "ascending descending", "upgrade downgrade", "sync async", "above below", "over under",
    )
)  # fmt: skip


def opposed(left: str, right: str) -> bool:
    """Return whether two texts say opposite things."""
    first, second = _words(left), _words(right)
    only = [*(first - second).elements()], [*(second - first).elements()]
    if sorted(map(len, only)) == [0, 1]:
        return only[0] + only[1] == ["not"]
    if [len(found) for found in only] == [1, 1]:
        return frozenset((only[0][0], only[1][0])) in DIRECTIONS
    return _prefers_other(left, right) or _prefers_other(right, left)


@lru_cache(4_096)  # one text is compared with many
def _words(text: str) -> Counter[str]:
    """Return the words of a text that say something, by their stems; each that negates as "not"."""
    found = (word for word in WORD.findall(plain(text)) if word != "always" and word not in EMPTY)
    return Counter("not" if word in TURNING else meaning(word) for word in found)


def _prefers_other(one: str, other: str) -> bool:
    """Return whether a text asks for another thing instead of what one asks for: "spaces, not tabs" for "tabs"."""
    return INSTEAD.search(other) is not None and same_memory(one, INSTEAD.sub(r"\1", other))
