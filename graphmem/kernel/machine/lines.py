"""Files of this machine that grow line by line."""

import contextlib
import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

from graphmem.kernel.system import safe_files

WAIT_S, POLL_S = 1.0, 0.001  # seconds for which another process may be at the file, and between two tries
TAIL_BYTES = 2**16  # that are read at a time to find the last line end


def append(path: Path, line: bytes, on_message: Callable[[str], None]) -> None:
    """
    Add a line to a file, all or nothing, after the end of a line.

    Half a line at the end of the file, as a process that died leaves it, is cut off, and that is reported.

    Raises:
        OSError: it cannot be written, or another process is at it all the time.
    """
    with safe_files.folder(path.parent, make=True):
        handle = safe_files.descriptor(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    try:
        lock(handle)
        size = os.fstat(handle).st_size
        whole = end_of_lines(handle, size)
        try:
            if whole < size:
                os.ftruncate(handle, whole)
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(handle, rest) :]
        except OSError:
            with contextlib.suppress(OSError):
                os.ftruncate(handle, whole)
            raise
        if whole < size:
            on_message(f"{path}: its last line was incomplete and is lost; the process that wrote it had died")
    finally:
        os.close(handle)


def lock(handle: int) -> None:
    """Be alone with an open file until it is closed, or raise ``OSError``."""
    end = time.monotonic() + WAIT_S
    while True:
        try:
            return fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > end:
                raise
        time.sleep(POLL_S)


def end_of_lines(handle: int, size: int) -> int:
    """Return where the last whole line of a file ends."""
    end = size
    while end:
        begin = max(0, end - TAIL_BYTES)
        found = os.pread(handle, end - begin, begin).rfind(b"\n")
        if found >= 0:
            return begin + found + 1
        end = begin
    return 0
