"""How a lesson stands after runs, against a plain fold one run at a time."""

from datetime import timedelta
from functools import reduce

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.kernel.model import Lesson
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.lesson_state import (
    LessonState,
    Order,
    after_seen,
    after_silence,
    imported,
    injected,
    is_eligible,
    standing,
)
from tests.sample import START


def lesson(type_name: str = "pattern", **fields: object) -> Lesson:
    archetype = "web" if type_name == "archetype_hint" else None
    given = {"kind": "lesson", "name": "a", "description": "d", "type": type_name, "archetype": archetype,
             "created_at": START, **fields}  # fmt: skip
    return Lesson.model_validate(given)


def at(day: int) -> str:
    return format_time(START + timedelta(days=day))


def one_by_one(made: Lesson, runs: list[tuple[Order, bool]]) -> LessonState:
    """The rule of the specification, as it is told: run after run."""
    frequency, silent, last, is_faded = made.frequency, made.runs_since_last_seen, made.last_seen_run, False
    restored = None if made.restored_at is None else format_time(made.restored_at)
    for (when, run), saw in [*sorted(runs), (("~", ""), False)]:
        if restored is not None and when >= restored:
            frequency, silent, is_faded, restored = max(1, frequency), 0, False, None
        if when == "~":
            break
        if saw:
            frequency, silent, last, is_faded = frequency + 1, 0, run, False
        elif when >= format_time(made.created_at) and made.type != "preference":
            silent += 1
            if silent == 10:
                frequency, silent = max(0, frequency - 1), 0
                is_faded = is_faded or frequency == 0
    return LessonState(frequency, silent, last, is_faded)


runs = st.lists(st.tuples(st.integers(-20, 60), st.booleans()), max_size=60, unique_by=lambda run: run[0])
lessons = st.builds(
    lambda type_name, frequency, silent, restored: lesson(
        type_name, frequency=frequency, runs_since_last_seen=silent,
        restored_at=None if restored is None else START + timedelta(days=restored),
    ),
    st.sampled_from(("pattern", "preference")), st.integers(0, 4), st.integers(0, 9), st.none() | st.integers(0, 60),
)  # fmt: skip


@given(lessons, runs)
def test_a_lesson_stands_as_if_each_run_had_been_told_in_order(made: Lesson, days: list[tuple[int, bool]]) -> None:
    told = [((at(day), f"run{day}"), saw) for day, saw in days]
    orders = sorted(order for order, _ in told)
    assert standing(made, orders, sorted(order for order, saw in told if saw)) == one_by_one(made, told)


@given(lessons, st.integers(0, 70), st.integers(0, 70))
def test_silence_adds_up(made: Lesson, first: int, second: int) -> None:
    begun = imported(made)
    assert after_silence(after_silence(begun, first, made), second, made) == after_silence(begun, first + second, made)


@given(lessons, st.integers(0, 100))
def test_silence_never_raises_a_frequency(made: Lesson, runs: int) -> None:
    assert after_silence(imported(made), runs, made).frequency <= made.frequency


def test_frequency_five_lasts_fifty_silent_runs() -> None:
    seen = reduce(lambda found, run: after_seen(found, f"r{run}"), range(5), imported(lesson()))
    assert after_silence(seen, 49, lesson()) == LessonState(1, 9, "r4", False)
    assert after_silence(seen, 50, lesson()) == LessonState(0, 0, "r4", True)


def test_a_preference_does_not_fade() -> None:
    wish = lesson("preference")
    assert after_silence(after_seen(imported(wish), "r"), 1_000, wish) == LessonState(1, 0, "r", False)


def test_a_faded_lesson_lives_again_when_a_run_sees_it() -> None:
    assert after_seen(LessonState(0, 3, "r1", True), "r2") == LessonState(1, 0, "r2", False)


@pytest.mark.parametrize(
    ("made", "domain", "archetype", "expected"),
    [
        (lesson(frequency=1), None, None, False),
        (lesson(frequency=2), None, None, True),
        (lesson("preference"), None, None, True),
        (lesson("preference", domain="code"), "writing", None, False),
        (lesson(frequency=2, domain="code"), "code", None, True),
        (lesson(frequency=2, domain="code"), "writing", None, False),
        (lesson(frequency=2, domain="code"), None, None, False),
        (lesson(frequency=5, domain="code"), "writing", None, True),
        (lesson("archetype_hint", frequency=4), "code", "web", True),
        (lesson("archetype_hint", frequency=4), "code", "cli", False),
        (lesson("archetype_hint", frequency=4), "code", None, False),
        (lesson("archetype_hint", frequency=5), "code", "cli", True),
    ],
)
def test_who_is_eligible(made: Lesson, domain: str | None, archetype: str | None, expected: bool) -> None:
    assert is_eligible(made, domain, archetype) is expected


def of(number: int, *, kind: str = "pattern", frequency: int = 2) -> Lesson:
    made = START + timedelta(days=number)
    return lesson(kind, name=f"{kind[:4]}-{number}", frequency=frequency, created_at=made)


def names(eligible: list[Lesson], limit: int = 10) -> list[str]:
    return [found.name for found in injected(eligible, lambda lesson: "", limit)]


def test_frequent_lessons_do_not_push_every_preference_out() -> None:
    wishes = [of(number, kind="preference", frequency=0) for number in range(6)]
    frequent = [of(number, frequency=50 + number) for number in range(12)]
    found = names([*frequent, *wishes])
    assert found[:4] == ["pref-5", "pref-4", "pref-3", "pref-2"]
    assert found[4:] == [f"patt-{number}" for number in (11, 10, 9, 8, 7, 6)]


def test_places_that_one_sort_leaves_free_go_to_the_other() -> None:
    wishes = [of(number, kind="preference") for number in range(12)]
    assert len(names(wishes)) == 10
    assert len(names([of(number) for number in range(12)])) == 10
    assert len(names([*wishes[:2], *(of(number) for number in range(12))])) == 10
    assert len(names([*wishes, *(of(number) for number in range(3))])) == 10
    assert names(wishes, limit=0) == []
    assert names([*wishes, of(1)], limit=2) == ["pref-11", "pref-10"]
