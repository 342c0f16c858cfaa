"""Operations on the whole store."""

from graphmem.lazy import lazy_modules

__getattr__ = lazy_modules(__name__)
