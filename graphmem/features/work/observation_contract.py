"""What ``observe`` takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.core.records.record_contract import Changed
from graphmem.core.records.relation_contract import Edge
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.request import Request

Verdict = Literal["CONFIRMED", "FALSE_POSITIVE", "INDETERMINATE", "ERROR"]
StepName = Literal["list", "verify", "failures", "patterns", "link", "feedback", "co_occurs"]


class ObserveRequest(Request):
    """Which campaign to learn from."""

    ref: str | None = Field(None, description="The campaign; the only active one if not given")
    run_verify: bool = Field(False, description="Run the verify commands of blocked tasks, which must be trusted")
    yes: bool = Field(False, description="Write the patterns that are offered")


class ObservedStep(Part):
    """One step: whether it was done, what it did, or why it left something out."""

    step: StepName
    done: bool
    reason: str


class Verified(Part):
    """
    What the verify command of a blocked task says of the block.

    ``CONFIRMED``: it still fails. ``FALSE_POSITIVE``: it passes. ``INDETERMINATE``: its time was up. ``ERROR``: it
    could not be run. ``tail`` is the end of what it wrote.
    """

    task: str
    verdict: Verdict
    seconds: float
    tail: str


class OfferedPattern(Part):
    """A finished task with its points by criterion; ``ref`` is the pattern made of it, if one is."""

    task: str
    score: int
    criteria: dict[str, int]
    offered: bool
    ref: str | None = None


class Observed(Answer):
    """What finished and blocked tasks of a campaign became."""

    campaign: str
    steps: list[ObservedStep]
    verified: list[Verified]
    failures: list[Changed]
    patterns: list[OfferedPattern]
    links: list[Edge]
    feedback: int
