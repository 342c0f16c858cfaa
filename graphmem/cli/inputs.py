"""Input that a command takes from a file or from standard input."""

import contextlib
import sys
from collections.abc import Iterator
from typing import BinaryIO

from graphmem.errors import NotFound, Unavailable, Usage


@contextlib.contextmanager
def lines_of(source: str) -> Iterator[BinaryIO]:
    """Yield a file, or standard input for ``-``, as lines of bytes."""
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
