"""The fit finds the weights that made the cases, and the measures are what their names say."""

import random

import numpy as np
import pytest

from tests.bench.known import Case, Sort, auroc, calibration_error, fitted, left_out, measured, regression

WEIGHTS = np.array([-1.0, 0.0, 4.0, 2.0, 1.0, 3.0])


def case(right: bool, signs: tuple[float, ...], sort: Sort = "answerable", of: str = "a") -> Case:
    return Case(of, sort, right, True, False, 0.5, signs)


@pytest.fixture(scope="module")
def cases() -> list[Case]:
    """Cases of three sets, made by weights of which one is 0 and one sign speaks against."""
    rng, made = np.random.default_rng(7), list[Case]()
    for number in range(6_000):
        signs = (float(np.log(rng.uniform(0.05, 1))), *map(float, rng.uniform(size=4)))
        odds = WEIGHTS[0] + WEIGHTS[1:] @ np.array(signs) - 5 * signs[4]
        right = bool(rng.uniform() < 1 / (1 + np.exp(-odds)))
        made.append(
            case(right, signs, "answerable" if right or rng.uniform() < 0.3 else "taken out", "abc"[number % 3])
        )
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
    found = fitted(cases, by_meaning=True)
    assert found.exact == 0  # its true weight is negative
    assert [found.lead, found.overlap, found.lexical] == pytest.approx([4, 2, 1], abs=0.6)
    assert fitted(cases, by_meaning=False).semantic == 0


def test_probabilities_of_sets_that_were_left_out_are_calibrated(cases: list[Case]) -> None:
    found = left_out(cases, by_meaning=True)
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
        (True, "answerable", 0.9),
        (True, "answerable", 0.01),
        (False, "answerable", 0.9),
        (False, "taken out", 0.9),
        (False, "no answer", 0.2),
        (False, "other field", 0.0),
        (False, "other field", 0.0),
    ]
    found = measured([case(right, signs, sort) for right, sort, _ in asked], np.array([p for *_, p in asked]))
    assert (found.promised, found.promised_field, found.refused) == (1 / 4, 1 / 2, 1)
    assert (found.denied, found.trusted) == (1 / 2, 1 / 2)
    assert (found.other_field, found.right_field) == (1.0, 3 / 8)
