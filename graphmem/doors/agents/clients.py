"""The coding agents: how each is found, what is written into which of its files, and what is left to do in it."""

import os
import shlex
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from graphmem.doors.agents.edits import Edit, json_edit, marked_edit, refuse_toml_with, text_edit
from graphmem.doors.agents.install_contract import InstallClient, InstallRequest, Scope
from graphmem.doors.agents.opencode import SHIM
from graphmem.errors import Usage
from graphmem.kernel.settings.instructions import INSTRUCTIONS, MARKDOWN_MARKS
from graphmem.kernel.system import foreign
from graphmem.kernel.system.programs import NAME, own_program, program

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
TOML_MARKS = ("# >>> graphmem >>>", "# <<< graphmem <<<")
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


def server_of(program: Sequence[str]) -> dict[str, Any]:
    """Return the entry that starts the MCP server."""
    return {"command": program[0], "args": [*program[1:], "mcp"]}


def hooks_of(client: str, program: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a client's hooks, by event."""
    command = shlex.join([*program, "hook", client])
    match client:
        case "claude-code":
            return _matched(CLAUDE_EVENTS, command, TIMEOUT_S)
        case "codex":
            return _matched(CODEX_EVENTS, command, TIMEOUT_S, {"SessionEnd": CODEX_END_S})
        case "gemini":
            return _matched(GEMINI_EVENTS, command, TIMEOUT_S * 1000)
        case _:
            return {event: {"command": command} for event in CURSOR_EVENTS}


def _matched(
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


def found_clients() -> list[InstallClient]:
    """Return the clients of this user: those with a program on the PATH, or a folder in the home."""
    home = Path.home()
    return [
        client for client, (name, folder) in CLIENTS.items() if program(name) is not None or (home / folder).is_dir()
    ]


def steps(client: InstallClient, scope: Scope) -> list[str]:
    """Return what is left for a person to do in a client."""
    return list(STEPS.get((client, scope), ()))


@dataclass(frozen=True)
class Target:
    """A file of a client with the edits that put ours in and take it out."""

    path: Path
    add: Edit
    remove: Edit


def targets_of(request: InstallRequest) -> Iterator[Target]:
    """Yield the files of a client."""
    is_user = request.scope == "user"
    root = Path.home() if is_user else request.folder
    command = own_program() if is_user else list(BY_PATH)
    hooks, server = hooks_of(request.client, command), server_of(command)
    match request.client:
        case "claude-code":
            yield _hooks_file(root / ".claude" / "settings.json", hooks)
            if not is_user:  # a user's own are in a file that the client writes all the time: `commands`
                yield _entry_file(root / ".mcp.json", ("mcpServers", NAME), server)
        case "codex":
            home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") if is_user else root / ".codex"
            yield _hooks_file(home / "hooks.json", hooks)
            yield _codex_file(home / "config.toml", server)
        case "gemini":
            path = root / ".gemini" / "settings.json"
            (add, remove), (put, take) = _hooks_edits(hooks), _entry_edits(("mcpServers", NAME), server)
            yield Target(path, _both(add, put), _both(remove, take))
        case "opencode":
            home = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser() / "opencode" if is_user else root
            local = {"type": "local", "command": [*command, "mcp"], "enabled": True}
            yield _entry_file(home / "opencode.json", ("mcp", NAME), local)
            plugins = home / "plugins" if is_user else home / ".opencode" / "plugins"
            words = ", ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in command)
            text = SHIM.replace('["graphmem", "hook", "opencode"]', str(f'[{words}, "hook", "opencode"]'))
            mark = SHIM.partition("\n")[0]
            yield Target(plugins / "graphmem.js", text_edit(text, mark), text_edit(None, mark))
        case "cursor":
            yield _entry_file(root / ".cursor" / "mcp.json", ("mcpServers", NAME), server)
            add, remove = _hooks_edits(hooks)
            yield Target(
                root / ".cursor" / "hooks.json",
                _both(json_edit(lambda value: value.setdefault("version", 1)), add),
                _both(remove, _alone("version")),
            )
        case "agents-md":
            if is_user:
                raise Usage("AGENTS.md is a file of a project", hint="graphmem install agents-md --project")
            path = root / "AGENTS.md"
            yield Target(path, marked_edit(INSTRUCTIONS, *MARKDOWN_MARKS), marked_edit(None, *MARKDOWN_MARKS))


def commands(request: InstallRequest, *, is_removal: bool) -> Iterator[str]:
    """Yield what is left to be typed: a client's own command, for a file that it alone writes."""
    if request.client == "claude-code" and request.scope == "user":
        verb = ["remove", "--scope", "user", NAME] if is_removal else ["add", "--scope", "user", NAME, "--"]
        yield shlex.join(["claude", "mcp", *verb, *([] if is_removal else [*own_program(), "mcp"])])


def _hooks_edits(entries: Mapping[str, dict[str, Any]]) -> tuple[Edit, Edit]:
    """Return the edits that add and remove an entry at each event; those of other programs stay."""

    def add(value: dict[str, Any]) -> None:
        hooks = value.setdefault("hooks", {})
        if not isinstance(hooks, dict) or not all(isinstance(found, list) for found in hooks.values()):
            raise ValueError("its hooks are not lists by event")
        for event, entry in entries.items():
            if entry not in hooks.get(event, []):
                hooks[event] = [*_without_ours(hooks.get(event, [])), entry]

    def remove(value: dict[str, Any]) -> None:
        hooks = value.get("hooks")
        if not isinstance(hooks, dict):
            return
        for event, found in list(hooks.items()):
            left = _without_ours(found) if isinstance(found, list) else found
            if left != found:
                hooks[event] = left
            if found and not left:
                del hooks[event]
                if not hooks:
                    del value["hooks"]

    return json_edit(add), json_edit(remove)


def _without_ours(groups: list[Any]) -> list[Any]:
    """Return the entries of an event without graphmem's handlers; a group that has only those goes."""
    kept = []
    for group in groups:
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if handlers is None:  # of Cursor, whose entries are handlers
            kept += [] if _is_ours(group) else [group]
            continue
        others = [one for one in handlers if not _is_ours(one)]
        kept += [{**group, "hooks": others}] if others or not handlers else []
    return kept


def _is_ours(handler: object) -> bool:
    """Return whether a handler runs graphmem's hook."""
    try:
        words = shlex.split(str(handler.get("command", ""))) if isinstance(handler, dict) else []
    except ValueError:
        return False
    return _is_own_command(words[:-2]) and words[-2:-1] == ["hook"]


def _is_own_command(words: list[str]) -> bool:
    """Return whether a command runs graphmem, as this version or an earlier one wrote it."""
    is_program = len(words) == 1 and os.path.basename(words[0]) == NAME
    return is_program or words == list(BY_PATH) or words[1:] in (["-P", "-m", NAME], ["-m", NAME])


def _is_our_server(entry: object) -> bool:
    """Return whether an entry starts graphmem's MCP server, and says nothing else."""
    if not isinstance(entry, dict) or not entry.keys() <= {"command", "args", "type", "enabled"}:
        return False
    command = entry.get("command")
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    return _is_own_command([str(word) for word in words[:-1]]) and words[-1] == "mcp"


def _hooks_file(path: Path, entries: Mapping[str, dict[str, Any]]) -> Target:
    """Return a file that has hooks."""
    return Target(path, *_hooks_edits(entries))


def _entry_edits(keys: tuple[str, str], entry: Mapping[str, Any]) -> tuple[Edit, Edit]:
    """Return the edits that set and remove an entry of an object in a JSON file."""
    section, name = keys

    def add(value: dict[str, Any]) -> None:
        found = value.setdefault(section, {})
        if not isinstance(found, dict):
            raise ValueError(f"{section!r} is not an object")
        if name in found and not _is_our_server(found[name]):
            raise ValueError(f"{section} has {name!r} already, which was not written by graphmem")
        found[name] = entry

    def remove(value: dict[str, Any]) -> None:
        found = value.get(section)
        if isinstance(found, dict) and _is_our_server(found.get(name)):
            del found[name]
            if not found:
                del value[section]

    return json_edit(add), json_edit(remove)


def _entry_file(path: Path, keys: tuple[str, str], entry: Mapping[str, Any]) -> Target:
    """Return a JSON file that has an entry of ours."""
    return Target(path, *_entry_edits(keys, entry))


def _codex_file(path: Path, server: Mapping[str, Any]) -> Target:
    """Return Codex's file of settings with our server between markers."""
    words = ", ".join(_toml_text(word) for word in server["args"])
    lines = f"[mcp_servers.{NAME}]\ncommand = {_toml_text(server['command'])}\nargs = [{words}]"
    refuse = refuse_toml_with(f"mcp_servers.{NAME}")
    add = marked_edit(lines, *TOML_MARKS, refuse, lambda text: (foreign.toml(text), None)[1])
    return Target(path, add, marked_edit(None, *TOML_MARKS))


def _toml_text(text: str) -> str:
    """Return a text as TOML has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _alone(key: str) -> Edit:
    """Return an edit that removes a key that nothing but ours needed."""

    def change(value: dict[str, Any]) -> None:
        if value.keys() == {key}:
            del value[key]

    return json_edit(change)


def _both(first: Edit, second: Edit) -> Edit:
    """Return two edits, one after the other."""
    return lambda before: second(first(before))
