"""What operations on explorations take and return."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from graphmem.constants import EXPLORE_POLL_S, EXPLORE_QUORUM, EXPLORE_S
from graphmem.errors import BadInput, GraphmemError
from graphmem.kernel.answer import Answer
from graphmem.kernel.model.exploration import ExplorationMode
from graphmem.kernel.request import Request

SessionId = Annotated[str, Field(description="Id of the exploration session")]
WaitResult = Literal["all_complete", "quorum_met", "timeout", "quorum_failure"]


class ReportExplorationRequest(Request):
    """What an agent found in one mode."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    session: SessionId
    mode: ExplorationMode = Field(description="What was looked for")
    text: str = Field(description="What was found")


class WaitExplorationRequest(Request):
    """For which reports to wait, and how long."""

    session: SessionId
    required: int = Field(EXPLORE_QUORUM, ge=1, le=4, description="Number of reports that are enough")
    timeout: float = Field(EXPLORE_S, ge=0, le=3600, description="Seconds to wait at most")
    poll: float = Field(EXPLORE_POLL_S, gt=0, le=60, description="Seconds between two looks")


class AggregateExplorationRequest(Request):
    """Which session to keep as a record, and what it was about."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    session: SessionId
    objective: str = Field(description="What was explored")


class ExplorationStarted(Answer):
    """A new session, and the modes that it expects reports of."""

    session: str
    modes: list[ExplorationMode]


class ExplorationReported(Answer):
    """A report that was kept; ``late`` if the wait for it had ended."""

    session: str
    mode: ExplorationMode
    late: bool


class ExplorationWaited(Answer):
    """
    How a wait ended.

    ``all_complete``: every mode was reported. ``quorum_met``: enough were, or structure and delta. When the time was
    up, ``quorum_failure``: some were, not enough; ``timeout``: none was.
    """

    session: str
    result: WaitResult
    received: list[ExplorationMode]
    missing: list[ExplorationMode]
    seconds: float
