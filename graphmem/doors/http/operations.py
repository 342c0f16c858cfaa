"""The operations that HTTP offers, with their parameters as HTTP takes them."""

from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, create_model

from graphmem.kernel import dispatch
from graphmem.kernel.dispatch import Caller, Log
from graphmem.kernel.registry import OPERATIONS, READ, STREAMS, Operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.runtime import Runtime

IN_JSON_ONLY = frozenset({"ran"})  # its parameters are lists: not for a query string


@dataclass(frozen=True)
class Route:
    """
    One operation.

    Args:
        row: what the contract says of it.
        request: the parameters without those that are read line by line.
        body: the parameters with those.
    """

    row: Operation
    request: type[Request]
    body: type[Request]

    @property
    def name(self) -> str:
        """Return the name of the method, such as ``failures.add``."""
        return self.row.name

    @property
    def stream(self) -> str | None:
        """Return the parameter that is read line by line, if there is one."""
        return self.row.stream

    @property
    def path(self) -> str:
        """Return the path of the route."""
        return f"/v1/{self.name.replace('.', '/')}"

    @property
    def is_read(self) -> bool:
        """Return whether it changes nothing that is remembered, whatever its parameters are."""
        return self.row.effect == READ or self.row.previews in self.row.without

    def call(self, runtime: Runtime, caller: Caller, given: Request, lines: Log | None = None) -> Any:
        """Run the operation with checked parameters; ``lines`` are those of its stream, if they are not among them."""
        if self.stream is not None and lines is None:
            lines = getattr(given, self.stream)
        return dispatch.call(runtime, caller, self.name, self.whole(given), lines)

    def whole(self, given: Request) -> Request:
        """Return a request with the parameters that HTTP does not take; what was given is not checked again."""
        return self.row.request.model_construct(**dict(given)) if self.row.without else given


@cache
def operations() -> dict[str, Route]:
    """Return the operations that HTTP offers, by name."""
    return {row.name: _operation(row) for row in OPERATIONS.values() if not row.not_over_http}


def _operation(row: Operation) -> Route:
    """Return one operation, made from its row."""
    request = _less(row.request, set(row.without)) if row.without else row.request
    return Route(row, request, request if row.stream is None else _more(request, row.stream))


def _less(request: type[Request], without: set[str]) -> type[Request]:
    """Return a request without some of its fields."""
    kept: dict[str, Any] = {
        name: (field.annotation, field) for name, field in request.model_fields.items() if name not in without
    }
    return create_model(request.__name__, __base__=Request, __doc__=request.__doc__, **kept)


def _more(request: type[Request], stream: str) -> type[Request]:
    """Return a request with what is read line by line, as one text."""
    default = "" if stream == "log" else ...  # a command that passed has none
    added: dict[str, Any] = {stream: (str, Field(default, description=f"{STREAMS[stream]}; here as one text"))}
    return create_model(request.__name__, __base__=request, __doc__=request.__doc__, **added)
