"""
The root of the command line: its verbs, the options before or after them, and the error boundary.

A verb's module is loaded only when the verb is named.
"""

import inspect
import os
import signal
import sys
import textwrap
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, redirect_stdout, suppress
from functools import cache, partial
from importlib import import_module
from io import StringIO
from itertools import pairwise
from typing import Any

import typer
from typer.core import TyperGroup

from graphmem import __version__
from graphmem.doors.cli.caller import Invocation, ids_of
from graphmem.doors.cli.help import help_of
from graphmem.doors.cli.options import in_options
from graphmem.doors.cli.refusal import in_words, is_call_for_help, meant
from graphmem.doors.cli.synonyms import COMMANDS, INSTEAD
from graphmem.doors.cli.verbs import FIRST, MADE, RENAMED, TOPICS, VERBS
from graphmem.doors.service.caller import COMPLETING, HELP, QUIET, content_of
from graphmem.doors.service.launch import launch
from graphmem.errors import AlreadyDone, GraphmemError, Usage
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.registry import features


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


WITH_VALUE = ("--category", "--dir", "--lock-timeout", "--scope")  # options of the old ``promote`` that take a word


@cache
def common_options() -> list[Any]:
    """Return the options that every verb takes, and that may be before it too."""
    app = typer.Typer(add_completion=False)
    app.command()(_options_of_all)
    return [option for option in typer.main.get_command(app).params if "--help" not in option.opts]


class Noun(TyperGroup):
    """A group of commands; a command that it does not have is refused with the one that was meant."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if ctx.parent is None:
            args = _by_new_name(ctx, args)
        name = args[0]
        if self.get_command(ctx, name) is None and not ctx.resilient_parsing and not name.startswith("-"):
            same = COMMANDS.get(name) if ctx.parent is None else None
            hint = f"did you mean {same}?" if same else meant(name, self.list_commands(ctx))
            hint = hint or INSTEAD.get((ctx.info_name, "")) or f"see: {ctx.command_path} --help"
            raise Usage(f"no command {name!r} in {ctx.command_path}", hint=hint)
        return super().resolve_command(ctx, args)


def new_name(words: Sequence[str]) -> str | None:
    """Return the name of today of a command that is typed by an old one; None for any other."""
    old, *rest = words
    new = RENAMED.get(old)
    names = {word.partition("=")[0] for word in rest}
    if old == "promote" and not {"--to", *HELP} & names:
        ref = [word for before, word in pairwise(["", *rest]) if word[:1] != "-" and before not in WITH_VALUE]
        new = None if ref else "experience insights"  # there is no record to copy
    return new if new and is_there(new.split()[0]) else None


def _by_new_name(ctx: Any, args: list[str]) -> list[str]:
    """Return what was typed with today's name in the place of an old one, and say that name to a person."""
    old, *rest = args
    new = None if ctx.resilient_parsing and old == "promote" else new_name(args)
    if new is None:
        return args
    if not (ctx.resilient_parsing or ctx.obj.is_json or _asks_for_json(rest) or QUIET & set(rest)):
        what = f"`{old}`" if old in RENAMED else f"`{old}` without a record"
        ctx.obj.say(f"{what} is now `{new}`; the old name goes with the next release")
    return [*new.split(), *rest]


class Root(Noun):
    """All verbs, each loaded when it is named."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name in VERBS if is_there(name)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in VERBS or not is_there(cmd_name):
            return None
        if cmd_name not in self.commands:
            module, attribute, line = VERBS[cmd_name]
            found = command_at(module, attribute, line)
            self.commands[cmd_name] = as_command(cmd_name, found, line)
        return self.commands[cmd_name]

    @property
    def groups(self) -> list[tuple[str, list[tuple[str, str]]]]:
        """The verbs of the first page with their lines in the help, without loading them."""
        return [("Commands", [(name, VERBS[name][2]) for name in FIRST if is_there(name)])]


def topics() -> Mapping[str, Mapping[str, str]]:
    """Return the verbs with their lines, by topic; those of a feature that was taken out are left out."""
    found: dict[str, dict[str, str]] = {}
    for name, (_, _, line) in VERBS.items():
        if name in TOPICS:
            rows = found[TOPICS[name][0]] = {}
        if is_there(name):
            rows[name] = line
    return {topic: rows for topic, rows in found.items() if rows}


def _epilog() -> str:
    """Return the end of the first page: where all other commands are."""
    names = textwrap.fill(", ".join(topics()), 78, initial_indent="  ", subsequent_indent="  ")
    return f"""\
More commands, by topic (graphmem help TOPIC):
{names}

Every command, and the options of all, such as --json:  graphmem help --all
The options of a command, with an example:  graphmem COMMAND --help"""


def is_there(verb: str) -> bool:
    """Return whether a verb has commands: those of a feature go with its folder."""
    module = VERBS.get(verb, (MADE,))[0]
    return module != MADE or any(verb in feature.verbs for feature in features().values())


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
    One memory for the coding agents of a project: what failed and what fixed it, what works, and what is to be done.
    """


def command_line() -> Any:
    """Return the whole command line, its verbs not loaded yet."""
    command: Any = typer.main.get_command(app)
    command.params[1:1] = common_options()
    command.get_help = lambda ctx: first_page()
    return command


def first_page() -> str:
    """Return the first page of the help."""
    command = command_line()
    command.epilog = _epilog()
    return help_of(command, "graphmem")


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
        main = partial(command_line().main, args=arguments, prog_name="graphmem", standalone_mode=False, obj=invocation)
        result = _complete_in_zsh(main) if os.environ.get(COMPLETING) == "complete_zsh" else main()
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


def _complete_in_zsh(main: Callable[[], Any]) -> int:
    """Print completions for a zsh, which by itself takes only those that begin with what was typed."""
    from graphmem.doors.cli.completion import for_zsh  # noqa: PLC0415 - loads the models of records

    with redirect_stdout(StringIO()) as printed, suppress(SystemExit):
        main()
    sys.stdout.write(for_zsh(printed.getvalue()))
    return 0


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
