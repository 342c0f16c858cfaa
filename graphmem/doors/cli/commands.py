"""
Commands that pass their request through to an operation: a field of the request is an argument or an option.

What a command says of a field by itself is an exception; all else follows from the field's type and name.
"""

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import wraps
from itertools import pairwise
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

import typer
from typer.models import ArgumentInfo

from graphmem.doors.cli.app import At, Noun
from graphmem.doors.cli.caller import Invocation, invocation_of
from graphmem.doors.cli.completion import COMPLETERS, complete_ref
from graphmem.doors.cli.inputs import READERS, lines_of
from graphmem.doors.cli.options import FLAGS, argument, is_negated, option
from graphmem.errors import Usage
from graphmem.kernel import dispatch
from graphmem.kernel.answer import store_named
from graphmem.kernel.registry import OPERATIONS, Operation, Taken, asker_of, commands, printout, text_of
from graphmem.kernel.request import Request
from graphmem.kernel.system.user import STORES, store_of

# Runs the operation with what was given, or with other values in its place, and returns its answer.
Call = Callable[..., Any]
PASSED = set[str]()  # the operations that have a command of this sort, once the command's module is loaded


REF = Taken("REF", "ref")
CAMPAIGN = Taken("NAME", "campaign")
# Fields that several requests have, where their type alone does not say it.
FIELDS = {
    "archetype": Taken("A"),
    "budget": Taken("TOKENS"),
    "campaign": CAMPAIGN,
    "check_after": Taken("DAY"),
    "cites": Taken("PATH[:SYMBOL][@COMMIT]", reads="cites"),
    "conversation": Taken("ID"),
    "cursor": Taken("CURSOR"),
    "dedup": Taken(meaning="Store it even if it repeats another"),
    "domain": Taken("D"),
    "failed": REF,
    "files": Taken("PATH", reads="files"),
    "id": Taken("ID"),
    "key": Taken("SLUG", flag="--name"),
    "kinds": Taken("KIND", "kind"),
    "name": Taken("SLUG"),
    "ref": REF,
    "run": Taken("ID"),
    "session": Taken("NAME"),
    "sources": Taken("WHERE"),
    "subject": REF,
    "supersedes": REF,
    "tag": Taken("TAG"),
    "tags": Taken("TAG"),
    "trigger": Taken("TEXT|-", note="- reads standard input", reads="text typed"),
    "untag": Taken("TAG"),
    "used": REF,
    "versions": Taken("NAME=V", flag="--version", reads="versions"),
    "versions_from": Taken(flag="--versions"),
}


def noun(meaning: str, own: Callable[..., None] | None = None) -> typer.Typer:
    """Return a group of commands, empty yet; ``own`` is what its name alone does."""
    app = typer.Typer(
        cls=Noun,
        help=own.__doc__ if own else meaning,
        no_args_is_help=own is None,
        invoke_without_command=own is not None,
        rich_markup_mode=None,
        add_completion=False,
    )
    app.callback()(own or (lambda: None))
    return app


def made(verb: str, meaning: str) -> Callable[..., None] | typer.Typer:
    """Return the command of a verb, or the group of its commands, made from the operations that features name."""
    found = list(commands(verb))
    return command_of(found[0][1]) if [path for path, _ in found] == [verb] else group_of(verb, meaning)


def group_of(verb: str, meaning: str) -> typer.Typer:
    """Return the group of a verb's commands; one of them may be that of the verb alone."""
    own = [command_of(row) for path, row in commands(verb) if path == verb]
    app = noun(meaning, *own)
    add_commands(app, verb)
    return app


def add_commands(app: typer.Typer, verb: str) -> None:
    """Add the commands below a verb that are made from operations to its group."""
    for path, row in commands(verb):
        if path != verb:
            app.command(path.rpartition(" ")[2])(command_of(row))


def command_of(row: Operation) -> Callable[..., None]:
    """Return the command of an operation, which asks and reads as its feature says."""
    ask = asker_of(row)
    asked_for = {} if ask is dict else inspect.signature(ask).parameters

    def show(invocation: Invocation, call: Call, **given: Any) -> None:
        form = "--markdown" if given.get("markdown") else f"--format {given.get('form')}"
        if "markdown" in form and invocation.is_json:
            raise Usage(f"{form} and --json are two forms", hint="give one of them")
        invocation.is_json |= form == "--format json"
        changes = dict(ask(**{name: given[name] for name in asked_for}))
        other = OPERATIONS[str(changes.pop("operation", row.name))]
        source: Any = changes.pop(other.stream, None) if other.stream else None
        with lines_of(source) if source else nullcontext() as lines:
            if source and "name" in other.request.model_fields:
                changes["name"] = "<stdin>" if source == "-" else source
            if other is row:
                answer = call(lines, **changes)
            else:
                answer = invocation.memory.store.call(other.name, lines, **changes)
        print_answer(invocation, other.name, answer, **given)

    read_with = dict(list(inspect.signature(text_of(row)).parameters.items())[1:])
    named = {**asked_for, **{name: one for name, one in read_with.items() if name not in asked_for}}
    own = [one for name, one in named.items() if get_args(one.annotation) or name in row.request.model_fields]
    first = list(inspect.signature(show).parameters.values())[:2]
    show.__signature__ = inspect.Signature([*first, *map(_own_option, own)])  # type: ignore[attr-defined]
    command = passes(row.name, arguments=row.arguments, without=row.leaves, is_report=row.is_report, **row.takes)(show)
    meaning = re.sub("^Return (whether)?", lambda at: "Say whether" if at[1] else "Show ", row.help or row.meaning)
    meaning = re.sub("``([^`]+)``", lambda at: FLAGS.get((row.request.__name__, at[1]), at[1]), meaning)
    command.__doc__ = inspect.cleandoc(meaning) + (f"\n\nExample: {row.example}" if row.example else "")
    return command


def print_answer(invocation: Invocation, operation: str, answer: Any, **given: Any) -> None:
    """Print an answer as its feature says that it reads, with what was given, and end with the status that it says."""
    invocation.is_talk_off = False
    said = printout(operation, answer, **given)
    invocation.answer(answer, said.text, is_dim=said.is_dim, is_file=said.is_file)
    for note in said.notes * (not (said.is_file and invocation.is_json)):
        invocation.say(note)
    if said.status:
        raise typer.Exit(said.status)


def _own_option(one: inspect.Parameter) -> inspect.Parameter:
    """Return a parameter of a feature's function; one that is annotated so is an option of the command, no field."""
    one = one.replace(kind=inspect.Parameter.KEYWORD_ONLY)
    taken = next((part for part in get_args(one.annotation)[1:] if isinstance(part, Taken)), None)
    if taken is None:
        return one
    more: dict[str, Any] = {"metavar": taken.metavar, "help": f"{taken.meaning}."}
    more["autocompletion"] = COMPLETERS.get(taken.completes or "")
    made = typer.Option(*taken.flag.split(), **more) if taken.flag else typer.Argument(**more)
    return one.replace(annotation=Annotated[get_args(one.annotation)[0], made])


# What a command with files and cites takes beside them.
MISSING_OK = (
    inspect.Parameter("cites", inspect.Parameter.KEYWORD_ONLY),
    inspect.Parameter(
        "missing_ok",
        inspect.Parameter.KEYWORD_ONLY,
        default=False,
        annotation=Annotated[bool, typer.Option("--missing-ok", help="A --file need not be there yet.")],
    ),
)


def passes(
    operation: str,
    *,
    arguments: int | None = None,
    without: Collection[str] = (),
    is_report: bool = False,
    **exceptions: Taken,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """
    Make a command of the function that shows an operation's answer; its docstring is the help.

    The function takes the invocation, then ``answer``, or ``call`` where it has something to do before the operation
    runs. Of its other parameters those that are annotated for Typer are options and arguments of the command's own:
    in the place of the field of that name, else after the parameter before them, or at the end. The others are names
    of fields, and get what was given for them.

    Args:
        arguments: how many fields are arguments; all that are required if not given. The other fields are options.
        without: fields that the command line does not take as they are.
        is_report: what the store reports is in the answer, and is not said a second time.
        exceptions: fields that are taken otherwise than their name and type say.
    """
    PASSED.add(operation)
    request = OPERATIONS[operation].request

    def command_of(show: Callable[..., None]) -> Callable[..., None]:
        _, second, *named = inspect.signature(show).parameters.values()
        own = [*named, *(MISSING_OK if "cites" in request.model_fields else ())]
        taken = _parameters(request, own, exceptions, arguments=arguments, without=without)
        fields = [one.name for one in taken if one.name not in {one.name for one in own if _is_own(one)}]
        readers = {name: one for name in fields if (one := exceptions.get(name) or FIELDS.get(name)) and one.reads}
        refs = _refs_among(taken)
        negated = {name for name in fields if is_negated(request.model_fields[name])}

        @wraps(show, assigned=("__module__", "__name__", "__doc__"))
        def command(ctx: typer.Context, **values: Any) -> None:
            if ctx.invoked_subcommand is not None:  # the command of a group, before one of its commands
                return
            invocation = invocation_of(ctx)
            values = _of_one_store(invocation, values, refs)
            values.update({name: not values[name] for name in negated})
            given = {name: value for name, value in values.items() if name in fields and value not in (None, [])}

            for name in [name for name in readers if name in given]:
                way = "path" if name == "files" and values.get("missing_ok") else str(readers[name].reads)
                given[name] = READERS[way](invocation, given[name], readers[name].such_as)

            invocation.is_talk_off = is_report

            def call(stream: Any = None, /, **changes: Any) -> Any:
                if not OPERATIONS[operation].needs_store:
                    return dispatch.call(None, dispatch.OWNER, operation, given)
                with nullcontext() if stream is not None else invocation.at_work():
                    return invocation.memory.store.call(operation, stream, **{**given, **changes})

            asked = {one.name: values[one.name] for one in named}
            show(invocation, call if second.name == "call" else call(), **asked)

        context = inspect.Parameter("ctx", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        past = [inspect.Parameter("at", inspect.Parameter.KEYWORD_ONLY, default=At)] * OPERATIONS[operation].past
        command.__signature__ = inspect.Signature([context, *taken, *past])  # type: ignore[attr-defined]
        return command

    return command_of


def _of_one_store(invocation: Invocation, given: Mapping[str, Any], names: Mapping[str, bool]) -> dict[str, Any]:
    """
    Return what was given with references as the store has them; one that is marked chooses another store.

    Args:
        names: those of the references; whether it is an argument, which says what the command is about.

    Raises:
        Usage: some are marked and some are not, or one is of an option of a command that is about the project.
    """
    values = [given[name] for name in names if given[name] is not None]
    refs = [ref for value in values for ref in ([value] if isinstance(value, str) else value)]
    if (store := store_named(refs)) == "project":
        return dict(given)
    if not invocation.is_user and not any(given[name] for name, is_argument in names.items() if is_argument):
        hint = "with --user it works on that store" if store == "user" else None
        raise Usage(f"{refs[0]!r} is in {STORES[store]}, and the command works on the project", hint=hint)
    invocation.use_store(store)
    return {name: bare(value) if name in names and value else value for name, value in given.items()}


def _refs_among(parameters: Sequence[inspect.Parameter]) -> dict[str, bool]:
    """Return the parameters that take a reference of a record, or several, and whether each is an argument."""
    found = {}
    for one in parameters:
        infos = (one.default, *getattr(one.annotation, "__metadata__", ()))  # what the parser knows of it
        if any(getattr(info, "autocompletion", None) is complete_ref for info in infos):
            found[one.name] = any(isinstance(info, ArgumentInfo) for info in infos)
    return found


def bare(value: Any) -> Any:
    """Return references without the mark of a store."""
    return store_of(value)[1] if isinstance(value, str) else [store_of(one)[1] for one in value]


def _is_own(named: inspect.Parameter) -> bool:
    """Return whether a parameter of the function is an option or argument of the command's own."""
    return get_origin(named.annotation) is Annotated


def _parameters(
    request: type[Request],
    named: Sequence[inspect.Parameter],
    exceptions: Mapping[str, Taken],
    *,
    arguments: int | None,
    without: Collection[str],
) -> list[inspect.Parameter]:
    """Return what the parser takes for the fields of a request, and among it what is of the command's own."""
    own = {one.name: one.replace(kind=inspect.Parameter.KEYWORD_ONLY) for one in named if _is_own(one)}
    order = [name for name in request.model_fields if name not in without]
    for before, name in pairwise(["", *(one.name for one in named)]):
        if name not in order:
            order.insert(order.index(before) + 1 if before else len(order), name)
    fields = [name for name in order if name not in own]
    required = [name for name in fields if request.model_fields[name].is_required()]
    positional = fields[: len(required) if arguments is None else arguments]
    return [
        own.get(name) or parameter(request, name, exceptions.get(name), is_argument=name in positional)
        for name in order
    ]


def parameter(request: type[Request], name: str, exception: Taken | None, *, is_argument: bool) -> inspect.Parameter:
    """Return a field of a request as the parser takes it."""
    sort = _sort_of(request.model_fields[name].annotation)
    given = exception or FIELDS.get(name, Taken())
    if is_argument:
        metavar = exception.metavar if exception else None
        made = argument(
            request, name, metavar=metavar or name.upper(), autocompletion=COMPLETERS.get(given.completes or "")
        )
    else:
        made = option(
            request,
            name,
            *([given.flag] if given.flag else []),
            meaning=given.meaning,
            note=given.note,
            metavar=given.metavar or _metavar_of(sort),
            autocompletion=COMPLETERS.get(given.completes or ""),
        )
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=made, annotation=sort)


def _sort_of(annotation: Any) -> Any:
    """
    Return the type of what is typed for a field.

    A list, and a mapping to texts, are texts one by one. Any other object is one text, which the command has to read.
    """
    parts = get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)
    part = next(part for part in parts if part is not NoneType)
    origin = get_origin(part)
    if origin is tuple or (origin is Mapping and get_args(part)[1] is str):
        return list[str]
    return str if origin is Mapping or part is object else part


def _metavar_of(sort: Any) -> str | None:
    """Return the metavar of an option: None for a flag, and where the help names the choices."""
    if sort is bool or get_origin(sort) is Literal:
        return None
    return "N" if sort in (int, float) else "TEXT"
