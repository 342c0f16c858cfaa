"""``textconv``."""

from typing import Annotated

import typer

from graphmem.kernel.git import textconv as conversion


def textconv(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A data file.")],
) -> None:
    """
    Print the rows of a data file for people, one field a line; git calls it to show differences.

    Example: graphmem textconv .graphmem/data/failure.ndjson
    """
    raise typer.Exit(conversion.main(file))
