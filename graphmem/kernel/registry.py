"""
The registry: which features there are, and their operations. Every front end reads it; it imports no feature.

A feature is a folder of ``core`` or ``features``. Its ``__init__`` imports nothing of it: ``FEATURE`` there
names the operations of each module. A module is imported when one of its operations is first asked for.
"""

import inspect
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from inspect import Parameter, Signature
from typing import Annotated, Any, Literal, TypeVar, get_type_hints

from graphmem.kernel.request import NoParameters, Request

HOUSES = ("core", "features")
Effect = Literal["read", "write"]
READ: Effect = "read"
WRITE: Effect = "write"
Function = TypeVar("Function", bound=Callable[..., Any])


@dataclass(frozen=True)
class Feature:
    """
    What a feature registers.

    Args:
        nouns: what its operations are grouped by, such as ``inbox``, each with its meaning.
        operations: the names of its operations, by the module in its folder that has them, separated by spaces.
        also: other names of operations in Python.
        on_store: operations and nouns that Python has on ``memory.store``, for most programs need none of them.
        verbs: of the command line, each with the operations whose ``command`` begins with it, separated by spaces.
        text: the module in its folder that says how its answers read.
        extends: what it adds to the work of others, a function of a module in its folder by its point: of ``POINTS``.
    """

    operations: Mapping[str, str]
    nouns: Mapping[str, str] = field(default_factory=dict)
    also: Mapping[str, str] = field(default_factory=dict)
    on_store: str = ""
    verbs: Mapping[str, str] = field(default_factory=dict)
    text: str | None = None
    extends: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Taken:
    """
    How the command line takes a field of a request, where that does not follow from its type and name.

    A parameter of what says how an answer reads, or of what says what is asked for, is an option of the command that is
    no field of the request, if it is annotated with one; without a flag it is an argument.

    Args:
        metavar: a word for the value, for the help.
        completes: what the shell completes: ``ref``, ``kind``, ``type``, ``campaign`` and the like.
        flag: the option, or its names; made from the field's name if not given.
        meaning: what the option does, if the description of the field does not say it.
        note: a clause that is true on the command line only.
        reads: how what is typed becomes the value: ``names`` separated by commas, a ``path`` in the project, ``files``
            that are there, ``cites``, ``versions`` as NAME=V, ``columns`` as FIELD=COLUMN, a ``text`` or ``json`` in a
            file, or ``text`` or ``json`` as it is typed (``json typed``); ``-`` is standard input.
        such_as: an example of that JSON, for the hint of an error.
    """

    metavar: str | None = None
    completes: str | None = None
    flag: str | None = None
    meaning: str | None = None
    note: str = ""
    reads: str | None = None
    such_as: str = ""


# The form of an answer that can be a part of a comment on a forge.
Form = Annotated[Literal["text", "markdown", "json"], Taken(flag="--format", meaning="How the answer is printed")]


@dataclass(frozen=True)
class Operation:
    """
    One operation; ``operation`` makes it of the function that does it.

    Args:
        name: what a caller writes after ``memory.``, such as ``failures.add``.
        function: what does it. It takes a ``Snapshot`` if it reads or has previews, a ``Writing`` if it writes; a
            ``Client`` if it waits for something before its moment of the store (a model, a program, a stream, another
            lock) or writes elsewhere. Then comes the stream if there is one, then the request if that has parameters.
        request: its parameters.
        answer: the type of what it returns.
        meaning: what it does, in a sentence: the beginning of the function's docstring.
        effect: whether it changes anything that is remembered.
        positional: how many parameters Python takes by position; None for those that are required.
        keywords: the parameter, a mapping, whose items Python takes as keywords too.
        raises: errors that a caller has to reckon with, by the name of their class.
        past: it can be asked of a past state of the store (``--at``).
        previews: the parameter that decides whether it only says what it would do: ``dry_run`` asks for that, any other
            for the change.
        at_home: a command of it runs in the process that was called, not in the service: it starts programs, writes
            outside of the store, or talks to a person.
        needs_store: it works on an open store.
        scoped: it reads through the snapshot alone, so it can be limited to the kinds that a caller may see.
        from_files: its answer follows from the files and the settings alone: no clock, no marks of doubt.
        stream: the parameter that is read once, line by line; the request does not have it.
        is_held: it holds all of its stream anyway, so that it can run a second time.
        not_over_http: why HTTP does not offer it.
        without: parameters that HTTP does not take, each with the reason.
        command: the command that is made of it, if it is not the verb and the last word of the name.
        example: a line to type, at the end of its help.
        arguments: how many fields are arguments of the command; all that are required if not given.
        takes: how the command takes fields.
        leaves: fields that the command does not take.
        help: of the command, where it says more than the docstring.
        is_report: the answer says what is wrong with the store, so that the command says nothing else of it.
    """

    name: str
    function: Callable[..., Any]
    request: type[Request]
    answer: Any
    meaning: str
    effect: Effect
    positional: int | None = None
    keywords: str | None = None
    raises: Mapping[str, str] = field(default_factory=dict)
    past: bool = False
    previews: str | None = None
    at_home: bool = False
    needs_store: bool = True
    scoped: bool = False
    from_files: bool = False
    stream: str | None = None
    is_held: bool = False
    not_over_http: str | None = None
    without: Mapping[str, str] = field(default_factory=dict)
    command: str | None = None
    example: str | None = None
    arguments: int | None = None
    takes: Mapping[str, Taken] = field(default_factory=dict)
    leaves: Sequence[str] = ()
    help: str | None = None
    is_report: bool = False

    @property
    def signature(self) -> Signature:
        """The parameters of its method in Python; what is not positional is a keyword."""
        fields = self.request.model_fields.items()
        first = sum(one.is_required() for _, one in fields) if self.positional is None else self.positional
        parameters = [
            Parameter(
                name,
                Parameter.POSITIONAL_OR_KEYWORD if place < first else Parameter.KEYWORD_ONLY,
                default=Parameter.empty if one.is_required() else one.default,
                annotation=one.annotation,
            )
            for place, (name, one) in enumerate(fields)
        ]
        if self.stream == "log":  # a command that passed has none
            parameters.insert(first + 1, Parameter("log", Parameter.KEYWORD_ONLY, default=()))
        elif self.stream:
            parameters.insert(0, Parameter(self.stream, Parameter.POSITIONAL_OR_KEYWORD))
        if self.keywords:
            parameters.append(Parameter("changes", Parameter.VAR_KEYWORD))
        return Signature(parameters, return_annotation=self.answer)

    def only_reads(self, request: Request) -> bool:
        """Return whether one call of it changes nothing: it never does, or it is a preview."""
        if self.previews is None:
            return self.effect == READ
        is_set = bool(getattr(request, self.previews, None))  # HTTP leaves out some parameters
        return is_set if self.previews == "dry_run" else not is_set


# What a feature may add to, each with what its function takes and does.
POINTS = {
    "batch": "takes the catalog and the `Batch`es of rows of a write, and raises `Refused` for a row not to be kept",
    "call": "takes a `Called` after each call of an operation; what it raises is raised to the caller",
    "check": "takes the client and yields findings, for `validate` and `doctor`",
    "clues": "takes a memory and returns its `Clues`; of core alone",
    "commands": "takes the client and returns commands of the project that a stage runs where they are trusted",
    "digest": "returns a hash of what the clues of failures depend on, such as the formats in use; of core alone",
    "edit": "takes the client and the files that an agent edited, where the setting `hooks.note_edits` asks for it",
    "extract python": "takes a folder and yields what its code defines, as rows, and as texts what is left out",
    "formats": "takes a `Layout` and returns the texts of a project's own formats, and what is wrong with them",
    "graph": "takes the folder of what is derived, the catalog and `lock_timeout_s`, and returns a `GraphMirror`",
    "heard": "takes the client, what people said on a forge, counts and `skip` of an import, and `is_real`",
    "import": "takes the folder of a project and returns what is there that can be imported, a clause each",
    "page": "takes the client and returns fields of `PageData` that the page of `view` has because of the feature",
    "purge": "takes the `State` of a store and the `Traces` of purged records, and clears what it keeps of them",
    "run_state": "takes the client, fields of a run state that an import read, its counts and `skip`, and `is_real`",
    "section": "takes a `Snapshot`, a `ContextRequest` and what that picks, and yields entries of the context",
    "start": "takes a client's name, its event and a text, and returns what the client takes where a session begins",
    "write": "takes the client, the rows and the files of types before each write, and raises `Refused` to prevent it",
}
STREAMS = {
    "lines": "Lines of any number and length, as a file opened in binary gives them, or all of them as one text",
    "events": "The events, one JSON object a line",
    "log": "The output of the command, as lines or as one text; read only where the command failed",
}
_loaded: dict[str, Operation] = {}
_texts: dict[tuple["Reader", object], "Text"] = {}
_askers: dict[str, "Asker"] = {}


class Printout:
    """
    An answer as people read it.

    Args:
        text: for standard output.
        notes: for standard error, a line each; empty ones are left out.
        status: with which the command ends.
        is_dim: the text is pale on a terminal.
        is_file: the text is for another program, and stays as it is; beside JSON nothing is noted.
    """

    def __init__(self, text: str, *notes: str, status: int = 0, is_dim: bool = False, is_file: bool = False) -> None:
        self.text, self.status, self.is_dim, self.is_file = text, status, is_dim, is_file
        self.notes = [note for note in notes if note]


Reader = Literal["person", "model"]
Text = Callable[..., Any]
Texts = TypeVar("Texts", bound=Text)
Asker = Callable[..., Mapping[str, object]]
Askers = TypeVar("Askers", bound=Asker)


def reads(*subjects: type | str, to: Reader = "person") -> Callable[[Texts], Texts]:
    """
    Register a function as what says how answers read.

    It takes the answer, then fields of the request by their names, and options of the command (see ``Taken``); to a
    model, how much of the answer to show, and returns a ``Reply``.

    Args:
        subjects: types of answers, or names of operations, which go before types.
        to: who reads it.
    """

    def register(function: Texts) -> Texts:
        _texts.update({(to, subject): function for subject in subjects})
        return function

    return register


def asks(name: str) -> Callable[[Askers], Askers]:
    """
    Register a function as what says what the command of an operation asks for, before that runs.

    It takes fields of the request by their names, as they were typed, and options of the command (see ``Taken``). It
    returns values in the place of fields; as ``operation`` another one, which gets these values alone; and by the name
    of the stream the file that is read.
    """

    def register(function: Askers) -> Askers:
        _askers[name] = function
        return function

    return register


def text_of(row: Operation, answer: object = None, to: Reader = "person") -> Text:
    """Return what says how an answer of an operation reads: by the operation's feature, or by the one of the answer."""
    kind = row.answer if answer is None else type(answer)
    _import_text(_places()[row.name])
    _import_text(getattr(kind, "__module__", ""))
    return _texts.get((to, row.name)) or _texts[to, kind]


def asker_of(row: Operation) -> Asker:
    """Return what says what the command of an operation asks for."""
    _import_text(_places()[row.name])
    return _askers.get(row.name, dict)


def _import_text(module: str) -> None:
    """Import the texts of the feature that a module belongs to."""
    room = ".".join(module.split(".")[1:3])
    if (feature := features().get(room)) and feature.text:
        import_module(f"graphmem.{room}.{feature.text}")


def operation(name: str, *, writes: bool = False, **row: Any) -> Callable[[Function], Function]:
    """
    Register a function as an operation: request, answer and meaning are those of its signature and docstring.

    Args:
        name: of the operation; ``FEATURE`` of the folder names it too.
        writes: it changes what is remembered.
        row: the other fields of ``Operation``.
    """

    def register(function: Function) -> Function:
        types = get_type_hints(function)
        answer = types.pop("return")
        requests = [one for one in types.values() if isinstance(one, type) and issubclass(one, Request)]
        meaning = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        effect = WRITE if writes else READ
        request = requests[0] if requests else NoParameters
        _loaded[name] = Operation(name, function, request, answer, meaning, effect, **row)
        return function

    return register


@cache
def features() -> Mapping[str, Feature]:
    """Return the features by their folder, such as ``features.inbox``."""
    found = {}
    for house in HOUSES:
        for room in pkgutil.iter_modules(import_module(f"graphmem.{house}").__path__):
            feature = getattr(import_module(f"graphmem.{house}.{room.name}"), "FEATURE", None)
            if isinstance(feature, Feature):
                found[f"{house}.{room.name}"] = feature
    return found


@cache
def extensions(point: str) -> Sequence[Callable[..., Any]]:
    """Return what features add to a point of ``POINTS``; their modules are imported now."""
    found = []
    for folder, feature in features().items():
        if point in feature.extends:
            module, _, name = feature.extends[point].rpartition(".")
            found.append(getattr(import_module(f"graphmem.{folder}.{module}"), name))
    return found


@cache
def nouns() -> Mapping[str, str]:
    """Return what operations are grouped by in Python, such as ``store.embed``, each with its meaning."""
    found = {"store": "The store itself: what it is made of, its files and its settings."}
    for feature in features().values():
        found |= {_in_python(noun, feature): meaning for noun, meaning in feature.nouns.items()}
    return found


@cache
def methods() -> dict[str, str]:
    """Return the operation of each method in Python, such as ``store.validate``."""
    found = dict[str, str]()
    for feature in features().values():
        found |= {_in_python(name, feature): name for names in feature.operations.values() for name in names.split()}
        found |= feature.also
    return found


def _in_python(name: str, feature: Feature) -> str:
    """Return what Python calls an operation or a noun."""
    return f"store.{name}" if name.partition(".")[0] in feature.on_store.split() else name


@cache
def _places() -> Mapping[str, str]:
    """Return the module of each operation."""
    return {
        name: f"graphmem.{folder}.{module}"
        for folder, feature in features().items()
        for module, names in feature.operations.items()
        for name in names.split()
    }


class OperationTable(Mapping[str, Operation]):
    """The operations by name; the module of one is imported when it is asked for."""

    def __getitem__(self, name: str) -> Operation:
        if name not in _loaded:
            import_module(_places()[name])
        return _loaded[name]

    def __iter__(self) -> Iterator[str]:
        return iter(_places())

    def __len__(self) -> int:
        return len(_places())


OPERATIONS = OperationTable()


def printout(operation: str, *answers: object, **given: object) -> Printout:
    """
    Return the answer of an operation as people read it, with what was given of what its text takes.

    Of some operations several answers read as one.
    """
    text = text_of(OPERATIONS[operation], next(iter(answers), None))
    taken = inspect.signature(text).parameters
    said = text(*answers, **{name: value for name, value in given.items() if name in taken})
    return Printout(said) if isinstance(said, str) else said


def commands(verb: str) -> Iterator[tuple[str, Operation]]:
    """
    Yield the commands of a verb, such as ``inbox list``, with their operations, in the order of their features.

    A command has the last word of its operation's name, if the operation names no other.
    """
    for feature in features().values():
        for name in feature.verbs.get(verb, "").split():
            last = name.rpartition(".")[2].replace("_", "-")
            yield OPERATIONS[name].command or (verb if last == verb else f"{verb} {last}"), OPERATIONS[name]
