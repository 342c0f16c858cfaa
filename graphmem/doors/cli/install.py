"""``install`` and ``uninstall``."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from graphmem.doors.agents.clients import found_clients
from graphmem.doors.agents.install import install as install_client
from graphmem.doors.agents.install import places
from graphmem.doors.agents.install_contract import INSTALL_CLIENTS, Installed, InstalledAll, InstallRequest, KeptRules
from graphmem.doors.agents.rule_files import remove_rules
from graphmem.doors.cli.caller import Invocation, invocation_of
from graphmem.doors.cli.options import option
from graphmem.errors import GraphmemError, Unavailable, Usage
from graphmem.kernel.store.runtime import find_store
from graphmem.kernel.system import shell
from graphmem.kernel.system.surroundings import current_folder

User = Annotated[bool, typer.Option("--user", help="Set up all projects of this user.")]
RULES = "rules"
CLIENT_HELP = f"The coding agent. One of: {', '.join(INSTALL_CLIENTS)}."
Project = Annotated[bool, typer.Option("--project", help="Set up this project, in files that can be committed.")]


def _client_names() -> list[str]:
    """Return the names of the clients, for the shell to complete."""
    return list(INSTALL_CLIENTS)


def install(
    ctx: typer.Context,
    client: Annotated[str, typer.Argument(metavar="CLIENT", help=CLIENT_HELP, autocompletion=_client_names)] = "",
    every: Annotated[bool, typer.Option("--all", help="Set up each client that is found on this machine.")] = False,
    project: Project = False,
    user: User = False,
    plugin: bool = option(InstallRequest, "plugin"),
    out: Path | None = option(InstallRequest, "out", note="with --plugin", metavar="FOLDER"),
    dry_run: bool = option(InstallRequest, "dry_run"),
) -> None:
    """
    Set up a coding agent: its hooks and its MCP server, in this project unless --user or --plugin is given.

    It says which files it changed (--dry-run shows every line), what is left for you to do in the client, and commits
    nothing; `graphmem uninstall` takes it back.
    A plugin also has skills; `claude-code`, `codex` and `gemini` have programs that install one.

    Example: graphmem install claude-code
    """
    is_user = scope(project, user, plugin)
    if out is not None and not plugin:
        raise Usage("--out is where the plugin goes", hint=shell.command("graphmem", "install", client, "--plugin"))
    if every:
        _run_all(ctx, client, is_user=is_user, plugin=plugin, dry_run=dry_run)
        return
    if not client:
        raise Usage("install takes a client", hint=f"one of: {', '.join(_client_names())}; or --all")
    where = None if out is None else Path(os.path.abspath(current_folder() / out.expanduser()))
    run(ctx, {"client": client, "plugin": plugin, "out": where, "dry_run": dry_run}, is_user=is_user, is_removal=False)


def uninstall(
    ctx: typer.Context,
    client: Annotated[
        str,
        typer.Argument(
            metavar="CLIENT",
            help=f"{CLIENT_HELP.removesuffix('.')}; or {RULES}, what `graphmem dump --to rules` keeps.",
            autocompletion=lambda: [*_client_names(), RULES],
        ),
    ],
    project: Project = False,
    user: User = False,
    plugin: bool = option(InstallRequest, "plugin"),
    dry_run: bool = option(InstallRequest, "dry_run"),
) -> None:
    """
    Take back what `graphmem install` wrote; a file that was not changed since gets the same bytes as before.

    Example: graphmem uninstall claude-code
    """
    is_user = scope(project, user, plugin)
    if client == RULES:
        if is_user:
            raise Usage("rules are in files of a project", hint="graphmem uninstall rules")
        invocation = invocation_of(ctx)
        answer = remove_rules(_folder_of(invocation, is_user=True), dry_run=dry_run)
        if all(file.action == "unchanged" for file in answer.files):
            invocation.say("no rules are in the files of agents here")
        invocation.answer(answer, "\n".join(changes(answer)), is_file=dry_run)
        return
    run(ctx, {"client": client, "plugin": plugin, "dry_run": dry_run}, is_user=is_user, is_removal=True)


def _run_all(ctx: typer.Context, client: str, *, is_user: bool, plugin: bool, dry_run: bool) -> None:
    """Set up the clients that are found; what cannot be set up is reported, and the others are all the same."""
    if client or plugin:
        raise Usage(f"--all takes no {'client' if client else '--plugin'}", hint="graphmem install --all")
    invocation, made, failed = invocation_of(ctx), list[Installed](), dict[str, str]()
    found = found_clients()
    if not found:
        message = "no coding agent is found: none of their programs is on the PATH, none of their folders in your home"
        raise Unavailable(message, hint=f"name one of {', '.join(_client_names())}")
    lines: list[str] = []
    for name in found:
        values = {"client": name, "folder": _folder_of(invocation, is_user=is_user), "dry_run": dry_run}
        request = InstallRequest.model_validate({**values, "scope": "user" if is_user else "project"})
        try:
            answer = install_client(request)
        except GraphmemError as error:
            failed[name] = error.message
            continue
        made.append(answer)
        lines += _shown(answer, request, is_removal=False)
        lines += answer.notices
    lines += [f"{name} is not set up: {message}" for name, message in failed.items()]
    invocation.answer(InstalledAll(clients=made, failed=failed), "\n".join(lines), is_file=dry_run)
    if failed:
        raise typer.Exit(3)


def _folder_of(invocation: Invocation, *, is_user: bool) -> Path:
    """Return the project; where a user's own files are meant, a folder without a memory does too."""
    if invocation.is_user:
        raise Usage("--user before the command is a store", hint="graphmem install CLIENT --user")
    try:
        return find_store(invocation.folder).root
    except Unavailable:
        if not is_user:
            raise
        return current_folder() / Path(invocation.folder or ".")


def scope(project: bool, user: bool, plugin: bool) -> bool:
    """Return whether all projects of the user are meant."""
    if project and (user or plugin):
        raise Usage(f"only one of --project and {'--user' if user else '--plugin'} is possible")
    return user or plugin


def run(ctx: typer.Context, values: dict[str, object], *, is_user: bool, is_removal: bool) -> None:
    """Change the files of a client and print what changed."""
    invocation = invocation_of(ctx)
    folder = _folder_of(invocation, is_user=is_user or is_removal)
    request = InstallRequest.model_validate({**values, "folder": folder, "scope": "user" if is_user else "project"})
    answer = install_client(request, is_removal=is_removal)
    invocation.answer(answer, "\n".join(_shown(answer, request, is_removal=is_removal)), is_file=not answer.applied)
    for notice in answer.notices:
        invocation.say(notice)
    if is_removal or request.out:
        return
    if (undo := places(request.client, folder)) and len(undo) > 1:
        twice = (
            f"{request.client} has graphmem {len(undo)} times, so its tools are there as often; take back all but one"
        )
        invocation.say(f"{twice}: {', '.join(f'`{one}`' for one in undo)}")


def _shown(answer: Installed, request: InstallRequest, *, is_removal: bool) -> Iterator[str]:
    """Yield the changes for people; of the plugin, which is ours alone, in one line, unless in a dry run."""
    if request.plugin and answer.applied:
        paths = [file.path for file in answer.files if file.action != "unchanged"]
        verb = "removed" if is_removal else "written"
        yield f"{len(paths)} files {verb}{f': {os.path.commonpath(paths)}' if paths else ''}"
    else:
        yield from changes(answer)
    for command in answer.ran:
        yield f"{'ran' if answer.applied else 'would run'}: {command}"
    for command in answer.commands:
        yield f"now type: {command}"
    if answer.applied and not is_removal and not request.out:
        option = ["--plugin"] if request.plugin else ["--user"] if answer.scope == "user" else []
        undo = shell.command("graphmem", "uninstall", answer.client, *option)
        is_ready = not (answer.steps or answer.commands)
        yield f"{answer.client} is set up{'' if is_ready else ', but for this'}; take it back with: {undo}"
        yield from (f"left to do {step}" for step in answer.steps)


def changes(answer: Installed | KeptRules) -> Iterator[str]:
    """Yield the files that change; before they do, each with its difference."""
    for file in answer.files:
        would = "" if answer.applied or file.action == "unchanged" else "would be "
        yield f"{would}{file.action}: {file.path}" + (f" -> {file.link}" if file.link else "")
        if file.diff and not answer.applied:
            yield file.diff.rstrip("\n")
