"""``view``: one page to look at the memory in a browser, with no request to anywhere."""

from pathlib import Path
from typing import Annotated

import typer

from graphmem.cli.caller import Invocation
from graphmem.cli.commands import Call, passes
from graphmem.cli.dump import written
from graphmem.contract.view import PageData, ViewRequest
from graphmem.errors import Refused, Usage
from graphmem.page.render import MARK, page_of
from graphmem.system import safe_files
from graphmem.system.surroundings import current_folder


@passes("view", ViewRequest)
def view(
    invocation: Invocation,
    call: Call,
    output: Annotated[Path | None, typer.Option("--out", metavar="FILE", help="The page to write.")] = None,
) -> None:
    """
    Write a page to look at the memory in a browser: what waits, the records, the graph, the campaigns.

    It is one file, which asks nothing of any address.

    Example: graphmem view --out memory.html
    """
    if output is None and not invocation.is_json:
        raise Usage("no file is named", hint="graphmem view --out memory.html")
    if output is not None:
        refuse_other(current_folder() / output, str(output))
    answer: PageData = call()
    if output is not None:
        written({"page": page_of(answer)}, current_folder() / output, is_folder=False)
        invocation.say(f"written: {output}")
    if invocation.is_json:
        invocation.answer(answer, "")


def refuse_other(path: Path, name: str) -> None:
    """Raise ``Refused`` for a file that another program made."""
    if safe_files.is_file(path) and safe_files.read(path, most=len(MARK)) != MARK:
        raise Refused(f"{name!r} was not made by graphmem view", hint="give another name, or remove it first")
