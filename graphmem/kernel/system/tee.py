"""
A command as a child: what it writes goes on as it comes, signals reach it, and the ends of its output are kept.

Nothing is asked of a terminal: the child has our standard input, our process group, and pipes for its output.
"""

import os
import signal
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from select import select
from threading import Event, Thread
from types import FrameType
from typing import IO, Self

from graphmem.constants import KEPT_FIRST_BYTES, KEPT_LAST_BYTES, LINGER_S, PIPE_BYTES

OUT, ERR = 1, 2  # our own standard output and standard error
PASSED_ON = (signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGHUP)
OF_A_TERMINAL = (signal.SIGINT, signal.SIGQUIT)  # which it sends to its whole foreground process group


class RetainedOutput:
    """
    The beginning and the end of a stream, in a temporary file without a name: it is gone when the process ends.

    When the disk is full, what comes later is not kept, and ``is_cut`` says so.
    """

    def __init__(self, first: int = KEPT_FIRST_BYTES, last: int = KEPT_LAST_BYTES) -> None:
        self.first, self.all = first, first + last
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed by who holds us
        self.size = 0
        self.is_full = False
        self.is_amid = False  # a line: the stream has not ended it

    @property
    def is_cut(self) -> bool:
        """Return whether something of the stream is not here."""
        return self.is_full or self.size > self.all

    def place(self, offset: int) -> int:
        """Return where in the file a byte of the stream is: its end is a ring buffer of the latest bytes."""
        return offset if offset < self.first else self.first + (offset - self.first) % (self.all - self.first)

    def write(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self.is_amid = not data.endswith(b"\n")
        while data and not self.is_full:
            at = self.place(self.size)
            room = (self.first if at < self.first else self.all) - at
            try:
                written = os.pwrite(self.file.fileno(), data[:room], at)
            except OSError:
                self.is_full = True
                return
            self.size += written
            data = data[written:]

    def lines(self) -> Iterator[bytes]:
        """Yield the lines that are here, without their ends; none is made of the beginning and the end together."""
        stretches = [[(0, self.size)]]
        if self.size > self.all:
            oldest = self.place(self.size)
            stretches = [[(0, self.first)], [(oldest, self.all), (self.first, oldest)]]
        for stretch in stretches:
            rest = b""
            for start, end in stretch:
                for at in range(start, end, PIPE_BYTES):
                    *lines, rest = (rest + os.pread(self.file.fileno(), min(PIPE_BYTES, end - at), at)).split(b"\n")
                    yield from lines
            if rest:
                yield rest


@dataclass(frozen=True)
class CommandEnd:
    """How a command ended: its exit status as a shell has it, whether it was asked to stop, and what it wrote."""

    status: int
    is_interrupted: bool
    output: tuple[RetainedOutput, ...]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for kept in self.output:
            kept.file.close()

    @property
    def is_cut(self) -> bool:
        """Return whether something that it wrote is not kept."""
        return any(kept.is_cut for kept in self.output)

    @property
    def is_amid(self) -> bool:
        """Return whether its standard error ended within a line."""
        return self.output[-1].is_amid

    def lines(self) -> Iterator[bytes]:
        """Yield what is kept of its output, the lines of standard error after those of standard output."""
        return chain.from_iterable(kept.lines() for kept in self.output)


def run(command: Sequence[str]) -> CommandEnd:
    """
    Run a command to its end.

    Its standard output and standard error go to ours; where both of ours are one file, they share one pipe, so that the
    order stays too.

    Raises:
        OSError: it cannot be started.
    """
    with SignalForwarder() as relay:
        child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT if _is_one_file() else subprocess.PIPE, bufsize=0
        )
        relay.to(child)
        ended, kept, pumps = Event(), [], []
        for pipe, target in ((child.stdout, OUT), (child.stderr, ERR)):
            if pipe is not None:
                kept.append(RetainedOutput())
                pumps.append(Thread(target=_pump, args=(pipe, target, kept[-1], ended), daemon=True))
                pumps[-1].start()
        status = child.wait()
        ended.set()
        for thread in pumps:
            thread.join()
    return CommandEnd(status if status >= 0 else 128 - status, bool(relay.received), tuple(kept))


def _is_one_file() -> bool:
    """Return whether our standard output and standard error are the same."""
    try:
        return os.path.sameopenfile(OUT, ERR)
    except OSError:  # one of them is closed
        return False


def _pump(pipe: IO[bytes], target: int, kept: RetainedOutput, ended: Event) -> None:
    """
    Pass on and keep what comes out of a pipe, until every writer has closed it or the child has ended and it is silent.

    So a process that the child left behind, and that holds the pipe, does not hold us. When ``target`` has no reader,
    the pipe is closed: the child gets the same signal as it would without us.
    """
    with pipe:
        while True:
            if not select([pipe], [], [], LINGER_S)[0]:
                if ended.is_set():
                    return
                continue
            data = os.read(pipe.fileno(), PIPE_BYTES)
            if not data:
                return
            try:
                _write_all(target, data)
            except OSError:
                return
            kept.write(data)


def _write_all(target: int, data: bytes) -> None:
    """Write all of ``data``, also to a file that another program made non-blocking."""
    while data:
        try:
            data = data[os.write(target, data) :]
        except BlockingIOError:
            select([], [target], [])


class SignalForwarder:
    """Sends a child the signals that would end us, from its entry to its exit; those that come too early wait."""

    def __init__(self) -> None:
        self.received: list[int] = []
        self.waiting: list[int] = []
        self.child: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        self.before = {number: signal.getsignal(number) for number in PASSED_ON}
        for number, handler in self.before.items():
            if handler not in (signal.SIG_IGN, None):  # what is ignored, as under nohup, stays so
                signal.signal(number, self.take)
        return self

    def __exit__(self, *_: object) -> None:
        for number, handler in self.before.items():
            if handler is not None:
                signal.signal(number, handler)

    def take(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        self.received.append(number)
        if self.child is None:
            self.waiting.append(number)
        elif not (number in OF_A_TERMINAL and _is_in_foreground()):  # else the terminal has sent it to the child too
            self.child.send_signal(number)

    def to(self, child: subprocess.Popen[bytes]) -> None:
        """Send everything to this child from now on."""
        self.child = child
        for number in self.waiting:
            child.send_signal(number)


def _is_in_foreground() -> bool:
    """Return whether our process group is the one that a terminal sends its signals to."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    finally:
        os.close(terminal)
