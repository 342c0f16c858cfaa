"""The probability that a first result is what was asked is the logistic one, and more evidence never lowers it."""

from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import KNOWN, OTHER_WORD, RIVALS, UNSURE, USUAL_LEAD
from graphmem.core.search.known_rules import (
    BY_MEANING,
    BY_WORDS,
    Fitted,
    Likely,
    Signs,
    certainty,
    described,
    judged,
    lead,
    overlap,
)
from graphmem.core.search.sameness import AGAINST, Comparison

Share = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 6))
AnySigns = st.builds(Signs, *[Share] * len(Signs._fields))
AnySides = st.builds(Comparison, *[Share] * len(Comparison._fields))
Weights = st.sampled_from((BY_MEANING, BY_WORDS))
E = 2.718281828459045


@given(AnySigns, AnySides, Weights)
def test_the_odds_are_the_product_of_what_each_sign_makes_of_them(
    signs: Signs, sides: Comparison, fitted: Fitted
) -> None:
    found = judged(signs.values, sides, fitted)
    for weights, probability, most in zip(fitted, found, (1.0, OTHER_WORD if sides.is_other else 1.0), strict=True):
        odds = E ** weights[0] * max(signs.semantic, 0.05) ** weights[1]
        for weight, value in zip(weights[2:], (*signs[1:], *sides.values)[: len(weights) - 2], strict=True):
            odds *= E ** (weight * value)
        assert probability == pytest.approx(min(most, odds / (1 + odds)))
    assert judged(signs.values, None, fitted) == (found.related, found.related)


@given(AnySigns, AnySides, Weights, st.sampled_from(Signs._fields), Share)
def test_more_of_a_sign_never_lowers_the_probability(
    signs: Signs, sides: Comparison, fitted: Fitted, name: str, value: float
) -> None:
    more = signs._replace(**{name: max(value, getattr(signs, name))})
    for found, least in zip(judged(more.values, sides, fitted), judged(signs.values, sides, fitted), strict=True):
        assert found >= least


@given(AnySigns, AnySides, Weights, st.sampled_from(Comparison._fields), Share)
def test_what_both_sides_have_speaks_for_it_and_what_differs_against_it(
    signs: Signs, sides: Comparison, fitted: Fitted, name: str, value: float
) -> None:
    more = sides._replace(**{name: max(value, getattr(sides, name))})
    least, most = sorted((sides, more), key=lambda one: -getattr(one, name) if name in AGAINST else getattr(one, name))
    assert judged(signs.values, most, fitted).same >= judged(signs.values, least, fitted).same


@given(AnySigns, AnySides, Weights, st.sampled_from(("other_word", "other_class")))
def test_a_message_with_another_word_or_class_in_it_is_never_known(
    signs: Signs, sides: Comparison, fitted: Fitted, sign: str
) -> None:
    found = judged(signs.values, sides._replace(**{sign: 1.0}), fitted)
    assert found.same <= OTHER_WORD
    assert certainty(found, known=KNOWN, unsure=UNSURE) != "high"


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


@pytest.mark.parametrize(
    ("related", "same", "expected"),
    [
        (1.0, 1.0, "high"),
        (0.0, 0.5, "high"),
        (1.0, 0.49, "low"),  # another one of the same sort
        (0.1, 0.0, "low"),
        (0.0, 0.1, "low"),
        (0.09, 0.09, "none"),
        (0.0, 0.0, "none"),
    ],
)
def test_only_what_is_likely_the_same_is_certain_and_only_what_is_unrelated_is_unknown(
    related: float, same: float, expected: str
) -> None:
    assert certainty(Likely(related, same), known=0.5, unsure=0.1) == expected


def test_more_of_what_speaks_for_a_symptom_never_makes_it_less_likely() -> None:
    steps = [step / 10 for step in range(11)]
    for one, other in product(steps[::2], repeat=2):
        for values in (
            [described(step, one, other) for step in steps],
            [described(one, step, other) for step in steps],
            [described(one, other, step) for step in steps],
        ):
            assert values == sorted(values)
    assert described(0.0, 0.0, 0.0) < 0.05 and described(0.8, 0.3, 0.7) > 0.9
    assert described(0.2, -0.2, 0.1) < described(0.2, 0.0, 0.1)
