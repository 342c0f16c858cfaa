"""Exploration sessions of this machine, with what was reported in each."""

from pydantic import BaseModel, ConfigDict

from graphmem.kernel.model.exploration import ExplorationMode
from graphmem.kernel.model.field import Time


class Report(BaseModel):
    """What was reported for one mode."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    at: Time
    text: str
    late: bool = False


class ExplorationSession(BaseModel):
    """When a session began, what was reported, and when its wait ended: what is reported after that is late."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    started_at: Time
    ended_at: Time | None = None
    reports: dict[ExplorationMode, Report] = {}
