"""The ledger: NDJSON files in git, the source of truth."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
