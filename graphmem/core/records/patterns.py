"""What adding a pattern takes."""

from collections.abc import Mapping
from typing import ClassVar

from pydantic import Field

from graphmem.core.evidence.citation_contract import VersionSource
from graphmem.core.records.record_contract import AddRequest
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
    versions: Mapping[str, str] | None = Field(None, description="Versions of packages that the record was seen with")
    versions_from: VersionSource = Field(
        "lock", description="Take the versions of named packages from lock files, with auto from what is installed too"
    )
    check_after: CheckAfter = None
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None
