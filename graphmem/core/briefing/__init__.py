"""What an agent is given: the context of a task, and what it needs to begin."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={"prime": "prime status", "two_stores": "context"},
    verbs={"prime": "prime", "context": "context"},
    text="text",
)

__getattr__ = lazy_modules(__name__)
