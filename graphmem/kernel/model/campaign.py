"""A campaign: an objective, its tasks, and what came of it."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from graphmem.kernel.model.field import Count, Item, Number, StringSet, Text, Time
from graphmem.kernel.model.record import Record

CampaignStatus = Literal["active", "complete", "partial", "failed"]


class Fingerprint(BaseModel):
    """What `similar` compares of a campaign that has ended (docs/concepts/campaigns.md)."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    delta: StringSet = ()  # files its tasks changed
    tasks: Count = 0
    framework: Item | None = None
    task_types: dict[str, Count] = {}


class Campaign(Record):
    """A piece of work that is more than one task."""

    states = (*Record.states, ("status", "completed_at"), ("outcome", "fingerprint"))
    named_from = "objective"
    identity = ("objective",)

    kind: Literal["campaign"]
    objective: Text
    framework: Text | None = None
    sections: Count | None = None  # of the specification, that it is about
    framework_level: Count | None = None  # how unknown the framework is
    failure_cost_k: Number | None = None  # thousands of tokens that the failures cost which were known for it
    status: CampaignStatus = "active"
    completed_at: Time | None = None
    outcome: Text | None = None
    fingerprint: Fingerprint | None = None
    tags: StringSet = ()

    @property
    def has_ended(self) -> bool:
        """Whether it has ended, in any way."""
        return self.status != "active"

    @property
    def qualifier(self) -> str:
        return self.status

    @property
    def search_text(self) -> str:
        return self.objective
