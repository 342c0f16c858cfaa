"""The probability that a first result is relevant is the logistic one, and more evidence never lowers it."""

from dataclasses import astuple, fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import RIVALS, USUAL_LEAD
from graphmem.rules.known import BY_MEANING, BY_WORDS, Signs, Weights, lead, overlap, probability, state

Share = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 6))
AnySigns = st.builds(Signs, Share, Share, Share, Share, Share)
Fitted = st.sampled_from((BY_MEANING, BY_WORDS))


@given(AnySigns, Fitted)
def test_the_odds_are_the_product_of_what_each_sign_makes_of_them(signs: Signs, weights: Weights) -> None:
    odds = 2.718281828459045**weights.constant * max(signs.semantic, 0.05) ** weights.semantic
    for weight, value in zip(weights[2:], astuple(signs)[1:], strict=True):
        odds *= 2.718281828459045 ** (weight * value)
    assert probability(signs, weights) == pytest.approx(odds / (1 + odds))


@given(AnySigns, Fitted, st.sampled_from([field.name for field in fields(Signs)]), Share)
def test_more_of_a_sign_never_lowers_the_probability(signs: Signs, weights: Weights, name: str, value: float) -> None:
    more = replace(signs, **{name: max(value, getattr(signs, name))})
    assert probability(more, weights) >= probability(signs, weights)


@given(st.floats(0.01, 1), st.floats(0.01, 1), st.lists(Share, max_size=12))
def test_more_relevance_never_lowers_the_lead(left: float, right: float, others: list[float]) -> None:
    assert 0 <= lead(min(left, right), others) <= lead(max(left, right), others) <= 1


@given(st.floats(0.01, 1), st.lists(Share, max_size=30))
def test_the_lead_is_over_the_nine_most_relevant_others_and_missing_ones_are_as_usual(
    relevance: float, others: list[float]
) -> None:
    below = [max(0.0, relevance - other) for other in sorted(others, reverse=True)[:9]]
    below += [USUAL_LEAD * relevance] * (RIVALS - len(below))
    assert lead(relevance, others) == pytest.approx(sum(below) / 9)


def test_the_lead_is_0_among_equals_and_all_of_it_where_all_others_are_irrelevant() -> None:
    assert lead(0.7, [0.7] * 9) == 0
    assert lead(0.7, [0.0] * 9) == pytest.approx(0.7)
    assert lead(0.7, [0.9] * 9) == 0  # its score put it first, not its relevance
    assert lead(0.7, []) == pytest.approx(USUAL_LEAD * 0.7)


def test_overlap_is_the_share_of_the_records_words() -> None:
    assert overlap(["disk", "full"], ["the", "disk", "is", "slow"]) == 0.5
    assert overlap([], ["disk"]) == 0


def test_a_probability_means_the_state_whose_threshold_it_reaches() -> None:
    states = [state(likely, known=0.5, unsure=0.1) for likely in (1.0, 0.5, 0.49, 0.1, 0.09, 0.0)]
    assert states == ["true", "true", "unsure", "unsure", "false", "false"]
