"""The option of commands whose answer can be a comment on a forge."""

from typing import Annotated, Literal

import typer

from graphmem.doors.cli.caller import Invocation
from graphmem.errors import Usage

Form = Annotated[Literal["text", "markdown", "json"], typer.Option("--format", help="How the answer is printed.")]


def is_markdown(invocation: Invocation, form: str) -> bool:
    """Return whether an answer is to be printed as Markdown; as JSON it is printed for ``--format json`` too."""
    if form == "markdown" and invocation.is_json:
        raise Usage("--format markdown and --json are two forms", hint="give one of them")
    invocation.is_json |= form == "json"
    return form == "markdown"
