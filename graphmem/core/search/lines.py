"""
Finding stored triggers in a log, line by line.

A line is looked up by its last word first, which no prefix changes: most lines of a log need no more than that.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import re2

from graphmem.constants import LOG_LINE_BYTES, MOST_PARTS
from graphmem.core.logs.line import BLANK, LEVELS, WRAPPED, continued, ends, messages, numbers, unmarked
from graphmem.core.search.expressions import Line

Node = dict[int | None, Any]  # by the number of the next line; under None the records whose trigger ends here
Begun = dict[int, tuple[Node, Line]]  # what may follow in triggers that have begun, by its id, and their first lines
NUMBER_BYTES = 8
EMPTY = [b""]
# What shows that a line may be more than one: JSON, logfmt, texts that overwrote each other, and one that goes on.
NESTED = (b'":', b'="', b"msg=", b"\r", WRAPPED.encode())
ENDS = (b"%]", b" FAILED")  # of pytest -v, after the test
# Where the last word does not decide: pytest -v has more after it, GitHub Actions and Python no blank before it.
GLUED = re2.compile(rf"(?m)%\]$| FAILED$|##\[|::(?:error|warning|notice)|(?:{LEVELS}):\S")
ODD = re2.compile(rf"{GLUED.pattern}|{'|'.join(re2.escape(sign.decode()) for sign in NESTED)}")


class Reading(NamedTuple):
    """What a line of a log may be: some lines, the first of them, and what had begun before it."""

    texts: list[bytes]
    first: Line
    begun: Begun


class Wrapped(NamedTuple):
    """A wrapped line: its parts so far, the first part, and the state before it began."""

    parts: list[str]
    first: Line
    begun: Begun


class LineFinder:
    """
    Finds lines, or runs of lines, that are the trigger of a failure.

    Args:
        heads: of every trigger the number of its first line, and the last word of that line.
        triggers: returns the records whose triggers begin with a line, each with the numbers of the lines after it.
    """

    def __init__(
        self, heads: Iterable[tuple[int, str]], triggers: Callable[[int], Iterable[tuple[int, bytes]]]
    ) -> None:
        listed = list(heads)
        self.heads = {number for number, _ in listed}
        self.words = {word.encode() for _, word in listed}
        self.words_after_colon = {after_colon(word) for word in self.words}
        self.triggers = triggers
        self.roots: dict[int, Node] = {}
        self.begun: Begun = {}
        self.wrapped: Wrapped | None = None

    def find(self, block: Iterable[Line]) -> Iterator[tuple[int, Line, Line]]:
        """Yield the records whose trigger ends in the next piece of a text, with its first and its last line."""
        if not self.heads:
            return
        block = list(block)
        text = b"\n".join([line.text for line in block])
        texts = unmarked(text).split(b"\n")
        if len(texts) != len(block):  # a caller's line may hold the end of one
            texts = [unmarked(line.text) for line in block]
        last_words = [
            (text.rsplit(None, 1) or EMPTY)[-1] for text in texts
        ]  # as `_last_word`, which is called for each
        is_odd = ODD.search(text) is not None
        if not (is_odd or self.begun or self.wrapped) and self.words.isdisjoint(last_words):
            return
        nested = [sign for sign in NESTED if sign in text] if is_odd else []
        is_glued = is_odd and GLUED.search(text) is not None
        for line, without_marks, last in zip(block, texts, last_words, strict=True):
            if self.wrapped or (nested and _holds(line.text, nested)):
                yield from self.find_all(line)
            elif self.begun or last in self.words or (is_glued and self.may_begin(without_marks)):
                self.begun, ended = self.follow(self.begun, line.text, line)
                for record, first in ended:
                    yield record, first, line

    def find_all(self, line: Line) -> Iterator[tuple[int, Line, Line]]:
        """Yield the records whose trigger ends in a line that may be more than one."""
        readings = [Reading([line.text], line, self.begun), *self.others(line)]
        self.begun = {}
        for reading in readings:
            begun = reading.begun
            for text in reading.texts:
                if begun or self.may_begin(unmarked(text)):
                    begun, ended = self.follow(begun, text, reading.first)
                    for record, first in ended:
                        yield record, first, line
            self.begun |= begun

    def may_begin(self, text: bytes) -> bool:
        """Return whether a line, without marks, ends as the first line of a trigger does."""
        last = (text.rsplit(None, 1) or EMPTY)[-1]
        return (
            last in self.words
            or (b":" in last and after_colon(last) in self.words_after_colon)
            or last.startswith(b"##[")
            or text.endswith(ENDS)
        )

    def others(self, line: Line) -> Iterator[Reading]:
        """Yield what a line may be beside itself: the messages in it, and the end of a line that was wrapped."""
        text = line.text.decode()
        for message in messages(text):
            yield Reading(message.encode().splitlines(), line, self.begun)
        wrapped, self.wrapped = self.wrapped or Wrapped([], line, self.begun), None
        wrapped.parts.append(text)
        if not text.endswith(WRAPPED):
            for whole in continued(wrapped.parts) if len(wrapped.parts) > 1 else ():
                yield Reading([whole.encode()], wrapped.first, wrapped.begun)
        elif len(wrapped.parts) < MOST_PARTS and sum(map(len, wrapped.parts)) < LOG_LINE_BYTES:
            self.wrapped = wrapped

    def follow(self, begun: Begun, text: bytes, line: Line) -> tuple[Begun, list[tuple[int, Line]]]:
        """Return what has begun when a line is read after what had, and the records of the triggers that end in it."""
        if not text.strip():
            return begun, []  # a blank line ends nothing
        found = numbers(text.decode())
        if not begun and self.heads.isdisjoint(found):
            found = (*found, *(number for number in ends(text.decode()) if number in self.heads))
        nodes = [(node[number], first) for node, first in begun.values() for number in found if number in node]
        nodes += [(self.root(number), line) for number in found if number in self.heads]
        ended = [(record, first) for node, first in nodes for record in node.get(None, ())]
        left = {id(node): (node, first) for node, first in nodes if len(node) > (None in node)}
        return begun | left if BLANK in found else left, ended

    def root(self, head: int) -> Node:
        """Return what may follow on a first line."""
        if head not in self.roots:
            root = self.roots[head] = Node()
            for record, rest in self.triggers(head):
                node = root
                for at in range(0, len(rest), NUMBER_BYTES):
                    node = node.setdefault(int.from_bytes(rest[at : at + NUMBER_BYTES], "big"), Node())
                node.setdefault(None, []).append(record)
        return self.roots[head]


def after_colon(word: bytes) -> bytes:
    """Return what of a word is after its last colon, but for one at its end."""
    return word.rstrip(b":").rpartition(b":")[2]


def _holds(text: bytes, signs: Sequence[bytes]) -> bool:
    """Return whether a text holds one of these signs."""
    for sign in signs:  # noqa: SIM110 - for each line of a log: a third of the time
        if sign in text:
            return True
    return False
