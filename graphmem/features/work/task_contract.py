"""What operations on the tasks of a campaign take and return."""

from typing import Annotated, Generic, Literal

from pydantic import Field
from typing_extensions import TypeVar

from graphmem.constants import CONTEXT_BUDGET
from graphmem.core.search.match_contract import Matched
from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model import Task
from graphmem.kernel.parameters import SessionName, Texts
from graphmem.kernel.request import InputRequest, Request

TaskRef = Annotated[str, Field(description="The task: its name, or its campaign and number, such as auth/001")]
Failed = Annotated[Texts, Field(description="Memories that did not help")]


class ShowTaskRequest(Request):
    """Which task to return with its workspace and its moves."""

    ref: TaskRef
    budget: int = Field(CONTEXT_BUDGET, ge=1, description="Largest size of the workspace, in tokens")


class StartTaskRequest(ShowTaskRequest):
    """Which task to start; its parents must be complete."""

    session: SessionName = None


class CompleteTaskRequest(InputRequest):
    """Which task is complete, what it delivered, and what helped."""

    ref: TaskRef
    delivered: str | None = Field(None, description="What the task delivered, in words")
    used: Texts = Field((), description="Memories that helped")
    failed: Failed = ()
    solved_by: Texts = Field((), description="Patterns that solved what the task was blocked by; they helped")
    spent: float | None = Field(None, ge=0, allow_inf_nan=False, description="How much of its budget the task took")
    session: SessionName = None


class BlockTaskRequest(InputRequest):
    """Which task cannot go on, and why."""

    ref: TaskRef
    reason: str = Field(description="What stops it: the error, as it was reported")
    by: Texts = Field((), description="Failures that stop it; those that the reason reports are found by themselves")
    failed: Failed = ()
    session: SessionName = None


class ReopenTaskRequest(InputRequest):
    """Which task to make pending again."""

    ref: TaskRef
    reason: str | None = Field(None, description="Why; kept with the move")
    session: SessionName = None


class Sibling(Part):
    """
    A blocked task of the same campaign, as a failure that is not recorded.

    ``fix`` is what is known to fix a failure that blocks it, or else where to look for what was tried.
    """

    ref: str
    name: str
    trigger: str
    fix: str
    injected: Literal[False] = False


class Delivery(Part):
    """What a task before this one delivered."""

    parent: str
    delivered: str | None


class Workspace(Part):
    """
    What a task begins with; ``text`` is a prompt as it is.

    ``prior_knowledge`` names the memories that were handed out, ``asked`` the question in a report on one of them.
    """

    prior_knowledge: list[str]
    siblings: list[Sibling]
    lineage: list[Delivery]
    text: str
    tokens: int
    asked: str | None = None


WorkspaceT_co = TypeVar("WorkspaceT_co", bound=Workspace | None, default=Workspace | None, covariant=True)


class TaskChanged(Answer, Generic[WorkspaceT_co]):
    """
    What a command did to a task.

    ``unchanged`` is a task that was in this state already, ``updated`` one that was and got more reports or what it did
    not say yet; ``since`` and ``by`` are then the time of its last move and the session that made it, if it was named.
    ``known`` are the failures that the reason of a block reports, with what fixes them. ``released`` are the tasks that
    can run again because of this move. ``solved`` are the failures that a pattern was linked to.
    """

    ref: str
    action: Literal["started", "completed", "blocked", "reopened", "updated", "unchanged"]
    record: Shown[Task]
    since: str | None = None
    by: str | None = None
    workspace: WorkspaceT_co = None  # type: ignore[assignment]
    known: list[Matched] = []
    released: list[str] = []
    solved: list[str] = []


class TaskMove(Part):
    """One move of a task, as its event says."""

    event: str
    at: str
    before: str = Field(alias="from")
    after: str = Field(alias="to")
    reason: str | None = None
    session: str | None = None


class HandedOut(Part):
    """What became of the memories that a task got: reported to help, not to help, or not reported on."""

    helped: list[str]
    failed: list[str]
    unused: list[str]


class TaskShown(Answer):
    """
    A task with its workspace as it would be now, what became of what it was handed out, and its moves.

    ``disagreement`` says where two branches moved the task to different states; the later move decides.
    """

    ref: str
    record: Shown[Task]
    workspace: Workspace | None
    handed_out: HandedOut
    moves: list[TaskMove]
    disagreement: str | None = None
