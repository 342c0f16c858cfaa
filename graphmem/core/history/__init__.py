"""What changed: log, diff, and why a record is there."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={"operations": "log diff", "why": "why"},
    verbs={"history": "log", "why": "why", "diff": "diff"},
    text="text",
)

__getattr__ = lazy_modules(__name__)
