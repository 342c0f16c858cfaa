"""
Finding stored triggers in a log, line by line.

A line is looked up by its last word first, which no prefix changes: most lines of a log need no more than that.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from graphmem.rules.line import numbers
from graphmem.usecase.retrieval.expressions import Line

Node = dict[int | None, Any]  # by the number of the next line; under None the records whose trigger ends here
NUMBER_BYTES = 8
ENDS = (b"%]", b" FAILED")  # of pytest -v, after the test


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
        self.triggers = triggers
        self.roots: dict[int, Node] = {}
        self.open: list[tuple[Node, Line]] = []  # triggers that have begun, each with its first line

    def find(self, block: Iterable[Line]) -> Iterator[tuple[int, Line, Line]]:
        """Yield the records whose trigger ends in the next piece of a text, with its first and its last line."""
        if not self.heads:
            return
        for line in block:
            last = line.text.rsplit(None, 1)[-1:]
            if not last:
                continue  # a blank line ends nothing
            is_begin = last[0] in self.words or last[0].startswith(b"##[") or line.text.endswith(ENDS)
            if not is_begin and not self.open:
                continue
            found = numbers(line.text.decode())
            nodes = [(node[number], first) for node, first in self.open for number in found if number in node]
            if is_begin:
                nodes += [(self.root(number), line) for number in found if number in self.heads]
            for node, first in nodes:
                for record in node.get(None, ()):
                    yield record, first, line
            self.open = [(node, first) for node, first in nodes if len(node) > (None in node)]

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
