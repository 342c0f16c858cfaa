"""What adding a pattern takes."""

from typing import ClassVar

from pydantic import Field

from graphmem.contract.parameters import Cites, Dedup, DryRun, Files, Name, Replace, Sources, Tags
from graphmem.contract.records import AddRequest


class AddPatternRequest(AddRequest):
    """A pattern to add: when it applies, and what to do then."""

    kind: ClassVar[str] = "pattern"

    trigger: str = Field(description="When the pattern applies")
    insight: str = Field(description="What to do when the pattern applies")
    name: Name = None
    saved: float | None = Field(None, description="What the pattern saves, in thousands of tokens")
    framework: str | None = Field(None, description="Framework or tool that the pattern is for")
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    dedup: Dedup = True
    dry_run: DryRun = False
    replace: Replace = False
