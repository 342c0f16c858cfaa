"""
One call of an operation, for every front end: who may call it, what it does, its notices, its telemetry.

Here is opened what an operation takes: a ``Snapshot`` to read the store at one moment, a ``Writing`` to hold it alone.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from graphmem.errors import GraphmemError, ReadOnly, Refused
from graphmem.kernel.ledger.scopes import scope_of
from graphmem.kernel.machine import requests
from graphmem.kernel.registry import OPERATIONS, READ, WRITE, Effect, Operation, extensions
from graphmem.kernel.request import NoParameters, Request
from graphmem.kernel.store.attempt import attempt
from graphmem.kernel.store.runtime import ALL_RIGHTS, Client, Rights, Runtime
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.telemetry import observed

Log = Iterable[bytes | str] | bytes | str


@dataclass(frozen=True)
class Caller:
    """
    Who calls an operation.

    Args:
        may: whether it may write, or only read.
        sees: the kinds and entity types whose records it may see; None for all. It gets the answers of a store that has
            no others, of the operations that are ``scoped``; all other operations are refused.
        writes: those whose records it may write; None for all.
        scope: the scope of the project that says what it sees and writes, read at each call; None for none.
        by: who it is, where its token says so; None for the user of this process.
    """

    may: Effect = WRITE
    sees: frozenset[str] | None = None
    writes: frozenset[str] | None = None
    scope: str | None = None
    by: str | None = None

    def with_rights(self, runtime: Runtime | None) -> "Caller":
        """Return the caller with what its scope allows as its file is now."""
        if self.scope is None or runtime is None:
            return self
        found = scope_of(runtime.present_layout, self.scope)
        return replace(self, sees=found.reads, writes=found.writes, scope=None)

    @property
    def is_limited(self) -> bool:
        """Whether it may not see all, as far as is known before its scope is read."""
        return self.sees is not None or self.scope is not None

    def client(self, runtime: Runtime, *, is_writing: bool = False) -> Client:
        """Return the client of this thread, on which every read sees what the caller may see."""
        rights = Rights(self.sees, self.writes, by=self.by)
        return runtime.client(rights if rights == ALL_RIGHTS else rights._replace(is_writing=is_writing))

    def admit(self, operation: Operation, request: Request | None = None) -> None:
        """
        Let through a call that the caller may make.

        Args:
            request: its parameters; None where they are not read yet: an operation that has previews may be one.

        Raises:
            ReadOnly: it would write, and the caller may only read.
            Refused: the operation cannot be limited to what the caller may see.
        """
        reads = operation.previews is not None if request is None else operation.only_reads(request)
        if self.may == READ and operation.effect != READ and not reads:
            raise ReadOnly(f"{operation.name} writes, and this caller may only read")
        if not operation.scoped:
            self.require_all_kinds(operation.name)
            if not reads and operation.effect != READ and self.writes is not None:
                raise Refused(f"{operation.name} cannot be limited to some kinds, and this caller may not write all")

    def require_all_kinds(self, what: str) -> None:
        """Raise ``Refused`` for something that shows records of every kind, where the caller may not see all."""
        if self.is_limited:
            raise Refused(f"{what} cannot be limited to some kinds, and this caller may not see all")


OWNER = Caller()


class Called(NamedTuple):
    """
    One call of an operation, for what listens to all of them.

    Args:
        answer: None where it failed; the error then says why, None for one that is not graphmem's.
        client: of the store that it was made on; None where it needed none, or was refused before.
    """

    name: str
    request: Request | Mapping[str, object]
    answer: Any
    error: GraphmemError | None
    client: Client | None = None


def call(
    runtime: Runtime | None,
    caller: Caller,
    name: str,
    request: Request | Mapping[str, object],
    stream: Log | None = None,
) -> Any:
    """
    Call an operation and return its answer.

    Args:
        runtime: of the open store; None for an operation that needs none.
        name: of the operation, as in ``OPERATIONS``.
        request: its parameters; as a mapping they are checked now.
        stream: the lines of an operation that reads some; an iterator is read once.

    Raises:
        ReadOnly: the caller may not.
        GraphmemError: as the operation says.
    """
    operation = OPERATIONS[name]
    answer: Any = None
    error: GraphmemError | None = None
    clients: list[Client] = []
    try:
        answer = _called(operation, runtime, caller, request, stream, clients)
    except GraphmemError as raised:
        error = raised
        raise
    finally:
        for listen in extensions("call"):
            listen(Called(name, request, answer, error, *clients))
    return answer


def _called(
    operation: Operation,
    runtime: Runtime | None,
    caller: Caller,
    request: Request | Mapping[str, object],
    stream: Log | None,
    clients: list[Client],
) -> Any:
    """Call an operation; nothing listens here. The client that it is called on is added to ``clients``."""
    with observed("operation", operation.name):
        if not isinstance(request, Request):
            request = operation.request(**request)
        caller = caller.with_rights(runtime)
        caller.admit(operation, request)
        given = () if operation.request is NoParameters else (request,)
        if not operation.needs_store:
            return operation.function(*given)
        assert runtime is not None, operation.name
        is_read_once = isinstance(stream, Iterator)
        lines = Tape(stream) if isinstance(stream, Iterator) and operation.is_held else stream
        is_writing = operation.effect == WRITE and not operation.only_reads(request)
        client = caller.client(runtime, is_writing=is_writing)
        clients.append(client)

        def run() -> Any:
            with _opened(client, operation.function, is_real=not operation.only_reads(request)) as store:
                return operation.function(store, *(() if lines is None else (lines_of(lines),)), *given)

        answer = attempt(client, run, may_repeat=operation.is_held or not is_read_once)
    if not operation.only_reads(request) and (asked := requests.current()) is not None:
        asked.has_changed(client.state)
    return answer


def _opened(
    client: Client, function: Callable[..., Any], *, is_real: bool
) -> AbstractContextManager[Client | Snapshot]:
    """
    Return what an operation takes: one moment of the store, held alone where the call is to write.

    Where its first parameter is a ``Client``, it opens moments itself: it waits for something before it does so.
    """
    if next(iter(function.__annotations__.values())) is Client:
        return nullcontext(client)
    return client.deciding(is_real=is_real)


def lines_of(log: Log) -> Iterator[bytes]:
    """Return the lines of a log as bytes, whether it is one text or lines."""
    if isinstance(log, bytes | str):
        return iter((_encoded(log) if isinstance(log, str) else log).splitlines(keepends=True))
    return (_encoded(part) if isinstance(part, str) else part for part in log)


def _encoded(text: str) -> bytes:
    """Return a text as bytes; half a character as what no reader takes for one."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


class Tape:
    """The values of an iterator, which can be read again from the start."""

    def __init__(self, values: Iterator[Any]) -> None:
        self.values = values
        self.read: list[Any] = []

    def __iter__(self) -> Iterator[Any]:
        yield from self.read
        for value in self.values:
            self.read.append(value)
            yield value
