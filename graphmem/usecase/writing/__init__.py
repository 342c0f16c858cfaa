"""What every write goes through: checks, secrets, duplicates, what replaces what."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
