"""
Other memories, given the same texts and the same vectors; none is needed for anything else.

A peer is a module that says which package or command it ``NEEDS`` and how to ``INSTALL`` it, and has ``opened``, which
puts texts into the memory and yields its search. One whose single calls are measured (`tests.bench.calls`) has `calls`.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from shutil import which
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import Unavailable, Usage

Encode: TypeAlias = Callable[[str], NDArray[np.float32]]
Search: TypeAlias = Callable[
    [str, int], list[int]
]  # the places of the texts that one finds, best first; at most so many


class Peer(Protocol):
    """What opens another memory, with these texts in it, in an empty folder of its own."""

    def __call__(self, folder: Path, texts: Sequence[str], encode: Encode) -> AbstractContextManager[Search]: ...


def names() -> list[str]:
    """Return what the peers are called."""
    return [module.name.replace("_", "-") for module in iter_modules(__path__)]


def installed(name: str) -> Any:
    """
    Return the module of the peer called ``name``.

    Raises:
        Usage: there is no such peer.
        Unavailable: it is not installed.
    """
    if name not in names():
        raise Usage(f"no peer {name!r}", hint=f"known: {', '.join(names())}")
    module = import_module(f"{__name__}.{name.replace('-', '_')}")
    if find_spec(module.NEEDS) is None and which(module.NEEDS) is None:
        raise Unavailable(f"{name} is not installed", hint=module.INSTALL)
    return module


def peer(name: str) -> Peer:
    """Return what opens a peer; ``installed`` says what it raises."""
    opened: Peer = installed(name).opened
    return opened
