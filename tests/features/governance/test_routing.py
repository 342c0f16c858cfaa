"""Routing: each rule in its order, the same for the same, and no way through it is endless."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.governance.definitions import CycleDefinition, CycleStage
from graphmem.features.governance.routing import RoutingDecision, route
from graphmem.features.governance.standing import ITEM_MOVED, STAGE_ENDED, Standing, fold
from graphmem.features.governance.states import STATES, is_legal
from graphmem.kernel.model import Event, ReviewItem, Work

AT = datetime(2026, 11, 1, tzinfo=UTC)
WORK = Work(
    kind="work", name="w", created_at=AT, flow="f", cycle="code", objective="o", branch="work/w", base_branch="main",
    base_commit="0" * 40,
)  # fmt: skip
KINDS = {"write": "forge", "test": "quench", "review": "appraise", "look": "human-appraise", "learn": "assay"}


def cycle(*stages: str, **more: Any) -> CycleDefinition:
    made = [CycleStage(name=name, kind=KINDS[name]) for name in stages]
    return CycleDefinition.model_validate({"output": "code", "stages": made, "targets": ["guide"], **more})


class History:
    """Events of a work, one second after the other."""

    def __init__(self) -> None:
        self.events = list[Event]()
        self.items = list[ReviewItem]()

    def add(self, event_type: str, subject: str = "work/w", **data: Any) -> "History":
        number = len(self.events)
        at = AT + timedelta(seconds=number)
        self.events.append(
            Event.model_validate(
                {"kind": "event", "id": f"e{number:04}", "at": at, "type": event_type, "subject": subject, "data": data}
            )
        )
        return self

    def ran(self, *stages: str) -> "History":
        for stage in stages:
            iteration = sum(KINDS[str(one.data["stage"])] == "forge" for one in self.events if one.type == STAGE_ENDED)  # type: ignore[index,call-overload]
            self.add(
                STAGE_ENDED,
                run=f"r{len(self.events)}",
                stage=stage,
                kind=KINDS[stage],
                cycle="code",
                iteration=iteration,
            )
        return self

    def raised(self, stage: str | None, kind: str = "appraise") -> str:
        name = f"i{len(self.items)}"
        self.items.append(
            ReviewItem(
                kind="item",
                name=name,
                created_at=AT,
                work="work/w",
                source=f"{kind}:{stage or 'ana'}",
                stage=stage,
                text="wrong",
            )
        )
        return f"item/{name}"

    def moved(self, ref: str, after: str, who: str, **more: Any) -> "History":
        return self.add(ITEM_MOVED, ref, to=after, who=who, **more)

    @property
    def standing(self) -> Standing:
        return fold(WORK, self.items, self.events)


def said(found: RoutingDecision) -> tuple[str, str | None, int]:
    return found.action, found.stage.name if found.stage else None, found.iteration


USUAL = cycle("write", "test", "review")


def test_stages_run_in_order_and_then_all_is_done() -> None:
    history = History()
    for stage, iteration in (("write", 1), ("test", 1), ("review", 1)):
        assert said(route(USUAL, history.standing)) == ("dispatch", stage, iteration)
        history.ran(stage)
    found = route(USUAL, history.standing)
    assert (found.action, found.targets) == ("done", ("guide",))


def test_1_what_failed_is_failed_whatever_else_there_is() -> None:
    history = History().ran("write")
    history.raised("review")
    history.add("work-failed", reason="unexpected_files", stage="write")
    found = route(USUAL, history.standing)
    assert found.action == "failed" and "unexpected_files" in found.reasons[0]
    assert said(route(USUAL, history.add("work-retried").standing)) == ("dispatch", "write", 2)
    for event, action in (("work-finished", "done"), ("work-abandoned", "blocked")):
        ended = History().add(event)
        assert route(USUAL, ended.standing).action == action


def test_2_and_4_an_item_that_went_back_and_forth_is_deadlocked_and_a_person_decides() -> None:
    made = cycle("write", "review", deadlock_iterations=2)
    history = History().ran("write", "review")
    ref = history.raised("review")
    history.moved(ref, "actioned", "forge").ran("write")
    for _ in range(2):
        assert route(made, history.standing).deadlocked == ()
        history.moved(ref, "rejected", "raiser").ran("review").moved(ref, "actioned", "forge").ran("write")
    found = route(made, history.standing)
    assert (found.action, found.deadlocked, found.items) == ("human", (ref,), (ref,))
    assert route(cycle("write", "review", deadlock_iterations=2, deadlock_appraise=False), history.standing).action == (
        "blocked"
    )
    history.moved(ref, "deadlocked", "routing")
    assert route(made, history.standing).action == "human"
    assert route(made, history.standing).deadlocked == ()
    history.moved(ref, "rejected", "person")  # its rounds begin again
    assert said(route(made, history.standing)) == ("dispatch", "write", 5)


def test_3_no_iteration_begins_beyond_the_most_that_there_may_be() -> None:
    made = cycle("write", "review", max_iterations=2)
    history = History().ran("write", "review")
    history.raised("review")
    assert said(route(made, history.standing)) == ("dispatch", "write", 2)
    history.ran("write", "review")
    found = route(made, history.standing)
    assert found.action == "blocked" and "beyond the 2" in found.reasons[-1]
    history.ran("write")  # another clone
    assert route(made, history.standing).action == "blocked"


def test_5_items_go_back_to_the_forge_before_anything_else() -> None:
    history = History().ran("write")
    ref = history.raised("review")
    found = route(USUAL, history.standing)
    assert said(found) == ("dispatch", "write", 2) and found.items == (ref,)


def test_6_the_stages_that_raised_items_give_their_verdicts_in_the_order_of_the_cycle() -> None:
    made = cycle("write", "review", "test")
    history = History().ran("write", "review", "test")
    second, first = history.raised("test", "quench"), history.raised("review")
    history.moved(first, "actioned", "forge").moved(second, "actioned", "forge").ran("write")
    assert said(route(made, history.standing)) == ("dispatch", "review", 2)
    history.moved(first, "resolved", "raiser").ran("review")
    assert said(route(made, history.standing)) == ("dispatch", "test", 2)


def test_6_a_stage_that_ends_without_its_verdict_is_not_asked_for_ever() -> None:
    history = History().ran("write", "test", "review")
    ref = history.raised("review")
    history.moved(ref, "actioned", "forge").ran("write")
    assert said(route(USUAL, history.standing)) == ("dispatch", "review", 2)
    found = route(USUAL, history.ran("review").standing)
    assert found.action == "human" and found.items == (ref,)


def test_6_what_a_person_raised_waits_for_a_person() -> None:
    history = History().ran("write")
    ref = history.raised(None, "human-appraise")
    found = route(USUAL, history.moved(ref, "actioned", "forge").ran("write").standing)
    assert found.action == "human" and found.stage is None


def test_7_a_person_looks_at_each_iteration_first_where_the_cycle_says_so() -> None:
    made = cycle("write", "test", "look", human_appraise=True)
    history = History().ran("write")
    assert said(route(made, history.standing)) == ("human", "look", 1)
    assert said(route(made, history.ran("look").standing)) == ("dispatch", "test", 1)
    assert said(route(cycle("write", "test", "look"), History().ran("write").standing)) == ("dispatch", "test", 1)


def test_8_a_change_asks_for_the_later_stages_again() -> None:
    history = History().ran("write", "test", "write")  # two clones
    assert said(route(USUAL, history.standing)) == ("dispatch", "test", 2)
    made = cycle("learn", "write", "look")
    assert said(route(made, History().standing)) == ("dispatch", "learn", 0)
    assert said(route(made, History().ran("learn").standing)) == ("dispatch", "write", 1)
    assert said(route(made, History().ran("learn", "write").standing)) == ("dispatch", "learn", 1)
    assert said(route(made, History().ran("learn", "write", "learn").standing)) == ("human", "look", 1)


def test_9_another_cycle_begins_without_the_stages_of_the_one_before() -> None:
    history = History().ran("write", "test", "review").add("work-advanced", to="guide")
    found = history.standing
    assert (found.cycle, found.cycles, found.current, found.iteration) == ("guide", ("code", "guide"), (), 0)
    assert said(route(cycle("write"), found)) == ("dispatch", "write", 1)


@given(st.data())
def test_no_way_through_a_cycle_is_endless(data: st.DataObject) -> None:
    """Stages do what they like: raise items, act on some, decline some, give verdicts or none."""
    names: Sequence[str] = data.draw(st.permutations(sorted(KINDS)).map(lambda found: found[: len(found)]))
    names = [name for name in names if name == "write" or data.draw(st.booleans())]
    made = cycle(
        *names, max_iterations=data.draw(st.integers(1, 4)), deadlock_iterations=data.draw(st.integers(1, 3)),
        human_appraise=data.draw(st.booleans()), deadlock_appraise=data.draw(st.booleans()),
    )  # fmt: skip
    history, bound = History(), (made.max_iterations + 1) * (2 * len(names) + 1)
    for step in range(bound + 1):
        found = route(made, history.standing)
        assert route(made, history.standing) == found
        if found.action != "dispatch":
            return
        assert step < bound and found.stage is not None
        for ref in found.deadlocked:
            history.moved(ref, "deadlocked", "routing")
        stage = found.stage
        for ref, one in list(history.standing.items.items()):
            who = "forge" if stage.kind == "forge" else "raiser" if one.item.stage == stage.name else "other"
            after = data.draw(st.sampled_from(STATES))
            if is_legal(one.state, after, who, one.item.source):  # type: ignore[arg-type]
                history.moved(ref, after, who)
        if stage.kind in ("quench", "appraise") and data.draw(st.booleans()):
            history.raised(stage.name, stage.kind)
        history.ran(stage.name)


@given(st.data())
def test_where_work_is_follows_from_its_events_in_any_order(data: st.DataObject) -> None:
    """Two clones that merge see the same; a move that the table does not have changes nothing."""
    history = History().ran("write", "review")
    refs = [history.raised("review"), history.raised("test", "quench")]
    for _ in range(data.draw(st.integers(0, 12))):
        who = data.draw(st.sampled_from(("forge", "raiser", "person", "routing", "nobody")))
        history.moved(data.draw(st.sampled_from(refs)), data.draw(st.sampled_from((*STATES, "gone"))), who)
        if data.draw(st.booleans()):
            history.ran(data.draw(st.sampled_from(("write", "test", "review"))))
    found = history.standing
    history.events = data.draw(st.permutations(history.events))
    assert history.standing == found
    for one in found.items.values():
        state = "open"
        for move in one.moves:
            assert move.before == state and is_legal(state, move.after, move.who, one.item.source)
            state = move.after
        assert state == one.state
