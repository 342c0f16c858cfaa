"""Drawings: where the records of a graph are drawn, the same each time."""

from collections.abc import Sequence

import numpy as np

STEPS = 60
PULL, PUSH = 0.3, 0.8  # of an edge, and of what is near
PAIRS = 1_000  # nodes of which each pushes each other; of more, the nodes in the cells around
FORCE, NEAREST = 0.3, 1e-4  # of such a push, and the square of the distance below which it grows no more
SIDE = 32  # cells along each side of the grid that says what is near
GOLDEN = np.pi * (3 - np.sqrt(5))


def drawn(number: int, edges: Sequence[tuple[int, int]]) -> list[tuple[float, float]]:
    """
    Return a place for each of ``number`` nodes, in -1 to 1; nodes with an edge between them are near each other.

    Those with an edge begin on a spiral in their order. Edges pull their ends together, and nodes push each other away.
    Nodes without an edge are not drawn: they take no room, and stay in the middle.
    """
    found = np.zeros((number, 2))
    linked, flat = np.unique(np.array(edges, dtype=np.int64), return_inverse=True)
    if linked.size:
        found[linked] = _spread(linked.size, flat.reshape(-1, 2))
    return [(round(float(x), 4), round(float(y), 4)) for x, y in found]


def _spread(number: int, ends: np.ndarray) -> np.ndarray:
    """Return the places of nodes, each of which has an edge, by the ends of these."""
    order = np.arange(number)
    radius = np.sqrt((order + 0.5) / number)
    places = np.stack([radius * np.cos(order * GOLDEN), radius * np.sin(order * GOLDEN)], axis=1)
    both = ends.T.ravel()  # where each edge begins, then where each ends
    degrees = np.maximum(1, np.bincount(ends.ravel(), minlength=number))[:, None]
    for step in range(STEPS):
        apart = (places[ends[:, 1]] - places[ends[:, 0]]).T
        move = [np.bincount(both, weights=np.concatenate([one, -one]), minlength=number) for one in apart]
        pull = PULL * np.stack(move, axis=1) / degrees
        push = _pushes_of_all(places) if number <= PAIRS else _pushes(places, step / STEPS)
        places = places + (1 - step / STEPS) * (pull + PUSH * push / number**0.5)
        places -= places.mean(axis=0)
        places /= max(1.0, float(np.abs(places).max()))
    return places


def _pushes_of_all(places: np.ndarray) -> np.ndarray:
    """Return where each node is pushed by all others, the more the nearer they are, at most by one."""
    squares = np.square(places).sum(axis=1)
    force = -2 * places @ places.T  # by the squares of the distances; in its place, which takes a third of the time
    force += squares
    force += squares[:, None]
    np.divide(FORCE, np.maximum(force, NEAREST, out=force), out=force)
    push = (places * force.sum(axis=1)[:, None] - force @ places) / len(places) ** 0.5
    moved: np.ndarray = push / np.maximum(1, np.linalg.norm(push, axis=1, keepdims=True))
    return moved


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
