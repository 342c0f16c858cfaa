"""
graphmem: one memory for the coding agents of a project.

    from graphmem import Memory

    with Memory() as memory:
        memory.failures.add("ModuleNotFoundError: No module named 'pkg_resources'", fix="pin setuptools below 81")
        memory.query("pkg_resources missing")
"""

from importlib import import_module

from graphmem.errors import (
    AlreadyDone,
    BadInput,
    Conflict,
    Damaged,
    DamagedCatalog,
    FileReplaced,
    GraphmemError,
    Locked,
    NotFound,
    ReadOnly,
    Refused,
    Unavailable,
    Usage,
)

TYPE_CHECKING = False  # to import `typing` takes 5 ms, in which Ctrl-C would end in a traceback
if TYPE_CHECKING:
    from graphmem.api import Memory
    from graphmem.kernel.model import (
        AnyRecord,
        Campaign,
        Constraint,
        Decision,
        Entity,
        Event,
        Experience,
        Failure,
        Insight,
        Lesson,
        Pattern,
        Run,
        Session,
        Task,
    )

__version__ = "0.1.0"

__all__ = [
    "AlreadyDone",
    "AnyRecord",
    "BadInput",
    "Campaign",
    "Conflict",
    "Constraint",
    "Damaged",
    "DamagedCatalog",
    "Decision",
    "Entity",
    "Event",
    "Experience",
    "Failure",
    "FileReplaced",
    "GraphmemError",
    "Insight",
    "Lesson",
    "Locked",
    "Memory",
    "NotFound",
    "Pattern",
    "ReadOnly",
    "Refused",
    "Run",
    "Session",
    "Task",
    "Unavailable",
    "Usage",
    "__version__",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name):
        """Load what is asked for: the child that runs a user's query imports this package too."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return getattr(import_module("graphmem.api" if name == "Memory" else "graphmem.kernel.model"), name)


def __dir__() -> list[str]:
    """Return the public names."""
    return __all__
