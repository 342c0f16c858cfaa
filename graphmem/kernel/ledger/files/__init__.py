"""A place of rows in files: NDJSON in git, read where it changed, replaced all or none."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
