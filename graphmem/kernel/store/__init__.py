"""The open store: what a process shares, one caller of it, its files taken in, the files of a commit."""

from graphmem.kernel.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
