"""``mcp``."""

import typer

from graphmem.cli.caller import session_of
from graphmem.mcp.front import serve


def mcp(ctx: typer.Context) -> None:
    """
    Serve the Model Context Protocol on standard input and output, until the input ends; agents' programs start it.

    Works on the project that --dir or GRAPHMEM_DIR names, else on that of the agent's program (CLAUDE_PROJECT_DIR),
    else on the one that the current folder is in.

    Example: graphmem mcp --dir ~/work/project
    """
    session = session_of(ctx)
    raise typer.Exit(serve(session.folder, session.lock_timeout_s))
