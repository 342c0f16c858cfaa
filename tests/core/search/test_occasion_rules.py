"""Reports on like questions: what they add to a relevance, and what they cannot do."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.search.occasion_rules import NO_REPORTS, Reports, help_factor, occasion_weight, reuse

shares = st.floats(0.01, 1.0)
weights = st.lists(st.tuples(st.floats(0.01, 1.0), st.booleans()), min_size=1, max_size=30)


def reports_of(found: list[tuple[float, bool]]) -> Reports:
    made = NO_REPORTS
    for weight, helped in found:
        made = made.and_more(helped, not helped, weight)
    return made


def test_a_report_counts_by_how_alike_its_question_is() -> None:
    assert [occasion_weight(cosine, 0.5) for cosine in (-1.0, 0.5, 0.75, 1.0)] == [0, 0, 0.5, 1]
    assert [occasion_weight(cosine, 1.0) for cosine in (0.99, 1.0)] == [0, 1]


def test_without_reports_nothing_changes() -> None:
    assert help_factor(0.3, NO_REPORTS, 1.0) == 1.0
    assert NO_REPORTS.and_more(0, 0, 0.05) is NO_REPORTS


def test_what_helped_with_the_very_same_question_is_above_what_is_surely_relevant() -> None:
    once = NO_REPORTS.and_more(1, 0, 1.0)
    for again in (0.0, 0.2, 1.0):
        assert 0.8 * help_factor(0.8, once, again) == pytest.approx(0.8 + 0.36 / 1.5)


def test_what_helped_with_a_like_question_counts_as_far_as_answers_recur() -> None:
    once = NO_REPORTS.and_more(1, 0, 0.6)
    scores = [0.4 * help_factor(0.4, once, again) for again in (0.0, 0.5, 1.0)]
    assert scores == pytest.approx([0.4, 0.4 + 0.68 * 0.5 * 0.6 / 1.1, 0.4 + 0.68 * 0.6 / 1.1], abs=1e-3)


@given(shares, weights, shares)
def test_a_score_stays_between_four_fifths_of_the_relevance_and_a_fifth_above_one(
    relevance: float, found: list[tuple[float, bool]], again: float
) -> None:
    score = relevance * help_factor(relevance, reports_of(found), again)
    assert 0.8 * relevance - 1e-9 <= score <= 1.2 + 1e-9


@given(shares, weights, shares, st.floats(0.01, 1.0))
def test_one_more_report_of_failure_never_raises(
    relevance: float, found: list[tuple[float, bool]], again: float, weight: float
) -> None:
    before = reports_of([(w, False) for w, _ in found])
    after = before.and_more(0, 1, weight)
    assert help_factor(relevance, after, again) <= help_factor(relevance, before, again) + 1e-12


@given(shares, st.floats(0.0, 1.0), shares, st.integers(1, 1000))
def test_praise_without_end_for_another_question_counts_no_more_than_two_reports_on_it(
    relevance: float, weight: float, again: float, times: int
) -> None:
    praise = NO_REPORTS.and_more(times, 0, weight)
    twice = NO_REPORTS.and_more(2, 0, weight)
    assert help_factor(relevance, praise, again) <= help_factor(relevance, twice, again) + 1e-12


def test_fifty_praises_for_a_question_that_is_hardly_like_it_add_next_to_nothing() -> None:
    praised = NO_REPORTS.and_more(50, 0, occasion_weight(0.36, 0.35))
    assert 0.5 * help_factor(0.5, praised, 0.5) - 0.5 < 0.02


@given(st.integers(0, 6).flatmap(lambda size: st.tuples(
    st.lists(st.lists(st.floats(-1, 1), min_size=size, max_size=size), min_size=size, max_size=size),
    st.lists(st.frozensets(st.integers(0, 4), max_size=3), min_size=size, max_size=size),
)))  # fmt: skip
def test_reuse_is_the_weighed_share_of_pairs_of_questions_with_an_answer_in_common(
    given_: tuple[list[list[float]], list[frozenset[int]]],
) -> None:
    likeness, helped = given_
    pairs = [
        (occasion_weight(likeness[a][b], 0.35), bool(helped[a] & helped[b]))
        for a in range(len(helped))
        for b in range(a)
        if helped[a] and helped[b]
    ]
    shared = sum(weight for weight, is_shared in pairs if is_shared)
    expected = (shared + 0.5) / (sum(weight for weight, _ in pairs) + 2.5)
    assert reuse(likeness, helped, 0.35) == pytest.approx(expected)
