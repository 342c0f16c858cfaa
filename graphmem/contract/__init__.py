"""
What each operation takes and returns, one file per noun, for the Python API, the command line and the reference.

``contract.query`` loads its file when it is first used: most commands need one or two.
"""

from importlib import import_module

TYPE_CHECKING = False
if TYPE_CHECKING:
    from graphmem.contract import (
        query,
    )

__all__ = [
    "query",
]

if not TYPE_CHECKING:  # a type checker would take any name for one that is here

    def __getattr__(name):
        """Load the file of a noun."""
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        return import_module(f"{__name__}.{name}")
