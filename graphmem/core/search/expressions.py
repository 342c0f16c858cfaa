"""
Many match expressions against a text of any length, in bounded memory and time.

All expressions are in one filter of RE2, which says for a piece of text which of them can be in it at all; only those
are run. RE2 runs them in linear time; those that it refuses, and very large ones, go to the module `regex`. All of them
together may use so much processor time, one of them a part of it; what is left aside is named.
Decision: docs/decisions/0008-matching-a-log.md.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from itertools import count, islice, repeat
from time import thread_time
from typing import NamedTuple

import re2

from graphmem.constants import LOG_BLOCK_BYTES, LOG_LINE_BYTES, LOG_SPAN_BYTES, LONG_BLOCK_S, MOST_LINES
from graphmem.core.logs.line import ESCAPES
from graphmem.kernel.model.expression import Expression, Malformed, linear_options
from graphmem.patterns import lazy_re

FEW_LINES = 64  # that are taken together
ESCAPES_OF_A_LOG = lazy_re(ESCAPES.pattern.encode())


class Line(NamedTuple):
    """A line of a text: its number from 1, its UTF-8, and whether there was more of it."""

    number: int
    text: bytes
    is_cut: bool


def pieces(lines: Iterable[bytes]) -> Iterator[list[bytes]]:
    """Yield the lines of a log, with their ends or without, in pieces of about the same size."""
    piece, left = list[bytes](), iter(lines)
    size = 0
    while some := list(islice(left, FEW_LINES)):
        piece += some
        size += sum(map(len, some)) + FEW_LINES
        if size >= LOG_BLOCK_BYTES:
            yield piece
            piece, size = [], 0
    if piece:
        yield piece


def lines_of(piece: Sequence[bytes], first: int = 1) -> list[Line]:
    """
    Return lines without their ends as they are looked at: in UTF-8, without colours, no longer than is sensible.

    Args:
        first: the number of the first one.
    """
    text = b"\n".join(piece)
    if text.isascii() and max(map(len, piece)) <= LOG_LINE_BYTES and b"\x1b" not in text:
        is_bare = b"\r" not in text and text.count(b"\n") == len(piece) - 1
        texts = piece if is_bare else [line.rstrip(b"\r\n") for line in piece]
        # Most lines of most logs: no function in Python is called for each.
        return [*map(MADE, zip(count(first), texts, repeat(False)))]
    return [Line(number, _shown(line), len(line) > LOG_LINE_BYTES) for number, line in enumerate(piece, first)]


def _shown(line: bytes) -> bytes:
    """Return one line as it is looked at."""
    text = line[:LOG_LINE_BYTES]
    if b"\x1b" in text:
        text = ESCAPES_OF_A_LOG.sub(b"", text)
    if not text.isascii():
        text = text.decode(errors="replace").encode()
    return text.rstrip(b"\r\n")


def blocks(found: Iterable[Sequence[bytes]]) -> Iterator[list[Line]]:
    """Yield the lines of a text, which comes in pieces, as they are looked at."""
    number = 1
    for piece in found:
        yield lines_of(piece, number)
        number += len(piece)


MADE: Callable[[tuple[int, bytes, bool]], Line] = partial(tuple.__new__, Line)


class Matcher:
    """
    Finds match expressions in the lines of one text.

    An expression that no line holds by itself is looked for across lines too, as far as a piece of text reaches.
    All expressions together have one budget of processor time; when it is spent, the rest of the text is not searched.

    Args:
        expressions: each with what it represents; several may represent one.
        seconds: of processor time for all of them: so much to prepare them, and so much to search. Half of it is for
            those that RE2 cannot run in linear time, and a quarter for one expression.
        seconds_a_mib: more for each MiB of the text.
    """

    def __init__(self, expressions: Iterable[tuple[int, str]], *, seconds: float, seconds_a_mib: float = 0.0) -> None:
        self.seconds, self.seconds_a_mib = seconds, seconds_a_mib
        self.keys: list[int] = []
        self.texts: list[str] = []
        self.made: list[Expression] = []
        self.aside: dict[int, str] = {}  # that there was no time for
        self.filter = re2.Filter()
        self.prepare(expressions)
        self.left = [seconds / 4] * len(self.keys)
        self.left_for_general = seconds / 2
        self.size = 0  # bytes of the text so far
        self.used = 0.0  # seconds to search it
        self.deadline = 0.0  # of the piece of text that is searched, on the clock of this thread
        self.hits = [0] * len(self.keys)
        self.plain: set[int] = set()  # that hit a line by itself
        self.looked: set[tuple[int, int]] = set()  # hits of those that look over lines: expression, number of the line
        self.is_timed = False  # each search: since one piece of the text took very long
        self.tail: list[Line] = []  # the end of the text so far

    def prepare(self, expressions: Iterable[tuple[int, str]]) -> None:
        """Put the expressions into the filter, as many as there is time for."""
        end = thread_time() + self.seconds
        for key, text in expressions:
            if thread_time() > end:
                self.aside[key] = text
                continue
            self.keys.append(key)
            self.texts.append(text)
            self.made.append(Expression(text))
            self.admit(self.made[-1])
        if self.made:
            self.filter.Compile()

    @property
    def is_spent(self) -> bool:
        """Return whether the time for all expressions together is over."""
        return self.used > self.seconds + self.seconds_a_mib * self.size / 2**20

    @property
    def slow(self) -> dict[int, str]:
        """What is behind the expressions that were left aside, for the whole text or a part of it."""
        is_spent = self.is_spent
        at_all = {self.keys[at]: self.texts[at] for at, left in enumerate(self.left) if left <= 0 or is_spent}
        return self.aside | at_all

    def admit(self, made: Expression) -> None:
        """Put an expression into the filter, or the literals that it needs."""
        needed = f"(?i:{'|'.join(map(re2.escape, made.needs))})"
        self.filter.Add(f"(?m){made.text}" if made.is_linear else needed, linear_options())

    def find(self, block: list[Line], *, is_end: bool = False) -> list[tuple[int, Line]]:
        """Return, in the order of the lines, what hits in the next piece of the text, and the line where it begins."""
        if not self.made or self.is_spent:
            return []
        text = b"\n".join([line.text for line in block])
        self.size += len(text) + 1
        lines = [*self.tail, *block]
        whole = b"\n".join([line.text for line in lines])
        is_in_lines, across = bool(block) and bool(self.filter.Match(text, True)), self.filter.Match(whole, True)
        new = _size_of(self.tail)
        self.tail = _last(block, text) if len(text) >= LOG_SPAN_BYTES else _last(lines)
        if not (is_in_lines or across):  # as in most pieces of most logs: to ask for the time would cost more
            return []
        began = thread_time()
        self.deadline = began + self.seconds + self.seconds_a_mib * self.size / 2**20 - self.used
        hits = [*self.in_lines(block)] if is_in_lines else []
        hits += self.across(across or (), lines, whole, new, is_end=is_end)
        self.used += thread_time() - began
        return [(self.keys[at], line) for at, line in sorted(hits, key=lambda hit: (hit[1].number, hit[0]))]

    def end(self) -> list[tuple[int, Line]]:
        """Return what hits near the end of the text, now that nothing comes after it."""
        return self.find([], is_end=True)

    def in_lines(self, block: list[Line]) -> Iterator[tuple[int, Line]]:
        """Yield what hits a line of a block by itself."""
        began = thread_time()
        for place, line in enumerate(block, 1):
            text = line.text
            for at in self.filter.Match(text, self.is_timed) or ():
                if self.made[at].looks_over_lines:
                    continue
                is_hit = not self.is_timed and self.made[at].is_linear
                if is_hit or (self.hits[at] < MOST_LINES and self.search(at, text, 0)):
                    self.hits[at] += 1
                    self.plain.add(at)
                    yield at, line
            if place % FEW_LINES == 0 and thread_time() > self.deadline:
                return
        self.is_timed |= thread_time() - began > LONG_BLOCK_S

    def across(
        self, candidates: Iterable[int], lines: list[Line], text: bytes, new: int, *, is_end: bool
    ) -> Iterator[tuple[int, Line]]:
        """
        Yield what hits the end of the text before and a block only as a whole, and ends in the block.

        What looks over lines may see what comes next: near the end of the block it waits for that.

        Args:
            candidates: the expressions that may hit.
            text: of the lines; the block begins at ``new``.
        """
        decided = len(text) + 1 if is_end else len(text) - _size_of(_last(lines, text, LOG_SPAN_BYTES // 2))
        for at in candidates:
            if at in self.plain or self.made[at].is_of_a_line:
                continue
            end = 0
            while (found := self.search(at, text, end)) and self.hits[at] < MOST_LINES:
                start, end = found
                line = lines[text.count(b"\n", 0, start + len(text[start:end]) - len(text[start:end].lstrip()))]
                if self.made[at].looks_over_lines:
                    if start > decided:
                        break
                    is_new = (at, line.number) not in self.looked
                    self.looked.add((at, line.number))
                else:
                    is_new = end > new
                if is_new:
                    self.hits[at] += 1
                    yield at, line
                end = text.find(b"\n", max(end, start + 1))
                if end < 0 or thread_time() > self.deadline:
                    break

    def search(self, at: int, text: bytes, start: int) -> tuple[int, int] | None:
        """Return where an expression hits a text from ``start`` on; None also where it has no time left."""
        if self.left[at] <= 0:
            return None
        began = thread_time()
        if self.made[at].is_linear:
            hit = self.made[at].linear.search(text, start)
            found = hit.span() if hit else None
        else:
            found = self.search_slowly(at, text, start)
        self.left[at] -= thread_time() - began
        return found

    def search_slowly(self, at: int, text: bytes, start: int) -> tuple[int, int] | None:
        """Search by an engine that takes everything, and may need more time than there is."""
        began = thread_time()
        left = min(self.left[at], self.left_for_general, self.deadline - began)
        if left <= 0 or self.made[at].is_large:
            self.left[at] = 0.0
            return None
        before = text[:start].decode()
        whole = before + text[start:].decode()
        try:
            hit = self.made[at].general.search(whole, len(before), timeout=max(left, 0.001))
        except (TimeoutError, Malformed):  # RE2 takes it, but it is too large for it, and `regex` refuses it
            self.left[at] = 0.0
            return None
        finally:
            self.left_for_general -= thread_time() - began
        return (len(whole[: hit.start()].encode()), len(whole[: hit.end()].encode())) if hit else None


def _last(lines: list[Line], text: bytes | None = None, most: int = LOG_SPAN_BYTES) -> list[Line]:
    """
    Return the last lines of at most so many bytes; by default as many as a hit may begin in.

    Args:
        text: the lines, joined by line ends.
    """
    if text is None:
        text = b"\n".join([line.text for line in lines])
    more = len(text) - most
    return lines if more < 0 else lines[len(lines) - text.count(b"\n", more) :]


def _size_of(lines: list[Line]) -> int:
    """Return the bytes of lines with their ends."""
    return sum(len(line.text) + 1 for line in lines)
