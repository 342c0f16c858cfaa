"""
Workarounds: what comments in code say is there only for now, because of a version or an issue that they name.

How often a candidate is right: docs/benchmarks/learning.md, "Harvest".
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from graphmem.core.foreign.note_items import SAME_WORDS
from graphmem.kernel.model.candidate import Candidate, Fields, Occasion, candidate_id
from graphmem.patterns import lazy_re

# What git looks for, so that other files are not read here: an extended regular expression, without case.
WANTED = (
    r"work(s|ing)?[- ]?arounds?|remove (this|it|these|when|once|after|if)|(be|get) (removed|dropped)|until"
    r"|drop (this|when|once)"
)
ORIGIN = "comment:"  # before the place of a comment in the sources of a candidate
LINE = 500  # characters of a line that are read
MOST_LINES = 12  # of a comment, before and after the line that is found
SEARCHED = 1_200  # characters of a comment that are looked at
TEXT = 600  # characters of a comment that are kept
WORTH = 0.45
NO_CODE = lazy_re(
    r"(?:^|/)(?:node_modules|vendor|vendored|third[-_]?party|_vendor|dist|build|changelogs?|change\.?log.*|news.*|history\.\w+"
    r"|.*\.(?:md|mdx|markdown|rst|adoc|txt|lock|min\.\w+|svg|ipynb|po|csv|ndjson|jsonl?|map|patch|diff))(?:/|$)",
    re.IGNORECASE,
)
WHOLE_LINE = lazy_re(
    r"^\s*(?P<mark>#+|//+!?|/\*+|\*+(?!/)|--+|;+|%+|<!--|\{#|dnl\b|REM\b)(?:\s|:"
    r"|$)\s*(?P<said>.*?)\s*(?:\*/|-->|#\})?\s*$"
)
BEHIND_CODE = lazy_re(r"\S\s+(?:#|//|/\*)\s+(?P<said>\S.*?)\s*(?:\*/)?\s*$")
FOR_NOW = lazy_re(
    r"\bwork(?:s|ing|ed)?[- ]?arounds?\b"
    r"|\b(?:remove|drop|delete|revert|unpin|revisit|simplify)\b(?: \S+){0,6}? (?:when|once|after|as soon as|if"
    r"|in|with|on)\b"
    r"|\b(?:be|get) (?:removed|dropped|deleted|simplified|reverted)\b(?: \S+){0,4}? (?:when|once|after|as soon"
    r" as|if|in|with|on|by)\b"
    r"|\buntil\b(?: \S+){0,10}? (?:is|are|gets?|has|have|was|releases?d?|fix(?:es|ed)?|supports?|drops?|merged?"
    r"|lands?|ships?)\b"
    r"|\bonly (?:needed|required|necessary) (?:until|for|on|because)\b|\bno longer (?:needed|necessary"
    r"|required) (?:when|once|after|in)\b",
    re.IGNORECASE,
)
NAMED = lazy_re(
    r"#\d{1,6}\b|\bgh-\d+|\bbpo-\d+|\b[A-Z][A-Z0-9]{1,9}-\d{2,6}\b|https?://\S+/(?:issues?|pulls?|bugs?|browse|merge_requests|commit|discussions"
    r"|show_bug|t|browse)\S*\d|\bbug \d{3,}|\bv?\d+\.\d+(?:\.\d+)*\b|[<>]=?\s*v?\d+\b|\b(?:version|python|node"
    r"|go|java|ruby|gcc|clang|ios"
    r"|android|chrome|safari|firefox|typescript|pydantic|numpy|django|react)\s+v?\d+\b|\bv\d+\b|\b20\d\d-[01]\d\b",
    re.IGNORECASE,
)
DAY = lazy_re(
    (r"\b(?:after|until|by|on|before|from|since)\s+(?P<day>20\d\d-(?:0[1-9]|1[0-2])-(?:0[1-9]" r"|[12]\d|3[01]))\b"),
    re.IGNORECASE,
)
LICENCE = lazy_re(r"\b(?:copyright|licen[cs]ed? |SPDX)\b", re.IGNORECASE)


class Workaround(NamedTuple):
    """A comment about a workaround: the file, its first line from 1, its text, and the day until which it holds."""

    file: str
    line: int
    text: str
    day: str = ""


def may_hold(path: str) -> bool:
    """Return whether a file is the project's own code: no text, no generated and no foreign file."""
    return NO_CODE.search(path) is None


def workarounds(path: str, lines: Sequence[str], numbers: Sequence[int]) -> Iterator[Workaround]:
    """
    Yield the workarounds that comments of a file name, each once.

    Args:
        numbers: the lines to look at, from 1.
    """
    done = 0  # the last line of the comments that were looked at
    for number in numbers:
        if number <= done or number > len(lines):
            continue
        first, last, text = _comment_at(lines, number)
        done = last
        text = text[:SEARCHED]
        if FOR_NOW.search(text) and NAMED.search(text) and not LICENCE.search(text):
            day = DAY.search(text)
            yield Workaround(path, first, text[:TEXT], day["day"] if day else "")


def _comment_at(lines: Sequence[str], number: int) -> tuple[int, int, str]:
    """Return the first and the last line of the comment at a line, and its text; an empty text where none is there."""
    said = _said_in(lines[number - 1])
    if said is None:
        found = BEHIND_CODE.search(lines[number - 1][:LINE])
        return number, number, found["said"] if found else ""
    first = last = number
    while first > 1 and number - first < MOST_LINES and _said_in(lines[first - 2]):
        first -= 1
    while last < len(lines) and last - number < MOST_LINES and _said_in(lines[last]):
        last += 1
    return first, last, " ".join(" ".join(_said_in(line) or "" for line in lines[first - 1 : last]).split())


def _said_in(line: str) -> str | None:
    """Return what a line says that is a comment as a whole; None for any other line."""
    found = WHOLE_LINE.match(line[:LINE])
    return found["said"] if found else None


def is_noted(one: Candidate) -> bool:
    """Return whether a candidate is from a comment."""
    sources = one.other[0].get("sources") if one.other else None
    return isinstance(sources, list) and any(source.startswith(ORIGIN) for source in sources)


def noted(one: Workaround) -> Candidate:
    """Return the candidate that a workaround is: its id stays where lines move or the end of the comment changes."""
    first = " ".join(re.findall(r"\w+", one.text.casefold())[:SAME_WORDS])
    evidence = Occasion(source=one.file)
    fields: Fields = {
        "kind": "constraint",
        "constraint": f"{one.file}: {one.text}",
        "sources": [f"{ORIGIN}{one.file}:{one.line}"],
    }
    if one.day:
        fields["expires_at"] = f"{one.day}T00:00:00Z"
    return Candidate(
        id=candidate_id(f"comment {one.file}\n{first}"),
        base=WORTH,
        other=(fields,),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.source,),
    )
