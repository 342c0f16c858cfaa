"""
Start a process that goes on when this one ends.

A project may be a stranger's: nothing that is imported or loaded is looked for in the current folder, for the process
starts in ``/``; Python looks for no module there with ``-P``.
"""

import os

from graphmem.kernel.system.user import for_a_child

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

SHELL = "/bin/sh"
IN_ROOT = 'cd / && exec "$0" "$@"'  # posix_spawn cannot set the folder, and to import what can takes 10 ms
NO_CHILD = 'cd / && "$0" "$@" &'


def launch(
    command: "Sequence[str]",
    *,
    errors: int | None = None,
    is_child: bool = True,
    variables: "Mapping[str, str]" = os.environ,
) -> int:
    """
    Start a program by its absolute path, with nothing to read and no terminal, and return its process id.

    Args:
        errors: an open file, for what it says on standard error.
        is_child: it is a child of this process, which a process that lives long has to wait for; else 0 is returned.
        variables: the environment of the caller, of which it gets what is no danger to it.
    """
    streams: list[tuple[int, ...] | tuple[int, int, str, int, int]]
    streams = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_RDWR, 0) for number in (0, 1, 2)]
    if errors is not None:
        streams.append((os.POSIX_SPAWN_DUP2, errors, 2))
    line = [SHELL, "-c", IN_ROOT if is_child else NO_CHILD, *command]
    process = os.posix_spawn(SHELL, line, for_a_child(variables), file_actions=streams, setsid=True)
    if is_child:
        return process
    os.waitpid(process, 0)
    return 0
