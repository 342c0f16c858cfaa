"""Cite: take down what code a memory is about, and return whether that is still so (docs/guides/code-anchors.md)."""

import contextlib
import math
import os
import re
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path, PurePosixPath
from posixpath import normpath
from time import monotonic
from typing import TypeVar

from graphmem.constants import (
    CITED_BYTES,
    CITED_FILE_BYTES,
    CITES_A_RECORD,
    COMMIT_DIGITS,
    MOST_PLACES,
    MOST_RENAMES,
    MOVED_QUESTIONS,
    MOVED_S,
    STALE_S,
)
from graphmem.core.evidence.citation_contract import Cited, Freshness
from graphmem.errors import BadInput, NotFound, Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.model import MemoryRecord, Record
from graphmem.kernel.model.cite import Cite, digest
from graphmem.kernel.store.snapshot import Snapshot

Answered = TypeVar("Answered")


class Unread(Exception):
    """A file is there and is not read: it is not a regular file of the project, or too large."""


# --- files ----------------------------------------------------------------------------------------------------------


def content_of(root: Path, path: str, most: int = CITED_FILE_BYTES) -> bytes | None:
    """
    Return the content of a file of the project, or None.

    A path may come from a row that anyone wrote: only a regular file inside of the project is opened, of a bounded
    size, whatever links are on the way.

    Raises:
        Unread: something else is there.
    """
    try:
        real = os.path.realpath(root / path)
        if not os.path.lexists(real):
            return None
        found = os.lstat(real)
        if not Path(real).is_relative_to(os.path.realpath(root)):
            raise Unread("it is a link out of the project")
        if not stat.S_ISREG(found.st_mode):
            raise Unread("it is not a regular file")
        if found.st_size > most:
            raise Unread(f"it has more than {most // 2**20} MiB")
        with open(os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(most)
    except OSError as error:
        raise Unread(f"it cannot be read: {(error.strerror or str(error)).lower()}") from None


def _suffix_of(path: str) -> str:
    """Return the suffix of a file's name, without the point."""
    return PurePosixPath(path).suffix.removeprefix(".")


def passage(content: bytes, path: str, symbol: str | None) -> tuple[bytes | None, bool]:
    """
    Return what a cite is about, and whether the file has it rather than names it.

    That is how the file defines the symbol, else the lines that name it; without a symbol, the whole file.
    """
    from graphmem.core.evidence.symbols import definition, mentions  # noqa: PLC0415 - 4 ms that only a cited symbol needs

    defined = definition(content, _suffix_of(path), symbol) if symbol else content
    return (mentions(content, symbol or ""), False) if defined is None else (defined, True)


# --- taking down ----------------------------------------------------------------------------------------------------


def pinned(root: Path, given: Iterable[str]) -> list[str]:
    """Return cites as rows have them: with the hash of what is there, and the commit by its hash."""
    return [str(pin(root, text)) for text in given]


def pin(root: Path, text: str) -> Cite:
    """
    Return a cite with the hash of the cited text; a cite that has a hash stays as it is.

    Raises:
        BadInput: it is no cite, or nothing is there.
    """
    try:
        cite = Cite.parse(text)
    except ValueError as error:
        meant = os.path.relpath(text, root) if text.startswith("/") else normpath(text)
        form = "path, path:symbol or path:symbol@commit, the path from the project's root"
        raise _refused(
            text, str(error), f"{meant!r} would be; {form}" if meant != text and not meant.startswith(".") else form
        ) from None
    if cite.hash is not None:
        return cite
    content = _committed(root, text, cite) if cite.commit else _current(root, text, cite)
    found, _ = passage(content, cite.path, cite.symbol)
    if found is None:
        raise _refused(text, f"nothing in {cite.path} is named {cite.symbol!r}", "cite the file, or what it defines")
    commit = commands.find_commit(root, cite.commit)[:COMMIT_DIGITS] if cite.commit else None
    return cite._replace(commit=commit, hash=digest(found))


def _current(root: Path, text: str, cite: Cite) -> bytes:
    """Return the content of a cited file in the working tree."""
    try:
        content = content_of(root, cite.path)
    except Unread as error:
        raise _refused(text, str(error), "cite a text file of the project") from None
    if content is None:
        raise _refused(text, "there is no such file", f"a path is looked for below the project's root, {str(root)!r}")
    return content


def _committed(root: Path, text: str, cite: Cite) -> bytes:
    """Return the content of a cited file at the commit that the cite names."""
    assert cite.commit is not None
    try:
        commit = commands.find_commit(root, cite.commit)
    except NotFound as error:
        raise _refused(text, error.message, f"{error.hint}; a path with @ in its name is cited with @HEAD") from None
    content = commands.content_at(root, commit, cite.path, most=CITED_FILE_BYTES)
    if content is None:
        raise _refused(text, f"commit {commit[:10]} has no such file, or it is too large", "see: git show --stat")
    return content


def _refused(text: str, why: str, right: str) -> BadInput:
    """Return how a cite is refused."""
    return BadInput(f"cite {text!r}: {why}", hint=right, details={"field": "cites"})


# --- comparing ------------------------------------------------------------------------------------------------------


class CitedTree:
    """The working tree that cites are compared with for one answer; unless it is to be thorough, within bounds."""

    def __init__(self, snapshot: Snapshot, *, is_thorough: bool = False) -> None:
        self.root = snapshot.root
        self.is_past = snapshot.is_past
        self.bytes_left = math.inf if is_thorough else CITED_BYTES
        self.questions_left = math.inf if is_thorough else MOVED_QUESTIONS
        self.seconds_left = STALE_S if is_thorough else MOVED_S
        self.contents: dict[str, bytes | None] = {}
        self.renames: dict[tuple[str, ...], Mapping[str, str]] = {}
        self.targets: dict[str, str | None] = {}

    def cites_of(self, *records: Record) -> list[Cited]:
        """Return how the code that records cite is now; of several texts of one place, those that are still there."""
        cites = [enumerate(record.cites) for record in records if isinstance(record, MemoryRecord)]
        found = [self.compared(text, place < CITES_A_RECORD) for texts in cites for place, text in texts]
        fresh = {(one.path, one.symbol) for one in found if one.state == "fresh"}
        return [one for one in found if one.state == "fresh" or (one.path, one.symbol) not in fresh]

    def compared(self, text: str, is_looked_at: bool) -> Cited:
        """Return how one cite is now."""
        try:
            cite = Cite.parse(text)
        except ValueError:
            return Cited(cite=text, path=None, symbol=None, state="unknown")
        state: Freshness = "unknown"
        target = None
        if is_looked_at and cite.hash and not self.is_past:
            with contextlib.suppress(Unread):
                state, target = self.state(cite)
        return Cited(cite=text, path=cite.path, symbol=cite.symbol, state=state, moved_to=target)

    def state(self, cite: Cite) -> tuple[Freshness, str | None]:
        """Return the state of a cite, and where its code went if it is known to be elsewhere."""
        content = self.content(cite.path)
        found, is_defined = (None, False) if content is None else self.passage(content, cite.path, cite.symbol)
        if found is not None and digest(found) == cite.hash:
            return "fresh", None
        if is_defined:
            return "changed", None
        renamed = None
        try:
            renamed = self.renamed(cite.path) if content is None else None
            if renamed is not None and self.is_same(cite, renamed):
                return "moved", renamed
            place = next((path for path in self.naming(cite) if self.is_same(cite, path)), None)
        except Unavailable:  # no repository, or no time left
            place = None
        if place is not None:
            return "moved", place
        return ("gone" if found is None and renamed is None else "changed"), renamed

    def content(self, path: str) -> bytes | None:
        """Return the content of a file, read once."""
        if path not in self.contents:
            self.contents[path] = content_of(self.root, path)
        return self.contents[path]

    def passage(self, content: bytes, path: str, symbol: str | None) -> tuple[bytes | None, bool]:
        """Return what a cite is about, or raise ``Unread`` where enough was looked through for one answer."""
        self.bytes_left -= len(content)
        if self.bytes_left < 0:
            raise Unread("enough was looked through for one answer")
        return passage(content, path, symbol)

    def is_same(self, cite: Cite, path: str) -> bool:
        """Return whether another file has the text that was cited."""
        try:
            content = self.content(path)
        except Unread:
            return False
        found = None if content is None else self.passage(content, path, cite.symbol)[0]
        return found is not None and digest(found) == cite.hash

    def renamed(self, path: str) -> str | None:
        """Return where a file went that is gone from a path, as far as git knows; it is asked once."""
        if path not in self.targets:
            self.targets[path] = self.followed(path)
        return self.targets[path]

    def followed(self, path: str) -> str | None:
        """Return where a file went, from one name to the next."""
        for _ in range(MOST_RENAMES):
            self.renames_between("HEAD")  # what is not committed yet
            # A folder that moved is asked for once.
            new = next((renames[path] for renames in self.renames.values() if path in renames), None)
            if new is None and (commit := self.asked(commands.removal, path)):
                new = self.renames_between(f"{commit}^", commit).get(path)
            if new is None or os.path.lexists(self.root / new):
                return new
            path = new
        return None

    def renames_between(self, *commits: str) -> Mapping[str, str]:
        """Return the files that were renamed from one commit to another, or since one; git is asked once."""
        if commits not in self.renames:
            self.renames[commits] = self.asked(commands.renames, *commits)
        return self.renames[commits]

    def naming(self, cite: Cite) -> list[str]:
        """Return other files of the kind that name the cited symbol, the first ones."""
        if cite.symbol is None:
            return []
        found = self.asked(commands.naming, re.split(r"\.|::", cite.symbol)[-1])
        suffix = _suffix_of(cite.path)
        return [path for path in found if path != cite.path and _suffix_of(path) == suffix][:MOST_PLACES]

    def asked(self, ask: Callable[..., Answered], *arguments: str) -> Answered:
        """Return what git reports of the project, or raise ``Unavailable`` where it was asked enough."""
        self.questions_left -= 1
        if self.seconds_left <= 0 or self.questions_left < 0:
            raise Unavailable("git was asked enough for one answer")
        start = monotonic()
        try:
            return ask(self.root, *arguments, timeout_s=self.seconds_left)
        finally:
            self.seconds_left -= monotonic() - start
