"""What ``verify-loop`` takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.constants import LOOP_PIECES
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request

LoopStage = Literal["captured", "injected", "used", "helped"]


class VerifyLoopRequest(Request):
    """How far to look back for whether learning happens."""

    last: int = Field(LOOP_PIECES, ge=1, description="Number of campaigns and runs to look back over")


class StageReached(Part):
    """The failures that came to a stage of the loop."""

    stage: LoopStage
    number: int
    refs: list[str]


class Loop(Answer):
    """
    Whether learning happens: how far failures came in the last campaigns and runs.

    ``since`` is where these begin, ``null`` for the beginning of everything. ``reports`` counts those on failures and
    on patterns that solve them. ``broken`` is the first stage that nothing came to, ``null`` where nothing is broken or
    nothing is there yet; ``verdict`` says it in words.
    """

    since: str | None
    campaigns: list[str]
    runs: list[str]
    tasks: int
    reports: int
    stages: list[StageReached]
    is_learning: bool
    broken: LoopStage | None
    verdict: str
