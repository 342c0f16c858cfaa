"""
Two processes between graphmem and a command: at its end they end all that the command started, however it was started.

On Linux every process below it becomes its child when its own parent ends (PR_SET_CHILD_SUBREAPER), also one in a
session of its own, and it ends all when graphmem itself ends first, as at Ctrl-C (PR_SET_PDEATHSIG); elsewhere it
reaches the process group of the command only. A command may kill the process above it: the one above that ends what is
left then. It imports nothing of graphmem.
"""

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Iterator

PR_SET_PDEATHSIG, PR_SET_CHILD_SUBREAPER = 1, 36
# What a shell's `&` or nohup ignores would be so in every process of the command: a test in it that interrupts a
# child would wait for ever.
DEFAULT = (signal.SIGPIPE, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)
NOT_FOUND, NOT_EXECUTABLE = 127, 126  # exit statuses of a shell that could not run a command


def main(parent: str, words: str, *given: str) -> int:
    """
    Run a command, end what it leaves behind, and return its status as a shell has it.

    Args:
        parent: the process that started this one.
        words: how many words the command has: the absolute path of a program, then its arguments.
        given: these words, then the names of the variables that it gets; Python adds one of its own where the locale is
            C.
    """
    command, names = given[: int(words)], given[int(words) :]
    environment = {name: value for name, value in os.environ.items() if name in names}
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGTERM])  # until it is known what is to be ended
    _take_orphans(int(parent))
    outer = os.getpid()
    if inner := os.fork():
        return _ended(inner)
    _take_orphans(outer)
    try:
        child = os.posix_spawn(command[0], command, environment, setpgroup=0, setsigmask=[], setsigdef=DEFAULT)
    except OSError as error:
        print(f"{command[0]}: {error.strerror}", file=sys.stderr)
        return NOT_FOUND if isinstance(error, FileNotFoundError) else NOT_EXECUTABLE
    return _ended(child)


def _take_orphans(parent: int) -> None:
    """Become the parent of every process below this one whose own parent ends; end when the parent does."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # it ended before that
        sys.exit()


def _ended(child: int) -> int:
    """Wait for a child, end all others, and return its status as a shell has it."""
    try:
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGTERM])
        os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        status = _end_all(child)
    code = os.waitstatus_to_exitcode(status)
    return 128 - code if code < 0 else code


def _end_all(leader: int) -> int:
    """Kill the group of a child and every child, those that come to be children meanwhile too; return its status."""
    found = 0
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(leader, signal.SIGKILL)  # it is not waited for yet: the number is still its own
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid, fields in _processes():
                if int(fields[1]) == os.getpid():
                    with contextlib.suppress(ProcessLookupError, PermissionError):
                        os.kill(pid, signal.SIGKILL)
            pid, status = os.waitpid(-1, 0)
            found = status if pid == leader else found
    return found


def _processes() -> Iterator[tuple[int, list[bytes]]]:
    """Yield the processes that /proc lists, each with what its file ``stat`` has after the name: state, parent, …"""
    for name in os.listdir("/proc") if os.path.isdir("/proc/self") else ():
        if name.isdecimal():
            with contextlib.suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:
                yield int(name), file.read().rpartition(b")")[2].split()


def left_of(session: int, mark: bytes) -> list[int]:
    """Return the processes of a session but its leader, and those whose environment has a variable, by /proc."""
    found = []
    for pid, fields in _processes():
        if pid != session and fields[0] != b"Z":
            with contextlib.suppress(OSError), open(f"/proc/{pid}/environ", "rb") as file:
                if int(fields[3]) == session or mark in file.read().split(b"\0"):
                    found.append(pid)
    return found


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
