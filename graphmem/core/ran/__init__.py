"""Runs of commands: what failed is matched, what passes after it counts."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "ran",
    },
    text="text",
    extends={"purge": "episodes.clear_purged"},
)

__getattr__ = lazy_modules(__name__)
