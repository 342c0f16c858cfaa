"""The index of the ledger, in SQLite: derived, and what every other derived form follows."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
