"""After the files are written: whether what is in them starts, and what is left for a person to do in the client."""

import json
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from graphmem.doors.agents.install_contract import InstallClient, Scope
from graphmem.kernel.system import shell
from graphmem.kernel.system.programs import program

LIMIT_S = 20.0  # seconds that a program of ours may take to answer
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "graphmem", "version": "0"}},
}
# The program of each client and its folder in a home, by which it is found.
CLIENTS: dict[InstallClient, tuple[str, str]] = {
    "claude-code": ("claude", ".claude"),
    "codex": ("codex", ".codex"),
    "gemini": ("gemini", ".gemini"),
    "opencode": ("opencode", ".config/opencode"),
    "cursor": ("cursor-agent", ".cursor"),
}
# What each client's own documentation asks of a person, before it runs what the files of a project or a user name.
STEPS: dict[tuple[InstallClient, Scope], tuple[str, ...]] = {
    ("claude-code", "project"): (
        "in Claude Code: trust the folder when it asks, and approve the server graphmem of .mcp.json (later in /mcp)",
    ),
    ("codex", "project"): (
        "in Codex: trust the folder when it asks; without that it reads no file of .codex",
        "in Codex: approve the hooks in /hooks; until then none of them runs",
    ),
    ("codex", "user"): ("in Codex: approve the hooks in /hooks; until then none of them runs",),
    ("gemini", "project"): ("in Gemini: trust the folder when it asks, or with /permissions",),
    ("cursor", "project"): ("in Cursor: switch the server graphmem on, in the settings under MCP",),
    ("cursor", "user"): ("in Cursor: switch the server graphmem on, in the settings under MCP",),
}


def found_clients() -> list[InstallClient]:
    """Return the clients of this user: those with a program on the PATH, or a folder in the home."""
    home = Path.home()
    return [
        client for client, (name, folder) in CLIENTS.items() if program(name) is not None or (home / folder).is_dir()
    ]


def steps(client: InstallClient, scope: Scope) -> list[str]:
    """Return what is left for a person to do in a client."""
    return list(STEPS.get((client, scope), ()))


def failure_of(command: Sequence[str]) -> str | None:
    """
    Start the MCP server and a hook as a client will.

    Args:
        command: what runs graphmem, as it is written into the client's files.

    Returns:
        What is wrong; None where both answer.
    """
    server = output_of([*command, "mcp"], json.dumps(INITIALIZE) + "\n")
    if '"result"' not in server:
        reason = server.strip().splitlines()[-1:] or ["it prints nothing"]
        return f"{shell.command(*command, 'mcp')} does not answer: {reason[0][:200]}"
    return None


def output_of(command: Sequence[str], given: str) -> str:
    """Return what a program prints; away from the project, and without a service."""
    try:
        done = subprocess.run(
            command,
            cwd="/",
            env={**os.environ, "GRAPHMEM_SERVICE": "off"},
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            encoding="utf-8",
            errors="replace",
            timeout=LIMIT_S,
            check=False,
        )
    except OSError as error:
        return (error.strerror or "").lower()
    except subprocess.TimeoutExpired:
        return f"it takes more than {LIMIT_S:.0f} s"
    return done.stdout
