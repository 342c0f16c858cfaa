"""``extract …``: programs that find entities and edges in the project."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import noun, passes
from graphmem.features.extractors.contract import (
    AddExtractorRequest,
    Extracted,
    Extraction,
    ExtractorAdded,
    ExtractorList,
    RunExtractorsRequest,
)
from graphmem.features.extractors.operations import python_lines
from graphmem.kernel.ndjson import encode
from graphmem.kernel.registry import Taken
from graphmem.kernel.system.shell import command
from graphmem.names import visible

app = noun("Run programs that find entities and edges in the project.")


@app.command("list", epilog="Example: graphmem extract list")
@passes("extractors.list")
def list_extractors(invocation: Invocation, answer: ExtractorList) -> None:
    """List the extractors of the project, and whether each may run in this clone."""
    lines = [
        f"{one.name}  {'trusted' if one.trusted else 'not trusted'}  writes {', '.join(one.writes)}"
        f"  runs: {command(*one.command)}"
        for one in answer.extractors
    ]
    invocation.answer(answer, "\n".join([*lines, *(f"error: {found}" for found in answer.findings)]))
    if not (answer.extractors or answer.findings):
        invocation.say("no extractors yet; one comes with graphmem: graphmem extract add python")


@app.command(epilog="Example: graphmem extract run python")
@passes("extractors.run", RunExtractorsRequest, arguments=1, names=Taken("NAME…"))
def run(invocation: Invocation, answer: Extracted) -> None:
    """
    Run extractors one after the other, and write what each finds.

    What an extractor wrote before and no longer finds is removed; rows of others stay as they are.
    """
    for one in answer.extractions:
        for line in one.said:
            invocation.say(f"{one.name}: {line}")
    invocation.answer(answer, "\n".join(map(described, answer.extractions)))


@app.command(epilog="Example: graphmem extract add python")
@passes("extractors.add", AddExtractorRequest, name=Taken("NAME"))
def add(invocation: Invocation, answer: ExtractorAdded) -> None:
    """Set up an extractor that comes with graphmem (python): its file, its types, and trust in this clone."""
    name = answer.extractor.name
    types = f", declared {', '.join(answer.types)}" if answer.types else ""
    invocation.answer(answer, f"added extractor {name}{types}")
    invocation.say(f"next: {command('graphmem', 'extract', 'run', name)}")


@app.command(epilog="Example: graphmem extract python src")
def python(folder: Annotated[str, typer.Argument(metavar="FOLDER", help="Where the code is.")] = ".") -> None:
    """
    Print what the Python code in a folder defines, imports and calls, one JSON object a line.

    The extractor `python` runs this; it imports and runs nothing of the code.
    """
    for line in python_lines(Path(folder)):
        if isinstance(line, str):
            print(visible(line), file=sys.stderr)
        else:
            sys.stdout.buffer.write(encode(line) + b"\n")
    sys.stdout.flush()


def described(one: Extraction) -> str:
    """Return what became of the rows of an extractor, in one line."""
    counts = {name: getattr(one, name) for name in ("created", "updated", "unchanged", "removed", "left", "kept")}
    told = ", ".join(f"{count:,} {name}" for name, count in counts.items() if count)
    return f"{one.name}: {told or 'nothing found'}"
