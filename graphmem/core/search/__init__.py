"""Search: what is found, in which order, and how sure that is."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
