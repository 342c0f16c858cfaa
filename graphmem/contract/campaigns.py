"""What operations on campaigns return."""

from graphmem.contract.answer import Answer, Part, Shown


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
