"""
Which git directory a folder has, and whether the two belong together, read from the files and without git.

An unpacked folder may name the git directory of another project as its own, in several ways, and git follows it there.
"""

import os
import re
from pathlib import Path

from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

MOST_BYTES = 2**20  # of a file that names a folder; git reads no longer file ".git"
KEPT = ("refs", "packed-refs")  # in a git directory: what its history begins with
NAMED = lazy_re(r'^\s*worktree\s*=\s*"?(.*?)"?\s*$', re.IGNORECASE | re.MULTILINE)  # in a configuration


def top_of(folder: Path) -> Path | None:
    """Return the folder, this one or one above it, that has an entry ``.git``."""
    start = _real(folder, "")
    return next((place for place in (start, *start.parents) if os.path.lexists(place / ".git")), None)


def directory_of(top: Path) -> Path:
    """Return the git directory that the entry ``.git`` of a folder leads to."""
    word, is_file, path = _named_in(top / ".git").partition("gitdir: ")
    return _real(top, path if is_file and not word else ".git")


def _common_of(directory: Path) -> Path:
    """Return what holds the history for a git directory: for that of a worktree, the one of the main worktree."""
    return _real(directory, _named_in(directory / "commondir"))


def common_of(folder: Path) -> tuple[Path, Path] | None:
    """Return what holds the history for a folder, and the folder's path below the top; None outside a repository."""
    top = top_of(folder)
    return (_common_of(directory_of(top)), _real(folder, "").relative_to(top)) if top is not None else None


def is_own(top: Path) -> bool:
    """
    Return whether the git directory of a folder belongs to it: no archive can bring such a one to another project.

    It lies in the folder, or names it in turn: that of a worktree by its file ``gitdir``, another one by
    ``core.worktree``, as those of submodules do. Where objects of elsewhere are read (``git clone --reference``), no
    link may lead out of it too: git takes the name of a commit from any file in it.
    """
    directory = directory_of(top)
    common = _common_of(directory)
    if common != directory:
        is_named = _is_worktree(top, directory)
    else:
        is_named = _is_within(top, directory, _real(top, "")) or _names(directory, top)
    is_named = is_named and all(_is_within(top, _real(common, name), common) for name in KEPT)
    return is_named and not (_borrows(common) and _leads_out(top, directory, common))


def _is_worktree(top: Path, directory: Path) -> bool:
    """Return whether a folder and a git directory of a worktree name each other."""
    common, back = _common_of(directory), _named_in(directory / "gitdir")
    if not back or directory.parent != common / "worktrees" or directory_of(top) != directory:
        return False
    return _real(directory, os.path.dirname(back)) == _real(top, "")


def _names(directory: Path, top: Path) -> bool:
    """Return whether the configuration in a git directory says that a folder is its working tree."""
    texts = (_named_in(directory / name) for name in ("config", "config.worktree"))
    return any(_real(directory, path) == _real(top, "") for text in texts for path in NAMED.findall(text))


def _borrows(common: Path) -> bool:
    """Return whether a git directory has objects that lie elsewhere: by their list, or by links in their folder."""
    objects = common / "objects"
    places = (common, objects, objects / "info", objects / "pack")
    is_linked = any(os.path.islink(place) for place in places[1:])
    return bool(is_linked or _named_in(objects / "info/alternates") or any(_links(objects)) or any(_links(places[3])))


def _leads_out(top: Path, *directories: Path) -> bool:
    """Return whether a link anywhere in these git directories leads out of them."""
    below = (Path(place) for directory in directories for place, _, _ in os.walk(directory))
    return not all(_is_within(top, _real(link, ""), *directories) for place in below for link in _links(place))


def _links(folder: Path) -> list[Path]:
    """Return the symbolic links in a folder."""
    try:
        with os.scandir(folder) as found:
            return [Path(entry.path) for entry in found if entry.is_symlink()]
    except OSError:
        return []


def _is_within(top: Path, path: Path, *folders: Path) -> bool:
    """Return whether a path lies in one of some folders, or where ``repo`` keeps what the folders below it share."""
    shared = (place for place in path.parents if place.name == ".repo")
    return any(map(path.is_relative_to, folders)) or any(place.parent in _real(top, "").parents for place in shared)


def worktrees(folder: Path) -> list[Path]:
    """Return a folder, and those of the repository's worktrees whose git directory and folder name each other."""
    top = top_of(folder)
    if top is None or not is_own(top):
        return [folder]
    common = _common_of(directory_of(top))
    found = [folder, top]
    if common.name == ".git" and directory_of(common.parent) == common:
        found.append(common.parent)
    try:
        directories = safe_files.folders(common / "worktrees")
    except OSError:
        directories = []
    for directory in directories:
        place = _real(directory, os.path.dirname(_named_in(directory / "gitdir")))
        if _is_worktree(place, directory):
            found.append(place)
    return list(dict.fromkeys(found))


def _named_in(path: Path) -> str:
    """
    Return what a file says, as git reads one that names a folder; empty where there is no such file.

    Git follows links here, takes each blank for a part of the name, and a NUL for its end. A file that is longer than
    any name is taken to name "/", which is nobody's own.
    """
    try:
        data = safe_files.read(_real(path, ""), most=MOST_BYTES + 1)
    except OSError:
        return ""
    text = data.rstrip(b"\r\n").partition(b"\0")[0].decode("utf-8", "surrogateescape")
    return text if len(data) <= MOST_BYTES else os.sep


def _real(place: Path, path: str) -> Path:
    """Return the real path of what is named from a folder; the folder itself where nothing is, or no path can be."""
    return Path(os.path.realpath(os.path.join(place, path)))


def state_of_index(folder: Path | None) -> str:
    """Return what changes with git's index; git writes it as a new file each time."""
    if folder is None:
        return "-"
    try:
        found = os.stat(folder / "index")
    except OSError:
        return "none"
    return f"{found.st_size}.{found.st_mtime_ns}.{found.st_ino}"
