"""``statusline``."""

import typer

from graphmem.doors.service.statusline import main


def statusline(ctx: typer.Context) -> None:
    """
    Print where the work is, in one line: campaign, chunk, phase, blocked tasks, inbox.

    It prints nothing outside of a project or for a scope. It never fails: it is for the prompt of a shell or an agent.

    Example: graphmem statusline
    """
    invocation = ctx.find_root().obj
    scope = ["--scope", str(invocation.scope)] if invocation.scope else []
    main([*scope, *(["--dir", str(invocation.folder)] if invocation.folder else [])])
