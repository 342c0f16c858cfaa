"""Lessons, experiences, sessions, and whether learning happens."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
