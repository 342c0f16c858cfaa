"""
The files of commits, written into a new folder.

A tree can be crafted: it names an entry twice, or lies below a link of its own. So all entries are checked before the
first is written, each folder is opened part by part without following a link, and links are made last.
"""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from graphmem.constants import GIT_BYTES
from graphmem.errors import Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.system import safe_files

NAME_BYTES, PATH_BYTES = 255, 1_000  # of a part of a path, and of a path or the target of a link
LINK, SUBMODULE, EXECUTABLE = "120000", "160000", "100755"
FRESH = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class TreeEntry(NamedTuple):
    """A file, link or submodule of a commit: its mode, as git writes it, its object, its size, and its path."""

    mode: str
    object: str
    size: int
    path: str


def entries_of(folder: Path, commit: str) -> list[TreeEntry]:
    """
    Return what a commit has below ``folder``, by paths from there.

    Raises:
        Unavailable: git does not have the commit.
    """
    listed = commands.git(folder, "ls-tree", "-r", "-z", "-l", commit)
    if listed is None:
        raise Unavailable(f"git has no files for commit {commit[:12]}")
    entries = []
    for line in listed.split(b"\0")[:-1]:
        facts, _, path = line.partition(b"\t")
        mode, _, name, size = facts.decode().split()
        entries.append(TreeEntry(mode, name, int(size) if size.isdigit() else 0, os.fsdecode(path)))
    return entries


def write(repository: Path, entries: Sequence[TreeEntry], target: Path) -> None:
    """
    Write entries into ``target``, an empty folder; nothing is written outside of it, and no link leads out of it.

    Raises:
        Unavailable: an entry is none that a checkout makes, a link leads out, or there is more than ``GIT_BYTES``.
    """
    _refuse_crafted(entries)
    links = [entry for entry in entries if entry.mode == LINK]
    with commands.objects(repository) as objects:
        for entry in entries:
            if entry.mode == SUBMODULE:
                with _folder_of(target, entry.path.split("/")):
                    pass
            elif entry.mode != LINK:
                _put(target, entry, objects.read(entry.object, most=GIT_BYTES))
        targets = [os.fsdecode(objects.read(entry.object, most=PATH_BYTES)) for entry in links]
    for entry, leads_to in zip(links, targets, strict=True):
        *outer, name = entry.path.split("/")
        with _folder_of(target, outer) as handle:
            try:
                os.symlink(leads_to, name, dir_fd=handle)
            except (OSError, ValueError) as error:
                raise _refused(entry.path, str(error)) from None
    real = os.path.realpath(target)
    for entry in links:  # now that all of them are there, and nothing is written any more
        if not Path(os.path.realpath(target / entry.path)).is_relative_to(real):
            raise _refused(entry.path, "it is a link that leads out of the copy")


def _refuse_crafted(entries: Iterable[TreeEntry]) -> None:
    """Raise ``Unavailable`` where a checkout would not write exactly these entries, or there are too many bytes."""
    paths: set[str] = set()
    total = 0
    for entry in entries:
        parts = entry.path.split("/")
        if entry.path in paths:
            raise _refused(entry.path, "it is there twice")
        if any(part.lower() in ("", ".", "..", ".git") for part in parts):
            raise _refused(entry.path, "git checks out no such path")
        if len(os.fsencode(entry.path)) > PATH_BYTES or any(len(os.fsencode(part)) > NAME_BYTES for part in parts):
            raise _refused(entry.path, f"its path has more than {PATH_BYTES:,} bytes, or a part more than {NAME_BYTES}")
        paths.add(entry.path)
        total += entry.size
    for path in paths:
        place = path.find("/")
        while place >= 0:
            if path[:place] in paths:
                raise _refused(path, f"{path[:place]!r} is a file or a link")
            place = path.find("/", place + 1)
    if total > GIT_BYTES:
        raise Unavailable(f"a copy would have {total:,} bytes; at most {GIT_BYTES:,} are written")


@contextlib.contextmanager
def _folder_of(target: Path, parts: Sequence[str]) -> Iterator[int]:
    """Yield the descriptor of a folder below ``target``, made where it is missing; no link below it is followed."""
    try:
        handle, is_kept = safe_files.entered(str(target), tuple(parts), make=True)
    except OSError as error:
        raise _refused("/".join(parts), str(error)) from None
    try:
        yield handle
    finally:
        if not is_kept:
            os.close(handle)


def _put(target: Path, entry: TreeEntry, content: bytes) -> None:
    """Write a file, which is not there yet."""
    *outer, name = entry.path.split("/")
    with _folder_of(target, outer) as handle:
        try:
            with open(os.open(name, FRESH, 0o755 if entry.mode == EXECUTABLE else 0o644, dir_fd=handle), "wb") as file:
                file.write(content)
        except OSError as error:
            raise _refused(entry.path, str(error)) from None


def _refused(path: str, reason: str) -> Unavailable:
    """Return the error for an entry that is not written."""
    return Unavailable(f"{path[:PATH_BYTES]!r} of a commit cannot be written: {reason}")
