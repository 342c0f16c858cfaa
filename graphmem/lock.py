"""
The advisory lock of a store: one writer at a time, waited for, its holder named.

The operating system frees it when its holder dies, so there is nothing to clean up.
"""

import contextlib
import fcntl
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from graphmem.errors import Locked

POLL_S = 0.02  # seconds between two tries; a wait is rarely longer than one write


@contextlib.contextmanager
def locked(path: Path, *, shared: bool = False, timeout_s: float) -> Iterator[None]:
    """
    Hold the lock file ``path`` while the block runs.

    Args:
        path: made where it is missing; its text names the last holder that wrote.
        shared: with other shared holders, or alone.
        timeout_s: seconds to wait for it; 0 tries once.

    Raises:
        Locked: somebody else held it all the time; the error names the holder.
    """
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        take(handle, fcntl.LOCK_SH if shared else fcntl.LOCK_EX, timeout_s)
        if not shared:
            since = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
            text = f"pid {os.getpid()}, {Path(sys.argv[0]).name or 'python'}, since {since}"
            os.ftruncate(handle, 0)
            os.pwrite(handle, text.encode("utf-8", "replace"), 0)
        yield
    finally:
        os.close(handle)


def take(handle: int, mode: int, timeout_s: float) -> None:
    """Take the lock on an open file, or raise ``Locked`` with what its holder wrote there."""
    end = time.monotonic() + timeout_s
    while True:
        try:
            fcntl.flock(handle, mode | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= end:
                holder = os.pread(handle, 200, 0).decode(errors="replace") or "a reader"
                raise Locked(
                    f"the store is in use by {holder}",
                    hint="wait for it, or give --lock-timeout SECONDS",
                    details={"holder": holder},
                ) from None
            time.sleep(POLL_S)
