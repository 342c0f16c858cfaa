"""The types of a project: listed, declared, renamed, dropped, and their brief for a prompt."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
