"""What ``Memory`` is besides its operations: it opens a store, gives each thread a client, and closes all of them."""

from collections.abc import Callable
from datetime import datetime
from functools import cached_property
from inspect import Parameter
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphmem.kernel import dispatch, registry
from graphmem.kernel.dispatch import OWNER, Caller, Log
from graphmem.kernel.embed.shared import Models
from graphmem.kernel.registry import OPERATIONS, STREAMS, Operation
from graphmem.kernel.settings.folders import named
from graphmem.kernel.store import git_setup, in_server
from graphmem.kernel.store.runtime import (
    Client,
    MessageHandler,
    Progress,
    Runtime,
    find_store,
    fresh_id,
    no_progress,
    system_clock,
)


class Operations:
    """What has operations as methods."""

    def __init__(self, runtime: Runtime, caller: Caller = OWNER) -> None:
        self._runtime = runtime
        self._caller = caller


class OpenStore(Operations):
    """The base of ``memory.store``: what front ends work on."""

    @property
    def runtime(self) -> Runtime:
        """What all threads share."""
        return self._runtime

    @property
    def caller(self) -> Caller:
        """Who calls."""
        return self._caller

    @property
    def client(self) -> Client:
        """The client of this thread."""
        return self._caller.with_rights(self._runtime).client(self._runtime)

    def call(self, name: str, stream: Log | None = None, /, **given: object) -> Any:
        """Call an operation by its name with parameters that are not checked yet, and return its answer."""
        return dispatch.call(self._runtime, self._caller, name, given, stream)


class Method:
    """
    An operation as a method of a class: made when it is first looked at, for its module is imported then.

    Args:
        operation: its name, such as ``failures.add``.
        name: of the method, such as ``add``.
    """

    def __init__(self, operation: str, name: str) -> None:
        self.operation = operation
        self.name = name

    def __get__(self, owner: Operations | None, kind: type) -> Any:
        made = _method(OPERATIONS[self.operation], self.name, kind.__qualname__)
        setattr(kind, self.name, made)
        return getattr(kind if owner is None else owner, self.name)


def _method(row: Operation, name: str, owner: str) -> Any:
    """Return the function of a method, with the signature and the meaning of its operation."""
    signature, keywords = row.signature, row.keywords
    known = {name: one.default for name, one in signature.parameters.items() if one.kind is not Parameter.VAR_KEYWORD}
    required = {name for name, default in known.items() if default is Parameter.empty}
    ordered = [name for name in known if signature.parameters[name].kind is Parameter.POSITIONAL_OR_KEYWORD]

    def call(*given: object, **named: object) -> Any:
        self, *values = given if row.needs_store else (None, *given)
        placed = dict(zip(ordered, values, strict=False))
        asked = placed.keys() | named.keys()
        if len(asked) == len(values) + len(named) and required <= asked <= known.keys():
            parameters = {**known, **placed, **named}
        else:  # the signature says what is wrong, and takes what is no parameter
            bound = signature.bind(*values, **named)
            bound.apply_defaults()
            parameters = bound.arguments
        stream = parameters.pop(row.stream) if row.stream else None
        if keywords and (changes := parameters.pop("changes", None)):
            parameters[keywords] = {**(parameters[keywords] or {}), **changes}
        if isinstance(self, Operations):
            return dispatch.call(self._runtime, self._caller, row.name, parameters, stream)
        return dispatch.call(None, OWNER, row.name, parameters)

    receiver = [Parameter("self", Parameter.POSITIONAL_OR_KEYWORD)] if row.needs_store else []
    call.__signature__ = signature.replace(parameters=[*receiver, *signature.parameters.values()])  # type: ignore[attr-defined]
    call.__name__, call.__qualname__, call.__doc__ = name, f"{owner}.{name}", _description(row)
    return call if row.needs_store else staticmethod(call)


def _description(row: Operation) -> str:
    """Return the docstring of a method: what the operation does, what each parameter is, which errors there are."""
    described = {name: one.description or "" for name, one in row.request.model_fields.items()}
    if row.stream:
        described = {row.stream: STREAMS[row.stream], **described}
    if row.keywords:
        described["changes"] = f"Items of ``{row.keywords}``, as keywords"
    sections = {"Args": described, "Raises": row.raises}
    parts = [
        f"{title}:\n" + "\n".join(f"    {name}: {meaning}." for name, meaning in found.items())
        for title, found in sections.items()
        if found
    ]
    return "\n\n".join([row.meaning, *parts])


class Handle(Operations):
    """An open store; what it takes is described at ``Memory``, in ``api``."""

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        lock_timeout_s: float | None = None,
        now: Callable[[], datetime] = system_clock,
        new_id: Callable[[], str] = fresh_id,
        on_message: MessageHandler = lambda text: None,
        progress: Progress = no_progress,
        at: str | None = None,
        command: str = "python",
        via: str = "python",
        models: Models | None = None,
        scope: str | None = None,
    ) -> None:
        elsewhere: dict[str, Any] = {}
        if (server := in_server.server_in_use(folder)) is not None:
            folder = in_server.machine_folder(server)
            elsewhere = {"open_place": in_server.opening(server), "project": in_server.code_folder()}
        is_fresh = not find_store(folder).local.exists()
        scope = (named("GRAPHMEM_SCOPE") if scope is None else scope) or None
        options = {} if lock_timeout_s is None else {"store": {"lock_timeout": lock_timeout_s}}
        super().__init__(
            Runtime(
                folder,
                at,
                now,
                new_id,
                on_message,
                progress,
                command,
                options,
                via=via,
                models=models or Models(),
                tells_subjects=scope is None,
                **elsewhere,
            ),
            Caller(scope=scope),
        )
        client = OpenStore(
            self._runtime, self._caller
        ).client  # opened now, so that what is wrong with it is raised here
        if is_fresh and git_setup.unregistered(client.layout):
            client.notify_once(
                "git does not know yet how to merge this memory's files; run once in this clone: graphmem init"
            )

    def __repr__(self) -> str:
        return f"Memory({str(self._runtime.present_layout.root)!r})"

    def close(self) -> None:
        """Let go of the store's files."""
        self._runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def with_operations(memory: type[Handle]) -> type[Handle]:
    """Give a class a property for each noun of the registry, and the operations of none as methods."""
    owners: dict[str, type[Operations]] = {"": memory}
    for noun, said in registry.nouns().items():
        parent, _, name = noun.rpartition(".")
        base = OpenStore if noun == "store" else Operations
        owners[noun] = type(name.title(), (base,), {"__doc__": said})
        setattr(owners[parent], name, _group(owners[parent], name, owners[noun]))
    for method, operation in registry.methods().items():
        noun, _, verb = method.rpartition(".")
        setattr(owners[noun], verb, Method(operation, verb))
    return memory


def _group(owner: type[Operations], noun: str, kind: type[Operations]) -> cached_property[Operations]:
    """Return the property that is the operations of a noun."""

    def operations(self: Operations) -> Operations:
        return kind(self._runtime, self._caller)

    operations.__doc__ = kind.__doc__
    group = cached_property(operations)
    group.__set_name__(owner, noun)
    return group
