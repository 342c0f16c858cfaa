"""``install`` and ``uninstall``."""

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from graphmem import shell
from graphmem.cli.caller import session_of
from graphmem.cli.options import argument, option
from graphmem.clients.install import install as install_client
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
    dry_run: bool = option(InstallRequest, "dry_run"),
) -> None:
    """
    Set up a coding agent: its hooks and its MCP server, in this project unless --user is given.

    It prints every change, writes beside what is there, and commits nothing; `graphmem uninstall` takes it back.

    Example: graphmem install claude-code
    """
    run(ctx, client, is_user=scope(project, user), dry_run=dry_run, is_removal=False)


def uninstall(
    ctx: typer.Context,
    client: str = argument(InstallRequest, "client", metavar="CLIENT"),
    project: Project = False,
    user: User = False,
    dry_run: bool = option(InstallRequest, "dry_run"),
) -> None:
    """
    Take back what `graphmem install` wrote; a file that was not changed since gets the same bytes as before.

    Example: graphmem uninstall claude-code
    """
    run(ctx, client, is_user=scope(project, user), dry_run=dry_run, is_removal=True)


def scope(project: bool, user: bool) -> bool:
    """Return whether all projects of the user are meant."""
    if project and user:
        raise Usage("only one of --project and --user is possible")
    return user


def run(ctx: typer.Context, client: str, *, is_user: bool, dry_run: bool, is_removal: bool) -> None:
    """Change the files of a client and print what changed."""
    session = session_of(ctx)
    try:
        folder = find_store(session.folder).root
    except Unavailable:
        if not (is_user or is_removal):
            raise
        folder = current_folder() / Path(session.folder or ".")
    values = {"client": client, "folder": folder, "scope": "user" if is_user else "project", "dry_run": dry_run}
    answer = install_client(InstallRequest.model_validate(values), is_removal=is_removal)
    session.answer(answer, "\n".join(shown(answer, is_removal=is_removal)))
    if not (is_user or is_removal or client == "agents-md" or shutil.which("graphmem")):
        session.say("graphmem is not on the PATH, where agents will look for it: pipx install graphmem")


def shown(answer: Installed, *, is_removal: bool) -> Iterator[str]:
    """Yield the changes for people."""
    for file in answer.files:
        yield f"{'' if answer.applied or file.action == 'unchanged' else 'would be '}{file.action}: {file.path}"
        if file.diff:
            yield file.diff.rstrip("\n")
    for command in answer.commands:
        yield f"now type: {command}"
    if answer.applied and not is_removal:
        undo = shell.command("graphmem", "uninstall", answer.client, *(["--user"] if answer.scope == "user" else []))
        yield f"{answer.client} is set up; take it back with: {undo}"
