"""What speaks for a record and against it: cited code, versions, doubts."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
