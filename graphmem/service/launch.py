"""Start the service of a project as a process of its own, which goes on when this one ends."""

import os
import sys


def launch(project: str, *options: str, errors: int | None = None) -> int:
    """
    Start the service of a project, and return its process id; where one runs already, the new one ends at once.

    Args:
        errors: an open file, for what it says on standard error.
    """
    streams: list[tuple[int, ...] | tuple[int, int, str, int, int]]
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    if errors is not None:
        streams.append((os.POSIX_SPAWN_DUP2, errors, 2))
    command = [sys.executable, "-m", "graphmem", "serve", "--dir", project, *options]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=streams, setsid=True)
