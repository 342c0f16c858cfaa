"""
Where guarded work is: its state, its stages and its items, as its events leave them.

A fold over rows: the order is that of time and then of ids, so that clones that merge see the same. A move of an item
that the table does not have when its turn comes changes nothing.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any, Literal

from pydantic import Field

from graphmem.features.governance.states import ENDED, STAGE_RIGHTS, ItemState, Mover, StageKind, is_legal
from graphmem.kernel.answer import Part
from graphmem.kernel.model import Event, ReviewItem, Work
from graphmem.kernel.model.field import Time

WorkStatus = Literal["open", "failed", "abandoned", "finished"]

BEGUN, STAGE_ENDED = "work-stage-begun", "work-stage-ended"
FAILED, RETRIED = "work-failed", "work-retried"
ADVANCED, ABANDONED, FINISHED = "work-advanced", "work-abandoned", "work-finished"
ITEM_MOVED = "item-moved"
WORK_EVENTS = frozenset({BEGUN, STAGE_ENDED, FAILED, RETRIED, ADVANCED, ABANDONED, FINISHED})
GOVERNED_EVENTS = WORK_EVENTS | {ITEM_MOVED}


class StageRun(Part):
    """
    A stage that ended; or that is active in this clone, until a time.

    ``id`` is of its token, ``files`` how many it changed, ``content`` a hash of all files after it.
    """

    id: str
    stage: str
    kind: StageKind
    cycle: str
    iteration: int
    begun_at: Time
    ended_at: Time | None = None
    until: Time | None = None
    model: str | None = None
    files: int = 0
    content: str | None = None


class ItemMoved(Part):
    """A move of an item: ``stage`` made it, in its run of that id; null where routing or a person did."""

    at: Time
    before: ItemState = Field(alias="from")
    after: ItemState = Field(alias="to")
    who: Mover
    stage: str | None = None
    run: str | None = None
    reason: str | None = None

    def is_same(self, after: str, movers: Sequence[Mover], run: str | None) -> bool:
        """Return whether a call asks for this very move again: by the same stage, which has not ended since."""
        return self.after == after and self.who in movers and self.run == run


@dataclass(frozen=True)
class ItemStanding:
    """
    A review item as its moves leave it.

    Args:
        rounds: how often it was acted on after a rejection, since it was last deadlocked.
        runs: how often the stage that raised it ended since its last move.
    """

    item: ReviewItem
    state: ItemState = "open"
    moves: tuple[ItemMoved, ...] = ()
    rounds: int = 0
    runs: int = 0

    @property
    def reason(self) -> str | None:
        """Why it is as it is, where its last move says so."""
        return self.moves[-1].reason if self.moves else None

    @property
    def was_rejected(self) -> bool:
        """Whether it was rejected at least once."""
        return any(move.after == "rejected" for move in self.moves)

    def moved(self, move: ItemMoved) -> "ItemStanding":
        """Return the item after a move."""
        is_round = self.state == "rejected" and move.after in ("actioned", "wont-fix")
        rounds = 0 if move.after == "deadlocked" else self.rounds + is_round
        return replace(self, state=move.after, moves=(*self.moves, move), rounds=rounds, runs=0)


@dataclass(frozen=True)
class Standing:
    """
    Guarded work as its events leave it.

    Args:
        cycle: the current one; ``cycles`` are those that it went through, the current one last.
        reason: why it failed, was abandoned, or is finished and not complete.
        runs: every stage that ended; those of the current cycle are ``current``.
        begun: the ids of stages that began and did not end.
    """

    work: Work
    cycle: str
    cycles: tuple[str, ...]
    status: WorkStatus = "open"
    reason: str | None = None
    runs: tuple[StageRun, ...] = ()
    current: tuple[StageRun, ...] = ()
    begun: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    items: Mapping[str, ItemStanding] = field(default_factory=dict)
    failed_stage: str | None = None
    failed_content: str | None = None
    last_at: datetime | None = None

    @property
    def iteration(self) -> int:
        """How many forge stages ended in the current cycle."""
        return sum(run.kind == "forge" for run in self.current)

    @property
    def open_items(self) -> list[ItemStanding]:
        """The items that are not resolved, in the order of their names."""
        return [one for _, one in sorted(self.items.items()) if one.state != ENDED]


def fold(work: Work, items: Iterable[ReviewItem], events: Iterable[Event]) -> Standing:
    """
    Return where work is after its events.

    Args:
        items: of the work.
        events: about the work or its items, in any order; what is not of guarded work is left out.
    """
    found = Standing(work, work.cycle, (work.cycle,), items={one.key_ref: ItemStanding(one) for one in items})
    for event in sorted(events, key=lambda one: (one.at, one.id)):
        data = event.data if isinstance(event.data, dict) else {}
        found = _after(found, event, data) if event.type in GOVERNED_EVENTS else found
    return found


def _after(found: Standing, event: Event, data: Mapping[str, Any]) -> Standing:
    """Return the standing after one event."""
    found = replace(found, last_at=event.at)
    match event.type:
        case "work-stage-begun":
            return replace(found, begun={**found.begun, event.id: {**data, "at": event.at}})
        case "work-stage-ended":
            return _after_stage(found, event, data)
        case "work-failed" if found.status in ("open", "failed"):
            reason, stage = str(data.get("reason", "no reason was given")), data.get("stage")
            return replace(
                found, status="failed", reason=reason, failed_stage=stage, failed_content=data.get("content")
            )
        case "work-retried" if found.status == "failed":
            return replace(found, status="open", reason=None, failed_stage=None)
        case "work-advanced" if found.status == "open" and data.get("to"):
            cycle = str(data["to"])
            return replace(found, cycle=cycle, cycles=(*found.cycles, cycle), current=())
        case "work-abandoned" if found.status != "finished":
            return replace(found, status="abandoned", reason=data.get("reason") and str(data["reason"]))
        case "work-finished" if found.status != "abandoned":
            return replace(found, status="finished", reason=data.get("reason") and str(data["reason"]))
        case "item-moved" if event.subject in found.items:
            return _after_move(found, event, data)
    return found


def _after_stage(found: Standing, event: Event, data: Mapping[str, Any]) -> Standing:
    """Return the standing after a stage ended; one of another cycle than the current changes nothing to come."""
    begun = found.begun.get(str(data.get("run")), {})
    kind = data.get("kind")
    if kind not in STAGE_RIGHTS or any(run.id == data.get("run") for run in found.runs):
        return found
    known = {name: data.get(name) for name in ("stage", "cycle", "model", "content")}
    run = StageRun(
        id=str(data.get("run")),
        kind=kind,
        iteration=int(data.get("iteration") or 0),
        begun_at=begun.get("at", event.at),
        ended_at=event.at,
        files=int(data.get("files") or 0),
        **{name: value if value is None else str(value) for name, value in known.items()},
    )
    items = {
        ref: replace(one, runs=one.runs + 1) if one.item.stage == run.stage else one for ref, one in found.items.items()
    }
    left = {name: value for name, value in found.begun.items() if name != run.id}
    current = (*found.current, run) if run.cycle == found.cycle else found.current
    return replace(found, runs=(*found.runs, run), current=current, begun=left, items=items)


def _after_move(found: Standing, event: Event, data: Mapping[str, Any]) -> Standing:
    """Return the standing after a move of an item, where the table has it."""
    one = found.items[str(event.subject)]
    after, who = data.get("to"), data.get("who")
    if not is_legal(one.state, str(after), who, one.item.source):  # type: ignore[arg-type]  # any text: it is looked up
        return found
    said = {name: data.get(name) for name in ("stage", "run", "reason")}
    move = ItemMoved(at=event.at, before=one.state, after=after, who=who, **said)
    return replace(found, items={**found.items, str(event.subject): one.moved(move)})


def named_items(found: Sequence[ItemStanding]) -> list[str]:
    """Return the references of items."""
    return [one.item.ref for one in found]
