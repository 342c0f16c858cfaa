"""What adding an insight takes."""

from typing import ClassVar

from pydantic import Field

from graphmem.core.records.record_contract import AddRequest
from graphmem.kernel.model.insight import Category
from graphmem.kernel.parameters import DryRun, Name, Sources, Supersedes, Tags, Texts, Verbatim


class AddInsightRequest(AddRequest):
    """An insight to add: what several experiences agree on."""

    kind: ClassVar[str] = "insight"

    category: Category = Field(description="Category of the insight")
    statement: str = Field(description="The insight")
    derived_from: Texts = Field(description="Experiences that support the insight; at least two, of different days")
    name: Name = None
    tags: Tags = None
    sources: Sources = None
    dry_run: DryRun = False
    verbatim: Verbatim = False
    supersedes: Supersedes = None
