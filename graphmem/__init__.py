"""
graphmem: one memory for the coding agents of a project.

    from graphmem import Memory

    with Memory() as memory:
        memory.failures.add("ModuleNotFoundError: No module named 'pkg_resources'", fix="pin setuptools below 81")
        memory.query("pkg_resources missing")
"""

from importlib import import_module

from graphmem.errors import (
    BadInput,
    Conflict,
    Damaged,
    GraphmemError,
    Locked,
    NotFound,
    Refused,
    Unavailable,
    Usage,
)

TYPE_CHECKING = False  # to import `typing` takes 5 ms, in which Ctrl-C would end in a traceback
if TYPE_CHECKING:
    from graphmem.memory import Memory

__version__ = "0.1.0"

__all__ = [
    "BadInput",
    "Conflict",
    "Damaged",
    "GraphmemError",
    "Locked",
    "Memory",
    "NotFound",
    "Refused",
    "Unavailable",
    "Usage",
    "__version__",
]


def __getattr__(name: str) -> object:
    """Load `Memory` when it is asked for: the child that runs a user's query imports this package too."""
    if name == "Memory":
        return import_module("graphmem.memory").Memory
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
