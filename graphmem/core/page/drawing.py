"""Drawings: where the records of a graph are drawn, the same each time."""

from collections.abc import Sequence

import numpy as np

STEPS = 60
PULL, PUSH = 0.3, 0.8  # of an edge, and of what is near
SIDE = 32  # cells along each side of the grid that says what is near
GOLDEN = np.pi * (3 - np.sqrt(5))


def drawn(number: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """
    Return a place for each of ``number`` nodes, in -1 to 1; nodes with an edge between them are near each other.

    All begin on a spiral in their order. Edges pull their ends together, and the nodes in the cells around push away.
    """
    if not number:
        return []
    order = np.arange(number)
    radius = np.sqrt((order + 0.5) / number)
    places = np.stack([radius * np.cos(order * GOLDEN), radius * np.sin(order * GOLDEN)], axis=1)
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    both = ends.T.ravel()  # where each edge begins, then where each ends
    degrees = np.maximum(1, np.bincount(ends.ravel(), minlength=number))[:, None]
    for step in range(STEPS):
        apart = (places[ends[:, 1]] - places[ends[:, 0]]).T
        move = [np.bincount(both, weights=np.concatenate([one, -one]), minlength=number) for one in apart]
        pull = PULL * np.stack(move, axis=1) / degrees
        places = places + (1 - step / STEPS) * (pull + PUSH * _pushes(places, step / STEPS) / number**0.5)
        places -= places.mean(axis=0)
        places /= max(1.0, float(np.abs(places).max()))
    return [(round(float(x), 4), round(float(y), 4)) for x, y in places]


def _pushes(places: np.ndarray, offset: float) -> np.ndarray:
    """
    Return in which direction each node is pushed by the nodes in the nine cells around it, at most by one.

    The grid is shifted by a part of a cell, so that no place is preferred.
    """
    cells = np.clip(((places + 1) / 2 * (SIDE - 1) + offset).astype(np.int64), 0, SIDE - 1)
    flat = cells[:, 0] * SIDE + cells[:, 1]
    counts = np.bincount(flat, minlength=SIDE * SIDE).reshape(SIDE, SIDE)
    sums = np.stack(
        [np.bincount(flat, weights=places[:, axis], minlength=SIDE * SIDE).reshape(SIDE, SIDE) for axis in (0, 1)],
        axis=2,
    )
    around, middle = _windows(counts[:, :, None])[:, :, 0], _windows(sums)
    near = around[cells[:, 0], cells[:, 1]][:, None]
    away = places - middle[cells[:, 0], cells[:, 1]] / np.maximum(1, near)
    length = np.maximum(1e-6, np.linalg.norm(away, axis=1, keepdims=True))
    return np.where(near > 1, away / length, 0.0)


def _windows(grid: np.ndarray) -> np.ndarray:
    """Return for each cell the sum of the nine cells around it."""
    wide = np.pad(grid, ((1, 1), (1, 1), (0, 0)))
    rows, columns, _ = grid.shape
    found: np.ndarray = np.sum([wide[x : x + rows, y : y + columns] for x in range(3) for y in range(3)], axis=0)
    return found
