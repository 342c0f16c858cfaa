"""Edges as walks see them."""

from typing import NamedTuple


class Step(NamedTuple):
    """An edge as seen from the record ``near``; ``is_out`` says that the edge leads away from it."""

    near: int
    far: int
    type: str
    weight: float
    is_out: bool


Edge = tuple[int, int, str, float, bool]  # a step before anybody looks at it: very many are only passed by
