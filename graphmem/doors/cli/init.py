"""``init``."""

from pathlib import Path
from typing import Annotated

import typer

from graphmem.api import Memory
from graphmem.doors.agents.install_contract import INSTALL_CLIENTS
from graphmem.doors.cli.caller import invocation_of
from graphmem.doors.cli.options import option
from graphmem.errors import Usage
from graphmem.kernel import terminal
from graphmem.kernel.registry import OPERATIONS, extensions
from graphmem.kernel.settings.folders import project_folder
from graphmem.names import visible

CLIENTS = ", ".join(INSTALL_CLIENTS)
NEXT_OF_USER = "next: graphmem --user add, or in a project: graphmem promote REF --to user"
NEXT = "next: graphmem install CLIENT (" + CLIENTS + "), then graphmem status"


def init(
    ctx: typer.Context,
    project: Annotated[str | None, typer.Argument(metavar="FOLDER", help="The project; here if not given.")] = None,
    nested: bool = option(OPERATIONS["init"].request, "nested"),
    ref: bool = option(OPERATIONS["init"].request, "ref"),
) -> None:
    """
    Prepare a project: make .graphmem, or complete it; run again it changes nothing.

    Example: graphmem init
    """
    invocation = invocation_of(ctx)
    if invocation.is_user and project is not None:
        raise Usage(f"{project!r} is not the folder of the user's own store", hint="graphmem init --user")
    folder = project or invocation.folder or project_folder() or "."
    answer = Memory.init(folder, nested=nested or invocation.is_user, ref=ref)
    done = f"{'made' if answer.created else 'already set up:'} {answer.path}"
    settings = [name for name in answer.registered if not name.startswith(".graphmem/")]
    for finding in answer.findings:
        invocation.say(f"{finding.severity}: {finding.with_fix('fix')}")
    lines = [done, *([f"registered with git: {', '.join(settings)}"] if settings else [])]
    if (
        answer.created
        and not invocation.is_user
        and terminal.is_terminal()
        and (there := [one for look in extensions("import") for one in look(Path(answer.path).parent)])
    ):
        lines.append(f"found: {visible(', '.join(there))}; to learn from it: graphmem import --all")
    invocation.answer(
        answer, "\n".join([*lines, *([NEXT_OF_USER if invocation.is_user else NEXT] if answer.created else [])])
    )
