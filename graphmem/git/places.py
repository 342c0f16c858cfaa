"""
Which git directory a folder has, and whether the two belong together, read from the files and without git.

An unpacked folder may name the git directory of another project as its own, in several ways, and git follows it there.
"""

import os
from pathlib import Path

from graphmem.system import safe_files

MOST_BYTES = 4096  # of a file that names a folder
KEPT = ("objects", "refs", "packed-refs")  # in a git directory: what its history is read from


def top_of(folder: Path) -> Path | None:
    """Return the folder, this one or one above it, that has an entry ``.git``."""
    start = real(folder, "")
    return next((place for place in (start, *start.parents) if os.path.lexists(place / ".git")), None)


def directory_of(top: Path) -> Path:
    """Return the git directory that the entry ``.git`` of a folder leads to."""
    word, _, path = named_in(top / ".git").partition(":")
    return real(top, path.strip()) if word == "gitdir" else real(top, ".git")


def common_of(directory: Path) -> Path:
    """Return what holds the history for a git directory: for that of a worktree, the one of the main worktree."""
    return real(directory, named_in(directory / "commondir"))


def is_own(top: Path) -> bool:
    """
    Return whether the git directory of a folder belongs to it.

    That of a worktree has to name the folder in turn. Any other may be anywhere (``--separate-git-dir``, submodules),
    but not in the ``.git`` of a folder that this one does not lie in, and neither may what the history is read from.
    """
    directory = directory_of(top)
    if common_of(directory) != directory:
        return is_worktree(top, directory)
    return all(inside(top, real(directory, name)) for name in ("", *KEPT))


def is_worktree(top: Path, directory: Path) -> bool:
    """Return whether a folder and a git directory of a worktree name each other."""
    common, back = common_of(directory), named_in(directory / "gitdir")
    if not back or directory.parent != common / "worktrees" or directory_of(top) != directory:
        return False
    return real(directory, os.path.dirname(back)) == real(top, "")


def inside(top: Path, path: Path) -> bool:
    """Return whether a path lies in no folder ``.git`` but that of a folder, or of one above it."""
    owner = next((place.parent for place in (path, *path.parents) if place.name.lower() == ".git"), None)
    return owner is None or real(top, "").is_relative_to(owner)


def worktrees(folder: Path) -> list[Path]:
    """Return a folder, and those of the repository's worktrees whose git directory and folder name each other."""
    top = top_of(folder)
    if top is None or not is_own(top):
        return [folder]
    common = common_of(directory_of(top))
    found = [folder, top]
    if common.name == ".git" and directory_of(common.parent) == common:
        found.append(common.parent)
    try:
        directories = safe_files.folders(common / "worktrees")
    except OSError:
        directories = []
    for directory in directories:
        place = real(directory, os.path.dirname(named_in(directory / "gitdir")))
        if is_worktree(place, directory):
            found.append(place)
    return list(dict.fromkeys(found))


def named_in(path: Path) -> str:
    """Return the one line of a file that names a folder; empty where there is no such file. Git follows links here."""
    try:
        return safe_files.read(real(path, ""), most=MOST_BYTES).decode("utf-8", "surrogateescape").strip()
    except OSError:
        return ""


def real(place: Path, path: str) -> Path:
    """Return the real path of what is named from a folder; the folder itself where nothing is, or no path can be."""
    return Path(os.path.realpath(place / path.replace("\0", "")))
