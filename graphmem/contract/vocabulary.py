"""What operations on types take and return."""

from typing import ClassVar

from pydantic import Field

from graphmem.contract.answer import Answer
from graphmem.contract.parameters import Texts
from graphmem.contract.request import Request
from graphmem.errors import BadInput, GraphmemError
from graphmem.model.vocabulary import EntityType, RelationType


class ShowTypeRequest(Request):
    """Which type to return."""

    name: str = Field(description="An entity type or a relation type")


class AddEntityTypeRequest(Request):
    """An entity type to declare."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    name: str = Field(description="Name of the type: a-z 0-9 _, beginning with a letter")
    description: str = Field("", description="What belongs in the type")
    search: bool = Field(True, description="Let queries find its entities")


class AddRelationTypeRequest(Request):
    """A relation type to declare."""

    refusal: ClassVar[type[GraphmemError]] = BadInput

    name: str = Field(description="Name of the type: a-z 0-9 _, beginning with a letter")
    sources: Texts = Field(description="Kinds and entity types that its edges lead from, or any")
    targets: Texts = Field(description="Kinds and entity types that its edges lead to, or any")
    weight: float = Field(1.0, description="Weight of an edge without its own, above 0, at most 2")
    symmetric: bool = Field(False, description="Its edges have no direction")
    description: str = Field("", description="What an edge of the type means")


class TypeList(Answer):
    """The types of a project, and graphmem's own relations."""

    entities: list[EntityType]
    relations: list[RelationType]
