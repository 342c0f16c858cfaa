"""
The id of a clone: what tells that ``local/`` and ``state/`` were made here and did not come with a branch.

Git ignores both folders, and a branch can hold them all the same. So each carries the id of its clone, a random number
that is kept where no branch can write: in the user's state folder, and in the git directory. Nothing is used of a
folder without it: ``local/`` is made again, ``state/`` is put aside. What git tracks there a pull may replace: then the
two are in the user's cache, and the store is only read.
Source: docs/guarantees.md, "With a hostile branch".
"""

import contextlib
import errno
import fcntl
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from graphmem.errors import GraphmemError, Refused, Unavailable
from graphmem.kernel.git import commands
from graphmem.kernel.git.places import directory_of, is_own, state_of_index, top_of
from graphmem.kernel.ledger.files.layout import FOLDER, Layout, home_in_git
from graphmem.kernel.settings.folders import private_folder, state_folder
from graphmem.kernel.system import safe_files
from graphmem.patterns import lazy_re

FILE = "clone-id"  # in local/ and state/: the id, and the state of git's index when it was compared
KEPT_IN_GIT = "graphmem-clone-id"
OWN = lazy_re(rf"{re.escape(FOLDER)}/(local|state)(/|$)", re.IGNORECASE)  # some file systems fold case
ID = lazy_re(r"[0-9a-f]{32}")
TRACKED_FIX = f"git rm -r -f -q --ignore-unmatch {FOLDER}/local {FOLDER}/state"
SAID = {
    "local": "it is made again from the files",
    "state": "what it held of undo, sessions and counters is not used, and kept in state.aside.tmp",
}


@dataclass
class Clone:
    """A store in its clone: the layout to use, why it is not written if so, and what to say about it."""

    layout: Layout
    git_folder: Path | None
    home: str  # where the store would be if commits of a ref held its rows; empty where none can
    index: str  # the state of git's index when it was last asked what it tracks
    refusal: GraphmemError | None = None
    notices: tuple[str, ...] = ()

    def refuse_tracked(self) -> None:
        """Raise ``Unavailable`` where the rows were moved, and where git tracks what it must not, such as by a pull."""
        if os.path.isdir(self.home) != (self.layout.home is not None):
            raise Unavailable("the rows were moved since the memory was opened", hint="open it again")
        index = state_of_index(self.git_folder)
        if index != self.index:
            if self.refusal is None and tracked(self.layout, self.git_folder):
                raise Unavailable("git tracks files of this machine since the memory was opened", hint="open it again")
            self.index = index


def find_clone(layout: Layout) -> Clone:
    """Return a store in its clone, with ``local/`` and ``state/`` that were made there and nowhere else."""
    folder = git_folder(layout.root)
    watched = None if layout.home else folder  # a branch brings nothing into git's directory
    home = home_in_git(layout.root)
    clone = Clone(layout, watched, str(home / FOLDER) if home else "", state_of_index(watched))
    try:
        marks = {path: _read_mark(path) for path in _own_folders(layout)}
        ids = _read_ids([*_git_file(folder), *_user_files()])
        own = [path for path, mark in marks.items() if mark.partition(" ")[0] in ids]
        if shown := [f"{FOLDER}/{path.name}" for path in own if _hide(path)]:  # made by an older version
            clone.notices = (f"{' and '.join(shown)} can no longer get into a commit",)
        if all(found in [f"{known} {clone.index}" for known in ids] for found in marks.values()):
            return clone
        with _kept_ids(folder) as known:
            if path := tracked(layout, watched):
                return elsewhere(clone, _is_tracked(path))
            clone.notices += tuple(mark(layout, known, clone.index))
    except (OSError, Unavailable) as error:
        what = f"{error.filename}: {error.strerror}" if isinstance(error, OSError) and error.filename else str(error)
        reason = f"{layout.local} is not a folder that can be written, or the id of this clone cannot be kept ({what})"
        return elsewhere(clone, Unavailable(reason, hint="reading goes on"))
    return clone


def elsewhere(clone: Clone, refusal: GraphmemError) -> Clone:
    """
    Return a clone whose ``local/`` and ``state/`` are in the user's cache; the store is only read.

    Raises:
        Unavailable: the user's cache cannot be written either.
    """
    try:
        private = cached(clone.layout)
        with safe_files.folder(private, make=True) as handle:
            os.fchmod(handle, 0o700)
    except (OSError, Unavailable) as error:  # no folder is left that only this user can have written
        raise Unavailable(f"{refusal}; and {error}", hint="set XDG_CACHE_HOME to a folder of yours") from error
    clone.layout = replace(clone.layout, private=private)
    clone.refusal = refusal
    return clone


def _is_tracked(path: str) -> Refused:
    """Report that git tracks a file of this machine."""
    return Refused(
        f"git tracks {path!r}: local/ and state/ are of one machine, and a branch must not bring them",
        hint=f"remove them from the branch, and commit that: {TRACKED_FIX}",
        details={"tracked": path},
    )


def _own_folders(layout: Layout) -> tuple[Path, Path]:
    """Return the folders that are of this clone alone."""
    return layout.local, layout.state


def mark(layout: Layout, known: Sequence[str], index: str) -> Iterator[str]:
    """
    Write the id into both folders; one with another id, or with none and something in it, is not used.

    ``local/`` is derived and removed. ``state/`` may be the user's own after all, and is put aside.
    """
    for folder in _own_folders(layout):
        found = _read_mark(folder).partition(" ")[0]
        if found not in known and safe_files.entries(folder):
            if os.lstat(folder).st_uid != os.geteuid():
                raise PermissionError(errno.EPERM, "made by another user", str(folder))
            if folder == layout.state:
                safe_files.remove_folder(layout.state_aside)
                safe_files.replace(folder, layout.state_aside)
                _hide(layout.state_aside)
            else:
                safe_files.remove_folder(folder)
            yield f"{FOLDER}/{folder.name} was not made in this clone: {SAID[folder.name]}"
        with safe_files.folder(folder, make=True):
            fresh = folder / f".{FILE}.{os.getpid()}.tmp"
            safe_files.write(fresh, f"{known[0]} {index}".encode())
            safe_files.replace(fresh, folder / FILE)
        _hide(folder)


def _hide(folder: Path) -> bool:
    """
    Tell git to ignore a folder whatever is checked out, and return whether that was not so.

    The ``.gitignore`` of the store names it too, and is not there on a branch from before ``init``: git would add what
    is in the folder to a commit, and remove it with the next checkout.
    """
    path = folder / ".gitignore"
    if safe_files.is_file(path):
        return False
    with contextlib.suppress(OSError):  # a store that can only be read
        safe_files.write(path, b"*\n")
        return True
    return False


def _read_mark(folder: Path) -> str:
    """Return what a folder carries: an id and the state of git's index; empty where it carries none."""
    try:
        return safe_files.read(folder / FILE, most=200).decode("ascii", "replace")
    except OSError:
        return ""


# --- where the id is kept ------------------------------------------------------------------------------------------


def git_folder(root: Path) -> Path | None:
    """Return the git directory of the working tree that a folder lies in, if it is its own and no other project's."""
    top = top_of(root)
    if top is None or not is_own(top):
        return None
    found = directory_of(top)
    return found if found.is_dir() else None


def _git_file(folder: Path | None) -> list[Path]:
    """Return the file in the git directory that keeps an id; none where there is no such directory here."""
    return [folder / KEPT_IN_GIT] if folder is not None and folder.is_dir() else []


def _user_files() -> list[Path]:
    """Return the files that may keep the id of the user: the first one that can be written does."""
    found = []
    with contextlib.suppress(RuntimeError):  # a user without a home
        found.append(state_folder() / FILE)
    with contextlib.suppress(Unavailable):
        found.append(private_folder() / FILE)
    return found


def _read_ids(paths: Sequence[Path]) -> list[str]:
    """Return the ids that are kept in these files."""
    found = []
    for path in paths:
        with contextlib.suppress(OSError, UnicodeDecodeError):
            found.append(safe_files.read(path, most=100).decode("ascii"))
    return [known for known in found if ID.fullmatch(known)]


@contextlib.contextmanager
def _kept_ids(folder: Path | None) -> Iterator[list[str]]:
    """
    Yield the ids that a folder of this clone may carry, while no other process of this user compares them.

    The id of the user is kept in the git directory too, unless one is there: so it is the same when a repository is
    made around a project or removed, and for users who share one. An id of a git directory never becomes the user's.
    """
    handle = safe_files.descriptor(private_folder() / f"{FILE}.lock", os.O_RDWR | os.O_CREAT)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        of_user, of_git = _user_files(), _git_file(folder)
        known = next(iter(_read_ids(of_user)), None) or os.urandom(16).hex()
        for path in of_user:
            if _is_kept(path, known):
                break
        for path in of_git:
            _is_kept(path, known)
        found = _read_ids([*of_git, *of_user])
        if not found:
            raise OSError("neither the git directory nor a folder of the user can be written")
        yield found
    finally:
        os.close(handle)


def _is_kept(path: Path, known: str) -> bool:
    """Keep an id in a file that is not there yet, and return whether one is there."""
    with contextlib.suppress(OSError):
        if not _read_ids([path]):
            with safe_files.folder(path.parent, make=True):
                safe_files.write(path, known.encode())
        return True
    return False


def cached(layout: Layout) -> Path:
    """Return the folder of this user for a store that cannot be written; its name comes from the store's real path."""
    return private_folder() / "stores" / hashlib.sha256(os.path.realpath(layout.store).encode()).hexdigest()[:32]


# --- what git tracks -----------------------------------------------------------------------------------------------


def tracked(layout: Layout, folder: Path | None) -> str | None:
    """Return a path below ``local/`` or ``state/`` that git tracks, or None."""
    if folder is None:
        return None
    try:
        output = commands.git(layout.root, "ls-files", "-z", "--", FOLDER) or b""
    except Unavailable:  # git is not installed, or does not read this repository
        return None
    paths = (path.decode("utf-8", "backslashreplace") for path in output.split(b"\0"))
    return next((path for path in paths if OWN.match(path)), None)


def derived_folder(layout: Layout) -> Path:
    """
    Return the folder of what is derived: ``local/``, or where that cannot be used, another one of this store and user.

    Raises:
        Unavailable: no such folder can be written.
    """
    with contextlib.suppress(OSError), safe_files.folder(layout.local, make=True):
        if os.access(layout.local, os.W_OK) and not safe_files.links(layout.local):
            return layout.local
    folder = cached(layout)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder
