"""
Entity tags: a caller that has an answer still is spared to get it again.

The answer of some operations follows from the files alone: their tag is made of the contents of the files, and an
operation whose answer the caller has is not run. Other answers depend on the clock, on the code of the project or on
what was asked on this machine: their tag is made of the answer itself.
"""

from collections.abc import Callable
from hashlib import sha256

from pydantic import BaseModel
from starlette.responses import Response

from graphmem import __version__
from graphmem.api import Memory
from graphmem.kernel.dispatch import Caller
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.store.attempt import attempt

ROWS = "rows"  # the stream of all rows is no operation
AGAIN = "private, no-cache"  # a caller may keep the answer, and asks each time whether it still holds


def tagged(
    memory: Memory,
    caller: Caller,
    name: str,
    given: BaseModel | None,
    known: str | None,
    run: Callable[[], Response],
) -> Response:
    """
    Return the answer of an operation that reads, with its tag; 304 where the caller has it.

    Args:
        given: the parameters.
        known: the header ``If-None-Match``: tags of answers that the caller has.
        run: makes the answer.
    """
    # The contents of all files would tell one who sees a part that something else changed.
    follows_from_files = not caller.is_limited and (name == ROWS or OPERATIONS[name].from_files)
    before = _tag_of_files(memory, name, given) if follows_from_files else None
    if before is not None and _is_among(before, known):
        return _unchanged(before)
    made = run()
    tag = _tag_of(bytes(made.body)) if before is None else before
    if before is not None and _tag_of_files(memory, name, given) != before:  # files changed meanwhile
        return made
    if _is_among(tag, known):
        return _unchanged(tag)
    made.headers.update({"ETag": tag, "Cache-Control": AGAIN})
    return made


def _tag_of_files(memory: Memory, name: str, given: BaseModel | None) -> str:
    """Return the tag of an answer that follows from the files, as they are now."""

    def contents() -> bytes:
        memory.store.client.sync()
        return memory.store.client.catalog.contents()

    parameters = given.model_dump_json() if given is not None else ""
    files = attempt(memory.store.client, contents)
    settings = memory.store.client.settings.model_dump_json()
    return _tag_of("\0".join([__version__, name, parameters, settings]).encode("utf-8", "backslashreplace") + files)


def _tag_of(content: bytes) -> str:
    """Return a weak tag: notices may be in one answer and not in the next."""
    return f'W/"{sha256(content).hexdigest()[:32]}"'


def _is_among(tag: str, known: str | None) -> bool:
    """Return whether a tag is one of those in a header; weak and strong ones compare alike."""
    bare = tag.removeprefix("W/")
    return known is not None and any(one.strip().removeprefix("W/") == bare for one in known.split(","))


def _unchanged(tag: str) -> Response:
    """Return that the caller has the answer."""
    return Response(status_code=304, headers={"ETag": tag, "Cache-Control": AGAIN})
