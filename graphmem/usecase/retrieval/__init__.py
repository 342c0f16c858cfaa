"""Search, logs, context, traversal and Cypher."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
