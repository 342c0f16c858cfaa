"""How large a campaign is thought to be: campaigns.md, "Complexity for planners"."""

import pytest

from graphmem.core.plans.estimate import complexity, planned_task_count, usual_ratio


@pytest.mark.parametrize(
    ("sections", "cost", "level", "points", "tasks"),
    [(0, 0, 0, 0, 1), (1, 0, 0, 2, 1), (2, 10, 1, 9, 2), (5, 0, 0, 10, 2), (5, 0.5, 0, 10.1, 3), (20, 100, 3, 69, 7)],
)
def test_the_formula(sections: int, cost: float, level: int, points: float, tasks: int) -> None:
    assert complexity(sections, cost, level) == pytest.approx(points)
    assert planned_task_count(complexity(sections, cost, level)) == tasks


def test_the_usual_ratio_is_the_median_of_what_was_estimated() -> None:
    assert usual_ratio([(2, 4), (1, 1), (4, 12)]) == 2
    assert usual_ratio([(0, 3)]) is None
