"""A place of rows in commits of a ref of its own, beside the branches."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
