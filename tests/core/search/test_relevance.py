"""Relevance stays in [0, 1], follows its evidence, keeps the order of likeness, and says how near a hit is."""

import math
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.constants import EXACT_RELEVANCE, HARDLY_SHARED, HELD_TIMES, LENGTH_POWER, LEXICAL_WEIGHT, LONG_WORDS
from graphmem.core.search.paths import Step
from graphmem.core.search.relevance import Calibration, Evidence, best_of, brevity, fused, graph_strengths, reassign

Share = st.floats(0, 1, allow_subnormal=False).map(lambda value: round(value, 6))
Found = st.builds(Evidence, semantic=Share, lexical=Share)
Candidates = st.lists(Found, min_size=1, max_size=8)


def relevances(found: list[Evidence]) -> list[float]:
    yardstick = Calibration.of(found)
    return [yardstick.relevance(evidence) for evidence in found]


@given(st.lists(st.builds(Evidence, semantic=Share, lexical=Share, exact=st.sampled_from((0.0, 1.0)), graph=Share)))
def test_relevance_is_between_0_and_1(found: list[Evidence]) -> None:
    assert all(0 <= relevance <= 1 for relevance in relevances(found))


@given(Candidates)
def test_the_order_is_that_of_cosine_and_weighed_lexical_share(found: list[Evidence]) -> None:
    best = max(HARDLY_SHARED, *(evidence.lexical for evidence in found))
    likeness = [evidence.semantic + LEXICAL_WEIGHT * evidence.lexical * (1 / best + HELD_TIMES) for evidence in found]
    got = relevances(found)
    for i, left in enumerate(likeness):
        for j, right in enumerate(likeness):
            if left > right + 1e-9:
                assert got[i] >= got[j] - 1e-12
            if left > right + 1e-4:
                assert got[i] > got[j]


@given(Candidates, st.data(), st.sampled_from(("semantic", "lexical")), Share)
def test_more_evidence_for_a_record_never_lowers_its_relevance(
    found: list[Evidence], data: st.DataObject, part: Literal["semantic", "lexical"], value: float
) -> None:
    place = data.draw(st.integers(0, len(found) - 1))
    before = relevances(found)[place]
    found[place] = replace(found[place], **{part: max(value, getattr(found[place], part))})
    assert relevances(found)[place] >= before - 1e-9


@given(Candidates)
def test_the_best_is_worth_what_cosine_and_share_say_together(found: list[Evidence]) -> None:
    worth = max(1 - (1 - evidence.semantic) * (1 - evidence.lexical) for evidence in found)
    assert max(relevances(found)) == pytest.approx(worth, abs=1e-9)


@given(Found, Candidates, Share)
def test_what_is_exact_is_above_all_that_is_only_alike_unless_that_is_as_good_as_certain(
    exact: Evidence, others: list[Evidence], graph: float
) -> None:
    yardstick = Calibration.of([exact, *others])
    assert yardstick.relevance(replace(exact, exact=1.0)) >= EXACT_RELEVANCE
    assert yardstick.relevance(replace(exact, exact=1.0)) >= yardstick.relevance(exact) - 1e-12
    assert yardstick.relevance(replace(exact, graph=graph)) == max(graph, yardstick.relevance(exact))


@given(Share)
def test_without_words_in_common_relevance_is_the_cosine(cosine: float) -> None:
    assert relevances([Evidence(semantic=cosine), Evidence(semantic=cosine / 2)]) == pytest.approx([cosine, cosine / 2])


@given(Share, Share)
def test_without_a_model_the_best_is_worth_the_share_that_it_holds(lexical: float, less: float) -> None:
    """So a query of which little is known finds nothing near, however it ranks."""
    got = relevances([Evidence(lexical=lexical), Evidence(lexical=lexical * less)])
    assert got[0] == pytest.approx(lexical, abs=1e-9)
    assert got[1] <= got[0]


def test_a_paraphrase_stays_near_beside_a_record_that_has_the_words() -> None:
    for rival in (Evidence(0.2, 0.2), Evidence(0.2, 0.6), Evidence(0.6, 0.6), Evidence(1.0, 1.0)):
        assert relevances([Evidence(semantic=0.65), rival])[0] >= 0.6, rival


def test_the_best_of_a_bad_lot_is_not_near() -> None:
    assert max(relevances([Evidence(0.2, 0.15), Evidence(0.15, 0.1), Evidence(0.1, 0.0)])) < 0.4


def test_the_best_word_of_a_question_that_hardly_shares_any_gets_what_it_earned() -> None:
    """One frequent word in common is no reason to come before what is nearer by meaning."""
    chance, near = Evidence(0.3, HARDLY_SHARED / 10), Evidence(0.4, 0.0)
    assert Calibration.of([chance, near]).likeness(chance) < Calibration.of([chance, near]).likeness(near)
    earned = Evidence(0.3, HARDLY_SHARED)
    assert Calibration.of([earned, near]).likeness(earned) > Calibration.of([earned, near]).likeness(near)


def test_what_joins_later_is_never_above_the_best() -> None:
    """A pattern that the graph lets in is measured by a yardstick made without it."""
    yardstick = Calibration.of([Evidence(0.3, 0.9)])
    late = yardstick.relevance(Evidence(semantic=1.0))
    assert late == yardstick.relevance(Evidence(0.3, 0.9)) and math.isfinite(late)
    assert Calibration.of([]).relevance(Evidence(semantic=0.5)) == 0.5


@given(st.dictionaries(st.integers(), st.tuples(Share, st.none() | st.integers(-3, 3)), max_size=12))
def test_relevances_are_handed_out_in_the_order_of_the_scores(found: dict[int, tuple[float, int | None]]) -> None:
    relevances = {number: relevance for number, (relevance, _) in found.items()}
    scores = {number: float(score) for number, (_, score) in found.items() if score is not None}
    got = reassign(relevances, scores)
    assert got.keys() == scores.keys()
    assert sorted(got.values()) == sorted(relevances[number] for number in scores)
    best_first = sorted(scores, key=lambda number: (scores[number], relevances[number]), reverse=True)
    in_that_order = [got[number] for number in best_first]
    assert in_that_order == sorted(in_that_order, reverse=True)


@given(st.integers(0, 10**6), st.integers(0, 10**6))
def test_only_a_long_text_counts_for_less_and_a_longer_one_for_less_still(words: int, more: int) -> None:
    assert 0 < brevity(words + more) <= brevity(words) <= 1
    assert (brevity(words) == 1) == (words <= LONG_WORDS)
    assert brevity(16 * LONG_WORDS) == pytest.approx(16**-LENGTH_POWER)


def test_what_two_rankings_have_comes_before_what_one_has() -> None:
    assert fused([[1, 2, 3], [4, 3]], 60) == [3, 1, 4, 2]
    assert fused([[], []], 60) == []


@given(st.dictionaries(st.integers(0, 20), Share), st.integers(0, 25))
def test_the_best_are_the_first_of_all_in_order(values: dict[int, float], most: int) -> None:
    best = best_of(values, most)
    assert len(best) == min(most, len(values))
    assert best == sorted(best, key=lambda number: (-values[number], number))
    assert all(values[other] <= values[number] for other in values.keys() - set(best) for number in best)


def test_an_edge_gives_at_most_the_relevance_of_its_hit() -> None:
    steps = [Step(1, 9, "solves", 1.5, False), Step(2, 9, "solves", 0.5, False), Step(2, 8, "solves", 0.5, False)]
    assert graph_strengths({1: 0.6, 2: 0.8}, steps) == {9: 0.6, 8: 0.4}
