"""``status``, and ``graphmem`` without a command: where you are, and what you can do there."""

from pathlib import Path
from typing import Any

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes, print_answer
from graphmem.doors.service import manage
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


@passes("status")
def status(invocation: Invocation, answer: Any) -> None:
    """
    Show where you are: the store, this clone, the current task, active campaigns, the service, and what to do next.

    Example: graphmem status
    """
    try:
        service = manage.status(Path(answer.store))
    except Unavailable as error:
        invocation.say(error.message)
        service = None
    print_answer(invocation, "status", answer.model_copy(update={"service": service}))
