"""What adding a failure, a pattern, an entity or an insight takes."""

from collections.abc import Mapping
from typing import Annotated, ClassVar

from pydantic import Field

from graphmem.core.evidence.citation_contract import VersionSource
from graphmem.core.records.record_contract import AddRequest
from graphmem.kernel.model.failure import Identity
from graphmem.kernel.model.insight import Category
from graphmem.kernel.parameters import (
    CheckAfter,
    Cites,
    Dedup,
    DryRun,
    Files,
    Framework,
    Name,
    Replace,
    Sources,
    Supersedes,
    Tags,
    Texts,
    Verbatim,
)

Versions = Annotated[Mapping[str, str] | None, Field(description="Versions of packages that the record was seen with")]
VersionsFrom = Annotated[
    VersionSource,
    Field(description="Take the versions of named packages from lock files, with auto from what is installed too"),
]


class AddFailureRequest(AddRequest):
    """A failure to add: what went wrong and, once known, what fixes it."""

    kind: ClassVar[str] = "failure"

    trigger: str = Field(description="The error as it was observed")
    fix: str | None = Field(None, description="What resolves the failure")
    symptom: str | None = Field(
        None, description="The failure in plain words, as a person would report it: one sentence, up to 300 characters"
    )
    holds_for: Identity | None = Field(
        None,
        description="What the fix holds for: rule (any names), names (the same names), message, frame (this function)",
    )
    name: Name = None
    match: str | None = Field(None, description="Regular expression that finds the failure in a log")
    cost: float | None = Field(None, description="What the failure cost, in thousands of tokens")
    framework: Framework = None
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    versions: Versions = None
    versions_from: VersionsFrom = "lock"
    check_after: CheckAfter = None
    flaky: bool | None = Field(None, description="The failure is flaky: it comes and goes")
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None


class AddPatternRequest(AddRequest):
    """A pattern to add: when it applies, and what to do then."""

    kind: ClassVar[str] = "pattern"

    trigger: str = Field(description="When the pattern applies")
    insight: str = Field(description="What to do when the pattern applies")
    name: Name = None
    saved: float | None = Field(None, description="What the pattern saves, in thousands of tokens")
    framework: Framework = None
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    versions: Versions = None
    versions_from: VersionsFrom = "lock"
    check_after: CheckAfter = None
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None


class AddEntityRequest(AddRequest):
    """An entity to add, or whose value to change."""

    kind: ClassVar[str] = "entity"

    type_name: str = Field(description="A declared entity type")
    name: str = Field(description="Name of the entity, unique in its type")
    value: str | None = Field(None, description="What belongs to the entity itself; what links it to others is an edge")
    sources: Sources = None
    dry_run: DryRun = False
    verbatim: Verbatim = False


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
