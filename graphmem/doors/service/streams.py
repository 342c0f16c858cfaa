"""Standard output, error and input of each caller, in a process that answers several at the same time."""

import contextlib
import io
import sys
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import BinaryIO

OUT, ERR = 1, 2


@dataclass(frozen=True)
class Streams:
    """What one caller reads and is to see; ``written`` has each piece with the number of its stream, in order."""

    input: BinaryIO | None
    is_terminal: bool
    written: list[tuple[int, str]] = field(default_factory=list)


of_caller: ContextVar[Streams | None] = ContextVar("of_caller", default=None)


class Output(io.TextIOBase):
    """Standard output or error: what a caller's thread writes is kept for the caller."""

    encoding = "utf-8"

    def __init__(self, number: int) -> None:
        self.number = number

    def writable(self) -> bool:
        return True

    def write(self, text: str) -> int:
        if (streams := of_caller.get()) is not None:
            streams.written.append((self.number, text))
        return len(text)

    def isatty(self) -> bool:
        """Return whether a person reads it; of standard error False: there is no progress to be shown at the end."""
        streams = of_caller.get()
        return self.number == OUT and streams is not None and streams.is_terminal


class Input:
    """Standard input: that of the caller."""

    @property
    def buffer(self) -> BinaryIO | None:
        """What the caller's thread reads; None where the caller passed nothing on."""
        streams = of_caller.get()
        return streams.input if streams else None


@contextlib.contextmanager
def separate_streams() -> Iterator[None]:
    """Give each caller its own standard streams while the block runs."""
    before = sys.stdin, sys.stdout, sys.stderr
    sys.stdin, sys.stdout, sys.stderr = Input(), Output(OUT), Output(ERR)
    try:
        yield
    finally:
        sys.stdin, sys.stdout, sys.stderr = before
