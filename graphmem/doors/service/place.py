"""
Where the service of a project is found: a socket in a folder of this user alone.

Only the standard library, and little of it: the caller of a running service imports nothing else.
"""

import contextlib
import os
import sys
from hashlib import sha256

import graphmem
from graphmem.kernel.system.user import is_of_another, own_store

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    from collections.abc import Mapping

KEPT_DIGITS = 16  # of the SHA-256 of the project's path
MOST_OF_A_PATH = 70  # bytes of the runtime folder: the path of a socket has at most 103 on macOS
STORE = ".graphmem"
PATH_BYTES = 4_096  # of a file that names a folder
SAME = ("HOME", "HF_HOME", "HF_HUB_CACHE", "HF_HUB_OFFLINE", "HF_ENDPOINT")  # variables that choose files and models


def _runtime_folder() -> str | None:
    """
    Return the folder for sockets, made with mode 0700, or None.

    Without a runtime folder of the system's it is in ``/tmp``, and where another user took that name first, in the
    user's cache.
    """
    base = os.environ.get("XDG_RUNTIME_DIR") or None
    if base is not None and len(os.fsencode(base)) < MOST_OF_A_PATH:
        return _own_folder(f"{base}/graphmem")
    cache = os.path.expanduser("~/.cache/graphmem")
    return _own_folder(f"/tmp/graphmem-{os.getuid()}") or (
        _own_folder(f"{cache}/run") if len(os.fsencode(cache)) < MOST_OF_A_PATH and os.path.isabs(cache) else None
    )


def _own_folder(folder: str) -> str | None:
    """Return a private folder of this user, made if it is missing; None if there is something else."""
    try:
        if not os.path.lexists(folder):
            os.mkdir(folder, 0o700)
        found = os.lstat(folder)
    except OSError:
        return None
    is_own = (found.st_mode & 0o170077) == 0o040000 and found.st_uid == os.getuid()
    return folder if is_own else None


def path_of(project: str, ending: str) -> str | None:
    """Return the path of a file of a project's service, ``sock``, ``lock`` or ``log``, or None."""
    folder = _runtime_folder()
    name = sha256(os.fsencode(os.path.realpath(project))).hexdigest()[:KEPT_DIGITS]
    return f"{folder}/{name}.{ending}" if folder else None


def project_of(arguments: list[str], folder: str, variables: "Mapping[str, str]") -> str | None:
    """
    Return the project that a command line is about: the one that ``--dir`` names, or from here upwards.

    With ``--user`` it is the folder of the user's own store; for a memory in a server the one of this machine for it.

    Args:
        variables: the environment of the caller.

    Returns:
        Its folder; None where there is none, and for a store that the caller did not name and that is a link or another
        user's: the command itself refuses it in words, and no service reads it.
    """
    named = variables.get("GRAPHMEM_DIR")
    for place, word in enumerate(arguments):
        if word == "--":
            break
        if word == "--dir":
            named = arguments[place + 1] if place + 1 < len(arguments) else None
        elif word.startswith("--dir="):
            named = word[6:]
        elif word == "--user":
            return own_store(variables)
    if named:
        return os.path.join(folder, os.path.expanduser(named))
    if server := variables.get("GRAPHMEM_STORE"):
        return _folder_of(server, variables)
    above = store_above(folder)
    if above is None or os.path.islink(store_of(above) or ""):
        return None
    return above if not is_foreign(above) or _is_safe(above) else None


def _folder_of(server: str, variables: "Mapping[str, str]") -> str | None:
    """Return the folder in which this machine keeps what it has read of the memory in a server; None for no address."""
    from graphmem.errors import Usage  # noqa: PLC0415 - only where the memory is in a server
    from graphmem.kernel.settings.address import ServerAddress  # noqa: PLC0415 - as above

    try:
        return ServerAddress.parse(server).folder(variables)
    except Usage:
        return None


def store_above(folder: str) -> str | None:
    """Return the first folder from here upwards that holds a store; None where none does."""
    while store_of(folder) is None:
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above
    return folder


def store_of(folder: str) -> str | None:
    """Return the store of a project, in git's directory where a ref has its rows; None without a store."""
    top, below = folder, ""
    while not os.path.lexists(f"{top}/.git") and os.path.dirname(top) != top:
        top, name = os.path.split(top)
        below = f"{name}/{below}"
    git = f"{top}/.git"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        if os.path.isfile(git):  # of a worktree
            with open(git, encoding="utf-8") as file:
                git = os.path.join(top, file.read(PATH_BYTES).removeprefix("gitdir: ").rstrip("\n"))
            with open(f"{git}/commondir", encoding="utf-8") as file:
                git = os.path.join(git, file.read(PATH_BYTES).rstrip("\n"))
    places = (f"{git}/graphmem/{below}{STORE}", f"{folder}/{STORE}")
    return next((place for place in places if os.path.isdir(place)), None)


def is_foreign(folder: str) -> bool:
    """Return whether another user made the store of a project."""
    return is_of_another(os.stat(store_of(folder) or "").st_uid)


def _is_safe(folder: str) -> bool:
    """Return whether the user tells git to trust the repository of a project."""
    from pathlib import Path  # noqa: PLC0415 - only where another user made the store

    from graphmem.kernel.git import commands  # noqa: PLC0415 - as above

    return commands.is_safe(Path(folder))


def stamp() -> str:
    """Return what a service and its callers have in common: version, place and age of the code, files, models."""
    source = graphmem.__file__ or ""
    same = [f"{name}={os.environ.get(name, '')}" for name in SAME]
    of_server = sorted(item for item in os.environ.items() if item[0].startswith("PG"))  # whose role it has
    same += [sha256(repr(of_server).encode()).hexdigest()] if of_server else []
    age = os.stat(source).st_mtime_ns if source else 0
    return "\n".join([graphmem.__version__, sys.version, source, str(age), *same])
