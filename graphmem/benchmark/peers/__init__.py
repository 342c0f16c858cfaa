"""
Other memories, given the same texts and the same vectors; each an optional extra: ``graphmem[peer-NAME]``.

A peer is a module that says which package it ``NEEDS``, with a class ``Peer`` that is made from a folder of its own,
the texts, and a function that gives the vector of any text.
"""

from collections.abc import Callable, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from pkgutil import iter_modules
from typing import Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from graphmem.errors import Unavailable, Usage

Encode: TypeAlias = Callable[[str], NDArray[np.float32]]


class Peer(Protocol):
    """Another memory, with texts in it."""

    def search(self, text: str, limit: int) -> list[int]:
        """Return the places of the texts that it finds, best first."""


class Maker(Protocol):
    """What makes a peer."""

    def __call__(self, folder: Path, texts: Sequence[str], encode: Encode) -> Peer: ...


def maker(name: str) -> Maker:
    """
    Return what makes the peer called ``name``.

    Raises:
        Usage: there is no such peer.
        Unavailable: it is not installed.
    """
    known = [module.name for module in iter_modules(__path__)]
    if name not in known:
        raise Usage(f"no peer {name!r}", hint=f"known: {', '.join(known)}")
    module = import_module(f"{__name__}.{name}")
    if find_spec(module.NEEDS) is None:
        raise Unavailable(f"{name} is not installed", hint=f"pip install 'graphmem[peer-{name}]'")
    made: Maker = module.Peer
    return made
