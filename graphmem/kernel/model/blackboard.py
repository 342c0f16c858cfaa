"""What is current on this machine: the task at hand, how the user wants to work, and the session itself."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from graphmem.kernel.model.field import Count, Item, StringSet, Text, Time

TaskStage = Literal["pending", "in_progress", "blocked", "complete"]


class BoardPart(BaseModel):
    """A part of the blackboard; what another version noted beside it is kept."""

    model_config = ConfigDict(frozen=True, extra="allow", defer_build=True)

    def but(self, **changes: Any) -> "dict[str, Any]":
        """Return the values with those changed that are given."""
        return self.model_dump(mode="json") | {name: value for name, value in changes.items() if value is not None}


class CurrentTask(BoardPart):
    """What is being worked on."""

    id: Item | None = None
    description: Text
    type: Item = "other"
    started_at: Time
    status: TaskStage = "in_progress"


class Preferences(BoardPart):
    """How the user wants to work."""

    communication_style: Text | None = None
    approval_gates: Text | None = None
    default_model_profile: Text | None = None


class CurrentSession(BoardPart):
    """The session that is under way."""

    started_at: Time | None = None
    last_updated: Time | None = None
    conversation: Item | None = None
    messages: Count = 0
    skills: StringSet = ()
    used: StringSet = ()  # references, by key


class Blackboard(BoardPart):
    """All of it, as ``state/`` holds it."""

    task: CurrentTask | None = None
    preferences: Preferences = Field(default_factory=Preferences)
    session: CurrentSession = Field(default_factory=CurrentSession)
