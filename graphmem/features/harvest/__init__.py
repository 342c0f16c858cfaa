"""Candidates from what is there already: sessions of agents, logs of CI, the history, notes."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
