"""What adding a failure takes."""

from typing import ClassVar

from pydantic import Field

from graphmem.contract.parameters import Cites, Dedup, DryRun, Files, Name, Replace, Sources, Tags
from graphmem.contract.records import AddRequest


class AddFailureRequest(AddRequest):
    """A failure to add: what went wrong and, once known, what fixes it."""

    kind: ClassVar[str] = "failure"

    trigger: str = Field(description="The error as it was observed")
    fix: str | None = Field(None, description="What resolves the failure")
    name: Name = None
    match: str | None = Field(None, description="Regular expression that finds the failure in a log")
    cost: float | None = Field(None, description="What the failure cost, in thousands of tokens")
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    flaky: bool | None = Field(None, description="The failure is flaky: it comes and goes")
    dedup: Dedup = True
    dry_run: DryRun = False
    replace: Replace = False
