"""What operations on phases take and return."""

from typing import Annotated, Literal

from pydantic import Field

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request

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
