"""``statusline``."""

import typer

from graphmem.service.statusline import main


def statusline(ctx: typer.Context) -> None:
    """
    Print where the work is, in one line: campaign, chunk, phase, blocked tasks, inbox.

    It prints nothing outside of a project, and never fails: it is for the prompt of a shell or an agent.

    Example: graphmem statusline
    """
    invocation = ctx.find_root().obj
    main(["--dir", str(invocation.folder)] if invocation.folder else [])
