"""What operations on a session take and return."""

from typing import ClassVar

from pydantic import Field

from graphmem.core.records.record_contract import Listed
from graphmem.errors import BadInput, GraphmemError
from graphmem.kernel.answer import Answer
from graphmem.kernel.model.blackboard import CurrentSession, CurrentTask, Preferences, TaskStage
from graphmem.kernel.parameters import SessionName, Texts
from graphmem.kernel.request import Request


class SessionRequest(Request):
    """Of which session to return what is current."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    name: SessionName = None


class EndSessionRequest(SessionRequest):
    """Which session to end."""


class StartSessionRequest(SessionRequest):
    """A session to begin; one that is under way is ended first."""

    conversation: str | None = Field(None, description="Id of the agent's conversation")
    task: str | None = Field(None, description="What the session is about; becomes the current task")


class WorkOnRequest(Request):
    """What is being worked on, or its status; a new description begins a new task."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    description: str | None = Field(None, description="What is being worked on")
    name: SessionName = None
    id: str | None = Field(None, description="Id of the task, such as auth/001-setup")
    type: str | None = Field(None, description="Type of the task, such as bug or feature")
    status: TaskStage | None = Field(None, description="Status of the task")


class DecideRequest(Request):
    """A decision to record."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    decision: str = Field(description="What was decided")
    name: SessionName = None
    reasoning: str | None = Field(None, description="Why it was decided")
    task: str | None = Field(None, description="Task that it was decided in; the current one if not given")
    key: str | None = Field(None, description="Name of the decision; made from its text if not given")


class ConstrainRequest(Request):
    """A constraint to record."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    constraint: str = Field(description="The constraint")
    name: SessionName = None
    source: str | None = Field(None, description="Who set the constraint")
    expires_at: str | None = Field(None, description="When it ends: a time with its zone; never if not given")
    key: str | None = Field(None, description="Name of the constraint; made from its text if not given")


class PreferRequest(SessionRequest):
    """How the user wants to work; an empty text removes a preference, and what is not given stays."""

    communication_style: str | None = Field(None, description="How to communicate with the user")
    approval_gates: str | None = Field(None, description="What to ask the user before")
    default_model_profile: str | None = Field(None, description="The usual model profile")


class NoteRequest(SessionRequest):
    """How far a session has come, and what it used."""

    messages: int | None = Field(None, ge=0, description="Number of messages so far")
    conversation: str | None = Field(None, description="Id of the agent's conversation")
    skills: Texts = Field((), description="Skills that were invoked")
    used: Texts = Field((), description="Records that the session used")


class SessionContext(Answer):
    """
    What is current: of this machine the task, the preferences and the session; of the project the rest.

    ``last_task`` is the one that was worked on last, where it is finished or its campaign has ended. ``contradictions``
    names for a decision or constraint the others that say its opposite.
    """

    current_task: CurrentTask | None
    last_task: CurrentTask | None
    recent_decisions: list[Listed]
    active_constraints: list[Listed]
    contradictions: dict[str, list[str]] = {}
    user_preferences: Preferences
    session: CurrentSession
