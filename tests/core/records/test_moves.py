"""Which state may follow which, and where two branches disagree: campaigns.md, section 1."""

import itertools
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem import Refused
from graphmem.core.records.moves import (
    CHUNK_MOVES,
    ITEM_MOVES,
    PHASE_MOVES,
    STAGE_MOVES,
    TASK_COMMANDS,
    TASK_MOVES,
    Move,
    Table,
    disagreement,
    refuse_move,
)
from tests.sample import START

STATES = tuple(TASK_MOVES)


@pytest.mark.parametrize("table", [TASK_MOVES, STAGE_MOVES, PHASE_MOVES, ITEM_MOVES, CHUNK_MOVES])
def test_every_state_that_a_table_leads_to_has_a_line_of_its_own(table: Table) -> None:
    assert {after for following in table.values() for after in following} <= table.keys()


@pytest.mark.parametrize("before", STATES)
@pytest.mark.parametrize("after", STATES)
def test_a_move_is_refused_unless_the_table_has_it(before: str, after: str) -> None:
    if after == before or after in TASK_MOVES[before]:
        refuse_move(TASK_MOVES, "task/a/001-x", before, after, TASK_COMMANDS)
        return
    with pytest.raises(Refused) as refused:
        refuse_move(TASK_MOVES, "task/a/001-x", before, after, TASK_COMMANDS)
    assert refused.value.message == f"task/a/001-x is {before}; it cannot become {after}"
    assert refused.value.details["legal"] == list(TASK_MOVES[before])
    for state in TASK_MOVES[before]:
        assert state == "unreachable" or f"{TASK_COMMANDS[state]} (to {state})" in (refused.value.hint or "")


def test_where_nothing_is_possible_the_hint_says_so() -> None:
    with pytest.raises(Refused) as refused:
        refuse_move(STAGE_MOVES, "the task", "complete", "pending")
    assert refused.value.hint == "possible from complete: nothing"


def moves(*states: tuple[str, str]) -> list[Move]:
    return [Move(START + timedelta(minutes=place), *pair) for place, pair in enumerate(states)]


@pytest.mark.parametrize(
    ("found", "differs"),
    [
        ([], False),
        ([("pending", "active")], False),
        ([("pending", "active"), ("active", "complete")], False),
        ([("pending", "active"), ("pending", "active")], False),  # both started it: nobody lost anything
        ([("pending", "active"), ("active", "complete"), ("active", "blocked")], True),
        ([("pending", "active"), ("active", "blocked"), ("active", "complete")], True),
        ([("active", "blocked"), ("active", "complete"), ("complete", "pending")], False),  # settled since
        ([("pending", "active"), ("pending", "active"), ("active", "complete")], False),
    ],
)
def test_branches_disagree_where_the_last_move_cannot_follow_the_one_before(
    found: list[tuple[str, str]], differs: bool
) -> None:
    assert (disagreement(moves(*found)) is not None) == differs


@given(st.lists(st.sampled_from(STATES), min_size=1, max_size=8))
def test_one_history_never_disagrees_with_itself(states: list[str]) -> None:
    assert disagreement(moves(*itertools.pairwise(states))) is None


@given(st.lists(st.sampled_from(STATES), min_size=1, max_size=5))
def test_a_move_from_where_a_disagreement_ended_settles_it(states: list[str]) -> None:
    found = moves(*itertools.pairwise(states), ("active", "blocked"), ("active", "complete"))
    assert disagreement(found) is not None
    assert disagreement([*found, Move(START + timedelta(days=1), "complete", "pending")]) is None


def numbered(*found: tuple[str, str, int]) -> list[Move]:
    return [Move(START + timedelta(minutes=place), *move) for place, move in enumerate(found)]


BEGUN = ("pending", "active", 1)


@pytest.mark.parametrize(
    ("found", "overruled"),
    [
        ([BEGUN, ("active", "complete", 2)], None),
        ([BEGUN, ("active", "complete", 2), ("active", "blocked", 2)], "complete"),
        ([BEGUN, ("active", "blocked", 2), ("active", "complete", 2)], "blocked"),
        # The later branch went on after it was blocked: what the other one completed is overruled all the same.
        ([BEGUN, ("active", "complete", 2), ("active", "blocked", 2), ("blocked", "active", 3)], "complete"),
        ([BEGUN, ("active", "blocked", 2), ("active", "complete", 2), ("blocked", "active", 3)], "complete"),
        # Both began it, and one of them completed it: nothing that the other one said is lost.
        ([BEGUN, BEGUN, ("active", "complete", 2)], None),
        ([BEGUN, BEGUN], None),
        ([BEGUN, ("active", "complete", 2), ("active", "complete", 2)], None),
        # Whoever moves it after the merge knows all moves.
        ([BEGUN, ("active", "complete", 2), ("active", "blocked", 2), ("blocked", "pending", 4)], None),
        ([BEGUN, ("active", "complete", 2), BEGUN], "complete"),
    ],
)
def test_a_move_that_was_not_known_to_the_last_one_is_overruled(
    found: list[tuple[str, str, int]], overruled: str | None
) -> None:
    told = disagreement(numbered(*found))
    assert (told[0].after if told else None) == overruled
    if told:
        assert told[1] == numbered(*found)[-1]


@given(st.lists(st.sampled_from(STATES), min_size=1, max_size=8))
def test_one_numbered_history_never_disagrees_with_itself(states: list[str]) -> None:
    steps = itertools.pairwise(states)
    assert disagreement(numbered(*((*pair, place) for place, pair in enumerate(steps, 1)))) is None
