"""``view``: one page to look at the memory in a browser, with no request to anywhere."""

import base64
import hashlib
import re
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from graphmem.cli.caller import Invocation
from graphmem.cli.commands import Call, passes
from graphmem.cli.dump import written
from graphmem.contract.view import PageData, ViewRequest
from graphmem.errors import Refused, Usage
from graphmem.names import inert
from graphmem.system import safe_files
from graphmem.system.surroundings import current_folder

FILES = resources.files("graphmem") / "page"
SCRIPTS = {
    "graphology": "vendor/graphology.umd.min.js",
    "sigma": "vendor/sigma.min.js",
    "health": "health.js",
    "dag": "dag.js",
    "tree": "tree.js",
    "script": "page.js",
}
PLACE = re.compile(r"\{\{(\w+)\}\}")  # of a part in the page
MARK = b"<!doctype html>\n<!-- made by graphmem view -->\n"  # how each page begins
IN_HTML = str.maketrans({"<": "\\u003c", ">": "\\u003e", "&": "\\u0026"})


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


def page_of(data: PageData) -> str:
    """Return the page with its data; only the scripts and the style that are in it may run."""
    parts = {name: (FILES / path).read_text("utf-8") for name, path in SCRIPTS.items()}
    style = (FILES / "page.css").read_text("utf-8")
    scripts = " ".join(map(digest, parts.values()))
    parts["csp"] = (
        f"default-src 'none'; script-src {scripts}; style-src {digest(style)}; img-src data:; base-uri 'none';"
        " form-action 'none'"
    )
    parts["style"] = style
    parts["data"] = inert(data.model_dump_json(by_alias=True)).translate(IN_HTML)
    return PLACE.sub(lambda found: parts[found[1]], (FILES / "page.html").read_text("utf-8"))


def digest(text: str) -> str:
    """Return the hash of a script or a style as a policy names it."""
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
