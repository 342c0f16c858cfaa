"""What a step of a workflow needs, against an oracle that tries every order."""

from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.errors import BadInput
from graphmem.features.runs.workflow import USUAL, missing, refuse_cycle

STEPS = "abcde"
GRAPHS = st.fixed_dictionaries(
    {step: st.lists(st.sampled_from(STEPS), max_size=3, unique=True).map(tuple) for step in STEPS}
)


def is_cyclic(graph: dict[str, tuple[str, ...]]) -> bool:
    """Return whether no order puts every step after what it needs."""
    return not any(
        all(order.index(need) < order.index(step) for step in graph for need in graph[step])
        for order in permutations(graph)
    )


def wanted(graph: dict[str, tuple[str, ...]], step: str, done: set[str]) -> set[str]:
    """Return what a step needs and is not done, by growing the set until it no longer changes."""
    found = set(graph[step]) - done
    while more := {need for one in found for need in graph[one]} - done - found:
        found |= more
    return found


@given(graph=GRAPHS, step=st.sampled_from(STEPS), done=st.sets(st.sampled_from(STEPS)))
def test_what_is_missing_is_what_the_oracle_finds_each_after_what_it_needs(
    graph: dict[str, tuple[str, ...]], step: str, done: set[str]
) -> None:
    if is_cyclic(graph):
        with pytest.raises(BadInput, match="x has a cycle: "):
            refuse_cycle(graph, "x")
        return
    refuse_cycle(graph, "x")
    found = missing(graph, step, done)
    assert len(found) == len(set(found))
    assert set(found) == wanted(graph, step, done)
    for place, one in enumerate(found):
        assert set(graph[one]) - done <= set(found[:place])


def test_a_cycle_is_named_step_by_step() -> None:
    with pytest.raises(BadInput) as refused:
        refuse_cycle({"a": ("b",), "b": ("c",), "c": ("d", "b"), "d": ()}, "the plan")
    assert (refused.value.message, refused.value.hint) == (
        "the plan has a cycle: b → c → b",
        "take one of these needs out",
    )


def test_a_step_may_be_done_again_after_what_it_needs() -> None:
    assert missing(USUAL, "build", ["build"]) == ["explore", "plan"]


def test_the_usual_steps_follow_each_other() -> None:
    assert missing(USUAL, "observe", ()) == ["explore", "plan", "build"]
    assert missing(USUAL, "observe", ["plan"]) == ["build"]
    assert missing(USUAL, "observe", ["build"]) == []
    assert missing(USUAL, "explore", ()) == []


def test_a_chain_as_long_as_a_file_holds_is_no_deeper_than_the_stack() -> None:
    chain = {str(number): (str(number + 1),) for number in range(20_000)}
    assert len(missing(chain, "0", ())) == 20_000
    refuse_cycle(chain, "x")
