"""How cited code compares with the files now."""

from typing import Literal

from graphmem.kernel.answer import Part, Store

Freshness = Literal["fresh", "moved", "changed", "gone", "unknown"]


class Cited(Part):
    """
    Code that a record cites, and whether it is in the working tree as it was.

    ``moved_to`` is where it went: unchanged where it is ``moved``, with another text where it is ``changed``.
    """

    cite: str
    path: str | None
    symbol: str | None
    state: Freshness
    moved_to: str | None = None


class Fix(Part):
    """
    A fix of a failure: the current one, or one that a merge set aside, with its time if that is known.

    Fixes are listed by what helped, then the newest first, those that a report says are wrong last; a report on the
    failure counts for the first to try then.
    """

    text: str
    at: str | None
    help_ratio: float
    is_current: bool
    disputed: bool = False
    store: Store = "project"


class VariantFix(Part):
    """The first fix of ``ref``, shown with a variant of it that nothing solves."""

    ref: str
    text: str
    help_ratio: float


VersionSource = Literal["lock", "auto", "none"]  # the project's files, what is installed too, nothing
