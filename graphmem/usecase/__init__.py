"""What one can do with an open store, one function a use case; `Memory` offers them, every front end calls `Memory`."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
