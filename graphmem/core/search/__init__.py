"""Search: what is found, in which order, and how sure that is."""

from graphmem.kernel.lazy import lazy_modules
from graphmem.kernel.registry import Feature

FEATURE = Feature(
    operations={
        "two_stores": "query match solutions",
        "traversal": "related path",
    },
    verbs={
        "related": "related",
        "solutions": "solutions",
        "path": "path",
        "match": "match",
    },
    text="text",
)

__getattr__ = lazy_modules(__name__)
