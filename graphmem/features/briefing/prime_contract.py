"""What the briefing of an agent and the state of a store take and return."""

from pydantic import Field

from graphmem.constants import BRIEFING_BUDGET
from graphmem.core.plans.campaign_contract import CampaignStage
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.finding import Finding
from graphmem.kernel.machine.service_state import ServiceStatus
from graphmem.kernel.model.blackboard import TaskStage
from graphmem.kernel.model.task import TaskStatus
from graphmem.kernel.parameters import SessionName
from graphmem.kernel.request import Request


class PrimeRequest(Request):
    """How to brief an agent that begins."""

    session: SessionName = None
    budget: int = Field(BRIEFING_BUDGET, ge=1, description="Largest size of the briefing, in tokens")
    instructions: bool = Field(False, description="Return the lines for AGENTS.md instead, the same in every project")


class Briefing(Answer):
    """What an agent needs to begin, as text for a prompt; ``refs`` are the records it shows."""

    text: str
    tokens: int
    refs: list[str]


class ActiveCampaign(Part):
    """A campaign that has not ended: where it is, which of its tasks can start now, and which cannot run."""

    ref: str
    objective: str
    state: CampaignStage
    ready: list[str]
    unreachable: list[str] = []


class TaskAtWork(Part):
    """A task that is active or blocked; ``reason`` is what blocks it."""

    ref: str
    objective: str
    status: TaskStatus
    reason: str | None = None


class StoreStatus(Answer):
    """
    Where one is: the store, this clone, what is being worked on, the service, and what to do next.

    ``unregistered`` are settings of git that this clone lacks, ``findings`` counts what is wrong with the files,
    ``without_vector`` the records that search finds by their words alone for now, ``candidates`` what waits to be
    reviewed. ``task`` is the current one of this machine; ``tasks`` are the active and blocked ones of campaigns that
    go on, active ones and the latest first. ``user_store`` is the folder of the user's own store, where questions go to
    it too. ``cold_start`` is true as long as there are so few experiences that each new one has confidence low.
    ``in_git`` is what git does to the files that a user may not expect.
    """

    store: str
    user_store: str | None = None
    records: int
    relations: int
    unregistered: list[str]
    findings: int
    without_vector: int = 0
    candidates: int = 0
    cold_start: bool = False
    task: str | None
    task_status: TaskStage | None = None
    campaigns: list[ActiveCampaign]
    tasks: list[TaskAtWork] = []
    in_git: list[Finding] = []
    service: ServiceStatus | None = None
    next: list[str]
