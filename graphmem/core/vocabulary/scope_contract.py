"""What operations on scopes take and return."""

from typing import ClassVar

from pydantic import Field

from graphmem.errors import BadInput, GraphmemError
from graphmem.kernel.answer import Answer
from graphmem.kernel.model.scope import Scope
from graphmem.kernel.parameters import Texts
from graphmem.kernel.request import Request


class ShowScopeRequest(Request):
    """Which scope to return."""

    name: str = Field(description="A scope of the project")


class AddScopeRequest(Request):
    """A scope to declare, or to change."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    name: str = Field(description="Name of the scope: a-z 0-9 _, beginning with a letter")
    read: Texts = Field((), description="Kinds and entity types whose records it may read, or any")
    write: Texts = Field((), description="Kinds and entity types whose records it may write, or any")
    description: str = Field("", description="Who is to have the scope, and for what")


class ScopeList(Answer):
    """The project's scopes, in name order."""

    results: list[Scope]
