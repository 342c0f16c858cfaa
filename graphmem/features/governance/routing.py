"""
Which stage of a cycle runs next, and why: a pure function of the cycle's definition and of where the work is.

The rules are asked in their order; the first that holds decides (docs/concepts/governance.md). Every way through them
ends: each iteration is one forge stage, at most ``max_iterations`` begin, and between two of them every other stage
runs at most twice: once after the change, once to give its verdicts.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from graphmem.features.governance.definitions import CycleDefinition, CycleStage
from graphmem.features.governance.standing import ItemMoved, ItemStanding, Standing, named_items
from graphmem.kernel.text import count

WAYS = {"failed": "failed", "finished": "is finished", "abandoned": "was abandoned"}
Action = Literal["dispatch", "human", "done", "blocked", "failed"]


@dataclass(frozen=True)
class RoutingDecision:
    """
    What is next.

    Args:
        stage: that runs, or that a person does.
        iteration: in which it runs.
        targets: the cycles that may follow, once all is done.
        items: references of those that the decision is about.
        deadlocked: references by key of items that become deadlocked with it.
    """

    action: Action
    reasons: tuple[str, ...]
    stage: CycleStage | None = None
    iteration: int = 0
    targets: tuple[str, ...] = ()
    items: tuple[str, ...] = ()
    deadlocked: tuple[str, ...] = ()


def route(cycle: CycleDefinition, standing: Standing, content: str | None = None) -> RoutingDecision:
    """
    Return what is next for work in a cycle.

    Args:
        content: hash of the files as they are now: a stage that looked at others runs again. None where unknown.
    """
    if standing.status != "open":
        ended: Mapping[str, Action] = {"failed": "failed", "finished": "done", "abandoned": "blocked"}
        why = f": {standing.reason}" if standing.reason else ""
        return RoutingDecision(ended[standing.status], (f"the work {WAYS[standing.status]}{why}",))
    locked = {
        ref: one.moved(ItemMoved(at=one.item.created_at, before=one.state, after="deadlocked", who="routing"))
        for ref, one in standing.items.items()
        if one.rounds >= cycle.deadlock_iterations and one.state in ("actioned", "wont-fix", "rejected")
    }
    decision = _routed(cycle, replace(standing, items={**standing.items, **locked}), content)
    return replace(decision, deadlocked=tuple(sorted(locked)))


def _routed(cycle: CycleDefinition, standing: Standing, content: str | None) -> RoutingDecision:
    """Return what is next, after items became deadlocked."""
    found, iteration = standing.open_items, standing.iteration
    if iteration > cycle.max_iterations:
        return RoutingDecision("blocked", (_beyond(cycle, iteration),), iteration=iteration)
    if stuck := [one for one in found if one.state == "deadlocked"]:
        action: Action = "human" if cycle.deadlock_appraise else "blocked"
        why = f"{count(len(stuck), 'item')} went back and forth {cycle.deadlock_iterations} times: a person decides"
        return RoutingDecision(action, (why,), _human(cycle), iteration, items=tuple(named_items(stuck)))
    if todo := [one for one in found if one.state in ("open", "rejected")]:
        why = f"{count(len(todo), 'item')} to act on"
        return _dispatched(cycle, standing, _first(cycle, "forge"), why, todo)
    if waiting := [one for one in found if one.state in ("actioned", "wont-fix")]:
        return _to_verdict(cycle, standing, waiting)
    ran = _since_change(standing, content)
    if cycle.human_appraise and (human := _human(cycle)) is not None and human.name not in ran:
        return RoutingDecision("human", ("a person looks at each iteration",), human, iteration)
    for stage in cycle.stages:
        if stage.name not in ran:
            why = f"{stage.name} has not run {'since the last change' if iteration else 'yet'}"
            return _dispatched(cycle, standing, stage, why, ())
    return RoutingDecision("done", ("every stage ran, and every item is resolved",), None, iteration, cycle.targets)


def _to_verdict(cycle: CycleDefinition, standing: Standing, waiting: Sequence[ItemStanding]) -> RoutingDecision:
    """Return the first stage of the cycle that raised one of these items, or that a person decides on them."""
    for stage in cycle.stages:
        own = [one for one in waiting if one.item.stage == stage.name]
        if own and stage.kind != "human-appraise" and not all(one.runs for one in own):
            return _dispatched(cycle, standing, stage, f"{count(len(own), 'item')} for its verdict", own)
    why = "items wait for the verdict of a person: one raised them, or their stage ended without a verdict"
    return RoutingDecision("human", (why,), _human(cycle), standing.iteration, items=tuple(named_items(waiting)))


def _dispatched(
    cycle: CycleDefinition, standing: Standing, stage: CycleStage, why: str, items: Sequence[ItemStanding]
) -> RoutingDecision:
    """Return that a stage runs; a forge stage begins another iteration, if there may be one."""
    iteration = standing.iteration + (stage.kind == "forge")
    names = tuple(named_items(items))
    if iteration > cycle.max_iterations:
        return RoutingDecision("blocked", (why, _beyond(cycle, iteration)), iteration=standing.iteration, items=names)
    return RoutingDecision(
        "human" if stage.kind == "human-appraise" else "dispatch", (why,), stage, iteration, items=names
    )


def _since_change(standing: Standing, content: str | None) -> set[str]:
    """Return the stages that ran since the last change: the last forge stage, and what looked at what is there now."""
    runs, seen = standing.current, (None, content)
    last = max((place for place, run in enumerate(runs) if run.kind == "forge"), default=0)
    return {run.stage for run in runs[last:] if run.kind == "forge" or content is None or run.content in seen}


def _first(cycle: CycleDefinition, kind: str) -> CycleStage:
    return next(stage for stage in cycle.stages if stage.kind == kind)


def _human(cycle: CycleDefinition) -> CycleStage | None:
    return next((stage for stage in cycle.stages if stage.kind == "human-appraise"), None)


def _beyond(cycle: CycleDefinition, iteration: int) -> str:
    return f"iteration {iteration} would be beyond the {cycle.max_iterations} that the cycle allows"
