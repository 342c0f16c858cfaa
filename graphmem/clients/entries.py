"""What each coding agent is given, wherever it is written: graphmem's MCP server, and its hook at each event."""

import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from typing import Any

NAME = "graphmem"
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
            return matched(CODEX_EVENTS, command, TIMEOUT_S)
        case "gemini":
            return matched(GEMINI_EVENTS, command, TIMEOUT_S * 1000)
        case _:
            return {event: {"command": command} for event in CURSOR_EVENTS}


def matched(events: Mapping[str, str], command: str, timeout: int) -> dict[str, dict[str, Any]]:
    """Return the entries of Claude Code's form of hooks, which Codex and Gemini have too."""
    handler = {"type": "command", "command": command, "timeout": timeout}
    return {
        event: {**({"matcher": matcher} if matcher else {}), "hooks": [handler]} for event, matcher in events.items()
    }


def own_program() -> list[str]:
    """Return the command that runs this graphmem from anywhere."""
    found = shutil.which(NAME)
    return [os.path.abspath(found)] if found else [sys.executable, "-m", NAME]
