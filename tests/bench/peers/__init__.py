"""
Other memories, given the same texts and the same vectors; none is needed for anything else.

A peer is a module that says which package or command it ``NEEDS`` and how to ``INSTALL`` it, and has ``opened``, which
puts texts into the memory and yields its search.
"""

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from shutil import which
from typing import Protocol, TypeAlias

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


def peer(name: str) -> Peer:
    """
    Return the peer called ``name``.

    Raises:
        Usage: there is no such peer.
        Unavailable: it is not installed.
    """
    modules = {module.name.replace("_", "-"): module.name for module in iter_modules(__path__)}
    if name not in modules:
        raise Usage(f"no peer {name!r}", hint=f"known: {', '.join(modules)}")
    module = import_module(f"{__name__}.{modules[name]}")
    if find_spec(module.NEEDS) is None and which(module.NEEDS) is None:
        raise Unavailable(f"{name} is not installed", hint=module.INSTALL)
    opened: Peer = module.opened
    return opened
