"""Phases and events: campaigns.md, sections 4 and 5."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import get_args

import orjson
import pytest

from graphmem import BadInput, Memory, Refused
from graphmem.core.records.event_contract import ListEventsRequest
from graphmem.core.records.event_log import EventFollower
from graphmem.core.records.moves import PHASE_MOVES
from graphmem.features.work.phases import Phase
from tests.sample import Clock, contents, data, open_memory, put_state, state_of

# --- phases -----------------------------------------------------------------------------------------------------------

PATHS: dict[Phase, list[Phase]] = {
    "none": [],
    "explore": ["explore"],
    "plan": ["explore", "plan"],
    "build": ["explore", "plan", "build"],
    "observe": ["explore", "plan", "build", "observe"],
    "complete": ["explore", "plan", "build", "observe", "complete"],
    "error": ["explore", "error"],
}


def test_the_table_has_every_phase() -> None:
    assert set(PHASE_MOVES) == set(get_args(Phase)) == set(PATHS)


@pytest.mark.parametrize("before", PATHS)
@pytest.mark.parametrize("after", PATHS)
def test_a_phase_follows_another_where_the_table_says_so(
    memory: Memory, tmp_path: Path, before: Phase, after: Phase
) -> None:
    for phase in PATHS[before]:
        memory.phases.move(phase)
    assert memory.phases.status().phase == before
    is_legal = after in PHASE_MOVES[before]
    assert memory.phases.can(after).legal == is_legal
    if is_legal:
        made = memory.phases.move(after)
        assert (made.before, made.after) == (before, after)
        assert memory.phases.status().phase == after
        return
    files = contents(tmp_path)
    with pytest.raises(Refused, match=f"the phase is {before}; it cannot become {after}") as refused:
        memory.phases.move(after)
    assert refused.value.details["legal"] == list(PHASE_MOVES[before])
    assert contents(tmp_path) == files


def test_a_reset_leads_to_no_phase_from_anywhere(memory: Memory) -> None:
    for phases in PATHS.values():
        for phase in phases:
            memory.phases.move(phase)
        memory.phases.reset()
        assert memory.phases.status().phase == "none"


def test_a_campaign_has_a_phase_of_its_own(memory: Memory) -> None:
    memory.campaigns.create("Add a login page", name="auth")
    memory.phases.move("explore", campaign="auth")
    assert memory.phases.status(campaign="campaign/auth").phase == "explore"
    assert memory.phases.status().phase == "none"
    memory.rename("campaign/auth", "login")
    assert memory.phases.status(campaign="login").phase == "explore"


def test_the_durations_of_phases_add_up(tmp_path: Path) -> None:
    clock = Clock(step=timedelta(seconds=10))
    with open_memory(tmp_path, clock=clock) as memory:
        assert memory.phases.duration().phases == []
        for phase in PATHS["build"]:
            memory.phases.move(phase)
        found = memory.phases.duration().phases
        assert [one.phase for one in found] == ["explore", "plan", "build"]
        assert found[0].end == found[1].begin
        assert found[2].end is None
        assert all(one.seconds >= 10 for one in found)


def test_phases_follow_each_other_when_the_clock_goes_back(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.phases.move("explore")
        clock.back(timedelta(hours=1))
        memory.phases.move("plan")
        assert memory.phases.status().phase == "plan"


# --- events -----------------------------------------------------------------------------------------------------------


def test_events_come_in_the_order_of_time_and_go_on_after_a_cursor(memory: Memory) -> None:
    memory.failures.add("an error", name="boom")
    for number in range(5):
        memory.events.add("lifecycle", subject="failure/boom", data={"step": number})
    first = memory.events.list(limit=2)
    assert [one.data for one in first.events] == [{"step": 3}, {"step": 4}]
    assert memory.events.list(cursor=first.cursor).events == []
    assert memory.events.list(cursor=first.cursor).cursor == first.cursor
    memory.events.add("lifecycle", data={"step": 5})
    assert [one.data for one in memory.events.list(cursor=first.cursor).events] == [{"step": 5}]
    memory.rename("failure/boom", "bang")
    found = memory.events.list(subject="failure/bang").events
    assert len(found) == 5
    assert {one.subject for one in found} == {"failure/bang"}


def test_events_are_chosen_by_type(memory: Memory) -> None:
    for name in ("lifecycle", "review.verdict", "review.note", "context-compacted"):
        memory.events.add(name)
    assert [one.type for one in memory.events.list(types=["review."]).events] == ["review.verdict", "review.note"]
    assert [one.type for one in memory.events.list(types=["lifecycle"]).events] == ["lifecycle"]


def test_what_concerns_the_context_of_an_agent_stays_on_this_machine(memory: Memory, tmp_path: Path) -> None:
    made = memory.events.add("context-compacted", data={"tokens": 9}).event
    assert made.is_local
    assert not data(tmp_path, "event").exists()
    assert [one.is_local for one in memory.events.list().events] == [True]


@pytest.mark.parametrize(
    ("event_type", "given", "message"),
    [
        ("Not A Type", None, "event type"),
        ("task-started", None, "recorded by graphmem task"),
        ("inbox-added", None, "recorded by graphmem inbox"),
        ("block-verified", {"verdict": "CONFIRMED"}, "recorded by graphmem observe"),
        ("verification-failed", {"checks": [{"name": "unit"}]}, "result"),
        ("chunk-verified", {"checks": [{"name": "unit", "result": "maybe"}]}, "'maybe'"),
        ("chunk-verified", {"checks": [{"name": "unit", "result": "pass", "retried": "yes"}]}, "retried"),
        ("chunk-verified", {"checks": [], "mode": "odd"}, "mode"),
    ],
)
def test_an_event_that_does_not_check_out_is_refused(
    memory: Memory, tmp_path: Path, event_type: str, given: dict[str, object] | None, message: str
) -> None:
    before = contents(tmp_path)
    with pytest.raises((BadInput, Refused)) as refused:
        memory.events.add(event_type, data=given)
    assert message in refused.value.message
    assert contents(tmp_path) == before


def test_a_verification_says_what_was_checked(memory: Memory) -> None:
    checks = [{"name": "unit", "result": "fail", "retried": True}]
    made = memory.events.add("verification-failed", data={"checks": checks, "mode": "reduced", "screenshot": "a.png"})
    assert made.event.data == {"checks": checks, "mode": "reduced", "screenshot": "a.png"}
    for sort in ("chunk-verified", "verification-failed"):  # what was checked may be left out
        assert memory.events.add(sort, data={"mode": "minimal"}).event.data == {"mode": "minimal"}
        assert memory.events.add(sort).event.type == sort


@pytest.mark.parametrize("cursor", ["", "x", "~", "2026"])
def test_a_cursor_that_is_none_is_refused(memory: Memory, cursor: str) -> None:
    with pytest.raises(BadInput, match="is not a cursor"):
        memory.events.list(cursor=cursor)


def test_a_damaged_line_of_this_machine_is_left_out(memory: Memory, tmp_path: Path) -> None:
    memory.events.add("context-boundary")
    for key, value in enumerate((b'{"id": 1}', b"no json", b"\xff")):
        put_state(tmp_path, "event", f"{key}", value)
    memory.events.add("context-boundary")
    assert len(memory.events.list().events) == 2


def test_a_follower_gets_what_comes_once_and_also_what_a_merge_brings_late(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, open_memory(tmp_path, clock=Clock()) as writer:
        writer.events.add("lifecycle", data={"n": 0})
        follower = EventFollower(ListEventsRequest(types=("lifecycle",)))

        def look() -> list[object]:
            return [one.data for one, _ in follower.look(memory.store.client)]

        assert look() == []
        writer.events.add("lifecycle", data={"n": 1})
        late = {"at": "2020-01-01T00:00:00.000Z", "data": {"n": 2}, "id": "late", "kind": "event", "type": "lifecycle"}
        writer.add_rows([orjson.dumps(late)])
        assert look() == [{"n": 2}, {"n": 1}]
        writer.events.add("lifecycle", data={"n": 3})
        assert look() == [{"n": 3}]
        assert look() == []


def test_what_comes_with_an_earlier_time_than_a_cursor_comes_after_it(tmp_path: Path) -> None:
    """A merge brings it, or a clock that went back makes it; an agent that polls never heard of it."""
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.events.add("lifecycle", data={"n": 1})
        cursor = memory.events.list().cursor
        clock.back(timedelta(hours=1))
        memory.events.add("lifecycle", data={"n": 2})
        memory.events.add("context-made")
        found = memory.events.list(cursor=cursor)
        assert [one.type for one in found.events] == ["lifecycle", "context-made"]
        assert memory.events.list(cursor=found.cursor).events == []
        assert memory.events.list().events[-1].data == {"n": 1}
        one = memory.events.list(cursor=cursor, limit=1)
        assert [found.data for found in one.events] == [{"n": 2}]
        assert [found.type for found in memory.events.list(cursor=one.cursor).events] == ["context-made"]
        follower = EventFollower(ListEventsRequest(cursor=cursor))
        assert [event.type for event, _ in follower.look(memory.store.client)] == ["lifecycle", "context-made"]


def test_a_cursor_of_another_clone_is_after_its_time(memory: Memory, tmp_path: Path) -> None:
    for number in range(3):
        memory.events.add("lifecycle", data={"n": number})
    first = memory.events.list().events[0]
    shutil.rmtree(tmp_path / ".graphmem/local", ignore_errors=True)
    shutil.rmtree(tmp_path / ".graphmem/state", ignore_errors=True)
    with open_memory(tmp_path) as again:
        assert [one.data for one in again.events.list(cursor=f"{first.at}~{first.id}").events] == [{"n": 1}, {"n": 2}]
        assert [one.data for one in again.events.list(cursor=f"{first.at}~zzz").events] == [{"n": 1}, {"n": 2}]


def test_events_that_several_processes_see_first_have_one_order(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(20):
            memory.events.add("lifecycle", data={"n": number})

    def listed(_: int) -> list[str]:
        with open_memory(tmp_path) as own:
            return [one.id for one in own.events.list(limit=100).events]

    with ThreadPoolExecutor(8) as pool:
        (first, *others) = pool.map(listed, range(16))
    assert list(state_of(tmp_path).read_all("arrival", bytes)) == first
    assert all(other == first for other in others)


def test_a_follower_goes_on_after_a_cursor(memory: Memory) -> None:
    for number in range(3):
        memory.events.add("lifecycle", data={"n": number})
    first = memory.events.list(limit=100).events[0]
    follower = EventFollower(ListEventsRequest(cursor=f"{first.at}~{first.id}"))
    assert [one.data for one, _ in follower.look(memory.store.client)] == [{"n": 1}, {"n": 2}]
