"""``serve``."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from graphmem.constants import SERVICE_IDLE_S
from graphmem.doors.cli.caller import Invocation, ids_of, invocation_of
from graphmem.doors.service import manage
from graphmem.doors.service.logs import LogFormat, log_to
from graphmem.doors.service.place import path_of
from graphmem.doors.service.server import Service
from graphmem.errors import NotFound, Usage
from graphmem.kernel.embed.shared import Models
from graphmem.kernel.machine.service_state import ServiceStatus
from graphmem.kernel.store.in_server import machine_folder, server_in_use
from graphmem.kernel.store.runtime import find_store
from graphmem.kernel.system import shell

MOST_LOG = 64 * 1024  # bytes of the log that are shown


def serve(
    ctx: typer.Context,
    detach: Annotated[bool, typer.Option("--detach", help="Start the service in the background.")] = False,
    stop: Annotated[bool, typer.Option("--stop", help="End the service, after the commands that it runs.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Show the service; exit status 1 without one.")] = False,
    logs: Annotated[bool, typer.Option("--logs", help="Print the end of the log of the service.")] = False,
    log_format: Annotated[LogFormat, typer.Option("--log-format", help="Form of the log.")] = "text",
    http: Annotated[
        str | None, typer.Option("--http", metavar="HOST:PORT", help="Answer HTTP too, at this address; port 0 is any.")
    ] = None,
) -> None:
    """
    Run or manage the service that answers commands faster.

    It keeps the program and the embedding model in memory. Commands use it where it runs, and run by themselves where
    it does not; the answers are the same. It ends by itself after 15 minutes without a command.

    Example: graphmem serve --detach
    """
    if sum((detach, stop, status, logs)) > 1:
        raise Usage("only one of --detach, --stop, --status and --logs is possible")
    if http is not None and (stop or status or logs):
        raise Usage("--http is for the start of a service", hint=shell.command("graphmem", "serve", "--http", http))
    invocation = invocation_of(ctx)
    server = server_in_use(invocation.folder)
    project = find_store(invocation.folder).root if server is None else machine_folder(server)
    if logs:
        invocation.write(_end_of_log(project))
    elif stop:
        was_there = manage.status(project).ok
        invocation.answer(manage.stop(project), "the service has ended" if was_there else "no service ran")
    elif status:
        found = manage.status(project)
        invocation.answer(found, _shown(found))
        raise typer.Exit(0 if found.ok else 1)
    elif detach:
        found = manage.start(project, log_format, http)
        invocation.answer(found, _shown(found))
    else:
        _run_here(invocation, project, log_format, http)


def _shown(found: ServiceStatus) -> str:
    """Return for people how the service is."""
    if not found.ok:
        return "no service runs for this project; start one with: graphmem serve --detach"
    since = f"{found.since:%Y-%m-%d %H:%M}" if found.since else "?"
    of_scopes = {f"scope {name}": path for name, path in (found.scope_token_files or {}).items()}
    tokens = {"everything": found.token_file, "reading": found.read_token_file, **of_scopes}
    files = [f"token for {use}: {path}" for use, path in tokens.items() if path]
    at = "".join(f"\n{line}" for line in (f"HTTP: {found.http}", *files)) if found.http else ""
    return (
        f"the service runs: version {found.version}, process {found.pid}, since {since} UTC, {found.requests} commands,"
        f" model {found.model or 'not loaded yet'}\nlog: {found.log}{at}"
    )


def _end_of_log(project: Path) -> str:
    """Return the last lines of the log."""
    path = path_of(str(project), "log")
    if path is None or not os.path.exists(path):
        raise NotFound("the service of this project has no log", hint="start it with: graphmem serve --detach")
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - MOST_LOG))
        return file.read().decode("utf-8", "replace").rstrip("\n")


def _run_here(invocation: Invocation, project: Path, log_format: LogFormat, http: str | None) -> None:
    """Run the service until it ends, with HTTP at an address if one is given."""
    if http is not None:
        from graphmem.doors.http.server import parse_address  # noqa: PLC0415 - FastAPI takes long to import

        parse_address(http)
        manage.make_room(project)
    os.chdir("/")  # the folder of whoever started it may be removed
    service = Service(project, _run_command, idle_s=SERVICE_IDLE_S)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):  # it ends after what it is doing
        signal.signal(number, service.stop)
    log_to(path_of(str(project), "log") or os.devnull, log_format)
    service.serve(
        lambda: invocation.say(f"the service answers for {project}; Ctrl-C ends it"),
        beside=lambda: beside(service, http, invocation.say),
    )


def beside(service: Service, http: str | None, say: Callable[[str], None]) -> AbstractContextManager[None]:
    """Return what runs as long as the service: HTTP, if it is asked for."""
    if http is None:
        return nullcontext()
    from graphmem.doors.http.server import http_beside  # noqa: PLC0415 - FastAPI takes long to import

    return http_beside(service, http, say)


def _run_command(arguments: Sequence[str], request_id: str, models: Models) -> tuple[int, str]:
    """Run the command line of a caller in this thread; return its exit status, and the command without its texts."""
    from graphmem.doors.cli.app import run  # noqa: PLC0415 - which loads this module when it runs `serve`

    invocation = Invocation(new_id=ids_of(request_id), models=models)
    return run(arguments, invocation), invocation.command
