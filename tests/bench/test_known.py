"""The fit finds the weights that made the cases, and the measures are what their names say."""

import random
from collections.abc import Iterable

import numpy as np
import pytest

from graphmem.core.search.known_rules import Likely
from graphmem.core.search.sameness import Comparison
from tests.bench.known import Case, Sort, auroc, calibration_error, fitted, left_out, measured, regression

NOTHING = Comparison(*[0.0] * len(Comparison._fields))
WEIGHTS = np.array([-1.0, 0.0, 4.0, 2.0, 1.0, 3.0])


def case(right: bool, signs: tuple[float, ...], sort: Sort = "answerable", of: str = "a") -> Case:
    return Case(of, sort, right, True, False, 0.5, signs)


def same(probabilities: Iterable[float]) -> list[Likely]:
    return [Likely(one, one) for one in probabilities]


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Cases of three sets, made by weights of which one is 0 and one sign speaks against."""
    rng, made = np.random.default_rng(7), list[Case]()
    for number in range(6_000):
        signs = (float(np.log(rng.uniform(0.05, 1))), *map(float, rng.uniform(size=4)))
        odds = WEIGHTS[0] + WEIGHTS[1:] @ np.array(signs) - 5 * signs[4]
        right = bool(rng.uniform() < 1 / (1 + np.exp(-odds)))
        made.append(
            case(
                right,
                signs,
                "answerable" if right or rng.uniform() < 0.3 else "taken out",
                ("beads", "swefix", "locomo")[number % 3],
            )
        )
    return made


def near() -> list[Case]:
    """Return cases of messages, that names in the same place mostly tell apart."""
    rng, made = np.random.default_rng(5), list[Case]()
    for right in map(bool, rng.integers(0, 2, 400)):
        differs = float(right == (rng.uniform() < 0.1))
        sides = NOTHING._replace(held=float(rng.uniform()), other_names=differs)
        signs = (float(rng.uniform(-2, 0)), *map(float, rng.uniform(size=4)))
        made.append(case(right, signs, "answerable" if right else "near miss", "written")._replace(sides=sides))
    return made


def test_the_fit_is_where_the_likelihood_is_greatest() -> None:
    rng = np.random.default_rng(3)
    matrix, right = np.column_stack((np.ones(200), rng.normal(size=(200, 2)))), rng.integers(0, 2, 200).astype(float)

    def loss(found: np.ndarray) -> float:
        odds = matrix @ found
        return float(np.sum(np.log1p(np.exp(odds)) - right * odds) + 1.5 * np.sum(found[1:] ** 2))

    best = regression(matrix, right, np.ones(200))
    for step in np.vstack((np.eye(3), -np.eye(3))) * 1e-3:
        assert loss(best + step) > loss(best)


def test_the_fit_finds_the_weights_and_leaves_out_what_speaks_against(cases: list[Case]) -> None:
    (_, _, lead, overlap, lexical, exact), _ = fitted([*cases, *near()], by_meaning=True)
    assert exact == 0  # its true weight is negative
    assert [lead, overlap, lexical] == pytest.approx([4, 2, 1], abs=0.6)
    assert fitted([*cases, *near()], by_meaning=False).related[1] == 0


def test_near_misses_teach_what_speaks_against_a_message(cases: list[Case]) -> None:
    weights = dict(zip(Comparison._fields, fitted([*cases, *near()], by_meaning=True).same[6:], strict=True))
    assert weights["other_names"] > 2 > abs(weights["held"])


def test_probabilities_of_sets_that_were_left_out_are_calibrated(cases: list[Case]) -> None:
    found = np.array([one.same for one in left_out([*cases, *near()], by_meaning=True)])[: len(cases)]
    assert calibration_error(cases, found) < 0.03
    assert calibration_error(cases, np.ones(len(cases))) == pytest.approx(
        1 - np.mean([c.is_right for c in cases]), abs=1e-2
    )


def test_auroc_is_how_often_one_is_above_the_other() -> None:
    rng = random.Random(1)
    of, against = ([rng.randint(0, 9) / 10 for _ in range(40)] for _ in range(2))
    pairs = [1.0 if one > other else 0.5 if one == other else 0.0 for one in of for other in against]
    assert auroc(np.array(of), np.array(against)) == pytest.approx(sum(pairs) / len(pairs))


def test_rates_are_of_the_states_at_the_thresholds() -> None:
    signs = (0.0,) * 5
    asked: list[tuple[bool, Sort, float]] = [
        (False, "near miss", 0.9),
        (False, "near miss", 0.2),
        (True, "answerable", 0.9),
        (True, "answerable", 0.01),
        (False, "answerable", 0.9),
        (False, "taken out", 0.9),
        (False, "no answer", 0.2),
        (False, "other field", 0.0),
        (False, "other field", 0.0),
    ]
    found = measured([case(right, signs, sort) for right, sort, _ in asked], same(p for *_, p in asked))
    assert (found.promised, found.promised_field, found.refused) == pytest.approx((1 / 3, 1 / 2, 1))
    assert found.promised_near == 1 / 2
    assert (found.denied, found.trusted) == (1 / 2, 1 / 2)
    assert (found.other_field, found.right_field) == (1.0, 3 / 8)
