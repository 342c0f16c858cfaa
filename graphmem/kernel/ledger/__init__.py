"""The ledger: NDJSON files in git, the source of truth."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
