"""Lessons, experiences, sessions, test runs, and whether learning happens."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
