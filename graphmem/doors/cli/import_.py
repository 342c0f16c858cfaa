"""``import …``: files of other tools, made records and edges; sessions, history, logs and notes, made candidates."""

from typing import Any

import typer

from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.commands import add_commands

FILE = "file"  # the command that is meant where none is named
ALL = "all"


class Sources(Noun):
    """The commands by what is imported; any other first word is the path of a file."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Put in the command that --all means, or the one for a path where the first word names no other."""
        words = [word for word in args if not word.startswith("-")]
        if not words or words[0] not in self.list_commands(ctx):
            if "--all" in args:
                args = [ALL, *(word for word in args if word != "--all")]
            elif words:
                args = [FILE, *args]
        parsed: list[str] = super().parse_args(ctx, args)
        return parsed


app = typer.Typer(
    cls=Sources, help="Make records, edges and candidates of what other programs hold.",
    no_args_is_help=True, rich_markup_mode=None, add_completion=False, epilog="Example: graphmem import issues.jsonl",
)  # fmt: skip
app.callback()(lambda: None)


add_commands(app, "import")
