"""What operations on types take and return."""

from pydantic import Field

from graphmem.constants import TYPES_BUDGET
from graphmem.kernel.answer import Answer
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.parameters import Texts
from graphmem.kernel.request import InputRequest, Request


class ShowTypeRequest(Request):
    """Which type to return."""

    name: str = Field(description="An entity type or a relation type")


class AddEntityTypeRequest(InputRequest):
    """An entity type to declare."""

    name: str = Field(description="Name of the type: a-z 0-9 _, beginning with a letter")
    description: str = Field("", description="What belongs in the type")
    search: bool = Field(True, description="Let queries find its entities")


class AddRelationTypeRequest(InputRequest):
    """A relation type to declare."""

    name: str = Field(description="Name of the type: a-z 0-9 _, beginning with a letter")
    sources: Texts = Field(description="Kinds and entity types that its edges lead from, or any")
    targets: Texts = Field(description="Kinds and entity types that its edges lead to, or any")
    weight: float = Field(1.0, description="Weight of an edge without its own, above 0, at most 2")
    symmetric: bool = Field(False, description="Its edges have no direction")
    description: str = Field("", description="What an edge of the type means")


class RenameTypeRequest(InputRequest):
    """A type to give another name."""

    old: str = Field(description="Type of the project to rename")
    new: str = Field(description="New name of the type: a-z 0-9 _, beginning with a letter")
    yes: bool = Field(False, description="Do it; without, only report what would change")


class DropTypeRequest(Request):
    """A type to take out."""

    name: str = Field(description="Type of the project to take out, with its rows")
    yes: bool = Field(False, description="Do it; without, only report what would go")


class TypeChanged(Answer):
    """
    What the change of a type did, or would do; ``done`` is false for a preview.

    ``now`` is the new name, null where the type goes. ``references`` counts the other rows that name its records,
    ``types`` are the other types that change, ``dropped`` those that go too. ``aside`` are the extractors and stored
    queries that named nothing but what goes: each is kept with ``.aside`` after its name, and not read. ``files`` are
    all files that change or go, beside the derived ``schema.json``.
    """

    done: bool
    type: str
    now: str | None
    records: int
    edges: int
    references: int
    types: list[str]
    dropped: list[str]
    aside: list[str]
    files: list[str]


class BriefTypesRequest(Request):
    """How much of the vocabulary to return."""

    budget: int = Field(TYPES_BUDGET, ge=1, description="Largest size of the vocabulary, in tokens")


class TypeBrief(Answer):
    """The vocabulary as Markdown for a prompt; ``omitted`` are the types that are over the budget."""

    text: str
    tokens: int
    omitted: list[str]


class TypeList(Answer):
    """The types of a project, and graphmem's own relations."""

    entities: list[EntityType]
    relations: list[RelationType]
