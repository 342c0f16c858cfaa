"""Operations on records, relations and reports."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
