"""The folders of a user, and the project that the environment names."""

import contextlib
import os
import stat
import tempfile
from functools import lru_cache
from pathlib import Path

from graphmem.errors import Unavailable
from graphmem.kernel.system.surroundings import variables
from graphmem.kernel.system.user import own_state, own_store


def user_config() -> Path:
    """Return the path of the user's own config file."""
    return _config_below(variables().get("XDG_CONFIG_HOME") or "~/.config", os.environ.get("HOME"))


@lru_cache(maxsize=16)  # a call asks some times
def _config_below(folder: str, home: str | None) -> Path:
    """Return the config file in a folder of a user, whose home decides what ``~`` is."""
    return Path(folder).expanduser() / "graphmem" / "config.toml"


def state_folder() -> Path:
    """Return the folder for what belongs to the user and this machine and is in no project."""
    return Path(own_state(variables()))


def private_folder() -> Path:
    """
    Return a folder of this user alone: the one in the cache, or where that cannot be written, one for temporary files.

    Raises:
        Unavailable: neither can be written.
    """
    with contextlib.suppress(OSError, RuntimeError):  # a user without a home has no cache
        home = variables().get("XDG_CACHE_HOME") or "~/.cache"
        folder = Path(home).expanduser() / "graphmem"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if os.access(folder, os.W_OK):
            return folder
    folder = Path(tempfile.gettempdir()) / f"graphmem-{os.getuid()}"
    with contextlib.suppress(OSError):
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
        if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022:
            return folder
    raise Unavailable(f"{folder} cannot be used for temporary files", hint="set XDG_CACHE_HOME to a folder of yours")


def user_store() -> Path | None:
    """Return the folder that holds the user's own store, whether it is there or not; None where it is turned off."""
    found = own_store(variables())
    return Path(found) if found else None


def project_folder() -> str | None:
    """Return the folder that ``GRAPHMEM_DIR`` names."""
    return named("GRAPHMEM_DIR")


def own_folder(path: str) -> Path:
    """Return a folder of this user alone, made if it is missing."""
    folder = Path(path)
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    return folder


def named(variable: str) -> str | None:
    """Return what a variable of the user's environment names; None where it is empty too."""
    return variables().get(variable) or None


def agent_folder() -> str | None:
    """Return the folder that ``GRAPHMEM_DIR`` names, else the project that the agent's program names, if it has one."""
    found = os.environ.get("CLAUDE_PROJECT_DIR")
    return project_folder() or (found if found and (Path(found) / ".graphmem").is_dir() else None)
