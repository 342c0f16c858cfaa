"""Install and uninstall: the files of each coding agent, in a project or of a user (docs/guides/agents.md)."""

import contextlib
import json
import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import get_args

from graphmem.doors.agents import plugin
from graphmem.doors.agents.clients import BY_PATH, Target, commands, steps, targets_of
from graphmem.doors.agents.edits import Change, Place, forget, keep, planned, read, restored, write
from graphmem.doors.agents.install_contract import INSTALL_CLIENTS, InstallClient, Installed, InstallRequest, Scope
from graphmem.errors import GraphmemError
from graphmem.kernel.finding import Code, Finding
from graphmem.kernel.system import shell
from graphmem.kernel.system.programs import NAME, own_program, program

LIMIT_S = 20.0  # seconds that a program of ours may take to answer
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "graphmem", "version": "0"}},
}


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
        changes = [restored(_request_place(request, target), target.remove) for target in targets]
    else:
        changes = [planned(_request_place(request, target), target.add) for target in targets]
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
        notices=[] if is_removal or request.dry_run else _problems(request),
    )


def _problems(request: InstallRequest) -> list[str]:
    """Return why what was written would not start."""
    if request.client == "agents-md":
        return []
    if request.scope == "project" and program(NAME) is None:
        return ["graphmem is not on the PATH, where agents will look for it: pipx install graphmem"]
    failure = _failure_of(own_program() if request.scope == "user" else BY_PATH)
    return [failure] if failure else []


def _request_place(request: InstallRequest, target: Target) -> Place:
    """Return where a file of a client is: in a project no link is followed, in a home a link is the user's own."""
    return Place(target.path, None if request.scope == "user" else request.folder)


def find_faults(folder: Path) -> Iterator[Finding]:
    """Yield what is wrong with the clients that are set up in a project: half of their files, no program."""
    for client in INSTALL_CLIENTS:
        request = InstallRequest(client=client, folder=folder)
        for change in _missing(request):
            file = change.path.relative_to(folder).as_posix()
            fix = shell.command(NAME, "install", client)
            yield Finding.of(file, Code.CLIENT, f"{client} is set up in part", "graphmem's entries", fix)
        if len(undo := places(client, folder)) > 1:
            what = f"{client} is set up {len(undo)} times, so its tools are there as often"
            yield Finding.of(str(folder), Code.CLIENT, what, "one of them", undo[0])
        for problem in _problems(request) if has_hooks(request) else ():
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


def _missing(request: InstallRequest) -> list[Change]:
    """Return the files that lack what an installation writes, of a client of which another file has it."""
    try:
        changes = [planned(_request_place(request, target), target.add) for target in targets_of(request)]
    except GraphmemError:
        return []
    lacking = [change for change in changes if change.before != change.after]
    return lacking if len(lacking) < len(changes) or any(_is_old(change) for change in lacking) else []


def _is_old(change: Change) -> bool:
    """Return whether a file has hooks of ours, but not those of this version."""
    return change.before is not None and f"{NAME} hook " in change.before.decode("utf-8", "replace")


def has_hooks(request: InstallRequest) -> bool:
    """Return whether a project's files start graphmem."""
    with contextlib.suppress(GraphmemError):
        return any(
            f"{NAME} hook ".encode() in (read(_request_place(request, target)) or b"") for target in targets_of(request)
        )
    return False


# --- entries of ours ------------------------------------------------------------------------------------------------


def _failure_of(command: Sequence[str]) -> str | None:
    """
    Start the MCP server and a hook as a client will.

    Args:
        command: what runs graphmem, as it is written into the client's files.

    Returns:
        What is wrong; None where both answer.
    """
    server = _output_of([*command, "mcp"], json.dumps(INITIALIZE) + "\n")
    if '"result"' not in server:
        reason = server.strip().splitlines()[-1:] or ["it prints nothing"]
        return f"{shell.command(*command, 'mcp')} does not answer: {reason[0][:200]}"
    return None


def _output_of(command: Sequence[str], given: str) -> str:
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
