"""Start the service of a project as a process of its own, which goes on when this one ends."""

import os
import sys


def launch(project: str, *options: str) -> int:
    """Start the service of a project, and return its process id; where one runs already, the new one ends at once."""
    null = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    command = [sys.executable, "-m", "graphmem", "serve", "--dir", project, *options]
    return os.posix_spawn(sys.executable, command, os.environ, file_actions=null, setsid=True)
