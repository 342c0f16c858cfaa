"""Modules of a package that are imported when they are first used: a command needs few of those that ``api`` names."""

from collections.abc import Callable
from importlib import import_module
from typing import Any


class LazyModule:
    """Takes the place of a module until one of its names is read, or set by a test."""

    __slots__ = ("__name__",)

    def __init__(self, name: str) -> None:
        object.__setattr__(self, "__name__", name)

    def __getattr__(self, name: str) -> Any:
        return getattr(import_module(self.__name__), name)

    def __setattr__(self, name: str, value: object) -> None:
        setattr(import_module(self.__name__), name, value)


def lazy_modules(package: str) -> Callable[[str], LazyModule]:
    """Return a ``__getattr__`` for a package: ``from package import module`` then imports nothing yet (PEP 562)."""

    def module(name: str) -> LazyModule:
        if name.startswith("_"):
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return LazyModule(f"{package}.{name}")

    return module
