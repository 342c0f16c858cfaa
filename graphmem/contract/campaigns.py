"""What operations on campaigns take and return."""

from typing import ClassVar, Literal

from pydantic import Field

from graphmem.constants import SIMILAR_MAX, SIMILAR_THRESHOLD
from graphmem.contract.answer import Answer, Part, Shown
from graphmem.contract.parameters import Name, Sources, Tags
from graphmem.contract.records import AddRequest
from graphmem.contract.request import Request
from graphmem.errors import BadInput, GraphmemError

FinalStatus = Literal["complete", "partial", "failed"]


class CreateCampaignRequest(AddRequest):
    """A campaign to begin: work that is more than one task."""

    kind: ClassVar[str] = "campaign"

    objective: str = Field(description="What the campaign is for")
    name: Name = None
    framework: str | None = Field(None, description="Framework or tool that the work is built with")
    tags: Tags = None
    sources: Sources = None


class AddTasksRequest(Request):
    """The tasks of a plan, to be added all or none."""

    ref: str = Field(description="The campaign")
    plan: object = Field(description='Tasks in JSON: a list, or {"tasks": […]}')


class ReadyRequest(Request):
    """Of which campaign to return the tasks that can start now."""

    ref: str = Field(description="The campaign")


class CompleteCampaignRequest(Request):
    """Which campaign to finish, and how it ended."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    ref: str = Field(description="The campaign")
    outcome: str | None = Field(None, description="Outcome of the campaign, in words")
    status: FinalStatus | None = Field(None, description="How the campaign ended; its tasks decide if not given")


class SimilarRequest(Request):
    """Which finished campaigns to return: those that resemble a campaign or an objective."""

    text: str = Field(description="A campaign, or an objective in words")
    threshold: float | None = Field(
        None,
        ge=0,
        le=1,
        description=f"Return only campaigns at least this similar; the setting ({SIMILAR_THRESHOLD:g}) if not given",
    )
    limit: int = Field(SIMILAR_MAX, ge=1, description="Return at most this many campaigns")


class Parts(Part):
    """The three parts of the similarity of two campaigns."""

    objective: float
    files: float
    size: float


class SimilarCampaign(Part):
    """A finished campaign that resembles the one asked about."""

    ref: str
    similarity: float
    parts: Parts
    outcome: str | None
    blocked_by: list[str]
    solved_by: list[str]
    record: Shown


class Similar(Answer):
    """Finished campaigns, most similar first."""

    objective: str
    results: list[SimilarCampaign]


class CampaignTasks(Answer):
    """A campaign with its tasks, in the order of the plan."""

    campaign: str
    record: Shown
    tasks: list[Shown]


class Ready(Answer):
    """The tasks of a campaign that can start now."""

    campaign: str
    ready: list[Shown]
