"""
Start the service of a project as a process of its own, which goes on when this one ends.

A project may be a stranger's: nothing that is imported or loaded is looked for in the current folder, neither by Python
(``-P``) nor by its libraries, for the service starts in ``/``.
"""

import os
import sys

from graphmem.system.user import for_a_child

SHELL = "/bin/sh"
IN_ROOT = 'cd / && exec "$0" "$@"'  # posix_spawn cannot set the folder, and to import what can takes 10 ms


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
    own = [sys.executable, "-P", "-m", "graphmem", "serve", "--dir", os.path.abspath(project), *options]
    return os.posix_spawn(
        SHELL, [SHELL, "-c", IN_ROOT, *own], for_a_child(os.environ), file_actions=streams, setsid=True
    )
