"""The scopes of a project: list, show and declare what a caller may read and write."""

from pydantic import Field, ValidationError

from graphmem.core.records.screening import screened
from graphmem.core.vocabulary.types import refuse_form
from graphmem.errors import BadInput, Refused
from graphmem.kernel.answer import Answer
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.ledger.scopes import file_of, read_scopes, scope_of, text_of
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.model.vocabulary import ANY
from graphmem.kernel.parameters import Texts
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import InputRequest, Request
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.suggest import did_you_mean
from graphmem.kernel.system import safe_files
from graphmem.names import DEVICE


class ShowScopeRequest(Request):
    """Which scope to return."""

    name: str = Field(description="A scope of the project")


class AddScopeRequest(InputRequest):
    """A scope to declare, or to change."""

    name: str = Field(description="Name of the scope: a-z 0-9 _, beginning with a letter")
    read: Texts = Field((), description="Kinds and entity types whose records it may read, or any")
    write: Texts = Field((), description="Kinds and entity types whose records it may write, or any")
    description: str = Field("", description="Who is to have the scope, and for what")


class ScopeList(Answer):
    """The project's scopes, in name order."""

    results: list[Scope]


@operation("scopes.list", example="graphmem scope list")
def scope_list(snapshot: Snapshot) -> ScopeList:
    """Return the project's scopes: what a caller that is bound to one may read and write."""
    scopes, findings = read_scopes(snapshot.layout, snapshot.vocabulary.record_types)
    for finding in findings:
        snapshot.notify_once(f"{finding.severity}: {finding}")
    return ScopeList(results=scopes)


@operation("scopes.show", example="graphmem scope show reviewer")
def scope_show(snapshot: Snapshot, request: ShowScopeRequest) -> Scope:
    """Return one scope."""
    return scope_of(snapshot.layout, request.name)


@operation(
    "scopes.add",
    writes=True,
    positional=1,
    example="graphmem scope add reviewer --read failure,pattern --write pattern",
    arguments=1,
    takes={"read": Taken("T,…", "kind", reads="names"), "write": Taken("T,…", "kind", reads="names")},
    help="""
    Declare a scope, or change what it allows.

    A command, a server or a program is bound to it by --scope NAME, or GRAPHMEM_SCOPE.
    """,
)
def scope_add(snapshot: Writing, request: AddScopeRequest) -> Scope:
    """Declare a scope, or change what it allows."""
    request = screened(snapshot, request, "scope")
    known = (*snapshot.vocabulary.record_types, ANY)
    for name in (*request.read, *request.write):
        if name not in known:
            hint = did_you_mean(name, known) or f"known: {', '.join(known)}"
            raise Refused(f"{name!r} is neither a kind nor an entity type", hint=hint)
    refuse_form("scope", request.name)
    if DEVICE.fullmatch(request.name):
        raise Refused(f"on Windows no file can be called {request.name!r}", hint="take another name")
    try:
        made = Scope.model_validate(request.model_dump())
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"scope {request.name!r}: {message}", hint=expected) from None
    file = file_of(snapshot.layout, made.name)
    text = text_of(made)
    if not safe_files.is_file(file) or safe_files.read(file) != text:
        snapshot.commit([], types={file.relative_to(snapshot.layout.store).as_posix(): text})
    return made
