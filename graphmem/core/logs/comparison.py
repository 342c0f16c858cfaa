"""
Comparison: whether two problems are the same, the same rule for other names, or others. The only place that decides it.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from graphmem.core.logs.message import MessagePart, MessageTemplate, plain, same_names, within
from graphmem.core.logs.problem import LogProblem
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.model.verdict import Verdict

ORDER: tuple[Verdict, ...] = ("same", "same_rule", "unclear", "other")
NARROWER: tuple[Identity, ...] = ("frame", "names", "message", "rule")
LEAST_ALIKE = 0.5  # share of the words of two templates, from which they are about one thing


Pairs = Sequence[tuple[MessagePart, MessagePart]]  # parts of two messages, side by side


class Compared(NamedTuple):
    """A verdict, and why."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()


def compare(a: LogProblem, b: LogProblem, identity: Identity | None = None, *, is_exact: bool = False) -> Compared:
    """
    Return whether two problems are the same.

    Args:
        is_exact: all of a path and a number in any message count too, as for two records that become one.
        identity: what the fix of one of them holds for, where its record says so; else what their formats say, and of
            two that differ the narrower.
    """
    if a.is_outer or b.is_outer:
        return Compared("unclear", ("it only says that something failed",))
    by = identity if identity is not None else _narrower(a, b)
    here, there = a.said, b.said
    if _has_another_code(a, b):
        return Compared("other", (f"{a.code} is not {b.code}",))
    has_code = bool(a.code and b.code) and not a.is_class
    if by == "rule" and has_code and (identity or _are_alike(here, there)):
        return Compared("same", (f"both are {a.code}",))
    if a.test and plain(a.test) == plain(b.test) and not (here.pieces and there.pieces):
        return Compared("same", (f"the test {a.test} fails",))
    pairs = _aligned(here, there)
    if pairs is None:
        return _apart(a, b, has_code=has_code)
    if not pairs and not has_code and not (a.is_class and b.is_class):
        return Compared("unclear", ("neither says what went wrong",))
    if not same_names(pairs):
        return Compared("same" if by == "rule" else "same_rule", (_differing(pairs),))
    exact = EXACT if is_exact else () if by in ("frame", "rule") or (a.test and b.test) else ("number",)
    if other := next((pair for pair in pairs if pair[0].sort in exact and pair[0] != pair[1]), None):
        return Compared("same_rule", (f"{other[0].text} is not {other[1].text}",))
    if is_exact and (why := _apart_in_detail(a, b)):
        return Compared("same_rule", (why,))
    return _by_place(a, b, by, pairs)


def _narrower(a: LogProblem, b: LogProblem) -> Identity:
    """Return of what two formats say the narrower one; of a line that was not read nothing is known."""
    if a.is_read != b.is_read:
        return a.by if a.is_read else b.by
    return min(a.by, b.by, key=NARROWER.index)


def _apart_in_detail(a: LogProblem, b: LogProblem) -> str:
    """Return in what two problems differ that say the same of the same: a sign or a function; empty without any."""
    if _signs(a) != _signs(b):
        return "they differ in their signs"
    return f"{a.frame} is not {b.frame}" if a.frame and b.frame and _function(a.frame) != _function(b.frame) else ""


def _signs(one: LogProblem) -> str:
    """Return the signs of a message that are more than punctuation."""
    return re.sub(r"[\w\s'\"`´‘’“”.,:;()/\\-]+", "", one.message)


def _has_another_code(a: LogProblem, b: LogProblem) -> bool:
    """Return whether both have codes, and different ones; a class and the code of one error do not differ."""
    if not (a.code and b.code) or a.code.casefold() == b.code.casefold():
        return False
    return not (a.said.template == b.said.template and a.said.words >= 2 and a.is_class != b.is_class)


EXACT = ("number", "path", "name")  # sorts of pieces that have to be equal to the letter for two records to be one
LEAST_PART = 3  # words of a message by which another one that holds it says the same


def _aligned(here: MessageTemplate, there: MessageTemplate) -> Pairs | None:
    """Return the pieces of two messages side by side where one holds the other; None where they say other things."""
    inner, outer = sorted((here, there), key=lambda said: len(said.pieces))
    if here.template != there.template and inner.words < LEAST_PART - inner.is_about:
        return None
    pairs = within(inner.pieces, outer.pieces)
    if pairs is None and here.template == there.template:  # names of several words
        sides = _joined(here), _joined(there)
        return [*zip(*sides, strict=True)] if len(sides[0]) == len(sides[1]) else None
    return pairs


def _joined(said: MessageTemplate) -> list[MessagePart]:
    """Return the pieces of a message, names side by side as one."""
    found = list[MessagePart]()
    for piece in said.pieces:
        if piece.is_name and found and found[-1].is_name:
            last = found[-1]
            found[-1] = MessagePart(f"{last.text} {piece.text}", last.sort if last.sort == piece.sort else "name")
        else:
            found.append(piece)
    return found


def _differing(pairs: Pairs) -> str:
    """Return in what two messages differ that say the same of other things."""
    found = next((pair for pair in pairs if pair[0].is_name and plain(pair[0].text) != plain(pair[1].text)), pairs[0])
    return f"{found[0].text} is not {found[1].text}"


def _by_place(a: LogProblem, b: LogProblem, by: Identity, pairs: Pairs) -> Compared:
    """Compare two problems that say the same of the same, by their test or their own function where these tell."""
    said = " ".join(piece.text for piece, _ in pairs)
    if (by == "message" or a.is_of_nothing) and a.is_own and b.is_own and _function(a.frame) != _function(b.frame):
        return Compared("unclear", (f"{a.frame} is not {b.frame}",))
    if by != "frame":
        return Compared("same", (f"both say: {said or a.code}",))
    if a.test and b.test:
        if plain(a.test) == plain(b.test):
            return Compared("same", (f"in the test {a.test}",))
        return Compared("other", (f"the test {a.test} is not {b.test}",))
    if a.frame and b.frame:
        if _function(a.frame) == _function(b.frame):
            return Compared("same", (f"in {a.frame}",))
        return Compared("other", (f"{a.frame} is not {b.frame}",))
    if any(piece.is_telling for piece, _ in pairs):
        return Compared("same", (f"both say: {said}",))
    return Compared("unclear", ("the message does not tell which one it is",))


def _function(frame: str) -> str:
    """Return the name of a function without the module that it is in."""
    return frame.rstrip("()").rpartition(".")[2].casefold() or frame.casefold()


def _words_of(said: MessageTemplate) -> set[str]:
    """Return the words of a message without its names and numbers."""
    return {word for word in said.template.split() if word not in "*#"}


def _are_alike(here: MessageTemplate, there: MessageTemplate) -> bool:
    """Return whether two messages share their words: a linter may have one code for several complaints."""
    first, second = _words_of(here), _words_of(there)
    return len(first & second) >= LEAST_ALIKE * min(len(first), len(second))


def _apart(a: LogProblem, b: LogProblem, *, has_code: bool) -> Compared:
    """Compare two problems whose messages do not say the same: others, if they are about one thing, else unclear."""
    if has_code:
        return Compared("same_rule", (f"both are {a.code}, in other words",))
    if a.test and a.test == b.test and "frame" in (a.by, b.by):
        return Compared("same_rule", (f"the test {a.test} fails otherwise",))
    first, second = _words_of(a.said), _words_of(b.said)
    if a.is_read and b.is_read and first and second and _are_alike(a.said, b.said):
        return Compared("other", (f"they differ in {', '.join(sorted(first ^ second)[:3])}",))
    return Compared("unclear", ("they have little in common",))


class Judged(NamedTuple):
    """A verdict on an output, why, and the problems of the output and of the record that it is about."""

    verdict: Verdict
    reasons: tuple[str, ...] = ()
    problem: LogProblem | None = None
    recorded: LogProblem | None = None


def judged(
    record: Sequence[LogProblem],
    output: Sequence[LogProblem],
    identity: Identity | None = None,
    *,
    is_exact: bool = False,
) -> Judged:
    """
    Return whether an output reports what was recorded: it needs each telling problem of the record.

    Args:
        record: the problems of the record, by its trigger; output: those of the output.
        identity, is_exact: see ``compare``.
    """
    telling = [one for one in record if one.is_telling] or [*record]
    best = [_nearest(one, output, identity, is_exact=is_exact) for one in telling]
    lead = min(best, key=lambda found: ORDER.index(found.verdict), default=Judged("unclear"))
    missing = next((found for found in best if found.verdict != "same"), None)
    if lead.verdict == "same" and missing is not None:
        return Judged("same_rule", ("another problem of the record is not there", *missing.reasons), *lead[2:])
    return lead


def _nearest(one: LogProblem, output: Sequence[LogProblem], identity: Identity | None, *, is_exact: bool) -> Judged:
    """Return how a problem compares with the one of an output that it is nearest to."""
    found = (Judged(*compare(one, other, identity, is_exact=is_exact), other, one) for other in output)
    return min(found, key=lambda one: ORDER.index(one.verdict), default=Judged("unclear"))
