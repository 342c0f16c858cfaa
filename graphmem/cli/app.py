"""
The root of the command line: its verbs, the options that stand before or after them, and the error boundary.

A verb's module is loaded only when the verb is named.
"""


from collections.abc import Callable, Sequence
from functools import cache

from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

from graphmem import __version__
from graphmem.cli.session import Session
from graphmem.errors import GraphmemError

# Each verb: the module that has it, its name there, and its line in the help.
VERBS: dict[str, tuple[str, str, str]] = {
    "init": ("store", "init", "Prepare a project: make .graphmem here."),
    "add": ("add", "app", "Add a failure, pattern or entity, or rows of any kind."),
    "get": ("find", "get", "Show a record with its edges."),
    "list": ("find", "list_records", "List records."),
    "edit": ("change", "edit", "Change fields of a record."),
    "rename": ("change", "rename", "Give a record another name."),
    "forget": ("change", "forget", "Archive a record."),
    "restore": ("change", "restore", "Bring an archived record back."),
    "link": ("relation", "link", "Add an edge between two records."),
    "unlink": ("relation", "unlink", "Take an edge out."),
    "related": ("relation", "related", "Show what a record is related to, strongest path first."),
    "solutions": ("relation", "solutions", "Show what solves a failure."),
    "path": ("relation", "path", "Show the strongest chain between two records."),
    "query": ("find", "query", "Find records by relevance."),
    "similar": ("campaign", "similar", "Find finished campaigns like this one."),
    "feedback": ("change", "feedback", "Report that a memory helped, or did not."),
    "campaign": ("campaign", "app", "Plan tasks, see what can start, finish."),
    "type": ("vocabulary", "app", "Declare and show entity and relation types."),
    "cypher": ("cypher", "cypher", "Ask the graph in Cypher, read-only."),
    "export": ("store", "export", "Bring the files into canonical form, or check that they are."),
    "rebuild": ("store", "rebuild", "Make everything derived anew from the files."),
    "validate": ("store", "validate", "Check files, vocabulary and graph against each other."),
    "stats": ("store", "stats", "Count records and edges."),
    "demo": ("demo", "demo", "Make a store from real data and show what it can do."),
}

EPILOG = (
    "Exit status: 0 done, also with an empty result; 1 not found, not connected, or a check found errors; 2 usage;"
    " 3 input refused; 4 locked or unavailable; 5 store damaged."
)


def keeps(name: str) -> Callable[[typer.Context, Any], None]:
    """Return a callback that keeps an option's value in the session."""

    def keep(ctx: typer.Context, value: Any) -> None:
        if value:
            setattr(ctx.find_root().obj, name, value)

    return keep


def options_of_all(
    folder: str | None = typer.Option(None, "--dir", metavar="FOLDER", callback=keeps("folder"), expose_value=False,
                                      help="The folder that holds .graphmem."),
    json: bool = typer.Option(False, "--json", callback=keeps("is_json"), expose_value=False,
                              help="Print one JSON document."),
    lock_timeout: float | None = typer.Option(None, "--lock-timeout", metavar="SECONDS", expose_value=False,
                                              callback=keeps("lock_timeout_s"),
                                              help="How long to wait for another writer."),
    quiet: bool = typer.Option(False, "--quiet", "-q", callback=keeps("is_quiet"), expose_value=False,
                               help="Say nothing on standard error but errors."),
) -> None:  # fmt: skip
    """Only its options count: they are those of every verb."""


@cache
def common_options() -> list[Any]:
    """Return the options that every verb takes, and that may stand before it too."""
    app = typer.Typer(add_completion=False)
    app.command()(options_of_all)
    return [found for found in typer.main.get_command(app).params if "--help" not in found.opts]


class Verb(TyperCommand):
    """A command with the common options."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


class Noun(TyperGroup):
    """A group of commands with the common options."""

    command_class = Verb

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.extend(common_options())


class Root(Noun):
    """All verbs, each loaded when it is named."""

    def list_commands(self, ctx: typer.Context) -> list[str]:  # type: ignore[override]
        return list(VERBS)

    def get_command(self, ctx: typer.Context, cmd_name: str) -> Any:  # type: ignore[override]
        if cmd_name not in VERBS:
            return None
        if cmd_name not in self.commands:
            module, attribute, line = VERBS[cmd_name]
            found = getattr(import_module(f"graphmem.cli.{module}"), attribute)
            self.commands[cmd_name] = as_command(cmd_name, found, line)
        return self.commands[cmd_name]


def as_command(name: str, found: Any, line: str) -> Any:
    """Return a function or a group of functions as a command."""
    if isinstance(found, typer.Typer):
        command = typer.main.get_command(found)
        command.name = name
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name, cls=Verb)(found)
        command = typer.main.get_command(app)
    command.short_help = line
    return command


app = typer.Typer(
    cls=Root,
    name="graphmem",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def show_version(value: bool) -> None:
    """Print the version and end."""
    if value:
        typer.echo(f"graphmem {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=show_version, is_eager=True, help="Print the version."),
) -> None:
    """One memory for the coding agents of a project: failures and fixes, patterns, entities, campaigns, and how they hang together."""




def run(arguments: Sequence[str]) -> int:
    """Run the command line with these arguments and return its exit status: the boundary where errors become text."""
    session = Session(is_json="--json" in arguments)
    try:
        result = typer.main.get_command(app).main(
            args=list(arguments), prog_name="graphmem", standalone_mode=False, obj=session
        )
        return result if isinstance(result, int) else 0
    except GraphmemError as error:
        session.fail(error.code, error.message, error.hint, error.details)
        return error.exit_status
    except KeyboardInterrupt:
        session.fail("interrupted", "interrupted", None, {})
        return 130
    except BrokenPipeError:
        return 0
    except Exception as error:  # the boundary of the front end: a user never sees a traceback
        return failed(session, error)
    finally:
        session.close()


def failed(session: Session, error: Exception) -> int:
    """Tell errors of the parser from bugs, and show either in words."""
    status = getattr(error, "exit_code", None)
    if isinstance(status, int):
        text = error.format_message() if hasattr(error, "format_message") else str(error)
        if type(error).__name__ == "Abort":
            text = "aborted"
        if text:
            session.fail("usage", text.strip().removesuffix("."), usage_hint(error), {})
        return status or 2
    session.fail("bug", f"{type(error).__name__}: {error}", "this is a fault of graphmem; please report it", {})
    if session.is_debug:
        raise error
    return 1


def usage_hint(error: Exception) -> str | None:
    """Return how the command is used, where the parser's error knows its command."""
    context = getattr(error, "ctx", None)
    return f"see: {context.command_path} --help" if context is not None else None


