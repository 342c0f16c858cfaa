"""What one program prints: bounded in time and bytes, and nothing that it started goes on."""

import os
import selectors
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from graphmem.constants import LINGER_S, PIPE_BYTES
from graphmem.kernel.system.checks import LOOK_S, end, has_ended, start


@dataclass(frozen=True)
class Capture:
    """
    How a program ended, and what it printed.

    Attributes:
        status: exit status as a shell has it; None where it was ended before it was done.
        is_timed_out: for its time was up; else it printed too much.
        output: of its standard output. errors: the end of its standard error.
    """

    status: int | None
    is_timed_out: bool
    output: bytes
    errors: bytes


def capture(
    command: Sequence[str],
    folder: Path,
    environment: Mapping[str, str],
    *,
    seconds: float,
    most_bytes: int,
    kept_bytes: int,
) -> Capture:
    """
    Run a program to its end, or end it with all that it started.

    Args:
        command: the absolute path of the program, then its arguments; no shell reads them.
        most_bytes: of its standard output. kept_bytes: of the end of its standard error.

    Raises:
        OSError: nothing can be started in the folder.
    """
    child = start(command, folder, environment, errors=subprocess.PIPE)
    reading = StreamReading(child, most_bytes, kept_bytes)
    try:
        is_timed_out = reading.to_end(monotonic() + seconds)
    finally:
        status = end(child)
        reading.close()
    is_cut_off = is_timed_out or reading.size > most_bytes
    code = 128 - status if status < 0 else status
    return Capture(None if is_cut_off else code, is_timed_out, b"".join(reading.parts), reading.errors)


class StreamReading:
    """Both streams of a program, as they are read."""

    def __init__(self, child: "subprocess.Popen[bytes]", most_bytes: int, kept_bytes: int) -> None:
        assert child.stdout is not None
        assert child.stderr is not None
        self.child, self.most_bytes, self.kept_bytes = child, most_bytes, kept_bytes
        self.parts: list[bytes] = []
        self.size, self.errors = 0, b""
        self.streams = child.stdout, child.stderr

    def to_end(self, until: float) -> bool:
        """Read until the program has ended, its time is up or it printed too much; return whether its time was up."""
        silent_since = None  # of a program that has ended
        with selectors.DefaultSelector() as selector:
            for stream in self.streams:
                selector.register(stream, selectors.EVENT_READ)
            while self.size <= self.most_bytes:
                if silent_since is None and has_ended(self.child.pid):
                    silent_since = monotonic()
                if silent_since is not None and not selector.get_map():
                    return False
                if monotonic() >= until:
                    return True
                ready = selector.select(LOOK_S)
                if silent_since is not None and ready:
                    silent_since = monotonic()
                elif silent_since is not None and monotonic() >= silent_since + LINGER_S:
                    return False  # a process that it left behind still holds a pipe
                for key, _ in ready:
                    if not self.take(key.fd, is_output=key.fileobj is self.streams[0]):
                        selector.unregister(key.fileobj)
        return False

    def take(self, handle: int, *, is_output: bool) -> bool:
        """Take what is in a pipe; return whether more may come."""
        data = os.read(handle, PIPE_BYTES)
        if is_output:
            self.parts.append(data)
            self.size += len(data)
        else:
            self.errors = (self.errors + data)[-self.kept_bytes :]
        return bool(data)

    def close(self) -> None:
        """Let go of both streams."""
        for stream in self.streams:
            stream.close()
