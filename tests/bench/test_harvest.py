"""What is found in real sessions stays at least as good as it was measured."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from tests.bench.harvest import Found, Session, left_out, pairs, replay, sessions_of

FOLDER = Path(__file__).parents[3] / "shared" / "data" / "sessions"

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="the public sets are not beside the checkout")


@pytest.fixture(scope="module")
def sessions() -> list[Session]:
    return sessions_of(FOLDER)


@pytest.fixture(scope="module")
def gold() -> Any:
    return json.loads((FOLDER / "expected.json").read_text("utf-8"))


def test_what_is_kept_are_real_fixes_and_the_best_last(sessions: list[Session], gold: Any) -> None:
    found = [[float(number) for number in re.findall(r"\d\.\d\d", line)] for line in pairs(sessions, gold)[2:]]
    (kept_real, _, kept_recall), (best_real, best_lasting, _) = found
    assert kept_real >= 0.9
    assert kept_recall >= 0.8
    assert best_real >= 0.9
    assert best_lasting >= 0.7


def test_a_replay_answers_what_had_been_met_and_little_else(sessions: list[Session], gold: Any) -> None:
    counts, commands = replay(sessions, gold, Found())
    right, wrong = counts["same", True] + counts["same_rule", True], counts["different", True]
    met = right + counts["same", False] + counts["same_rule", False]
    assert right / met >= 0.7
    assert wrong / (wrong + counts["different", False]) <= 0.13  # three of four are rules that were there before
    hints = sum(number for (_, is_found), number in counts.items() if is_found)
    assert right / (right + wrong) >= 0.8
    assert 1000 * hints / commands < 30


@pytest.mark.long
def test_constants_that_were_chosen_on_other_sessions_judge_well_and_are_put_back(
    sessions: list[Session], gold: Any
) -> None:
    before = pairs(sessions, gold)
    lasting, recall = (float(number) for number in re.findall(r"\d\.\d\d", left_out(sessions, gold)))
    assert lasting >= 0.75
    assert recall >= 0.8
    assert pairs(sessions, gold) == before
