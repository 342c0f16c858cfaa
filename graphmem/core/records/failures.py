"""What adding a failure takes."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from graphmem.core.evidence.citation_contract import VersionSource
from graphmem.core.records.record_contract import AddRequest
from graphmem.kernel.model.failure import Identity
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
    Verbatim,
)


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
    versions: Mapping[str, str] | None = Field(None, description="Versions of packages that the record was seen with")
    versions_from: VersionSource = Field(
        "lock", description="Take the versions of named packages from lock files, with auto from what is installed too"
    )
    check_after: CheckAfter = None
    flaky: bool | None = Field(None, description="The failure is flaky: it comes and goes")
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None
