"""
Runs the engine in child processes, and in no other.

The engine ends its process by a signal where the disk is full, keeps the memory that it once took, and a page of its
file that is damaged can do anything. In a child none of that reaches the program that holds a ``Memory``.
Decision: docs/decisions/0013-the-engine-runs-in-child-processes.md.
"""

import ctypes
import json
import os
import resource
import select
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from graphmem.errors import GraphmemError, Unavailable

CHILD = "import sys; sys.path[:] = sys.argv[3:]; from graphmem.features.cypher.{module} import main; main()"
KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH", "TMPDIR")  # what Python may need to start
# The engine makes folders in HOME, and compares its keywords by the rules of the locale: in Turkish I is no i.
SET = {"HOME": os.devnull, "OMP_NUM_THREADS": "1", "LC_ALL": "C.UTF-8"}
PR_SET_PDEATHSIG = 1  # of Linux's prctl: the signal that this process gets when its parent ends
MIB = 2**20


@dataclass(frozen=True, slots=True)
class WorkerResult:
    """How a child ended: what it wrote, its exit status (negative for a signal), and whether its time was up."""

    output: bytes
    status: int
    is_timed_out: bool

    @property
    def signal_name(self) -> str | None:
        """The signal that ended it; None where it exited."""
        return signal.Signals(-self.status).name if self.status < 0 else None


# --- the parent --------------------------------------------------------------------------------------------------


def run_worker(
    module: str,
    request: Mapping[str, Any],
    *,
    timeout_s: float,
    most_bytes: int,
    is_stuck: Callable[[], bool] = lambda: False,
) -> WorkerResult:
    """
    Run ``main`` of a module of this folder in a child process: it reads the request, and writes its answer.

    Args:
        timeout_s: seconds until the child is stopped.
        most_bytes: of the answer that are read; a child that writes more is stopped.
        is_stuck: asked each second; a child that is stuck is stopped as one whose time is up.
    """
    end = time.monotonic() + timeout_s
    with start_worker(module) as child:
        assert child.stdin is not None and child.stdout is not None
        try:
            with suppress(BrokenPipeError):
                child.stdin.write(json.dumps(request).encode())
            with suppress(BrokenPipeError):
                child.stdin.close()
            output, is_timed_out = read_pipe(child.stdout.fileno(), end, most_bytes, is_stuck)
            if not is_timed_out and len(output) <= most_bytes:
                child.wait()
        finally:
            child.kill()  # a no-op for a child that has ended; its status stays its own
        status = child.wait()
    return WorkerResult(output, status, is_timed_out)


def start_worker(module: str) -> subprocess.Popen[bytes]:
    """Start ``main`` of a module of this folder in a child process, with pipes for what it reads and writes."""
    here = str(Path(__file__).parents[3])
    places = [here, *(place for place in sys.path if os.path.isabs(place))]
    command = [sys.executable, "-I", "-S", "-X", "utf8", "-c", CHILD.format(module=module), str(os.getpid()), "-"]
    kept = {name: os.environ[name] for name in KEPT if name in os.environ}
    pipe = subprocess.PIPE
    return subprocess.Popen(
        [*command, *places], cwd="/", stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env={**kept, **SET}
    )


def read_pipe(
    handle: int, end: float, most_bytes: int, is_stuck: Callable[[], bool] = lambda: False, *, is_line: bool = False
) -> tuple[bytes, bool]:
    """
    Return what comes out of a pipe until it ends or is too much, and whether the time was up before.

    Args:
        is_line: stop after a line too; nothing comes after it until the next request.
    """
    waiting = select.poll()
    waiting.register(handle)
    found = bytearray()
    while len(found) <= most_bytes:
        left = max(0.0, end - time.monotonic())
        if not waiting.poll(min(left, 1.0) * 1000):
            if left <= 1.0 or is_stuck():
                return bytes(found), True
            continue
        data = os.read(handle, MIB)
        if not data:
            break
        found += data
        if is_line and data.endswith(b"\n"):
            break
    return bytes(found), False


def crash_error(result: WorkerResult, folder: Path, doing: str) -> Unavailable:
    """Return the error for a child that ended without an answer, with what is scarce on this machine."""
    how = "it did not end" if result.is_timed_out else result.signal_name or f"exit status {result.status}"
    return Unavailable(f"the graph engine broke down while it {doing} ({how})", hint=scarce(folder))


def scarce(folder: Path) -> str:
    """Return a hint for an engine that cannot write: what this machine and this process may have."""
    limits = [f"{free_bytes(folder) // MIB:,} MiB are free on its disk"]
    for which, noun in (
        (resource.RLIMIT_AS, "virtual memory (ulimit -v)"),
        (resource.RLIMIT_FSIZE, "files (ulimit -f)"),
    ):
        most = resource.getrlimit(which)[0]
        if most != resource.RLIM_INFINITY:
            limits.append(f"{noun} may have {most // 1024:,} KiB")
    return f"the files are whole, and the graph is made again from them; {', '.join(limits)}"


def free_bytes(folder: Path) -> int:
    """Return how many bytes this user may still write on the disk of a folder."""
    found = os.statvfs(folder)
    return found.f_bavail * found.f_frsize


# --- the child ---------------------------------------------------------------------------------------------------


def read_request() -> Any:
    """Return what the parent asks for, all that it writes; from here on this process ends when its parent does."""
    watch_parent()
    return json.loads(sys.stdin.buffer.read())


def watch_parent() -> None:
    """See to it that this process ends when its parent does, and leaves no core file."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if len(sys.argv) > 1 and sys.argv[1].isdigit() and os.getppid() != int(sys.argv[1]):
        os._exit(1)  # it ended before it was watched
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def send(output: int, answer: bytes) -> NoReturn:
    """Write the answer and end without taking the engine apart."""
    write_all(output, answer)
    os._exit(0)


def write_all(output: int, answer: bytes) -> None:
    """Write an answer."""
    rest = memoryview(answer)
    while rest:
        rest = rest[os.write(output, rest) :]


def error_fields(error: GraphmemError) -> dict[str, Any]:
    """Return an error as the parent makes it again."""
    return {"message": error.message, "hint": error.hint, "details": error.details}


def redirect_stdout() -> int:
    """Send what the engine prints nowhere; return the descriptor of the real standard output."""
    output = os.dup(1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return output
