"""The operations that HTTP offers: their requests, answers and methods, made from the contract and the API."""

import inspect
import pkgutil
import typing
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Any

from pydantic import Field, create_model

from graphmem import api, contract
from graphmem.contract.operations import READS, REQUESTS
from graphmem.contract.request import Request

# What HTTP does not offer, and why.
LEFT_OUT = {
    "init": "prepares a folder anywhere on this machine",
    "trust": "a person decides what to trust, on this machine",
    "explorations.wait": "holds a worker for minutes; a caller looks at the event stream",
    "hook": "answers a process of an agent on this machine",
}
# Parameters that HTTP does not take, and why.
WITHOUT = {
    "doctor": {"fix": "repairs change the clone, and git's configuration"},
    "export": {"to": "writes to any folder"},
    "observe": {"run_verify": "runs commands of the project on this machine"},
    "purge": {"history_script": "writes a program to any file"},
}
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
        name: of the method, such as ``failures.add``.
        request: the parameters without those that are read line by line.
        body: the parameters with those.
        stream: the parameter that is read line by line, if there is one.
        answer: the type of what the method returns.
    """

    name: str
    request: type[Request]
    body: type[Request]
    stream: str | None
    answer: Any
    meaning: str

    @property
    def path(self) -> str:
        """Return the path of the route."""
        return f"/v1/{self.name.replace('.', '/')}"

    @property
    def is_read(self) -> bool:
        """Return whether it changes nothing that is remembered."""
        return self.name in READS

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
    return {name: operation(name, method) for name, method in methods() if name not in LEFT_OUT}


def methods() -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield each public method of the memory and its nouns, by the name that a caller writes after ``memory.``."""
    owners: list[type] = [api.Memory, *api.Noun.__subclasses__()]
    for owner in owners:
        prefix = "" if owner is api.Memory else f"{owner.__name__.lower()}."
        for name, found in vars(owner).items():
            method = found.__func__ if isinstance(found, staticmethod) else found
            if inspect.isfunction(method) and not name.startswith("_") and name != "close":
                yield f"{prefix}{name}", inspect.unwrap(method)


def operation(name: str, method: Callable[..., Any]) -> Operation:
    """Return one operation, made from its method and its request."""
    stream = next((one for one in inspect.signature(method).parameters if one in STREAMS), None)
    request = REQUESTS.get(name) or no_parameters(name)
    if name in WITHOUT:
        request = less(request, set(WITHOUT[name]))
    body = request if stream is None else more(request, inspect.signature(method).parameters[stream])
    returned = typing.get_type_hints(method, {**types_of_answers(), **vars(api)})["return"]
    meaning = inspect.cleandoc(method.__doc__ or "").partition("\n")[0]
    return Operation(name, request, body, stream, returned, meaning)


def no_parameters(name: str) -> type[Request]:
    """Return the request of an operation without parameters."""
    title = "".join(part.capitalize() for part in name.replace("_", ".").split("."))
    return create_model(f"{title}Request", __base__=Request, __doc__="No parameters.")


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


def types_of_answers() -> dict[str, Any]:
    """Return what the modules of the contract define, by name: a type checker alone sees it in the API."""
    return {
        name: found
        for module in pkgutil.iter_modules(contract.__path__)
        for name, found in vars(import_module(f"graphmem.contract.{module.name}")).items()
    }
