"""Phases: where a project, or a campaign, is in its work; each move is an event, and the last one decides."""

from itertools import pairwise
from typing import Annotated, Literal

from pydantic import Field

from graphmem.core.records.events import event, events_of_type, moves_of
from graphmem.core.records.moves import PHASE_MOVES, Move, refuse_move
from graphmem.features.work.campaigns import campaign_of
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.model import Event
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import operation
from graphmem.kernel.request import Request
from graphmem.kernel.store.snapshot import Snapshot, Writing

Phase = Literal["none", "explore", "plan", "build", "observe", "complete", "error"]
OfCampaign = Annotated[str | None, Field(description="Campaign whose phase it is; the project's own if not given")]


class PhaseRequest(Request):
    """Of what to return the phase."""

    campaign: OfCampaign = None


class MovePhaseRequest(Request):
    """Which phase comes next."""

    phase: Phase = Field(description="The next phase")
    campaign: OfCampaign = None


class PhaseStatus(Answer):
    """The current phase, since when, and which may follow it."""

    phase: Phase
    since: str | None
    legal: list[Phase]


class PhaseCan(Answer):
    """Whether a phase may follow the current one."""

    before: Phase = Field(alias="from")
    after: Phase = Field(alias="to")
    legal: bool


class PhaseMoved(Answer):
    """The move that was recorded."""

    before: Phase = Field(alias="from")
    after: Phase = Field(alias="to")
    at: str


class PhaseSpan(Part):
    """One phase from its beginning to its end; the current one has no end."""

    phase: Phase
    begin: str = Field(alias="from")
    end: str | None = Field(alias="to")
    seconds: float


class PhaseDurations(Answer):
    """The phases so far, in the order of time."""

    phases: list[PhaseSpan]


MOVED = "phase-moved"


def _moves(snapshot: Snapshot, campaign: str | None) -> tuple[str | None, list[Move]]:
    """Return the campaign by key, if one is named, and the moves of its phase in the order of time."""
    subject = None
    if campaign is not None:
        number, _ = campaign_of(snapshot, campaign)
        subject = snapshot.catalog.stored(number).key_ref
    found: list[Event] = [one for one in events_of_type(snapshot, MOVED) if one.subject == subject]
    return subject, [move for _, move in moves_of(found) if move.after in PHASE_MOVES]


def _current(found: list[Move]) -> Phase:
    """Return the phase after some moves."""
    return found[-1].after if found else "none"  # type: ignore[return-value]  # `_moves` leaves out what is no phase


def legal(phase: Phase) -> list[Phase]:
    """Return the phases that may follow one."""
    return list(PHASE_MOVES[phase])  # type: ignore[arg-type]  # a test compares the table with the type


@operation("phases.status", example="graphmem phase status")
def status(snapshot: Snapshot, request: PhaseRequest) -> PhaseStatus:
    """Return the current phase, and which may follow."""
    _, found = _moves(snapshot, request.campaign)
    phase = _current(found)
    return PhaseStatus(phase=phase, since=format_time(found[-1].at) if found else None, legal=legal(phase))


@operation("phases.can", example="graphmem phase can build")
def can(snapshot: Snapshot, request: MovePhaseRequest) -> PhaseCan:
    """Return whether a phase may follow the current one."""
    _, found = _moves(snapshot, request.campaign)
    phase = _current(found)
    return PhaseCan(before=phase, after=request.phase, legal=request.phase in PHASE_MOVES[phase])


@operation("phases.move", writes=True, command="phase to", example="graphmem phase to plan")
def move(snapshot: Writing, request: MovePhaseRequest) -> PhaseMoved:
    """Go on to another phase; one that may not follow is refused with those that may."""
    return _moved(snapshot, request.phase, request.campaign, is_reset=False)


@operation("phases.reset", writes=True, example="graphmem phase reset")
def reset(snapshot: Writing, request: PhaseRequest) -> PhaseMoved:
    """Begin again, from whatever phase it is."""
    return _moved(snapshot, "none", request.campaign, is_reset=True)


def _moved(snapshot: Writing, after: Phase, campaign: str | None, *, is_reset: bool) -> PhaseMoved:
    """Record a move."""
    subject, found = _moves(snapshot, campaign)
    before = _current(found)
    if not is_reset:
        what = f"the phase of {campaign}" if campaign else "the phase"
        refuse_move(PHASE_MOVES, what, before, after, may_stay=False)
    at = max([snapshot.now, *(one.at for one in found[-1:])])
    said = {"from": before, "to": after, "reset": is_reset or None}
    snapshot.commit([event(snapshot, MOVED, at, subject, said)])
    return PhaseMoved(before=before, after=after, at=format_time(at))


@operation("phases.duration", example="graphmem phase duration")
def duration(snapshot: Snapshot, request: PhaseRequest) -> PhaseDurations:
    """Return how long each phase took."""
    _, found = _moves(snapshot, request.campaign)
    ends = [*(later.at for _, later in pairwise(found)), None]
    return PhaseDurations(
        phases=[
            PhaseSpan(
                phase=_current([one]),
                begin=format_time(one.at),
                end=format_time(end) if end else None,
                seconds=((end or snapshot.now) - one.at).total_seconds(),
            )
            for one, end in zip(found, ends, strict=bool(found))
        ]
    )
