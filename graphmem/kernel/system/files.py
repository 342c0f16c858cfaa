"""Finds the data folders ``schema/`` and ``queries/``, in the wheel or in the checkout."""

from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path

from graphmem.errors import Damaged


@cache
def shipped(folder: str) -> Traversable:
    """Return the top-level folder ``schema`` or ``queries``, from the wheel or the checkout."""
    places: tuple[Traversable, ...] = (files("graphmem") / "_files" / folder, Path(__file__).parents[3] / folder)
    for place in places:
        if place.is_dir():
            return place
    raise Damaged(f"graphmem is installed without its {folder}/ folder", hint="reinstall graphmem")
