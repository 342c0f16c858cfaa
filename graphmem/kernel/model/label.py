"""
Labels: what a record carries beside its texts, by which a task finds it.

These are its tags, its framework, what it lists and cites, and its pin.
A task gives labels, or names them in the text of its objective.
"""

import contextlib
import posixpath
from collections.abc import Iterator
from typing import Literal

from graphmem.kernel.model import Experience, Insight, MemoryRecord, Record
from graphmem.kernel.model.cite import Cite
from graphmem.kernel.model.record import Triggered
from graphmem.patterns import lazy_re

Sort = Literal["tag", "file", "cite", "pin", "helped", "framework"]
PINNED = "pinned"  # the only label of its sort
WORD = lazy_re(r"[^\s,;()\[\]{}<>\"'`]+")  # what may be a name in a text
RELEASE = lazy_re(r"^v(?=\d)")  # v0.19 and 0.19 are one release
PLACE = lazy_re(r"[:#]")  # what begins after a path: a line, a symbol


def labels_of(record: Record) -> Iterator[tuple[Sort, str]]:
    """Yield the labels of a record: a context block shows the kinds that have any."""
    if record.is_pinned:
        yield "pin", PINNED
    if isinstance(record, MemoryRecord | Experience | Insight):
        for tag in record.tags:
            yield "tag", folded(tag)
    if isinstance(record, Triggered) and record.framework:
        yield "framework", folded(record.framework)
    if isinstance(record, MemoryRecord):
        if record.helped:  # in a row, what it was imported with
            yield "helped", ""
        for path in record.files:
            yield "file", posixpath.normpath(path)
        for cite in record.cites:
            with contextlib.suppress(ValueError):  # written by hand
                yield "cite", Cite.parse(cite).path


def folded(tag: str) -> str:
    """Return what a tag is compared by: neither case nor the ``v`` of a release counts."""
    return RELEASE.sub("", tag.strip().lower())


def words(text: str) -> set[str]:
    """Return the words of a text that may be names, without the marks of a sentence around them."""
    return {word for found in WORD.findall(text) if (word := found.strip(":!?").rstrip("."))}


def paths(text: str, root: str) -> set[str]:
    """
    Return the words of a text that may be paths, from the root of the project; those of folders may end with a slash.

    Args:
        root: where the project is; a path below it may be absolute.
    """
    found = (PLACE.split(word)[0].removeprefix(f"{root}/").removeprefix("./") for word in words(text))
    return {path for path in found if path and not path.startswith(("/", "../"))}
