"""``mcp``."""

import typer

from graphmem.doors.cli.caller import invocation_of
from graphmem.doors.mcp.front import serve


def mcp(ctx: typer.Context) -> None:
    """
    Serve the Model Context Protocol on standard input and output, until the input ends; agents' programs start it.

    Works on the project that --dir or GRAPHMEM_DIR names, else on that of the agent's program (CLAUDE_PROJECT_DIR),
    else on the one that the current folder is in.

    Example: graphmem mcp --dir ~/work/project
    """
    invocation = invocation_of(ctx)
    raise typer.Exit(serve(invocation.folder, invocation.lock_timeout_s, invocation.scope))
