"""The figures of health, and where a loop is broken."""

from datetime import timedelta
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import IMPORTANCE_BOUNDS
from graphmem.core.stats.health import LoopCounts, Piece, accuracies, bands, broken_stage, verdict, window
from graphmem.kernel.model import Experience
from graphmem.kernel.model.experience import Complexity
from tests.sample import START


@pytest.mark.parametrize(
    ("told", "stage", "words"),
    [
        (LoopCounts(), None, "nothing is recorded yet"),
        (LoopCounts(pieces=3), "captured", "captured 0: campaigns and runs end, and no failure is recorded"),
        (
            LoopCounts(captured=12, known=12),
            "injected",
            "captured 12, injected 0: what is known is not handed to the tasks",
        ),
        (
            LoopCounts(known=40, pieces=10),
            "injected",
            "captured 0, injected 0: what is known is not handed to the tasks",
        ),
        (
            LoopCounts(captured=12, injected=9, known=12, finished=4),
            "used",
            "captured 12, injected 9, feedback on 0: tasks finish without reporting what they used",
        ),
        (
            LoopCounts(captured=12, injected=9, known=12),
            "used",
            "captured 12, injected 9, feedback on 0: no agent reports whether the returned records helped",
        ),
        (
            LoopCounts(captured=1_200, injected=9, used=5, known=1_200),
            "helped",
            "captured 1,200, injected 9, used 5, feedback on 0: tasks name what they used, not whether it helped",
        ),
        (
            LoopCounts(captured=12, injected=9, used=5, reports=1, known=12),
            "helped",
            "captured 12, injected 9, used 5, helped 0: what is known is used and does not help",
        ),
        (
            LoopCounts(captured=12, injected=9, used=5, helped=3, reports=1, known=12),
            None,
            "captured 12, injected 9, used 5, helped 3: learning happens",
        ),
        (
            LoopCounts(injected=9, used=5, helped=3, known=40, pieces=10),
            None,
            "captured 0, injected 9, used 5, helped 3: learning happens",
        ),
    ],
)
def test_the_verdict_names_the_first_stage_that_nothing_came_to(
    told: LoopCounts, stage: str | None, words: str
) -> None:
    assert (broken_stage(told), verdict(told)) == (stage, words)


def piece(day: int, ref: str) -> Piece:
    return Piece(START + timedelta(days=day), ref)


def test_the_window_begins_with_a_campaign_and_after_what_stood_before_a_run() -> None:
    pieces = [piece(5, "run/b"), piece(1, "campaign/a"), piece(3, "campaign/b"), piece(2, "run/a")]
    assert window(pieces, 4) == (None, [pieces[1], pieces[3], pieces[2], pieces[0]])
    assert window(pieces, 3) == (START + timedelta(days=1), [pieces[3], pieces[2], pieces[0]])  # what led to run/a
    assert window(pieces, 2) == (START + timedelta(days=3), [pieces[2], pieces[0]])
    assert window(pieces, 1) == (START + timedelta(days=3), [pieces[0]])
    assert window([], 1) == (None, [])


@given(st.lists(st.floats(min_value=0, max_value=20)))
def test_every_importance_is_in_the_band_that_it_belongs_to(importances: list[float]) -> None:
    found = bands(importances)
    assert tuple(band.low for band in found) == IMPORTANCE_BOUNDS
    ends = [*IMPORTANCE_BOUNDS[1:], float("inf")]
    oracle = [sum(band.low <= value < end for value in importances) for band, end in zip(found, ends, strict=True)]
    assert [band.number for band in found] == oracle


def experience(task_type: str, estimated: str | None, actual: str | None) -> Experience:
    fields: dict[str, Any] = {
        "kind": "experience", "name": "2026-11-01_x", "created_at": START, "task_type": task_type, "description": "d",
        "approach": "a", "outcome": "success", "lessons": ("l",),
    }  # fmt: skip
    return Experience.model_validate({**fields, "complexity_estimated": estimated, "complexity_actual": actual})


def test_an_estimate_differs_by_steps_and_counts_only_with_both_ends() -> None:
    found = accuracies([
        experience("bug", "low", "high"),
        experience("bug", "low", "low"),
        experience("bug", "low", "low"),
        experience("bug", "very_high", "trivial"),
        experience("bug", "low", None),
        experience("test", None, "low"),
        experience("deploy", "medium", "high"),
    ])  # fmt: skip
    assert [(one.task_type, one.experiences, one.mean_difference, one.equal_ratio) for one in found] == [
        ("bug", 4, (2 + 0 + 0 - 4) / 4, 0.5), ("deploy", 1, 1.0, 0.0),
    ]  # fmt: skip
    assert [(pair.estimated, pair.actual, pair.number) for pair in found[0].pairs] == [
        ("low", "low", 2), ("low", "high", 1), ("very_high", "trivial", 1),
    ]  # fmt: skip


LEVELS = st.sampled_from([*get_args(Complexity), None])


@given(st.lists(st.tuples(st.sampled_from(["bug", "test"]), LEVELS, LEVELS), max_size=20))
def test_accuracy_is_bounded_and_counts_each_experience_once(given: list[tuple[str, str | None, str | None]]) -> None:
    found = accuracies([experience(*one) for one in given])
    for one in found:
        assert -4 <= one.mean_difference <= 4
        assert 0 <= one.equal_ratio <= 1
        assert sum(pair.number for pair in one.pairs) == one.experiences
    assert sum(one.experiences for one in found) == sum(None not in one for one in given)
