"""``graphmem add``: one record, or rows of any kind."""

import typer

from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.commands import add_commands, command_of
from graphmem.kernel.registry import OPERATIONS

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=True, rich_markup_mode=None, add_completion=False
)
app.callback()(command_of(OPERATIONS["add_rows"]))
add_commands(app, "add")
app.registered_commands.sort(key=lambda one: one.name not in ("failure", "pattern", "lesson"))  # these are first
