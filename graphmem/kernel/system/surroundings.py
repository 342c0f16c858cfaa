"""
The current folder and the environment of the caller: those of this process, or of another that a service answers.

Source: docs/decisions/0026-service.md.
"""

import contextlib
import os
import sys
from collections.abc import Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path

from graphmem.kernel.system.user import CALLERS


@dataclass(frozen=True)
class Surroundings:
    """Where a caller is, an absolute path, its variables of the sorts in ``CALLERS``, and whether a person types."""

    folder: str
    variables: Mapping[str, str]
    is_typed: bool = False  # at a terminal


of_caller: ContextVar[Surroundings | None] = ContextVar("of_caller", default=None)


@contextlib.contextmanager
def called_from(caller: Surroundings) -> Iterator[None]:
    """Let the block, in this thread, see the folder and the variables of a caller."""
    token = of_caller.set(caller)
    try:
        yield
    finally:
        of_caller.reset(token)


def current_folder() -> Path:
    """Return the current folder of the caller."""
    caller = of_caller.get()
    return Path.cwd() if caller is None else Path(caller.folder)


def variables() -> Mapping[str, str]:
    """Return the environment of the caller."""
    caller = of_caller.get()
    if caller is None:
        return os.environ
    own = {name: value for name, value in os.environ.items() if not name.startswith(CALLERS)}
    return {**own, **caller.variables}


def is_typed() -> bool:
    """Return whether the caller reads from a terminal: a person types there."""
    caller = of_caller.get()
    return (sys.stdin is not None and sys.stdin.isatty()) if caller is None else caller.is_typed
