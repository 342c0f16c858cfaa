"""
The root of the command line: its verbs, the options before or after them, and the error boundary.

A verb's module is loaded only when the verb is named.
"""

import inspect
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import nullcontext
from functools import cache, partial
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperGroup

from graphmem import __version__
from graphmem.doors.cli.caller import Invocation, ids_of
from graphmem.doors.cli.help import help_of
from graphmem.doors.cli.options import in_options
from graphmem.doors.cli.refusal import in_words, is_call_for_help, meant
from graphmem.doors.cli.synonyms import COMMANDS
from graphmem.doors.service.caller import COMPLETING, content_of
from graphmem.doors.service.launch import launch
from graphmem.errors import AlreadyDone, GraphmemError, Usage
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.registry import features

MADE = ""  # of the operations of a feature, in the place of a module
# Each verb: the module that has it, its name there, and its line in the help.
VERBS: dict[str, tuple[str, str, str]] = {
    "init": ("init", "init", "Prepare a project: make .graphmem here."),
    "add": ("add", "app", "Add a record, or rows of any kind."),
    "get": (MADE, "get", "Show a record with its edges."),
    "list": (MADE, "list", "List records."),
    "edit": ("edit", "edit", "Change fields of a record."),
    "rename": (MADE, "rename", "Give a record another name."),
    "forget": (MADE, "forget", "Archive a record."),
    "restore": (MADE, "restore", "Bring an archived record back."),
    "pin": (MADE, "pin", "Keep a record from being archived, first among its equals."),
    "unpin": (MADE, "unpin", "Take the pin from a record."),
    "supersede": (MADE, "supersede", "Put a record in the place of another."),
    "purge": (MADE, "purge", "Destroy records, with every row that names them."),
    "undo": (MADE, "undo", "Take back the last writes of this clone."),
    "link": (MADE, "link", "Add an edge between two records."),
    "unlink": (MADE, "unlink", "Take an edge out."),
    "related": (MADE, "related", "Show what a record is related to, strongest path first."),
    "solutions": (MADE, "solutions", "Show what solves a failure."),
    "path": (MADE, "path", "Show the strongest chain between two records."),
    "query": ("query", "query", "Find records by relevance."),
    "context": (MADE, "context", "Show what the project remembers for an objective."),
    "match": (MADE, "match", "Show the known failures in a log."),
    "ran": ("test_run", "app", "Run a command, show known fixes when it fails, note which helped."),
    "prime": (MADE, "prime", "Print what an agent needs to begin."),
    "status": ("begin", "status", "Show where you are: store, task, campaigns, service, next steps."),
    "stale": (MADE, "stale", "List records whose cited code is not as it was."),
    "similar": (MADE, "similar", "Find campaigns that have ended and are like this one."),
    "feedback": (MADE, "feedback", "Report that a memory helped, or did not."),
    "learn": (MADE, "learn", "Take lessons from the events of a finished run."),
    "inject": (MADE, "inject", "Print the lessons that belong into a prompt."),
    "decay": (MADE, "decay", "Record a run that saw no lesson."),
    "experience": (MADE, "experience", "Show experiences with tasks like this one."),
    "promote": (MADE, "promote", "Write as insights what experiences agree on."),
    "adopt": (MADE, "adopt", "Copy a record of your own store into this project."),
    "import": ("import_", "app", "Make records and candidates of what other programs hold."),
    "review": ("review", "app", "Look at candidates: accept them as records, or dismiss them."),
    "session": (MADE, "session", "Show or change the current task, decisions and constraints."),
    "prune": (MADE, "prune", "Archive what is worth least."),
    "campaign": (MADE, "campaign", "Plan tasks, see what can start and what cannot, finish."),
    "task": (MADE, "task", "Start, complete or block a task of a campaign."),
    "observe": (MADE, "observe", "Learn from the finished and blocked tasks of a campaign."),
    "explore": (MADE, "explore", "Gather what several agents find out about a project."),
    "run": (MADE, "run", "Show or change what is going on now on this machine."),
    "phase": (MADE, "phase", "Show or change the phase of the work."),
    "work": (MADE, "work", "Begin guarded work of a flow, see where it is and what is next."),
    "stage": (MADE, "stage", "Begin, run and end a stage of guarded work."),
    "item": (MADE, "item", "Add review items to guarded work, and move them."),
    "snapshot": (MADE, "snapshot", "Show and compare what is kept of dry runs of guarded work."),
    "inbox": (MADE, "inbox", "Keep what is to be looked at later."),
    "event": (MADE, "event", "Record something that happened."),
    "events": ("event", "events", "Show what happened, or follow it."),
    "type": ("vocabulary", "app", "Declare and show entity and relation types."),
    "scope": (MADE, "scope", "Declare and show what callers may read and write."),
    "extract": ("extract", "app", "Run programs that find entities and edges in the project."),
    "graph": (MADE, "graph", "Push the graph of this memory to a server with those of other projects."),
    "cypher": (MADE, "cypher", "Ask the graph in Cypher, read-only."),
    "log": (MADE, "log", "Show the commits that changed a record."),
    "why": (MADE, "why", "Show where a record comes from, and why a query finds it."),
    "diff": (MADE, "diff", "Show in words what changed in the memory."),
    "check": (MADE, "check", "Check what a branch does to the memory."),
    "textconv": ("textconv", "textconv", "Print a data file for people; git diff calls it."),
    "export": (MADE, "export", "Bring the files into canonical form, or check that they are."),
    "embed": (MADE, "embed", "Show or change the model that makes the vectors."),
    "rebuild": (MADE, "rebuild", "Rebuild everything derived from the files."),
    "split": (MADE, "split", "Put the rows of a large kind into 16 or 256 files, or into one again."),
    "vacuum": (MADE, "vacuum", "Remove what is derived and not needed now."),
    "dump": ("dump", "dump", "Print the memory in the form of another program, or write it to a file."),
    "reset": (MADE, "reset", "Take all rows out of the memory."),
    "validate": (MADE, "validate", "Check files, vocabulary and graph against each other."),
    "resolve": (MADE, "resolve", "Merge data files that git's merge left in conflict."),
    "config": (MADE, "config", "Show the settings that hold here, and where each comes from."),
    "schema": (MADE, "schema", "Print the JSON Schema of what is stored, taken or answered."),
    "doctor": ("doctor", "doctor", "Check the store and this clone; repair what can be repaired automatically."),
    "sync": (MADE, "sync", "Share the memory of a ref with another repository."),
    "ledger": (MADE, "ledger", "Keep the rows in a ref of their own, or in the branch."),
    "trust": (MADE, "trust", "Let the project name a model of its own."),
    "team": (MADE, "team", "Make memories in a PostgreSQL or Redis server, and say who may use them."),
    "stats": (MADE, "stats", "Show counts, worth, connectivity, estimates."),
    "verify-loop": (MADE, "verify-loop", "Say whether learning happens, and where it breaks off."),
    "view": ("view", "view", "Look at the memory in a browser, and work in it."),
    "install": ("install", "install", "Set up a coding agent: its hooks and its MCP server."),
    "uninstall": ("install", "uninstall", "Take back what install wrote."),
    "hook": ("hook", "hook", "Answer an event of a coding agent."),
    "statusline": ("statusline", "statusline", "Print where the work is, in one line."),
    "serve": ("serve", "serve", "Run or manage the service that answers commands faster."),
    "mcp": ("mcp", "mcp", "Serve agents' programs over the Model Context Protocol."),
    "benchmark": ("benchmark", "benchmark", "Say how to measure relevance and speed."),
    "demo": ("demo", "demo", "Make a store from real data and show what it can do."),
}

# What the commands from a verb on are about, in the help.
HEADINGS = {
    "init": "Begin and record",
    "link": "Connect",
    "query": "Find",
    "feedback": "Learn from what happened",
    "campaign": "Plan and work",
    "type": "Types and Cypher",
    "log": "History",
    "export": "Files and upkeep",
    "install": "Agents and the service",
    "benchmark": "Try it",
}

EPILOG = (
    "Exit status: 0 done, also with an empty result; 1 not found, not connected, or a check found errors; 2 usage;"
    " 3 input refused; 4 locked or unavailable; 5 store damaged."
)


def _keep(ctx: typer.Context, param: typer.CallbackParam, value: Any) -> None:
    """Keep an option's value in the invocation, below the option's name."""
    invocation = ctx.find_root().obj
    if param.name == "scope" and value == "":  # of a variable that is not set: not for a caller who may do all
        raise Usage("--scope names no scope", hint="see: graphmem scope list")
    if value not in (None, False) and invocation is not None:
        setattr(invocation, str(param.name), value)
        if invocation.is_user:  # --user, or --dir after it
            invocation.use_store("user")


_kept = partial(typer.Option, callback=_keep, expose_value=False)


def _options_of_all(
    folder: str | None = _kept(None, "--dir", metavar="FOLDER", help="The folder that holds .graphmem."),
    is_user: bool = _kept(False, "--user", help="Work on your own store, which is in no project."),
    is_json: bool = _kept(False, "--json", help="Print one JSON document."),
    lock_timeout_s: float | None = _kept(
        None, "--lock-timeout", metavar="SECONDS", min=0, help="How long to wait for another writer [default: 30]."
    ),
    is_quiet: bool = _kept(False, "--quiet", "-q", help="Say nothing on standard error but errors."),
    scope: str | None = _kept(None, "--scope", metavar="NAME", help="Read and write what this scope allows."),
) -> None:
    """Only its options count: they are those of every verb."""


# Of every command that answers from the past too.
At = _kept(
    None, "--at", metavar="COMMIT|DATE", help="The memory as it was then; a date means the last commit before it."
)


@cache
def common_options() -> list[Any]:
    """Return the options that every verb takes, and that may be before it too."""
    app = typer.Typer(add_completion=False)
    app.command()(_options_of_all)
    return [option for option in typer.main.get_command(app).params if "--help" not in option.opts]


class Noun(TyperGroup):
    """A group of commands; a command that it does not have is refused with the one that was meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            same = COMMANDS.get(name) if ctx.parent is None else None
            hint = f"did you mean {same}?" if same else meant(name, self.list_commands(ctx))
            hint = hint or f"see: {ctx.command_path} --help"
            raise Usage(f"no command {name!r} in {ctx.command_path}", hint=hint)
        return super().resolve_command(ctx, args)


class Root(Noun):
    """All verbs, each loaded when it is named."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in VERBS if _is_there(name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS or not _is_there(cmd_name):
            return None
        if cmd_name not in self.commands:
            module, attribute, line = VERBS[cmd_name]
            found = command_at(module, attribute, line)
            self.commands[cmd_name] = as_command(cmd_name, found, line)
        return self.commands[cmd_name]

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The verbs with their lines in the help, by what they are about, without loading them."""
        found: list[tuple[str, list[tuple[str, str]]]] = []
        for name, (_, _, line) in VERBS.items():
            if name in HEADINGS:
                found.append((HEADINGS[name], []))
            if _is_there(name):
                found[-1][1].append((name, line))
        return found


def _is_there(verb: str) -> bool:
    """Return whether a verb has commands: those of a feature go with its folder."""
    return VERBS[verb][0] != MADE or any(verb in feature.verbs for feature in features().values())


def command_at(module: str, name: str, line: str) -> Any:
    """Return the function or the group of a verb."""
    if module == MADE:
        return import_module("graphmem.doors.cli.commands").made(name, line)
    return getattr(import_module(f"graphmem.doors.cli.{module}"), name)


def as_command(name: str, found: Any, line: str) -> Any:
    """Return a function or a group of functions as a command."""
    if isinstance(found, typer.Typer):
        command: Any = typer.main.get_command(found)
        command.name = name
    else:
        app = typer.Typer(add_completion=False, rich_markup_mode=None)
        app.command(name)(found)
        command = typer.main.get_command(app)
    _dress(command)
    command.short_help = line
    return command


def _dress(command: Any) -> None:
    """
    Give a command and those below it the common options, graphmem's own form of help, and an example at its end.

    An option of its own stays what it is: ``install --user`` sets up all projects of a user.
    """
    own = {name for option in command.params for name in option.opts}
    command.params.extend(option for option in common_options() if own.isdisjoint(option.opts))
    command.get_help = lambda ctx: help_of(command, ctx.command_path)
    text, _, example = inspect.cleandoc(command.help or "").partition("Example: ")
    command.help = text.strip()
    command.short_help = " ".join(command.help.split("\n\n")[0].split())
    example = example.strip() or (command.epilog or "").removeprefix("Example: ")
    if example:
        lines = "\n".join(f"  {line}" for line in example.splitlines())
        command.epilog = f"Example:\n{lines}"
    for found in getattr(command, "commands", {}).values():
        _dress(found)


app = typer.Typer(
    cls=Root,
    name="graphmem",
    rich_markup_mode=None,
    no_args_is_help=True,
    epilog=EPILOG,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _show_version(value: bool) -> None:
    """Print the version and end."""
    if value:
        typer.echo(f"graphmem {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(False, "--version", callback=_show_version, is_eager=True, help="Print the version."),
) -> None:
    """
    One memory for the coding agents of a project.

    Failures and their fixes, patterns, entities and campaigns, and how they hang together.
    """


def command_line() -> Any:
    """Return the whole command line, its verbs not loaded yet."""
    command: Any = typer.main.get_command(app)
    command.params[1:1] = common_options()
    command.get_help = lambda ctx: help_of(command, ctx.command_path)
    return command


def run(arguments: Sequence[str], invocation: Invocation | None = None) -> int:
    """Run the command line with these arguments and return its exit status: the boundary where errors become text."""
    invocation = invocation or Invocation()
    _speak_utf8()
    try:
        status = _status_of(invocation, list(arguments))
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # the reader has read enough
        sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the end of the process closes it
        return 0
    finally:
        invocation.close()


def run_here(arguments: Sequence[str], request_id: str, *, is_repeat: bool = False) -> int:
    """Run the command line in a process of its own; a repeat of what a service carried out prints the same again."""
    # An interrupt in the middle of an error would add an error of its own.
    ignore = partial(signal.signal, signal.SIGINT, signal.SIG_IGN)
    invocation = Invocation(new_id=ids_of(request_id), before_error=ignore)
    request = RequestUnderWay(request_id, content_of(arguments), is_repeat=True)
    with carried_out(request) if is_repeat else nullcontext():
        status = run(arguments, invocation)
    if invocation.wants_service:
        launch(str(invocation.memory.store.client.layout.root))
    return status


def _speak_utf8() -> None:
    """Print UTF-8 whatever the locale is; what no text can hold is escaped, and a closed stream swallows it."""
    sys.stdout = sys.stdout or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the end of the process closes it
    sys.stderr = sys.stderr or open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")


def _status_of(invocation: Invocation, arguments: list[str]) -> int:
    """Run the command line and return its exit status; every error is reported in words."""
    try:
        for argument in arguments:
            if any("\ud800" <= char <= "\udfff" for char in argument):
                raise Usage(f"argument {argument[:80]!r} is not text: it holds bytes that are not UTF-8")
        if not arguments and COMPLETING not in os.environ:
            if import_module("graphmem.doors.cli.begin").introduced(invocation):
                return 0
            arguments = ["status"]
        result = command_line().main(args=arguments, prog_name="graphmem", standalone_mode=False, obj=invocation)
    except AlreadyDone as error:
        return invocation.repeat(error)
    except GraphmemError as error:
        invocation.is_json |= isinstance(error, Usage) and _asks_for_json(arguments)
        invocation.fail(error.code, in_options(error), error.hint, error.details)
        return error.exit_status
    except BrokenPipeError:
        raise
    except (OSError, MemoryError) as error:
        invocation.fail("unavailable", _told(error), None, {})
        return 4
    except SystemExit:  # the parser's own way out: completions were printed, or the reader is gone
        return 0
    except Exception as error:  # the boundary of the front end: a user never sees a traceback
        if what := without_memory(error):
            invocation.fail("unavailable", f"no memory is left for {what}", None, {})
            return 4
        return _failed(invocation, error, arguments)
    if result == 130:
        invocation.fail("interrupted", "interrupted", None, {})
    return result if isinstance(result, int) else 0


def without_memory(error: Exception) -> str | None:
    """Return what a library found no memory for, by the errors that libraries raise then; None for any other error."""
    message = str(error)
    if isinstance(error, RuntimeError) and "start new thread" in message:
        return "another thread"
    if isinstance(error, ImportError) and any(text in message for text in ("failed to map", "annot allocate memory")):
        return "another library"
    if isinstance(error, SystemError) and "without exception set" in message:
        return "what a library does"
    return None


def _asks_for_json(arguments: list[str]) -> bool:
    """Return whether ``--json`` is among the options, where the parser gave up before it got there."""
    end = arguments.index("--") if "--" in arguments else len(arguments)
    return "--json" in arguments[:end]


def _told(error: Exception) -> str:
    """Return what the operating system or the disk did not let us do."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename!r}: {error.strerror.lower()}" if error.filename else error.strerror.lower()
    return str(error) or "out of memory"


def _failed(invocation: Invocation, error: Exception, arguments: list[str]) -> int:
    """Tell errors of the parser from bugs, and show either in words."""
    if not isinstance(getattr(error, "exit_code", None), int):  # the parser's own classes are private to it
        invocation.fail("bug", f"{type(error).__name__}: {error}", "this is a fault of graphmem; please report it", {})
        if invocation.is_debug:
            raise error
        return 1
    invocation.is_json |= _asks_for_json(arguments)
    if is_call_for_help(error) and not invocation.is_json:
        print(error, file=sys.stderr)
    elif is_call_for_help(error):
        context: Any = getattr(error, "ctx", None)
        invocation.fail("usage", "a command is missing", f"see: {context.command_path} --help", {})
    elif type(error).__name__ == "Abort":
        invocation.fail("usage", "aborted", None, {})
    else:
        invocation.fail("usage", *in_words(error), {})
    return 2
