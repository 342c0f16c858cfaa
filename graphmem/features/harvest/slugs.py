"""Folders that agents name after the path of a project, with ``-`` for other signs: several paths are written alike."""

import os
import re
from collections.abc import Callable
from pathlib import Path

from graphmem.kernel.system import safe_files

READ_BYTES = 2**20  # of a file that are looked at
MOST_LOOKED = 2_000  # folders that are looked into for others of a name
Slug = Callable[[str], str]


def as_claude(path: str) -> str:
    """Return how Claude Code writes a path."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def as_cursor(path: str) -> str:
    """Return how Cursor writes a path."""
    return re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-")


def is_only(root: str, slug: Slug) -> bool:
    """
    Return whether no other folder that is there is written as this one: a clone may be called as its owner likes.

    Links are followed, for the agent may have been started there. All above the folder are looked into: one of them may
    be in a folder that lists nothing.
    """
    whole, left = slug(root), MOST_LOOKED
    places = [str(folder) for folder in Path(root).parents]
    while places and left:
        left -= 1
        for path in _below(places.pop()):
            name = slug(path)
            if name == whole and os.path.realpath(path) != root:
                return False
            if whole.startswith(name) and whole[len(name) :][:1] in ("", "-") and not f"{root}/".startswith(f"{path}/"):
                places.append(path)
    return not places


def names_other(path: Path, root: str) -> bool:
    """Return whether a file names another folder that is written as this one, as those of one that is gone do."""
    like = "[^A-Za-z0-9\n\"']{1,3}".join(re.findall(r"[A-Za-z0-9]+", root))
    try:
        text = safe_files.read(path, most=READ_BYTES).decode("utf-8", "replace")
    except OSError:
        return False
    return root.isascii() and any(found != root for found in re.findall(rf"/{like}(?![A-Za-z0-9])", text))


def _below(place: str) -> list[str]:
    """Return the folders in a folder, and the links to folders; none where it cannot be listed."""
    try:
        found = safe_files.entries(place)
    except OSError:
        return []
    paths = [os.path.join(place, entry.name) for entry in found if not entry.is_file(follow_symlinks=False)]
    return [path for path in paths if os.path.isdir(path)]


def folders(place: Path) -> list[Path]:
    """Return the folders in a folder, in order; none where it is missing or cannot be read."""
    try:
        return sorted(safe_files.folders(place))
    except OSError:
        return []
