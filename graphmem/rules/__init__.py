"""Pure functions on the model: no I/O, no clock, no randomness; each is tested against an oracle."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
