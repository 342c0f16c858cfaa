"""``extract …``: programs that find entities and edges in the project."""

import sys
from itertools import chain
from pathlib import Path
from typing import Annotated

import typer

from graphmem.doors.cli.commands import group_of
from graphmem.kernel.ndjson import encode
from graphmem.kernel.registry import extensions
from graphmem.names import visible

app = group_of("extract", "Run programs that find entities and edges in the project.")


@app.command(epilog="Example: graphmem extract python src")
def python(folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where the code is.")] = ".") -> None:
    """
    Print what the Python code in a folder defines, imports and calls, one JSON object a line.

    The extractor `python` runs this; it imports and runs nothing of the code.
    """
    for line in chain.from_iterable(read(Path(folder)) for read in extensions("extract python")):
        if isinstance(line, str):
            print(visible(line), file=sys.stderr)
        else:
            sys.stdout.buffer.write(encode(line) + b"\n")
    sys.stdout.flush()
