"""Which formats of a project are in use; this loads nothing of what reads logs."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Texts = tuple[tuple[str, str], ...]  # files of formats: the name and the text of each
OF_PROJECT: ContextVar[Texts] = ContextVar("formats", default=())


@contextmanager
def using(texts: Texts) -> Iterator[None]:
    """Read with the formats of a project's files, each a name and a text, in this thread as long as the block runs."""
    before = OF_PROJECT.set(texts)
    try:
        yield
    finally:
        OF_PROJECT.reset(before)
