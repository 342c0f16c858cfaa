"""The operations that HTTP offers: their requests, answers and methods, made from the contract and the API."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from pydantic import Field, create_model

from graphmem import api
from graphmem.contract import operations as contract
from graphmem.contract.request import Request

STREAMS = {  # parameters that are read once, line by line; no request holds them
    "lines": "The lines, as one text",
    "events": "The events, one JSON object a line, as one text",
    "log": "The output of the command, as one text",
}
IN_JSON_ONLY = frozenset({"ran"})  # its parameters are lists: not for a query string


@dataclass(frozen=True)
class Operation:
    """
    One operation.

    Args:
        row: what the contract says of it.
        request: the parameters without those that are read line by line.
        body: the parameters with those.
        meaning: what it does, in a sentence.
    """

    row: contract.Operation
    request: type[Request]
    body: type[Request]
    meaning: str

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
        return self.row.effect == contract.READ or self.row.previews in self.row.without

    def call(self, memory: api.Memory, given: Request, lines: Any = None) -> Any:
        """Run the operation with its parameters; ``lines`` are those of its stream, if they are not among them."""
        method: Any = memory
        for part in self.name.split("."):
            method = getattr(method, part)
        parameters = dict(given)
        if self.stream is not None:
            parameters[self.stream] = list(api.lines_of(parameters[self.stream])) if lines is None else lines
        return method(**parameters)


@cache
def operations() -> dict[str, Operation]:
    """Return the operations that HTTP offers, by name."""
    rows = contract.OPERATIONS
    return {name: operation(rows[name], method) for name, method in methods() if not rows[name].not_over_http}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each public method of the memory and its nouns, by the name that a caller writes after ``memory.``."""
    owners: list[type] = [api.Memory, *api.Noun.__subclasses__()]
    for owner in owners:
        prefix = "" if owner is api.Memory else f"{owner.__name__.lower()}."
        for name, found in vars(owner).items():
            method = found.__func__ if isinstance(found, staticmethod) else found
            if inspect.isfunction(method) and not name.startswith("_") and name != "close":
                yield f"{prefix}{name}", inspect.unwrap(method)


def operation(row: contract.Operation, method: Callable[..., Any]) -> Operation:
    """Return one operation, made from its row and its method."""
    request = less(row.request, set(row.without)) if row.without else row.request
    body = request if row.stream is None else more(request, inspect.signature(method).parameters[row.stream])
    meaning = inspect.cleandoc(method.__doc__ or "").partition("\n")[0]
    return Operation(row, request, body, meaning)


def less(request: type[Request], without: set[str]) -> type[Request]:
    """Return a request without some of its fields."""
    kept: dict[str, Any] = {
        name: (field.annotation, field) for name, field in request.model_fields.items() if name not in without
    }
    return create_model(request.__name__, __base__=Request, __doc__=request.__doc__, **kept)


def more(request: type[Request], stream: inspect.Parameter) -> type[Request]:
    """Return a request with what is read line by line, as one text."""
    default = ... if stream.default is inspect.Parameter.empty else ""
    added: dict[str, Any] = {stream.name: (str, Field(default, description=STREAMS[stream.name]))}
    return create_model(request.__name__, __base__=request, __doc__=request.__doc__, **added)
