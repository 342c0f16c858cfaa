"""``graphmem`` without a command: where you are, and what you can do there."""

from graphmem.doors.cli.caller import Invocation
from graphmem.errors import Unavailable
from graphmem.kernel.store.runtime import find_store

NO_STORE = """\
graphmem is one memory for the coding agents of a project. This folder has no .graphmem.
next:
    graphmem init     make one for this project
    graphmem demo     see one that is filled
    graphmem --help   all commands"""


def introduced(invocation: Invocation) -> bool:
    """Print the first steps if there is no store; return true if it did."""
    try:
        find_store(invocation.folder)
    except Unavailable:
        print(NO_STORE)
        return True
    invocation.say("all commands: graphmem --help")
    return False
