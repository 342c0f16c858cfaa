"""What each coding agent is given, wherever it is written: graphmem's MCP server, and its hook at each event."""

import shlex
from collections.abc import Mapping, Sequence
from typing import Any

from graphmem.kernel.system.programs import NAME

# What a project's files run, which a team commits: the program of each machine, by the PATH, but none that the folder
# brings; where there is no graphmem it does nothing.
BY_PATH = ("/bin/sh", "-c", 'case $(command -v "$0") in /*) exec "$0" "$@"; esac', NAME)
CODEX_END_S = 3  # that Codex allows for its last event
TIMEOUT_S = 5  # that a client gives a hook; ours ends after 0.3
CLAUDE_EVENTS = {
    "SessionStart": "", "UserPromptSubmit": "", "PreToolUse": "Bash|Edit|Write|MultiEdit|NotebookEdit",
    "PostToolUse": "Bash", "PostToolUseFailure": "", "SessionEnd": "",
}  # fmt: skip
CODEX_EVENTS = {"SessionStart": "", "UserPromptSubmit": "", "PreToolUse": "", "PostToolUse": "", "SessionEnd": ""}
GEMINI_EVENTS = {
    "SessionStart": "", "BeforeAgent": "", "BeforeTool": "run_shell_command|write_file|replace",
    "AfterTool": "run_shell_command", "SessionEnd": "",
}  # fmt: skip
CURSOR_EVENTS = ("sessionStart", "postToolUse", "postToolUseFailure", "sessionEnd")


def server_of(program: Sequence[str]) -> dict[str, Any]:
    """Return the entry that starts the MCP server."""
    return {"command": program[0], "args": [*program[1:], "mcp"]}


def hooks_of(client: str, program: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a client's hooks, by event."""
    command = shlex.join([*program, "hook", client])
    match client:
        case "claude-code":
            return matched(CLAUDE_EVENTS, command, TIMEOUT_S)
        case "codex":
            return matched(CODEX_EVENTS, command, TIMEOUT_S, {"SessionEnd": CODEX_END_S})
        case "gemini":
            return matched(GEMINI_EVENTS, command, TIMEOUT_S * 1000)
        case _:
            return {event: {"command": command} for event in CURSOR_EVENTS}


def matched(
    events: Mapping[str, str], command: str, timeout: int, other: Mapping[str, int] | None = None
) -> dict[str, dict[str, Any]]:
    """
    Return the entries of Claude Code's form of hooks, which Codex and Gemini have too.

    Args:
        other: the time-outs of events that have another one.
    """
    made = {}
    for event, matcher in events.items():
        handler = {"type": "command", "command": command, "timeout": (other or {}).get(event, timeout)}
        made[event] = {**({"matcher": matcher} if matcher else {}), "hooks": [handler]}
    return made
