"""``view``: a page to look at the memory in a browser, served by the service of the project, or as a file."""

import os
from pathlib import Path
from typing import Annotated

import typer

from graphmem.core.page.render import MARK, page_of
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.doors.cli.dump import written
from graphmem.doors.http.tokens import ALL
from graphmem.doors.service import manage
from graphmem.errors import Refused, Unavailable, Usage
from graphmem.kernel.machine.service_state import ServedPage, ServiceStatus
from graphmem.kernel.registry import OPERATIONS
from graphmem.kernel.system import safe_files, shell
from graphmem.kernel.system.surroundings import current_folder

ANY_PORT = "127.0.0.1:0"


@passes("view")
def view(
    invocation: Invocation,
    call: Call,
    most: int,
    output: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="Write the page to a file.")] = None,
) -> None:
    """
    Look at the memory in a browser: what waits, the records, the graph, the campaigns.

    It prints the address of a page of the service, which it starts where none runs. Candidates are accepted and
    dismissed there. With --out the page is one file, which asks nothing of any address.

    Example: graphmem view
    """
    if output is None and most != OPERATIONS["view"].request.model_fields["most"].default:
        hint = shell.command("graphmem", "view", "--most", str(most), "--out", "memory.html")
        raise Usage("--most is for a page that is a file", hint=hint)
    if output is None:
        page = _served_for(invocation)
        invocation.say("open this address in a browser, and keep it to yourself: its token allows everything")
        invocation.answer(page, page.address, is_file=True)
        return
    _refuse_other(current_folder() / output, str(output))
    kept = call().shared()
    written({"page": page_of(kept)}, current_folder() / output, is_folder=False)
    invocation.say(f"written: {output}")
    if invocation.is_json:
        invocation.answer(kept, "")


def _served_for(invocation: Invocation) -> ServedPage:
    """Return where the service of the project has the page; one that answers HTTP is started where none does."""
    memory = invocation.memory
    memory.store.caller.require_all_kinds("the page")  # its token would show all
    project = memory.store.client.root
    found = manage.status(project)
    if found.http is None:
        found = manage.start(project, http=ANY_PORT)
    return ServedPage(address=f"{found.http}/view#token={_token_of(found)}")


def _token_of(found: ServiceStatus) -> str:
    """Return the token for everything: of the file of the service, or the one that a person chose in a variable."""
    token = Path(found.token_file).read_text("ascii").strip() if found.token_file else os.environ.get(ALL)
    if not token:
        hint = f"set {ALL} to it, or end the service first: graphmem serve --stop"
        raise Unavailable("the service was started with a token of its own, which is not known here", hint=hint)
    return token


def _refuse_other(path: Path, name: str) -> None:
    """Raise ``Refused`` for a file that another program made."""
    if safe_files.is_file(path) and safe_files.read(path, most=len(MARK)) != MARK:
        raise Refused(f"{name!r} was not made by graphmem view", hint="give another name, or remove it first")
