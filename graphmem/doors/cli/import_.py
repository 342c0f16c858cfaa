"""``import …``: files of other tools, made records and edges; sessions, history, logs and notes, made candidates."""

from pathlib import Path
from typing import Any

import typer

from graphmem.constants import IMPORT_SHOWN
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, add_commands, passes
from graphmem.errors import Usage
from graphmem.features.exchange.operations import Imported
from graphmem.kernel.registry import Taken
from graphmem.kernel.system.surroundings import current_folder
from graphmem.names import quoted, visible

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


@app.command(FILE, epilog="Example: graphmem import file issues.jsonl --dry-run")
@passes(
    "imports.file",
    format=Taken("FORMAT", flag="--from"),
    map=Taken("FIELD=COLUMN", flag="--map", note="may be repeated"),
)
def import_file(invocation: Invocation, call: Call, path: Path, map: list[str] | None) -> None:  # noqa: A002
    """
    Make records and edges of a file or a folder of another tool, all or none.

    The word `file` can be left out. The same file again changes nothing; a newer one updates what changed in it, and
    leaves alone what was edited here.
    """
    answer: Imported = call(path=current_folder() / path, map=_columns_of(map))
    invocation.answer(answer, "\n".join(_account(answer)))
    if not answer.applied:
        invocation.say("nothing was changed; do it without --dry-run")


add_commands(app, "import")


def _columns_of(given: list[str] | None) -> dict[str, str] | None:
    """Return the column for each field, from ``FIELD=COLUMN``."""
    pairs = [one.partition("=") for one in given or ()]
    for field, _, column in pairs:
        if not (field.strip() and column.strip()):
            raise Usage(f"--map {field!r} names no column", hint="--map trigger=Title")
    return {field.strip(): column.strip() for field, _, column in pairs} or None


def _account(answer: Imported) -> list[str]:
    """Return what became of all that was read, a line for each sort of it."""
    lines = [f"{answer.format}: read {_counted(answer.read)}"]
    for name in ("created", "merged", "updated", "unchanged"):
        if found := getattr(answer, name):
            lines.append(f"{name}: {_counted(found)}")
    if answer.dangling:
        lines.append(f"dangling: {answer.dangling:,}")
    lines += [f"skipped {quoted(one.place)}: {visible(one.reason)}" for one in answer.skipped[:IMPORT_SHOWN]]
    if len(answer.skipped) > IMPORT_SHOWN:
        lines.append(f"and {len(answer.skipped) - IMPORT_SHOWN:,} more that were skipped; --json has them all")
    return lines


def _counted(found: dict[str, int]) -> str:
    """Return counts by kind in words."""
    return ", ".join(f"{number:,} {visible(kind if number == 1 else _plural(kind))}" for kind, number in found.items())


def _plural(noun: str) -> str:
    """Return the plural of what is counted."""
    return f"{noun[:-1]}ies" if noun.endswith("y") else f"{noun}s"
