"""
Commands that check something, several at a time: each below a reaper of its own, bounded in time and output.

What a command leaves running is killed at its end, by the reaper (``graphmem/kernel/system/reaper.py``).
"""

import contextlib
import os
import selectors
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from weakref import WeakKeyDictionary

from graphmem.constants import LINGER_S, PIPE_BYTES
from graphmem.kernel.system import reaper
from graphmem.kernel.system.reaper import NOT_EXECUTABLE, NOT_FOUND
from graphmem.kernel.system.user import SECRETS

SHELL = "/bin/sh"
END_S = 10.0  # seconds in which all that a command started is ended
LOOK_S = 0.05  # seconds between two looks whether a command has ended
MARK = "_GRAPHMEM_CHECK"  # a variable with another value for each command
MARKS: WeakKeyDictionary["subprocess.Popen[bytes]", bytes] = WeakKeyDictionary()


@dataclass(frozen=True)
class CheckEnd:
    """
    How a command ended.

    Attributes:
        status: exit status as a shell has it; None where the time was up, or nothing could be started.
        is_timed_out: it was killed, for its time was up.
        seconds: that it took. tail: the end of what it wrote.
    """

    status: int | None
    is_timed_out: bool
    seconds: float
    tail: str

    @property
    def could_run(self) -> bool:
        """Return whether the command itself ran."""
        return self.is_timed_out or self.status not in (None, NOT_FOUND, NOT_EXECUTABLE)


def run_all(
    commands: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    at_once: int,
    seconds: float,
    kept_bytes: int,
) -> list[CheckEnd]:
    """
    Run shell commands, some at a time, and return how each ended, in the order of the commands.

    Args:
        seconds: that each may take. kept_bytes: of the end of its output.
    """
    with ThreadPoolExecutor(at_once, thread_name_prefix="check") as workers:
        return list(workers.map(lambda command: run(command, folder, environment, seconds, kept_bytes), commands))


def run(command: str, folder: Path, environment: Mapping[str, str], seconds: float, kept_bytes: int) -> CheckEnd:
    """Run one shell command to its end."""
    begin = monotonic()
    try:
        child = start([SHELL, "-c", command], folder, environment, errors=subprocess.STDOUT)
    except (OSError, ValueError) as error:
        return CheckEnd(None, False, monotonic() - begin, str(error))
    try:
        tail, is_timed_out = _read_to_end(child, begin + seconds, kept_bytes)
    finally:
        status = end(child)
        if child.stdout is not None:
            child.stdout.close()
    text = tail.decode("utf-8", "replace")
    code = 128 - status if status < 0 else status
    return CheckEnd(None if is_timed_out else code, is_timed_out, monotonic() - begin, text)


def start(
    command: Sequence[str], folder: Path, environment: Mapping[str, str], *, errors: int
) -> "subprocess.Popen[bytes]":
    """
    Start a program by its absolute path below a reaper, in a session of its own, with nothing to read.

    Args:
        errors: where its standard error goes, as ``subprocess`` has it.
    """
    kept = {name: value for name, value in environment.items() if not name.startswith(SECRETS)}
    marked = {**kept, MARK: os.urandom(8).hex()}
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", reaper.__file__, str(os.getpid()), str(len(command)), *command, *marked],
        cwd=folder,
        env=marked,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=errors,
        start_new_session=True,
    )
    MARKS[child] = f"{MARK}={marked[MARK]}".encode()
    return child


def end(child: "subprocess.Popen[bytes]") -> int:
    """
    Have the reaper end what is left, and return its status; one that the command stopped goes on for it.

    Where the command killed both of its reapers at once, what is left is found by its session, or by a variable that it
    inherited.
    """
    child.terminate()
    child.send_signal(signal.SIGCONT)
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.wait(END_S)
    if child.poll() != -signal.SIGKILL and child.returncode is not None:
        return child.returncode
    child.kill()
    mark = MARKS[child]
    until = monotonic() + END_S
    while (left := reaper.left_of(child.pid, mark)) and monotonic() < until:  # they may have children meanwhile
        for pid in left:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGKILL)
        sleep(LOOK_S)
    return child.wait()


def _read_to_end(child: "subprocess.Popen[bytes]", until: float, kept_bytes: int) -> tuple[bytes, bool]:
    """Read a command's output until it ends or its time is up; return the last part, and which of both happened."""
    assert child.stdout is not None
    tail, ended_at = b"", None
    with selectors.DefaultSelector() as selector:
        selector.register(child.stdout, selectors.EVENT_READ)
        while True:
            now = monotonic()
            if ended_at is None and has_ended(child.pid):
                ended_at = now
            if ended_at is not None and now >= ended_at + LINGER_S:
                return tail, False  # a process that it left behind still holds the pipe
            if ended_at is None and now >= until:
                return tail, True
            if selector.select(LOOK_S):
                data = os.read(child.stdout.fileno(), PIPE_BYTES)
                if not data:
                    selector.unregister(child.stdout)
                    return tail, not _wait_until(child.pid, until)
                tail = (tail + data)[-kept_bytes:]


def _wait_until(pid: int, until: float) -> bool:
    """Wait for a command that closed its output; return whether it ended in time."""
    while not has_ended(pid):
        if monotonic() >= until:
            return False
        sleep(LOOK_S)
    return True


def has_ended(pid: int) -> bool:
    """Return whether a child has ended; it stays to be waited for, so that its number is not given away."""
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None
