"""What finished work is worth, and the expressions that find its errors again: campaigns.md, section 2."""

import re

import pytest
import re2
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs.derivation import expression_of
from graphmem.features.work.worth_keeping import OFFERED_FROM, POINTS, TaskSigns, criteria, is_offered

NOTHING = TaskSigns(was_blocked=True, are_idioms_applied=False, budget_left=None, files=0, similarity=1.0)


@pytest.mark.parametrize(
    ("change", "points"),
    [
        ({}, {"blocked_then_fixed": 3}),
        ({"was_blocked": False}, {"first_try": 2}),
        ({"are_idioms_applied": True}, {"blocked_then_fixed": 3, "idioms_applied": 2}),
        ({"budget_left": 4.0}, {"blocked_then_fixed": 3, "budget_left": 1}),
        ({"budget_left": 3.9}, {"blocked_then_fixed": 3}),
        ({"files": 2}, {"blocked_then_fixed": 3, "several_files": 1}),
        ({"files": 1}, {"blocked_then_fixed": 3}),
        ({"similarity": 0.69}, {"blocked_then_fixed": 3, "novel": 1}),
        ({"similarity": 0.7}, {"blocked_then_fixed": 3}),
    ],
)
def test_the_six_criteria(change: dict[str, object], points: dict[str, int]) -> None:
    assert criteria(NOTHING._replace(**change)) == points  # type: ignore[arg-type]  # of the fields


def test_a_task_is_offered_from_three_points() -> None:
    assert is_offered({"first_try": 2, "novel": 1})
    assert not is_offered({"first_try": 2})
    assert is_offered({"blocked_then_fixed": POINTS["blocked_then_fixed"]})
    assert OFFERED_FROM == 3


@pytest.mark.parametrize(
    ("reason", "again", "other"),
    [
        ("ModuleNotFoundError: No module named 'authlib'", "E   ModuleNotFoundError: No module named 'authlib'",
         "ModuleNotFoundError: No module named 'yaml'"),
        ("TimeoutError: no answer from worker after 30 s (attempt 3)",
         "2026-11-02 TimeoutError: no answer from worker after 45 s (attempt 12)",
         "TimeoutError: no answer from the database after 30 s (attempt 3)"),
        ("OSError: cannot open /home/ann/app/data/users.db: locked",
         "OSError: cannot open /srv/ci/build 7/users.db: locked".replace(" 7", "7"),
         "OSError: cannot open /home/ann/app/data/orders.db: locked"),
        ("error: object at 0x7f3a2b has no commit 9f8e7d6c5b4a", "error: object at 0x55aa has no commit 0011aabbcc99",
         "error: object at 0x7f3a2b has no branch 9f8e7d6c5b4a"),
        ("HTTPError: status 404 for the page", "HTTPError:  status 404 for the page",
         "HTTPError: status 500 for the page"),
        ("fatal: version 1.2.3 is not supported", "fatal: version 1.2.3 is not supported",
         "fatal: version 1.2.4 is not supported"),
    ],
)  # fmt: skip
def test_an_expression_finds_the_error_of_another_run_and_no_other_error(reason: str, again: str, other: str) -> None:
    made = expression_of(reason)
    assert made is not None
    assert re.search(made, reason)
    assert re.search(made, again)
    assert not re.search(made, other)
    re2.compile(made)  # linear: never left aside


@pytest.mark.parametrize(
    "reason", [
        "", "   \n", "42", "error", "0x12 0x13", "x" * 4_000, "No such file or directory", "Permission denied.",
        "Traceback (most recent call last):\n  File \"/a/b.py\", line 3, in run",
    ],
)  # fmt: skip
def test_what_tells_no_error_apart_makes_no_expression(reason: str) -> None:
    assert expression_of(reason) is None


@given(st.text(min_size=0, max_size=200))
def test_whatever_the_reason_its_expression_finds_it(reason: str) -> None:
    made = expression_of(reason)
    if made is not None:
        assert any(re.search(made, line) for line in reason.splitlines())
