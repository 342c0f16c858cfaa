"""
Causes: whether anything changed between a run that failed and one that passed (docs/guides/running-tests.md).

What is compared are times, sizes and modes, never contents: those of the files that git finds changed or does not know,
or of all files of a folder without git, and of what an install changes.
"""

import hashlib
import os
import stat
from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

from graphmem.core.logs.worth import is_prose
from graphmem.core.ran.episodes import Tree
from graphmem.errors import Unavailable
from graphmem.kernel.git.commands import differing
from graphmem.kernel.system.programs import program
from graphmem.kernel.system.surroundings import variables

LOOK_S = 3.0  # seconds that git may take to say what changed
MOST_WALKED = 5_000  # files of a folder without git
MOST_KEPT = 100  # files that are kept one by one; of the others all in one
REST = "…"  # the name of the others
UNSEEN = frozenset(
    ".git .graphmem .hg .svn __pycache__ .pytest_cache .mypy_cache .ruff_cache .hypothesis .tox .nox .venv venv"
    " node_modules .coverage .DS_Store".split()
)  # what tools write beside the work
PACKAGES = ("lib*/python*/site-packages", "lib*/python*/dist-packages")  # of a Python
UNTRACKED = (".env*", "node_modules", "node_modules/.package-lock.json")  # of a project, mostly ignored by git


def tree_of(root: Path, base: str = "") -> Tree:
    """Return how a project is now, compared with a commit: the last one, unless another is named."""
    try:
        top, base, found = differing(root, base or None, timeout_s=LOOK_S)
    except Unavailable:
        top, base, found = root, "", list(islice(_walked(root), MOST_WALKED))
    seen = sorted(path for path in found if UNSEEN.isdisjoint(path.split("/")) and not is_prose(path))
    stamps = {str(path): _stamp_of(path) for path in chain(_outside(root), (top / path for path in seen))}
    kept = dict(islice(stamps.items(), MOST_KEPT))
    if len(stamps) > MOST_KEPT:
        rest = repr(list(islice(stamps.items(), MOST_KEPT, None)))
        kept[REST] = hashlib.sha256(rest.encode("utf-8", "surrogatepass")).hexdigest()[:16]
    return Tree(base=base, stamps={os.fsencode(path).decode("utf-8", "replace"): kept[path] for path in kept})


def is_changed(root: Path, before: Tree, began: float | None) -> bool:
    """
    Return whether a project is another than it was, by something else than the run that passed.

    Args:
        began: second since 1970 at which that run began; what changed since then, it changed itself.
    """
    now = tree_of(root, before.base)
    if now.base != before.base:  # git answered one time only: nothing can be compared
        return False
    paths = {path for path, _ in before.stamps.items() ^ now.stamps.items()}
    return any(began is None or path == REST or _changed_at(Path(path)) < began for path in paths)


def changed_files(root: Path, before: Tree) -> list[str]:
    """Return the files of a project, by their paths below it, that are not as they were."""
    now = tree_of(root, before.base)
    if now.base != before.base:
        return []
    paths = sorted({Path(path) for path, _ in before.stamps.items() ^ now.stamps.items() if path != REST})
    return [str(path.relative_to(root)) for path in paths if path.is_relative_to(root)]


def _walked(root: Path) -> Iterator[str]:
    """Yield the files below a folder by their paths below it, in an order that stays."""
    for folder, folders, files in os.walk(root):
        folders[:] = sorted(name for name in folders if name not in UNSEEN)
        yield from (os.path.relpath(os.path.join(folder, name), root) for name in sorted(files))


def _outside(root: Path) -> Iterator[Path]:
    """Yield what may change how a project runs and is in no commit: folders of packages, settings of this machine."""
    python = program("python3")
    places = (root / ".venv", root / "venv", variables().get("VIRTUAL_ENV"), python and Path(python).parent.parent)
    for prefix in dict.fromkeys(os.path.realpath(place) for place in places if place):
        yield from chain.from_iterable(Path(prefix).glob(pattern) for pattern in PACKAGES)
    yield from chain.from_iterable(root.glob(pattern) for pattern in UNTRACKED)


def _stamp_of(path: Path) -> str:
    """Return what tells a file from what it was; the same for each that is not there."""
    try:
        found = path.lstat()
    except OSError:
        return "-"
    size = found.st_size if stat.S_ISREG(found.st_mode) else 0
    return f"{found.st_mtime_ns:x} {size:x} {found.st_mode:o}"


def _changed_at(path: Path) -> float:
    """Return when a file was changed last, in seconds since 1970; of one that is gone, the folder that it was in."""
    for place in (path, *path.parents):
        try:
            return place.lstat().st_ctime
        except OSError:
            continue
    return 0.0
