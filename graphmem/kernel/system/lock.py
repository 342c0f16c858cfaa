"""
The advisory lock of a store: one writer at a time, waited for in turn, its holder named.

The operating system frees it when its holder dies, so there is nothing to clean up. Whoever waits first holds the gate
in front of the lock, so that readers who come later do not overtake a writer, nor writers a reader.
"""

import contextlib
import fcntl
import os
import re
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from graphmem.errors import Locked, Unavailable
from graphmem.kernel.system import safe_files

FIRST_POLL_S, LAST_POLL_S = 0.001, 0.02  # seconds between two tries, doubled from the first to the last


@contextlib.contextmanager
def locked(path: Path, *, shared: bool = False, timeout_s: float) -> Iterator[None]:
    """
    Hold the lock file ``path`` while the block runs.

    Args:
        path: made where it is missing; its text names the holder that writes.
        shared: with other shared holders, or alone.
        timeout_s: seconds to wait for it; 0 tries once.

    Raises:
        Locked: another process held it all the time; the error names the holder.
        Unavailable: the file system has no locks.
    """
    end = time.monotonic() + timeout_s
    with _opened(path) as handle:
        with _opened(path.with_name(f"{path.name}.gate")) as gate:
            take(path, gate, fcntl.LOCK_EX, end, named_by=handle)
            take(path, handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, end, named_by=handle)
        if shared:
            yield
            return
        since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        text = f"pid {os.getpid()}, {_command()}, since {since}"
        with contextlib.suppress(OSError):  # on a full disk the holder has no name
            os.ftruncate(handle, 0)
            os.pwrite(handle, text.encode("utf-8", "replace"), 0)
        try:
            yield
        finally:
            with contextlib.suppress(OSError):  # the write has happened
                os.ftruncate(handle, 0)


@cache
def _command() -> str:
    """Return what this process is called, with the verb of the command line."""
    name = Path(sys.argv[0]).name or "python"
    name = "graphmem" if name == "__main__.py" else name
    return " ".join([name, *(argument for argument in sys.argv[1:2] if argument.isalpha())])


@contextlib.contextmanager
def _opened(path: Path) -> Iterator[int]:
    """Open a lock file, made where it is missing; to close it is to let it go."""
    try:
        handle = safe_files.descriptor(path, os.O_RDWR | os.O_CREAT)
    except FileNotFoundError:
        safe_files.refuse_link(path)
        raise
    try:
        yield handle
    finally:
        os.close(handle)


def take(path: Path, handle: int, mode: int, end: float, *, named_by: int) -> None:
    """Take the lock on an open file until a moment of the monotonic clock, or raise ``Locked`` with its holder."""
    pause = FIRST_POLL_S
    while True:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                holder = _holder_of(named_by)
                raise Locked(
                    f"the store is in use by {holder}",
                    hint="wait for it, or give --lock-timeout SECONDS",
                    details={"holder": holder},
                ) from None
            time.sleep(pause)
            pause = min(2 * pause, LAST_POLL_S)
        except OSError as error:  # ENOLCK, ENOTSUP, EIO: the file system
            raise Unavailable(
                f"{str(path)!r} cannot be locked: {(error.strerror or str(error)).lower()}",
                hint="does the file system have locks? NFS needs its lock service; else keep the project elsewhere",
            ) from None


def _holder_of(handle: int) -> str:
    """Return the holder that a lock file names; "a reader" where that process is dead."""
    text = os.pread(handle, 200, 0).decode(errors="replace")
    pid = re.match(r"pid (\d+),", text)
    if pid is None:
        return "a reader"
    try:
        os.kill(int(pid[1]), 0)
    except ProcessLookupError:
        return "a reader"
    except PermissionError:  # it lives, and belongs to another user
        pass
    return text
