"""
What is observed of each operation and each command of the service: its name, how it ended, how long it took.

Never a text of the memory or of a caller. Where the process has loaded the API of OpenTelemetry, each is a span; the
program that loaded it says where spans go. Nothing is sent by graphmem itself.
"""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from graphmem.errors import GraphmemError

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    from typing import Any, Literal

DONE = "ok"  # outcome of what ended without an error


@dataclass
class ObservedCall:
    """
    What is known of one of them.

    Args:
        sort: an operation, or a command line that the service runs.
        name: such as ``failures.add`` or ``add failure``.
        outcome: ``ok``, or the code of the error.
    """

    sort: Literal["operation", "command"]
    name: str
    outcome: str = DONE
    seconds: float = 0.0


Watcher = Callable[[ObservedCall], None]
watchers: list[Watcher] = []  # called with each that ended, in its thread


@contextlib.contextmanager
def watched(watcher: Watcher) -> Iterator[None]:
    """Call a watcher with each operation and command that ends while the block runs."""
    watchers.append(watcher)
    try:
        yield
    finally:
        watchers.remove(watcher)


@contextlib.contextmanager
def observed(sort: Literal["operation", "command"], name: str) -> Iterator[ObservedCall]:
    """Observe the block; it may set another name or outcome."""
    found, began = ObservedCall(sort, name), time.perf_counter()
    with _span_of(found):
        try:
            yield found
        except BaseException as error:
            found.outcome = _outcome_of(error)
            raise
        finally:
            found.seconds = time.perf_counter() - began
            for watcher in list(watchers):
                watcher(found)


def _outcome_of(error: BaseException) -> str:
    """Return the code of an error; one that is not graphmem's own is the system's, or a fault."""
    if isinstance(error, GraphmemError):
        return error.code
    return "unavailable" if isinstance(error, OSError | MemoryError) else "bug"


@contextlib.contextmanager
def _span_of(found: ObservedCall) -> Iterator[None]:
    """Make a span of OpenTelemetry around the block, where the process has loaded it."""
    trace: Any = sys.modules.get("opentelemetry.trace")
    if trace is None:
        yield
        return
    tracer = trace.get_tracer("graphmem")
    # An exception is not recorded: its message quotes what was given.
    with tracer.start_as_current_span(found.name, record_exception=False, set_status_on_exception=False) as span:
        try:
            yield
        finally:
            span.update_name(found.name)
            span.set_attributes({"graphmem.sort": found.sort, "graphmem.outcome": found.outcome})
            if found.outcome != DONE:
                span.set_status(trace.StatusCode.ERROR)
