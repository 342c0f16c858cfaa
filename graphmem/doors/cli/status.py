"""``status``."""

from pathlib import Path
from typing import Any

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import passes, print_answer
from graphmem.doors.service import manage
from graphmem.errors import Unavailable


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
