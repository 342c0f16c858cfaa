"""Which finished tasks are worth a pattern: six criteria, each with its points (docs/concepts/campaigns.md)."""

from collections.abc import Mapping
from typing import NamedTuple

POINTS: Mapping[str, int] = {
    "blocked_then_fixed": 3,
    "first_try": 2,
    "idioms_applied": 2,
    "budget_left": 1,
    "several_files": 1,
    "novel": 1,
}
OFFERED_FROM = 3  # points from which a finished task is offered as a pattern
BUDGET_LEFT = 4  # of a task's budget, from which it counts
FILES = 2  # from which they are several
NOVEL_BELOW = 0.7  # similarity to the nearest pattern


class TaskSigns(NamedTuple):
    """
    What is known of a finished task.

    Attributes:
        was_blocked: at any time. are_idioms_applied: those that it had to use are in its files, and none it must not.
        budget_left: None where budget or what it took is not known. similarity: to the nearest pattern.
    """

    was_blocked: bool
    are_idioms_applied: bool
    budget_left: float | None
    files: int
    similarity: float


def criteria(signs: TaskSigns) -> dict[str, int]:
    """Return the points of a finished task, by the criterion that it meets."""
    met = {
        "blocked_then_fixed": signs.was_blocked,
        "first_try": not signs.was_blocked,
        "idioms_applied": signs.are_idioms_applied,
        "budget_left": signs.budget_left is not None and signs.budget_left >= BUDGET_LEFT,
        "several_files": signs.files >= FILES,
        "novel": signs.similarity < NOVEL_BELOW,
    }
    return {name: POINTS[name] for name, is_met in met.items() if is_met}


def is_offered(found: Mapping[str, int]) -> bool:
    """Return whether a task with these points is offered as a pattern."""
    return sum(found.values()) >= OFFERED_FROM
