"""What checking a branch takes and returns."""

from pydantic import Field

from graphmem.core.evidence.citation_contract import Freshness
from graphmem.features.history.contract import RowChange
from graphmem.kernel.answer import Part
from graphmem.kernel.finding import Checked
from graphmem.kernel.request import Request


class CheckRequest(Request):
    """Since which branch to look at what changed."""

    base: str | None = Field(
        None, description="Branch or commit that this one goes into; the default branch of the remote if not given"
    )


class DoubtfulCite(Part):
    """A record that cites code which the branch changed or took away, and the cite."""

    ref: str
    cite: str
    state: Freshness


class OpenFailure(Part):
    """A failure, known before the branch, without a fix, with those of its files that the branch changed."""

    ref: str
    files: list[str]


class BranchChecked(Checked):
    """
    What a branch does to the memory, compared with the files as they are now, and what speaks against merging it.

    ``base`` is what it is compared with, ``since`` the commit at which the two parted. ``added``, ``changed`` and
    ``removed`` are references, of records and of edges; ``changes`` has all rows, field by field. ``findings`` are
    those of ``validate``; a credential that the branch brought is an error among them, and redacted in ``changes``.
    """

    base: str
    since: str
    summary: str
    added: list[str]
    changed: list[str]
    removed: list[str]
    changes: list[RowChange]
    doubtful: list[DoubtfulCite]
    known_failures: list[OpenFailure]
