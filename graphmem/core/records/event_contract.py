"""What operations on events take and return."""

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, JsonValue, Strict

from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.parameters import Texts
from graphmem.kernel.request import InputRequest, Request

MOST_EVENTS = 1_000


class Check(BaseModel):
    """One check of a verification."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)

    name: str
    result: Literal["pass", "fail"]
    retried: Annotated[bool, Strict()] = False


class Verification(BaseModel):
    """What the events ``chunk-verified`` and ``verification-failed`` say."""

    model_config = ConfigDict(extra="allow", frozen=True, defer_build=True)

    checks: list[Check] = []
    mode: Literal["full", "reduced", "minimal"] = "full"
    screenshot: str | None = None


class AddEventRequest(InputRequest):
    """Something that happened."""

    type: str = Field(description="What happened, such as review.verdict or chunk-verified")
    subject: str | None = Field(None, description="What it happened to: a record, or words")
    data: Mapping[str, object] | None = Field(None, description="What more there is to say, a JSON object")


class ListEventsRequest(Request):
    """Which events to return, in the order of time."""

    types: Texts = Field((), description="Return only events of these types; task- means all that begin so")
    subject: str | None = Field(None, description="Return only events about this record")
    cursor: str | None = Field(None, description="Go on after the answer that had this cursor")
    limit: int = Field(100, ge=1, le=MOST_EVENTS, description="Return at most this many: the last ones, or the next")


class Happening(Part):
    """
    Something that happened.

    ``is_local`` events are of this machine and are not committed.
    """

    id: str
    at: str
    type: str
    subject: str | None = None
    data: JsonValue = None
    is_local: bool = False


class Happened(Answer):
    """The event that was recorded."""

    event: Happening


class EventList(Answer):
    """Events in the order of time; ``cursor`` asks for those after them."""

    events: list[Happening]
    cursor: str | None
