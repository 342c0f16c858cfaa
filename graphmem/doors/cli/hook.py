"""``hook``."""

import json
import logging
from typing import cast

import typer

from graphmem.constants import HOOK_EVENT_BYTES
from graphmem.doors.cli.caller import invocation_of
from graphmem.doors.cli.inputs import opened
from graphmem.doors.cli.options import argument
from graphmem.kernel.parameters import ClientName
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.system.surroundings import variables
from graphmem.names import inert

log = logging.getLogger("graphmem.hook")


def hook(
    ctx: typer.Context,
    client: str = argument(OPERATIONS["hook"].request, "client", metavar="CLIENT"),
) -> None:
    """
    Answer an event of a coding agent, which comes on standard input.

    Its exit status is always 0, and it prints nothing but what the client takes: an agent never fails for its memory.

    Example: graphmem hook claude-code < event.json
    """
    invocation = invocation_of(ctx)
    invocation.via = client
    invocation.is_quiet = True  # a client shows its user what a hook says there, and some give it to the agent
    try:
        until = float(variables().get("GRAPHMEM_HOOK_UNTIL", "inf"))
        with opened("-") as file:
            event = file.read(HOOK_EVENT_BYTES + 1)
        answer = invocation.memory.store.hook(cast(ClientName, client), event.decode("utf-8", "replace"), until=until)
    except Exception as error:  # the boundary: whatever is wrong, the agent goes on
        log.warning("an event was not answered", extra={"client": client[:20], "error": type(error).__name__})
        return
    if answer.output is not None:
        invocation.write(inert(json.dumps(answer.output, ensure_ascii=False, separators=(",", ":"))))
