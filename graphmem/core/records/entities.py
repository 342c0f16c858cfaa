"""What adding an entity takes."""

from typing import ClassVar

from pydantic import Field

from graphmem.core.records.record_contract import AddRequest
from graphmem.kernel.parameters import DryRun, Sources, Verbatim


class AddEntityRequest(AddRequest):
    """An entity to add, or whose value to change."""

    kind: ClassVar[str] = "entity"

    type_name: str = Field(description="A declared entity type")
    name: str = Field(description="Name of the entity, unique in its type")
    value: str | None = Field(None, description="What belongs to the entity itself; what links it to others is an edge")
    sources: Sources = None
    dry_run: DryRun = False
    verbatim: Verbatim = False
