"""Candidates in words, and which of them a question is about."""

import math
from collections import Counter
from collections.abc import Sequence
from datetime import datetime

from graphmem.kernel.model.candidate import Candidate, Occasion
from graphmem.names import collapsed
from graphmem.patterns import lazy_re

WORD = lazy_re(r"[^\W_]{3,}")
SHARED = 0.5  # of the rarity of a question's words that a candidate must hold to be about it
MARK = "seen, not reviewed"
SHOWN = 60  # characters of a command or a path in a clause


def occasion(found: Occasion) -> str:
    """Return one occasion in a clause: what was run, when it passed, after which edit, where that was seen."""
    parts = [f"`{_short(found.command)}`"] if found.command else []
    if found.passed:
        files = list(dict.fromkeys(edit.file for edit in found.edits))
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        after = f" after an edit in {_short(files[0])}{more}" if files else ""
        parts.append(f"passed{_later(found)}{after}")
    if found.reverted:
        parts.append(f"taken back by {found.reverted[:12]}")
    where = f"session {found.session[:8]}" if found.session else (found.commit or "")[:12] or found.run or ""
    parts.append(f"{found.source} {where}".strip())
    return ", ".join([*parts, *filter(None, [found.at[:10]])])


def _short(text: str) -> str:
    """Return a text on one line, its end cut."""
    line = collapsed(text)
    return line if len(line) <= SHOWN else f"{line[: SHOWN - 1]}…"


def _later(found: Occasion) -> str:
    """Return how long after the failure the pass was; empty where a time is missing."""
    try:
        seconds = (_as_time(found.passed or "") - _as_time(found.at)).total_seconds()
    except (ValueError, TypeError):
        return ""
    if not 0 <= seconds < 86_400 * 7:
        return ""
    for size, name in ((86_400, "day"), (3_600, "hour"), (60, "minute"), (1, "second")):
        if seconds >= size or size == 1:
            number = int(seconds // size)
            return f" {number} {name}{'' if number == 1 else 's'} later"
    return ""  # pragma: no cover  # the last size is always reached


def _as_time(text: str) -> datetime:
    """Return a time from ISO 8601; raise ``ValueError`` for any other text."""
    return datetime.fromisoformat(text)


def insight(candidate: Candidate) -> str:
    """Return what a candidate says to do; empty where it says nothing."""
    found = (candidate.pattern or {}).get("insight") or (candidate.failure or {}).get("fix")
    return found if isinstance(found, str) else ""


def _words(candidate: Candidate) -> frozenset[str]:
    """Return the words of what a candidate would be as records."""
    texts = [
        value
        for _, part in candidate.parts
        for name, value in part.items()
        if isinstance(value, str) and name != "kind"
    ]
    return frozenset(word.casefold() for text in texts for word in WORD.findall(text))


def about(text: str, candidates: Sequence[Candidate], limit: int) -> list[Candidate]:
    """Return the candidates that hold most of the rare words of a text, the most of them first."""
    asked = frozenset(word.casefold() for word in WORD.findall(text))
    held = [(one, _words(one)) for one in candidates]
    counts = Counter(word for _, found in held for word in found & asked)
    rarity = {word: math.log(1 + len(held) / (1 + counts[word])) for word in asked}
    total = sum(rarity.values()) or 1.0
    scored = [(sum(rarity[word] for word in found & asked) / total, one) for one, found in held]
    best = sorted((pair for pair in scored if pair[0] >= SHARED), key=lambda pair: (-pair[0], -pair[1].worth))
    return [one for _, one in best[:limit]]
