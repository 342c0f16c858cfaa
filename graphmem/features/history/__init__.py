"""What changed: log, diff, the check of a branch, and why a record is there."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
