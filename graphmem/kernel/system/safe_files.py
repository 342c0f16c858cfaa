"""
Files below ``.graphmem``: listed, opened, replaced and removed without following a symbolic link.

A store comes with a branch, and a branch can hold links to anywhere. So every folder below ``.graphmem`` is opened by
descriptor, part by part, and a link counts as missing. What opens a file by its path alone (SQLite, the graph engine,
a memory map) is preceded by ``refuse_link``. A path that has no part ``.graphmem`` is the user's own; only its last
part may not be a link.
During a call a folder is opened once (``holding_folders``), and used as long as its name leads to that very folder.
Source: docs/guarantees.md, "With a hostile branch".
"""

import contextlib
import errno
import os
import shutil
import stat
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import lru_cache
from io import BufferedRandom
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple, TypeVar

from graphmem.errors import Refused, Unavailable

T = TypeVar("T")
Place = tuple[str, tuple[str, ...]]  # a folder: from where it is walked to part by part, and those parts
STORE = ".graphmem"
DERIVED = "local"  # the folder in a store of what is made again from its files
PAST = "at"  # the folder in ``local/`` whose folders are stores of their own
STATE = "state"  # the folder in a store of what belongs to this machine: its files are for this user alone
SCOPED = "scopes"  # the folder in ``local/`` whose folders hold the graphs of callers who see some kinds only
COPIED_BYTES = 2**20  # at a time
MOST_HELD = 16  # folders that a call keeps open; a branch can bring any number, and many calls run at once
MOST_DEPTH = 128  # folders in each other that are looked into
USUAL_DEPTH = 2  # of the folders of a store, which a call uses again
PUT_TRIES = 10  # to put a new file in its place while others sweep the folder
DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC
MODES = {
    "rb": os.O_RDONLY,
    "r+b": os.O_RDWR,
    "wb": os.O_WRONLY | os.O_CREAT | os.O_TRUNC,
    "ab": os.O_WRONLY | os.O_CREAT | os.O_APPEND,
}


@lru_cache(maxsize=1024)  # a call asks a hundred times, about some dozens of folders
def _divided(path: str) -> Place:
    """Return the folder from which a path is walked part by part, and those parts."""
    parts = Path(path).parts
    if STORE not in parts:
        return path, ()
    start = parts.index(STORE) + 1
    if ".." in parts[start:]:
        raise OSError(errno.EINVAL, "leads out of its folder", path)
    return os.path.join(*parts[:start]), parts[start:]


@lru_cache(maxsize=1024)
def _located(path: str) -> tuple[Place, str]:
    """Return the folder of a file, and its name in it."""
    folder, name = os.path.split(path)
    return _divided(folder or os.curdir), name


class Kept(NamedTuple):
    """A folder that is kept open."""

    handle: int
    path: str
    device: int
    inode: int


class Held(threading.local):
    """The folders that the call under way in this thread keeps open, by place; None outside of one."""

    folders: dict[Place, Kept] | None = None


HELD = Held()


@contextlib.contextmanager
def holding_folders() -> Iterator[None]:
    """Keep the folders open that the block opens in this thread, until it ends."""
    if HELD.folders is not None:
        yield
        return
    known = HELD.folders = dict[Place, Kept]()
    try:
        yield
    finally:
        HELD.folders = None
        for kept in known.values():
            os.close(kept.handle)


def entered(start: str, parts: tuple[str, ...], *, make: bool = False) -> tuple[int, bool]:
    """
    Return the descriptor of a folder, and whether the call under way keeps it: else it is for the caller to close.

    From ``start`` on no link is followed.
    """
    kept = HELD.folders.get((start, parts)) if HELD.folders else None
    if kept is not None and _is_still(kept, is_link_followed=not parts):
        return kept.handle, True
    if parts:
        outer, is_kept = entered(start, parts[:-1], make=make)
        try:
            if make:
                with contextlib.suppress(FileExistsError):
                    os.mkdir(parts[-1], dir_fd=outer)
            handle = os.open(parts[-1], DIRECTORY | os.O_NOFOLLOW, dir_fd=outer)
        finally:
            if not is_kept:
                os.close(outer)
    else:
        if make:
            os.makedirs(start, exist_ok=True)
        handle = os.open(start, DIRECTORY)
    return handle, kept is None and keep(start, parts, handle)


def keep(start: str, parts: tuple[str, ...], handle: int) -> bool:
    """Keep a folder open until the call under way ends; return whether it is kept: within a call, up to a limit."""
    if HELD.folders is None or len(HELD.folders) >= MOST_HELD:
        return False
    found = os.fstat(handle)
    HELD.folders[start, parts] = Kept(handle, "/".join((start, *parts)), found.st_dev, found.st_ino)
    return True


def _is_still(kept: Kept, *, is_link_followed: bool) -> bool:
    """Return whether the name of a folder that is kept open still leads to it, and not to another folder or a link."""
    try:
        found = os.stat(kept.path) if is_link_followed else os.lstat(kept.path)
    except OSError:
        return False
    return found.st_ino == kept.inode and found.st_dev == kept.device


def _explained(error: OSError, path: Path | str) -> OSError:
    """Return an error of the operating system with the whole path; what a link hides counts as missing."""
    if error.errno in (errno.ELOOP, errno.ENOTDIR):
        return FileNotFoundError(errno.ENOENT, "a symbolic link is not followed", str(path))
    error.filename = str(path)
    return error


@contextlib.contextmanager
def folder(path: Path | str, *, make: bool = False) -> Iterator[int]:
    """Yield the descriptor of a folder, made where it is missing if asked for."""
    handle, is_kept = _opened_folder(path, make=make)
    try:
        yield handle
    finally:
        if not is_kept:
            os.close(handle)


@contextlib.contextmanager
def own_folder(path: Path, *, make: bool = False) -> Iterator[int]:
    """Yield a descriptor of a folder that no other thread has: what it locks is locked for this one alone."""
    with folder(path, make=make) as shared:
        handle = os.open(".", DIRECTORY, dir_fd=shared)
    try:
        yield handle
    finally:
        os.close(handle)


def _opened_folder(path: Path | str, *, make: bool = False) -> tuple[int, bool]:
    """Return what ``entered`` does of a folder."""
    try:
        return entered(*_divided(str(path)), make=make)
    except OSError as error:
        raise _explained(error, path) from None


def _within(path: Path | str, act: Callable[[str, int], T]) -> T:
    """Act on a file by its name and the descriptor of its folder."""
    try:
        (start, parts), name = _located(str(path))
        parent, is_kept = entered(start, parts)
        try:
            return act(name, parent)
        finally:
            if not is_kept:
                os.close(parent)
    except OSError as error:
        raise _explained(error, path) from None


def _without_folder(path: Path | str, act: Callable[[str, int], T]) -> T:
    """
    Act on a file; where a folder has its name below ``local/``, the folder is removed and it is done once more.

    Only graphmem gives names there, and what is there is made again from the files.
    """
    try:
        return _within(path, act)
    except IsADirectoryError:
        if _located(str(path))[0][1][:1] != (DERIVED,):
            raise
    with contextlib.suppress(FileNotFoundError):  # another process has put a file there
        remove_folder(path)
    return _within(path, act)


def descriptor(path: Path | str, flags: int) -> int:
    """Return the descriptor of a regular file; one that is made in ``state/`` is for this user alone."""
    flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
    mode = 0o600 if _located(str(path))[0][1][:1] == (STATE,) else 0o666
    handle = _without_folder(path, lambda name, parent: os.open(name, flags, mode, dir_fd=parent))
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    raise FileNotFoundError(errno.ENOENT, "not a regular file", str(path))


def opened(path: Path | str, mode: str = "rb") -> BufferedRandom:
    """Open a regular file; ``mode`` is ``rb``, ``r+b``, ``wb`` or ``ab``."""
    made: BufferedRandom = open(descriptor(path, MODES[mode]), mode)  # type: ignore[assignment] # noqa: SIM115
    return made


def read(path: Path | str, *, most: int = -1) -> bytes:
    """Return the content of a file, its first ``most`` bytes if that is not negative."""
    with opened(path) as file:
        size = os.fstat(file.fileno()).st_size + 1  # room for more than a file has is taken from the system at once
        return file.read(min(most, size) if most >= 0 else most)


def text(path: Path, most: int) -> str:
    """Return the text of a file, or raise ``ValueError`` for one of more than ``most`` bytes."""
    with opened(path) as file:
        if (size := os.fstat(file.fileno()).st_size) > most:
            raise ValueError(f"the file is {size:,} bytes; at most {most:,} are read")
        return file.read().decode("utf-8-sig")


def write(path: Path, data: bytes, *, is_flushed: bool = False) -> None:
    """Write a file; ``is_flushed`` waits until it is on the disk."""
    try:
        with open(descriptor(path, MODES["wb"]), "wb") as file:
            file.write(data)
            if is_flushed:
                file.flush()
                os.fsync(file.fileno())
    except OSError as error:
        error.filename = error.filename or str(path)  # the system does not say it of a file that is open
        raise


def put(path: Path, data: bytes, *, is_flushed: bool = False) -> None:
    """
    Replace a file by a new one, all or nothing; its folder is made. No other process may write the file meanwhile.

    A writer of the store removes what dead processes left (``ledger/files/journal.py``), and cannot tell it from the
    new file of one that holds another lock than its own: where that is taken away, it is written again.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    for tries in range(PUT_TRIES, 0, -1):
        with folder(path.parent, make=True):
            try:
                write(fresh, data, is_flushed=is_flushed)
            except OSError:
                remove(fresh)
                raise
        try:
            return replace(fresh, path)
        except FileNotFoundError:
            if tries == 1:
                raise


def copy(source: Path, target: Path) -> None:
    """Write a copy of a file."""
    with opened(source) as old, opened(target, "wb") as new:
        shutil.copyfileobj(old, new, COPIED_BYTES)


def _status(name: str, parent: int) -> os.stat_result:
    """Return the status of what has a name in an open folder, also of a link."""
    return os.lstat(name, dir_fd=parent)


def stat_of(path: Path | str) -> os.stat_result | None:
    """Return the status of a regular file, or None."""
    try:
        found = _within(path, _status)
    except FileNotFoundError:
        return None
    return found if stat.S_ISREG(found.st_mode) else None


def bytes_of(paths: Iterable[Path]) -> int:
    """Return how large regular files are together; those that are missing have no bytes."""
    return sum(found.st_size for path in paths if (found := stat_of(path)))


def is_file(path: Path) -> bool:
    """Return whether there is a regular file."""
    return stat_of(path) is not None


def is_linked(path: Path) -> bool:
    """Return whether a file of a store is a symbolic link, or lies behind one."""
    _, parts = _divided(os.fspath(path))
    return any(place.is_symlink() for place in (path, *path.parents[: len(parts) - 1]))


def is_folder(path: Path) -> bool:
    """Return whether there is a folder."""
    try:
        with folder(path):
            return True
    except FileNotFoundError:
        return False


def replace(source: Path, target: Path) -> None:
    """Put a file in the place of another one of the same folder."""
    _without_folder(target, lambda name, parent: os.replace(source.name, name, src_dir_fd=parent, dst_dir_fd=parent))


def move(source: Path, target: Path) -> None:
    """Give a folder another place on the same disk in one step; no folder may be there. It is on the disk then."""

    def place(name: str, parent: int) -> None:
        _within(source, lambda old, outer: os.rename(old, name, src_dir_fd=outer, dst_dir_fd=parent))

    _within(target, place)
    flush(source.parent)
    flush(target.parent)


def remove(path: Path) -> None:
    """Remove a file, or a link itself, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        _without_folder(path, lambda name, parent: os.unlink(name, dir_fd=parent))


def remove_folder(path: Path | str) -> None:
    """Remove a folder with all it holds, if it is there."""
    with contextlib.suppress(FileNotFoundError):
        _within(path, lambda name, parent: shutil.rmtree(name, dir_fd=parent))


def flush(path: Path) -> None:
    """Write a folder down to the disk: the names in it count from then on."""
    with folder(path) as handle:
        os.fsync(handle)


def files(path: Path) -> list[Path]:
    """Return the regular files of a folder, in name order; none where it is missing."""
    return [path / entry.name for entry in entries(path) if entry.is_file(follow_symlinks=False)]


def folders(path: Path) -> list[Path]:
    """Return the folders of a folder, in name order; none where it is missing."""
    return [path / entry.name for entry in entries(path) if entry.is_dir(follow_symlinks=False)]


def entries(path: Path | str) -> list[os.DirEntry[str]]:
    """Return what a folder holds, in name order; nothing where it is missing."""
    try:
        return _listed(path)
    except FileNotFoundError:
        return []


def _listed(path: Path | str) -> list[os.DirEntry[str]]:
    """Return what a folder holds, in name order."""
    with folder(path) as handle:
        known = _held_by(handle)
        for entry in known:
            entry.is_symlink()  # asked while the folder is open
        return known


def _held_by(handle: int) -> list[os.DirEntry[str]]:
    """
    Return the entries of an open folder, in name order.

    The type of an entry has to be asked for while the folder is open: the system may have to look.
    """
    with os.scandir(handle) as found:
        return sorted(found, key=attrgetter("name"))


def tree(path: Path, but: Path | None = None) -> Iterator[tuple[str, list[os.DirEntry[str]]]]:
    """
    Yield a folder and every folder below it, with what each holds; ``but`` is not looked into.

    Each is opened from the one that holds it, so a chain of folders takes time in proportion to its length; only the
    first ``MOST_DEPTH`` are looked into.
    """
    excluded = str(but)
    with contextlib.suppress(FileNotFoundError), folder(path) as top:
        known = _held_by(top)
        yield str(path), known
        chain = [(str(path), top, True, _folders(known))]  # with each, whether somebody else closes it
        try:
            while chain:
                outer, handle, is_kept, rest = chain[-1]
                if not rest:
                    chain.pop()
                    if not is_kept:
                        os.close(handle)
                elif (found := f"{outer}/{(name := rest.pop())}") != excluded and len(chain) < MOST_DEPTH:
                    try:
                        if len(chain) <= USUAL_DEPTH:
                            below, is_kept = _opened_folder(found)
                        else:
                            below, is_kept = os.open(name, DIRECTORY | os.O_NOFOLLOW, dir_fd=handle), False
                    except OSError as error:
                        if isinstance(gone := _explained(error, found), FileNotFoundError):
                            continue  # it has just been removed, or a link has its name
                        raise gone from None
                    chain.append((found, below, is_kept, inner := list[str]()))
                    known = _held_by(below)
                    inner += _folders(known)
                    yield found, known
        finally:
            for _, handle, is_kept, _ in chain:
                if not is_kept:
                    os.close(handle)


def _folders(known: Iterable[os.DirEntry[str]]) -> list[str]:
    """Return the names of the folders among what a folder holds, the last one first."""
    return [entry.name for entry in known if entry.is_dir(follow_symlinks=False)][::-1]


def walk(path: Path) -> Iterator[Path]:
    """Yield a folder and every folder below it."""
    yield from (Path(found) for found, _ in tree(path))


def links(store: Path) -> list[Path]:
    """Return the symbolic links in a store; past states are not looked through, they are made here."""
    found = tree(store, but=store / DERIVED / PAST)
    return sorted(Path(path, entry.name) for path, known in found for entry in known if entry.is_symlink())


def refuse_links(found: Sequence[Path]) -> None:
    """Raise ``Refused`` for a store with symbolic links in it: it is read, and not written."""
    if found:
        raise Refused(
            f"{str(found[0])!r} is a symbolic link; a store with a link in it is not written",
            hint="nothing was changed; look where it leads, then remove it: a branch may have brought it",
            details={"links": [str(path) for path in found]},
        )


def refuse_link(path: Path) -> None:
    """Raise ``Unavailable`` where a file that is opened by its path is not a regular one, or lies behind a link."""
    try:
        found = _within(path, _status)
    except FileNotFoundError:
        if path.parent.exists() and not is_folder(path.parent):
            raise Unavailable(f"{str(path)!r} lies behind a symbolic link", hint="remove the link") from None
        return
    if not stat.S_ISREG(found.st_mode):
        raise Unavailable(f"{str(path)!r} is not a regular file", hint="remove it: the next command makes it again")
