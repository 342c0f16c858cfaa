"""Cases that the other tests of the rules come to by chance, or not at all."""

from datetime import UTC, datetime
from typing import Any

import pytest

from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.plans.campaign_contract import PlannedTask
from graphmem.core.plans.plan import make_task
from graphmem.core.records.extraction import findings_of
from graphmem.core.records.limits import refuse_blank, refuse_oversize
from graphmem.core.search.paths import Backwards, Search, Walk
from graphmem.errors import BadInput
from graphmem.kernel.catalog.steps import Edge, Step
from graphmem.kernel.model import Campaign, Failure
from graphmem.kernel.model.reports import credited

AT = datetime(2026, 11, 22, tzinfo=UTC)


def failure(**fields: Any) -> Failure:
    row = {"kind": "failure", "name": "f", "trigger": "it broke", "created_at": AT, **fields}
    return Failure.model_validate(row)


def test_reports_of_a_failure_without_a_current_fix_count_for_the_fixes_of_before() -> None:
    alternates = [{"field": "fix", "text": "one", "at": AT}, {"field": "fix", "text": "two", "at": AT}]
    found = credited(failure(alternates=alternates, helped=1), [(AT, True, False)])
    assert sum(other.helped for other in found.alternates) >= 1


def test_a_field_that_was_set_to_nothing_has_no_size() -> None:
    refuse_oversize(failure(fix="f").model_copy(update={"fix": None}))


def test_a_finding_that_is_no_text_and_no_fields_is_passed_over() -> None:
    event = {"type": "verdict", "data": {"findings": [7, None, {"description": "  "}, "a real one"]}}
    assert [found.text for found in findings_of(event)] == ["a real one"]


def search(edges: list[Edge], *, max_hops: int, min_strength: float, walks: list[Walk]) -> Search:
    """Return a traversal from record 0 whose layers are there; one walk a layer and record."""
    made = Search(
        start=0, edges_of=lambda _: [], names_of=lambda nodes: {node: f"failure/{node}" for node in nodes},
        max_hops=max_hops, min_strength=min_strength, max_weight=1.0, limit=None, is_wanted=lambda nodes: nodes,
        expansions=100, edges_left=100,
    )  # fmt: skip
    for edge in edges:
        made.edges.setdefault(edge[0], []).append(edge)
    made.names = {node: f"failure/{node}" for edge in edges for node in edge[:2]}
    depth = max((walk.hops for walk in walks), default=0)
    made.layers = [{walk.node: [walk] for walk in walks if walk.hops == hops} for hops in range(depth + 1)]
    return made


def test_the_search_backwards_ends_at_its_bound_of_hops() -> None:
    made = search([(0, 1, "causes", 0.9, True)], max_hops=0, min_strength=0.0, walks=[Walk(0, 1.0)])
    assert Backwards(made, 1, None).find() is None


def test_the_search_backwards_looks_at_nothing_that_cannot_be_better_any_more() -> None:
    edges: list[Edge] = [(0, 1, "causes", 0.9, True), (0, 2, "causes", 0.8, True), (2, 1, "causes", 0.5, True)]
    made = search(edges, max_hops=3, min_strength=0.1, walks=[Walk(0, 1.0), Walk(2, 0.8, 1, 0)])
    found = Backwards(made, 1, None).find()
    assert found is not None and found.strength == 0.9
    assert made.expansions == 99  # the way by record 2 was left aside


def test_the_search_backwards_offers_no_path_whose_beginning_is_too_weak() -> None:
    made = search([], max_hops=3, min_strength=0.3, walks=[])
    backwards = Backwards(made, 2, None)
    backwards.offer((Step(0, 1, "causes", 0.2, True), Step(1, 2, "solves", 1.5, True)))
    assert backwards.best is None
    backwards.offer((Step(0, 2, "causes", 0.5, True),))
    assert backwards.best is not None
    made.expansions = 0
    backwards.extend(2, 1.0, [], {2})
    assert backwards.best.strength == 0.5


def test_the_search_backwards_ends_when_its_budget_is_spent() -> None:
    made = search([(0, 1, "causes", 0.9, True)], max_hops=3, min_strength=0.1, walks=[Walk(0, 1.0)])
    made.expansions = 0
    assert Backwards(made, 1, None).find() is None


def test_a_task_of_a_plan_may_say_title_for_its_objective() -> None:
    campaign = Campaign.model_validate({"kind": "campaign", "name": "c", "objective": "o", "created_at": AT})
    planned = PlannedTask.model_validate({"seq": "001", "title": "build it"})
    task = make_task(campaign, 1, planned, {"001": "c/001-build-it"}, AT)
    assert task.objective == "build it"


def test_a_text_without_a_word_is_refused_with_the_way_out() -> None:
    with pytest.raises(BadInput, match="failure: trigger is empty") as refused:
        refuse_blank(Failure, {"trigger": " \n"})
    assert refused.value.hint == "say it in words"
    with pytest.raises(BadInput) as refused:
        refuse_blank(Failure, {"trigger": "x", "fix": " "})
    assert "edit --unset fix removes it" in (refused.value.hint or "")


def test_an_error_of_python_without_the_word_error_is_found_behind_its_frames() -> None:
    log = ['  File "src/shop.py", line 3, in sell', "    raise SoldOut(name)", "SoldOut: apples"]
    found = diagnose("\n".join(log)).problems
    assert [(one.code, one.message, one.frame) for one in found] == [("SoldOut", "apples", "sell")]
