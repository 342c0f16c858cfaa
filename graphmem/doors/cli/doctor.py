"""``doctor``."""

from typing import Annotated

import typer

from graphmem.doors.agents.install import find_faults
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes, print_answer
from graphmem.errors import Usage
from graphmem.kernel.finding import Doctored
from graphmem.kernel.registry import Taken


@passes("doctor", is_report=True, fix=Taken(note="without --yes, only list it"))
def doctor(
    invocation: Invocation,
    call: Call,
    fix: bool,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: do it.")] = False,
) -> None:
    """
    Check all that validate does, what git needs in this clone, leftovers, and whether a model is at hand.

    What --fix takes out of the files, undo brings back. Errors exit 1, warnings alone exit 0.

    Example: graphmem doctor --fix --yes
    """
    if yes and not fix:
        raise Usage("--yes alone does nothing", hint="graphmem doctor --fix --yes")
    found: Doctored = call(fix=fix and yes)
    clients = find_faults(invocation.memory.store.client.root)
    answer = found.model_copy(update={"findings": [*found.findings, *clients]})
    print_answer(invocation, "doctor", answer, fix=fix, yes=yes)
