"""
How large a piece of work is, before it and after it (docs/concepts/campaigns.md, "Estimates").

The formula is that of the specification; what campaigns took that have ended stands beside it.
"""

import math
from collections.abc import Iterable
from statistics import median

from graphmem.constants import COMPLEXITY_A_TASK, COST_A_POINT, LEVEL_POINTS, MOST_PLANNED_TASKS, SECTION_POINTS


def complexity(sections: int, failure_cost_k: float, framework_level: int) -> float:
    """
    Return the complexity of a campaign, in points.

    Args:
        sections: parts of the specification that it is about.
        failure_cost_k: thousands of tokens that the failures cost which are known for it.
        framework_level: how unknown the framework is; 0 for none.
    """
    return SECTION_POINTS * sections + failure_cost_k / COST_A_POINT + LEVEL_POINTS * framework_level


def planned_task_count(points: float) -> int:
    """Return how many tasks a campaign of so many points is planned with, from 1 to 7."""
    return min(MOST_PLANNED_TASKS, max(1, math.ceil(points / COMPLEXITY_A_TASK)))


def usual_ratio(pairs: Iterable[tuple[float, float]]) -> float | None:
    """Return the median of actual over estimated; None where nothing was estimated."""
    found = [actual / estimated for estimated, actual in pairs if estimated > 0]
    return median(found) if found else None
