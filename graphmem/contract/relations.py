"""What operations on relations return."""

from typing import Literal

from pydantic import Field

from graphmem.contract.answer import Answer, Part, Shown, ShownPattern
from graphmem.contract.citations import Cited, Fix

Direction = Literal["out", "in", "both"]  # of the edges that a walk takes, as seen from where it begins


class Edge(Part):
    """An edge by the current references of its ends; ``direction`` says how a path walks it."""

    source: str = Field(alias="from")
    type: str
    target: str = Field(alias="to")
    weight: float
    note: str | None = None
    direction: Literal["out", "in"] | None = None


class Linked(Answer):
    """What ``link`` and ``unlink`` did."""

    edge: Edge
    action: Literal["created", "updated", "unchanged", "removed"]


class Reached(Part):
    """A record that ``related`` reached, with the strongest path to it."""

    ref: str
    strength: float
    hops: int
    path: list[Edge]
    record: Shown


class Related(Answer):
    """Strongest first; ``exhaustive`` is false where the search ended at its budget."""

    start: str
    results: list[Reached]
    exhaustive: bool
    truncated: bool


class Connection(Answer):
    """The strongest path between two records; strength 0 and no path where there is none."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    strength: float
    hops: int
    path: list[Edge]
    exhaustive: bool = True


class Solution(Part):
    """A pattern that solves a failure, or one near it; ``path`` leads from the failure to the pattern."""

    ref: str
    strength: float
    help_ratio: float
    path: list[Edge]
    record: ShownPattern
    cites: list[Cited] = []


class Solutions(Answer):
    """The fixes of the failure itself; then the patterns, direct solutions first, strongest first."""

    failure: str
    fixes: list[Fix] = []
    results: list[Solution]
