"""Records: how they come in, change, and go."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
