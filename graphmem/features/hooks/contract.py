"""What an event of a coding agent takes and returns."""

from typing import Any, Literal

from pydantic import Field

from graphmem.kernel.answer import Answer
from graphmem.kernel.parameters import ClientName
from graphmem.kernel.request import Request

HookKind = Literal["start", "prompt", "before", "after", "end"]


class HookRequest(Request):
    """An event that a coding agent reports."""

    client: ClientName = Field(description="The client that reports it")
    event: str = Field(description="The event as the client sends it: a JSON object")
    until: float | None = Field(None, description="Second since 1970 after which the client waits no longer")


class HookAnswer(Answer):
    """
    What goes back to the agent; ``output`` is that in the client's own form, None where there is nothing to say.

    ``refs`` are the memories that ``text`` hands out, ``helped`` those that helped as a pass says: a report is
    written when the session ends.
    """

    event: HookKind | None = None
    text: str = ""
    output: dict[str, Any] | None = None
    refs: list[str] = []
    helped: list[str] = []
