"""
A use case runs again where what it had read is no longer so: git replaced a file meanwhile, or the catalog is damaged.

Nothing was changed in either case, so running it again is the same as calling it a moment later.
"""

from collections.abc import Callable, Iterator
from functools import partial, wraps
from inspect import isfunction
from typing import Any, TypeVar

from graphmem.catalog.database import catalog_errors
from graphmem.contract.answer import Answer
from graphmem.contract.operations import OPERATIONS, READ, Operation
from graphmem.errors import DamagedCatalog, FileReplaced
from graphmem.machine import requests
from graphmem.runtime import Client
from graphmem.telemetry import observed

T = TypeVar("T")
MOST_RUNS = 3  # of one call: a checkout replaces a file once, and a second in a row is already rare


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


def call(client: Client, use_case: Callable[[], T], *, may_repeat: bool = True) -> T:
    """
    Run a use case, again where a file was replaced or the catalog was damaged, which is then made again from the files.

    Args:
        may_repeat: it can run again; False for one whose input is gone by then.
    """
    client.refresh_settings()
    with catalog_errors(), client.calling():
        return repeat(client, use_case, may_repeat=may_repeat)


def repeat(client: Client, use_case: Callable[[], T], *, may_repeat: bool) -> T:
    """Run a use case up to three times; the errors of the catalog are SQLite's."""
    is_renewed, writes = False, client.ledger.writes
    for runs_left in reversed(range(MOST_RUNS)):
        client.has_looked = False
        try:
            return with_notices(client, use_case())
        except FileReplaced:
            if not runs_left or not may_repeat or client.ledger.writes > writes:
                raise
        except Exception as error:
            if is_renewed or not client.is_catalog_damaged(error):
                raise
            is_renewed = True
            client.renew_catalog()
            if client.ledger.writes > writes:
                raise DamagedCatalog(
                    "what was asked for is written; the catalog was damaged, and is made again"
                ) from error
            if not runs_left or not may_repeat:
                raise DamagedCatalog(
                    "the catalog was damaged; it is made again from the files", hint="run the command again"
                ) from error
    raise AssertionError("the last run returns or raises")


def with_notices(client: Client, answer: T) -> T:
    """Return an answer with what was reported on the way to it."""
    if isinstance(answer, Answer) and (notices := client.answered_notices()):
        return answer.model_copy(update={"notices": notices})
    return answer


def repeated(made: type[T]) -> type[T]:
    """Let every public method of a class with a ``client`` run again, and have it observed."""
    noun = "" if made.__name__ == "Memory" else f"{made.__name__.lower()}."
    for name, method in list(vars(made).items()):
        if isfunction(method) and not name.startswith("_") and name != "close":
            setattr(made, name, runs_again(method, OPERATIONS[f"{noun}{name}"]))
    return made


def runs_again(method: Callable[..., Any], operation: Operation) -> Callable[..., Any]:
    """Return a method that runs again, observed under the name of its operation."""

    @wraps(method)
    def run(self: Any, *args: Any, **named: Any) -> Any:
        given = [*args, *named.values()]
        may_repeat = operation.is_held or not any(isinstance(value, Iterator) for value in given)
        if operation.is_held:
            args = tuple(Tape(value) if isinstance(value, Iterator) else value for value in args)
            named = {name: Tape(value) if isinstance(value, Iterator) else value for name, value in named.items()}
        with observed("operation", operation.name):
            answer = call(self.client, partial(method, self, *args, **named), may_repeat=may_repeat)
        if operation.effect != READ and (request := requests.current()) is not None:
            request.has_changed(self.client.layout.requests)
        return answer

    return run
