"""``install`` and ``uninstall``."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from graphmem import shell
from graphmem.cli.caller import session_of
from graphmem.cli.options import argument, option
from graphmem.clients.install import install as install_client
from graphmem.clients.install import places
from graphmem.contract.install import Installed, InstallRequest
from graphmem.errors import Unavailable, Usage
from graphmem.runtime import find_store
from graphmem.surroundings import current_folder

User = Annotated[bool, typer.Option("--user", help="Set up all projects of this user.")]
Project = Annotated[bool, typer.Option("--project", help="Set up this project, in files that can be committed.")]


def install(
    ctx: typer.Context,
    client: str = argument(InstallRequest, "client", metavar="CLIENT"),
    project: Project = False,
    user: User = False,
    plugin: bool = option(InstallRequest, "plugin"),
    out: Path | None = option(InstallRequest, "out", note="with --plugin", metavar="FOLDER"),
    dry_run: bool = option(InstallRequest, "dry_run"),
) -> None:
    """
    Set up a coding agent: its hooks and its MCP server, in this project unless --user or --plugin is given.

    It prints every change, writes beside what is there, and commits nothing; `graphmem uninstall` takes it back.
    A plugin also has skills; `claude-code`, `codex` and `gemini` have programs that install one.

    Example: graphmem install claude-code
    """
    is_user = scope(project, user, plugin)
    if out is not None and not plugin:
        raise Usage("--out is where the plugin goes", hint=shell.command("graphmem", "install", client, "--plugin"))
    where = None if out is None else Path(os.path.abspath(current_folder() / out.expanduser()))
    run(ctx, {"client": client, "plugin": plugin, "out": where, "dry_run": dry_run}, is_user=is_user, is_removal=False)


def uninstall(
    ctx: typer.Context,
    client: str = argument(InstallRequest, "client", metavar="CLIENT"),
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
    run(ctx, {"client": client, "plugin": plugin, "dry_run": dry_run}, is_user=is_user, is_removal=True)


def scope(project: bool, user: bool, plugin: bool) -> bool:
    """Return whether all projects of the user are meant."""
    if project and (user or plugin):
        raise Usage(f"only one of --project and {'--user' if user else '--plugin'} is possible")
    return user or plugin


def run(ctx: typer.Context, values: dict[str, object], *, is_user: bool, is_removal: bool) -> None:
    """Change the files of a client and print what changed."""
    session = session_of(ctx)
    try:
        folder = find_store(session.folder).root
    except Unavailable:
        if not (is_user or is_removal):
            raise
        folder = current_folder() / Path(session.folder or ".")
    request = InstallRequest.model_validate({**values, "folder": folder, "scope": "user" if is_user else "project"})
    answer = install_client(request, is_removal=is_removal)
    session.answer(answer, "\n".join(shown(answer, request, is_removal=is_removal)))
    for notice in answer.notices:
        session.say(notice)
    if is_removal or request.out:
        return
    if (undo := places(request.client, folder)) and len(undo) > 1:
        twice = (
            f"{request.client} has graphmem {len(undo)} times, so its tools are there as often; take back all but one"
        )
        session.say(f"{twice}: {', '.join(f'`{one}`' for one in undo)}")
    if not (is_user or request.client == "agents-md" or shutil.which("graphmem")):
        session.say("graphmem is not on the PATH, where agents will look for it: pipx install graphmem")


def shown(answer: Installed, request: InstallRequest, *, is_removal: bool) -> Iterator[str]:
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
        yield f"{answer.client} is set up; take it back with: {undo}"


def changes(answer: Installed) -> Iterator[str]:
    """Yield the files that change, each with its difference."""
    for file in answer.files:
        yield f"{'' if answer.applied or file.action == 'unchanged' else 'would be '}{file.action}: {file.path}"
        if file.diff:
            yield file.diff.rstrip("\n")
