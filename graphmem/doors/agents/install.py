"""Install and uninstall: the files of each coding agent, in a project or of a user (docs/guides/agents.md)."""

import contextlib
import os
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

from graphmem.doors.agents import plugin
from graphmem.doors.agents.edits import (
    Change,
    Edit,
    Place,
    forget,
    json_edit,
    keep,
    marked_edit,
    planned,
    read,
    refuse_toml_with,
    restored,
    text_edit,
    write,
)
from graphmem.doors.agents.entries import BY_PATH, hooks_of, server_of
from graphmem.doors.agents.install_contract import InstallClient, Installed, InstallRequest, Scope
from graphmem.doors.agents.opencode import SHIM
from graphmem.doors.agents.setup import failure_of, steps
from graphmem.errors import GraphmemError, Usage
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.settings.instructions import INSTRUCTIONS, MARKDOWN_MARKS
from graphmem.kernel.system import foreign, shell
from graphmem.kernel.system.programs import NAME, own_program, program

TOML_MARKS = ("# >>> graphmem >>>", "# <<< graphmem <<<")


@dataclass(frozen=True)
class Target:
    """A file of a client with the edits that put ours in and take it out."""

    path: Path
    add: Edit
    remove: Edit


def install(request: InstallRequest, *, is_removal: bool = False) -> Installed:
    """
    Put what a client needs into its files, or take it out; a second time it changes nothing.

    All edits are made before the first file is written: where one is refused, none is changed.

    Raises:
        BadInput: a file does not parse.
        Unavailable: a file cannot be read or written.
        Usage: there is no such file for a user, or no plugin for this client.
    """
    if request.plugin:
        return plugin.install(request, is_removal=is_removal)
    targets = list(targets_of(request))
    if is_removal:
        changes = [restored(request_place(request, target), target.remove) for target in targets]
    else:
        changes = [planned(request_place(request, target), target.add) for target in targets]
    if not request.dry_run:
        for target, change in zip(targets, changes, strict=True):
            if change.before != change.after and not is_removal:
                keep(change, target.remove(change.before))
            write(change)
            if is_removal:
                forget(change.path)
    return Installed(
        client=request.client,
        scope=request.scope,
        applied=not request.dry_run,
        files=[change.shown() for change in changes],
        commands=list(commands(request, is_removal=is_removal)),
        steps=[] if is_removal or request.dry_run else steps(request.client, request.scope),
        notices=[] if is_removal or request.dry_run else problems(request),
    )


def problems(request: InstallRequest) -> list[str]:
    """Return why what was written would not start."""
    if request.client == "agents-md":
        return []
    if request.scope == "project" and program(NAME) is None:
        return ["graphmem is not on the PATH, where agents will look for it: pipx install graphmem"]
    failure = failure_of(own_program() if request.scope == "user" else BY_PATH)
    return [failure] if failure else []


def request_place(request: InstallRequest, target: Target) -> Place:
    """Return where a file of a client is: in a project no link is followed, in a home a link is the user's own."""
    return Place(target.path, None if request.scope == "user" else request.folder)


def checked(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the clients that are set up in a project: half of their files, no program."""
    for client in get_args(InstallClient):
        request = InstallRequest(client=client, folder=folder)
        for change in missing(request):
            file = change.path.relative_to(folder).as_posix()
            fix = shell.command(NAME, "install", client)
            yield Finding.of(file, Code.CLIENT, f"{client} is set up in part", "graphmem's entries", fix)
        if len(undo := places(client, folder)) > 1:
            what = f"{client} is set up {len(undo)} times, so its tools are there as often"
            yield Finding.of(str(folder), Code.CLIENT, what, "one of them", undo[0])
        for problem in problems(request) if has_hooks(request) else ():
            file = next(targets_of(request)).path.relative_to(folder).as_posix()
            what = f"{client} cannot start graphmem: {problem}"
            yield Finding.of(file, Code.CLIENT, what, "a program", "pipx install graphmem")


def places(client: InstallClient, folder: Path) -> list[str]:
    """Return the commands that take a client's hooks back, one for each place that has them."""
    project, user = (InstallRequest(client=client, folder=folder, scope=scope) for scope in get_args(Scope))
    options = {
        "--plugin": client in plugin.PROGRAMS and plugin.folder_of(user).is_dir(),
        "--user": folder != Path.home() and has_hooks(user),
        "--project": has_hooks(project),
    }
    return [shell.command(NAME, "uninstall", client, option) for option, is_there in options.items() if is_there]


def missing(request: InstallRequest) -> list[Change]:
    """Return the files that lack what an installation writes, of a client of which another file has it."""
    try:
        changes = [planned(request_place(request, target), target.add) for target in targets_of(request)]
    except GraphmemError:
        return []
    lacking = [change for change in changes if change.before != change.after]
    return lacking if len(lacking) < len(changes) or any(is_old(change) for change in lacking) else []


def is_old(change: Change) -> bool:
    """Return whether a file has hooks of ours, but not those of this version."""
    return change.before is not None and f"{NAME} hook " in change.before.decode("utf-8", "replace")


def has_hooks(request: InstallRequest) -> bool:
    """Return whether a project's files start graphmem."""
    with contextlib.suppress(GraphmemError):
        return any(
            f"{NAME} hook ".encode() in (read(request_place(request, target)) or b"") for target in targets_of(request)
        )
    return False


def targets_of(request: InstallRequest) -> Iterator[Target]:
    """Yield the files of a client."""
    is_user = request.scope == "user"
    root = Path.home() if is_user else request.folder
    command = own_program() if is_user else list(BY_PATH)
    hooks, server = hooks_of(request.client, command), server_of(command)
    match request.client:
        case "claude-code":
            yield hooks_file(root / ".claude" / "settings.json", hooks)
            if not is_user:  # a user's own are in a file that the client writes all the time: `commands`
                yield entry_file(root / ".mcp.json", ("mcpServers", NAME), server)
        case "codex":
            home = Path(os.environ.get("CODEX_HOME") or Path.home() / ".codex") if is_user else root / ".codex"
            yield hooks_file(home / "hooks.json", hooks)
            yield codex_file(home / "config.toml", server)
        case "gemini":
            path = root / ".gemini" / "settings.json"
            (add, remove), (put, take) = hooks_edits(hooks), entry_edits(("mcpServers", NAME), server)
            yield Target(path, both(add, put), both(remove, take))
        case "opencode":
            home = config_home() / "opencode" if is_user else root
            local = {"type": "local", "command": [*command, "mcp"], "enabled": True}
            yield entry_file(home / "opencode.json", ("mcp", NAME), local)
            plugins = home / "plugins" if is_user else home / ".opencode" / "plugins"
            text = SHIM.replace('["graphmem", "hook", "opencode"]', str(shim_command(command)))
            mark = SHIM.partition("\n")[0]
            yield Target(plugins / "graphmem.js", text_edit(text, mark), text_edit(None, mark))
        case "cursor":
            yield entry_file(root / ".cursor" / "mcp.json", ("mcpServers", NAME), server)
            add, remove = hooks_edits(hooks)
            yield Target(
                root / ".cursor" / "hooks.json", both(json_edit(with_version), add), both(remove, alone("version"))
            )
        case "agents-md":
            if is_user:
                raise Usage("AGENTS.md is a file of a project", hint="graphmem install agents-md --project")
            path = root / "AGENTS.md"
            yield Target(path, marked_edit(INSTRUCTIONS, *MARKDOWN_MARKS), marked_edit(None, *MARKDOWN_MARKS))


def config_home() -> Path:
    """Return the folder of the configurations of a user."""
    return Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config").expanduser()


def shim_command(program: list[str]) -> str:
    """Return the command of the hook as JavaScript has it."""
    words = ", ".join('"' + word.replace("\\", "\\\\").replace('"', '\\"') + '"' for word in program)
    return f'[{words}, "hook", "opencode"]'


def commands(request: InstallRequest, *, is_removal: bool) -> Iterator[str]:
    """Yield what is left to be typed: a client's own command, for a file that it alone writes."""
    if request.client == "claude-code" and request.scope == "user":
        verb = ["remove", "--scope", "user", NAME] if is_removal else ["add", "--scope", "user", NAME, "--"]
        yield shlex.join(["claude", "mcp", *verb, *([] if is_removal else [*own_program(), "mcp"])])


# --- entries of ours ------------------------------------------------------------------------------------------------


def hooks_edits(entries: Mapping[str, dict[str, Any]]) -> tuple[Edit, Edit]:
    """Return the edits that add and remove an entry at each event; those of other programs stay."""

    def add(value: dict[str, Any]) -> None:
        hooks = value.setdefault("hooks", {})
        if not isinstance(hooks, dict) or not all(isinstance(found, list) for found in hooks.values()):
            raise ValueError("its hooks are not lists by event")
        for event, entry in entries.items():
            if entry not in hooks.get(event, []):
                hooks[event] = [*without_ours(hooks.get(event, [])), entry]

    def remove(value: dict[str, Any]) -> None:
        hooks = value.get("hooks")
        if not isinstance(hooks, dict):
            return
        for event, found in list(hooks.items()):
            left = without_ours(found) if isinstance(found, list) else found
            if left != found:
                hooks[event] = left
            if found and not left:
                del hooks[event]
                if not hooks:
                    del value["hooks"]

    return json_edit(add), json_edit(remove)


def without_ours(groups: list[Any]) -> list[Any]:
    """Return the entries of an event without graphmem's handlers; a group that has only those goes."""
    kept = []
    for group in groups:
        handlers = group.get("hooks") if isinstance(group, dict) else None
        if handlers is None:  # of Cursor, whose entries are handlers
            kept += [] if is_ours(group) else [group]
            continue
        others = [one for one in handlers if not is_ours(one)]
        kept += [{**group, "hooks": others}] if others or not handlers else []
    return kept


def is_ours(handler: object) -> bool:
    """Return whether a handler runs graphmem's hook."""
    try:
        words = shlex.split(str(handler.get("command", ""))) if isinstance(handler, dict) else []
    except ValueError:
        return False
    return is_own_command(words[:-2]) and words[-2:-1] == ["hook"]


def is_own_command(words: list[str]) -> bool:
    """Return whether a command runs graphmem, as this version or an earlier one wrote it."""
    is_program = len(words) == 1 and os.path.basename(words[0]) == NAME
    return is_program or words == list(BY_PATH) or words[1:] in (["-P", "-m", NAME], ["-m", NAME])


def is_our_server(entry: object) -> bool:
    """Return whether an entry starts graphmem's MCP server, and says nothing else."""
    if not isinstance(entry, dict) or not entry.keys() <= {"command", "args", "type", "enabled"}:
        return False
    command = entry.get("command")
    words = [*(command if isinstance(command, list) else [command]), *(entry.get("args") or [])]
    return is_own_command([str(word) for word in words[:-1]]) and words[-1] == "mcp"


def hooks_file(path: Path, entries: Mapping[str, dict[str, Any]]) -> Target:
    """Return a file that has hooks."""
    return Target(path, *hooks_edits(entries))


def entry_edits(keys: tuple[str, str], entry: Mapping[str, Any]) -> tuple[Edit, Edit]:
    """Return the edits that set and remove an entry of an object in a JSON file."""
    section, name = keys

    def add(value: dict[str, Any]) -> None:
        found = value.setdefault(section, {})
        if not isinstance(found, dict):
            raise ValueError(f"{section!r} is not an object")
        if name in found and not is_our_server(found[name]):
            raise ValueError(f"{section} has {name!r} already, which was not written by graphmem")
        found[name] = entry

    def remove(value: dict[str, Any]) -> None:
        found = value.get(section)
        if isinstance(found, dict) and is_our_server(found.get(name)):
            del found[name]
            if not found:
                del value[section]

    return json_edit(add), json_edit(remove)


def entry_file(path: Path, keys: tuple[str, str], entry: Mapping[str, Any]) -> Target:
    """Return a JSON file that has an entry of ours."""
    return Target(path, *entry_edits(keys, entry))


def codex_file(path: Path, server: Mapping[str, Any]) -> Target:
    """Return Codex's file of settings with our server between markers."""
    words = ", ".join(toml_text(word) for word in server["args"])
    lines = f"[mcp_servers.{NAME}]\ncommand = {toml_text(server['command'])}\nargs = [{words}]"
    refuse = refuse_toml_with(f"mcp_servers.{NAME}")
    add = marked_edit(lines, *TOML_MARKS, refuse, lambda text: (foreign.toml(text), None)[1])
    return Target(path, add, marked_edit(None, *TOML_MARKS))


def toml_text(text: str) -> str:
    """Return a text as TOML has it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def with_version(value: dict[str, Any]) -> None:
    """Cursor's hooks have a version."""
    value.setdefault("version", 1)


def alone(key: str) -> Edit:
    """Return an edit that removes a key that nothing but ours needed."""

    def change(value: dict[str, Any]) -> None:
        if value.keys() == {key}:
            del value[key]

    return json_edit(change)


def both(first: Edit, second: Edit) -> Edit:
    """Return two edits, one after the other."""
    return lambda before: second(first(before))
