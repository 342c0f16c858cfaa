"""The run state of this machine, and the build run."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
