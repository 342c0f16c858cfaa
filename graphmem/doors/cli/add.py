"""``graphmem add``: one record, or rows of any kind."""

from typing import Annotated

import typer

from graphmem.core.records import wording
from graphmem.core.records.record_contract import BulkAdded
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, add_commands, passes
from graphmem.doors.cli.inputs import lines_of
from graphmem.errors import Usage
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import count

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=True, rich_markup_mode=None, add_completion=False
)

WITH_ROWS = Taken(note="with --ndjson")


@app.callback(epilog="Example: graphmem add --ndjson rows.ndjson")
@passes("add_rows", dedup=WITH_ROWS, skip_invalid=WITH_ROWS, verbose=WITH_ROWS, purges=WITH_ROWS)
def add(
    invocation: Invocation,
    call: Call,
    name: Annotated[
        str | None,
        typer.Option("--ndjson", metavar="FILE|-", help="Rows of any kind, one JSON object a line, all or none."),
    ] = None,
    verbose: bool = False,
) -> None:
    """Add one record, or rows of any kind with --ndjson."""
    if name is None:
        raise Usage("nothing to add", hint='see: graphmem add --help, such as graphmem add failure --trigger "…"')
    with lines_of(name) as lines:
        answer: BulkAdded = call(lines, name="<stdin>" if name == "-" else name)
    found = [
        f"{answer.created:,} created, {answer.merged:,} merged, {answer.updated:,} updated, "
        f"{answer.unchanged:,} unchanged, {count(answer.relations, 'relation')}"
    ]
    updates = [] if verbose else [f"updated {update.ref}: {', '.join(update.fields)}" for update in answer.updates]
    invocation.answer(answer, "\n".join([*(wording.changed(result) for result in answer.results), *updates, *found]))


add_commands(app, "add")
app.registered_commands.sort(key=lambda one: one.name not in ("failure", "pattern", "lesson"))  # these are first
