"""Which experiences are offered, which go, and what they agree on."""

from datetime import timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.records.experience import (
    Statement,
    agreements,
    by_worth,
    offered,
    over_bound,
    share_keywords,
    statements_of,
)
from graphmem.kernel.model import Experience
from tests.sample import START


def experience(day: int, slug: str = "task", lessons: tuple[str, ...] = ("test first",), **fields: Any) -> Experience:
    when = START + timedelta(days=day)
    given = {"kind": "experience", "name": f"{when:%Y-%m-%d}_{slug}", "task_type": "bug", "description": slug,
             "approach": "a", "outcome": "success", "lessons": lessons, "created_at": when, **fields}  # fmt: skip
    return Experience.model_validate(given)


def test_an_experience_is_offered_for_its_type_or_a_tag_the_newest_first() -> None:
    found = [experience(day, f"t{day}", task_type="test", tags=["ci"] if day % 2 else []) for day in range(12)]
    assert [one.slug for one in offered(found, "test", ())] == ["t11", "t10", "t9", "t8", "t7"]
    assert [one.slug for one in offered(found, "bug", ["ci"])] == ["t11", "t9", "t7", "t5", "t3"]
    assert offered(found, "deploy", ["other"]) == []


def test_lessons_of_sure_or_successful_experiences_come_first() -> None:
    failed, sure = (
        experience(1, "failed", outcome="failure"),
        experience(0, "sure", outcome="partial", confidence="high"),
    )
    assert [one.slug for one in by_worth([failed, sure])] == ["sure", "failed"]


confidences = st.lists(st.sampled_from(("low", "medium", "high")), max_size=30)


@given(confidences, st.integers(0, 30))
def test_over_the_bound_the_oldest_of_low_confidence_go_then_of_medium_and_never_of_high(
    given: list[str], bound: int
) -> None:
    there = [experience(day, f"t{day}", confidence=confidence) for day, confidence in enumerate(given)]
    gone = over_bound(there, bound)
    expected = [one for one in there if one.confidence == "low"] + [one for one in there if one.confidence == "medium"]
    assert gone == expected[: max(0, len(there) - bound)]
    assert len(there) - len(gone) <= bound or all(one.confidence == "high" for one in there if one not in gone)


def alike(statements: list[Statement]) -> list[tuple[str, tuple[str, ...]]]:
    found = agreements(statements, lambda left, right: share_keywords(statements[left].text, statements[right].text))
    return [(one.statement, one.experiences) for one in found]


def test_two_experiences_of_different_days_and_tasks_agree() -> None:
    first = experience(0, "login", ("the session cookie needs SameSite none",))
    second = experience(1, "logout", ("session cookie needs SameSite=None", "unrelated words here"))
    same_day, same_task = experience(0, "logout", second.lessons), experience(1, "login", second.lessons)
    assert [refs for _, refs in alike(statements_of([first, second]))] == [(first.key_ref, second.key_ref)]
    assert alike(statements_of([first, same_day])) == []
    assert alike(statements_of([first, same_task])) == []


words = st.lists(st.sampled_from("cache token retry lock queue index".split()), min_size=1, max_size=4).map(" ".join)
taught = st.lists(
    st.tuples(st.integers(0, 4), st.sampled_from("abc"), st.lists(words, min_size=1, max_size=2)), max_size=8
)


@given(taught, st.randoms())
def test_what_they_agree_on_does_not_depend_on_the_order(given: list[tuple[int, str, list[str]]], random: Any) -> None:
    found = [experience(day, slug, tuple(lessons)) for day, slug, lessons in given]
    shuffled = list(found)
    random.shuffle(shuffled)
    assert alike(statements_of(found)) == alike(statements_of(shuffled))


@given(taught)
def test_all_that_one_agreement_holds_is_like_its_statement(given: list[tuple[int, str, list[str]]]) -> None:
    statements = statements_of([experience(day, slug, tuple(lessons)) for day, slug, lessons in given])
    found = agreements(statements, lambda left, right: share_keywords(statements[left].text, statements[right].text))
    for one in found:
        assert all(share_keywords(one.statement, other.text) for other in one.statements)
    told = [other for one in found for other in one.statements]
    assert len(told) == len(set(told))
