"""``ran``."""

import sys
import time

import typer

from graphmem.core.evidence.text import ADVICE
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import GraphmemError
from graphmem.kernel.registry import Taken, printout
from graphmem.kernel.system.tee import CommandEnd, run
from graphmem.kernel.text import one_line
from graphmem.names import inert, visible

app = typer.Typer(add_completion=False, rich_markup_mode=None)

TICK_S = 0.01  # by which the times of files may be behind the clock
CANNOT_RUN, NOT_FOUND = 126, 127  # exit statuses of a shell for a command that it cannot start


@app.command("ran", context_settings={"allow_interspersed_args": False})
@passes(
    "ran",
    without=("status", "folder", "began"),
    command=Taken("COMMAND…"),
    name=Taken("NAME"),
    task=Taken("REF"),
)
def ran(invocation: Invocation, call: Call, command: list[str]) -> None:
    """
    Run a command, such as a test suite; when it fails show the known fixes, when it then passes note that they helped.

    Its output and its exit status are the command's; what graphmem says comes after it, on standard error, with --json
    as one line. A command that is not there ends with 127, one that cannot be run with 126.

    Example: graphmem ran -- pytest -q
    """
    began = time.time() - TICK_S
    try:
        ended = run(command)
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError)
        invocation.fail(
            "not_found" if is_missing else "unavailable", f"{command[0]!r} cannot be run: {reason(error)}", None, {}
        )
        raise typer.Exit(NOT_FOUND if is_missing else CANNOT_RUN) from None
    with ended:
        if not ended.is_interrupted:  # else it is unknown how it would have ended
            said = _said_of(invocation, call, ended, began)
            if said and not invocation.is_quiet:
                print("\n" * ended.is_amid + said, file=sys.stderr)
    raise typer.Exit(ended.status)


def reason(error: OSError) -> str:
    """Return why the operating system did not start a command."""
    return (error.strerror or str(error)).lower()


def _said_of(invocation: Invocation, call: Call, ended: CommandEnd, began: float) -> str:
    """Return what the memory has to say of a run; whatever goes wrong is a line, never the status of the command."""
    try:
        answer = call(ended.lines(), status=ended.status, began=began)
    except (Exception, KeyboardInterrupt) as error:  # the boundary of a front end
        if invocation.is_debug:
            raise
        message = error.message if isinstance(error, GraphmemError) else f"{type(error).__name__}: {error}"
        return visible(f"graphmem: nothing was recorded: {one_line(message, ADVICE)}")
    if invocation.is_json:
        return inert(answer.model_dump_json(by_alias=True))
    said = printout("ran", answer, folder=invocation.folder, is_cut=ended.is_cut).text
    return visible(f"graphmem: {said}") if said else ""
