"""What changed: log, diff, the check of a branch, and why a record is there."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "operations": "log diff",
        "why": "why",
        "branch_check": "check",
    },
    verbs={
        "log": "log",
        "why": "why",
        "diff": "diff",
        "check": "check",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
