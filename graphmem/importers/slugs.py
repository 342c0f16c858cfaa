"""Folders that agents name after the path of a project, with ``-`` for other signs: several paths are written alike."""

import re
from collections.abc import Callable
from pathlib import Path

from graphmem.system import safe_files

MOST_LOOKED = 2_000  # folders that are looked into for others of a name
Slug = Callable[[str], str]


def as_claude(path: str) -> str:
    """Return how Claude Code writes a path."""
    return re.sub(r"[^A-Za-z0-9]", "-", path)


def as_cursor(path: str) -> str:
    """Return how Cursor writes a path."""
    return re.sub(r"[^A-Za-z0-9]+", "-", path).strip("-")


def is_only(root: str, slug: Slug) -> bool:
    """Return whether no other folder that is there is written as this one: a clone may be called as its owner likes."""
    whole, left = slug(root), MOST_LOOKED
    places = [Path(Path(root).anchor)]
    while places and left:
        left -= 1
        for folder in folders(places.pop()):
            name = slug(str(folder))
            if str(folder) != root and name == whole:
                return False
            if str(folder) != root and whole.startswith(name) and whole[len(name) :][:1] in ("", "-"):
                places.append(folder)
    return not places


def folders(place: Path) -> list[Path]:
    """Return the folders in a folder, in order; none where it is missing or cannot be read."""
    try:
        return sorted(safe_files.folders(place))
    except OSError:
        return []
