"""Input that a command takes from a file or from standard input."""

import contextlib
import sys
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from graphmem.errors import NotFound, Unavailable, Usage
from graphmem.ndjson import Lines


@contextlib.contextmanager
def lines_of(source: str) -> Iterator[Iterable[bytes]]:
    """Yield the lines of a file, or of standard input for ``-``; none of them is held whole that is far too long."""
    with opened(source) as file:
        yield Lines(file)


@contextlib.contextmanager
def opened(source: str) -> Iterator[BinaryIO]:
    """Yield a file, or standard input for ``-``."""
    if source == "-":
        if sys.stdin is None:
            raise Usage("standard input is closed", hint="give a file, or pipe something in")
        yield sys.stdin.buffer
        return
    try:
        file = open(source, "rb")  # noqa: SIM115 - closed below; only opening it may fail in these words
    except FileNotFoundError:
        raise NotFound(f"file {source!r} is not there") from None
    except OSError as error:
        raise Unavailable(f"{source!r} cannot be read: {(error.strerror or '').lower()}") from None
    with file:
        yield file
