"""What operations on relations take and return."""

from typing import Annotated, Literal

from pydantic import Field

from graphmem.constants import DEFAULT_HOPS, MAX_HOPS, MIN_STRENGTH
from graphmem.core.evidence.citation_contract import Cited, Fix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.kernel.answer import Answer, Part, Shown, Store
from graphmem.kernel.model import AnyRecord, Pattern
from graphmem.kernel.parameters import MostResults, Ref, RelationTypes, Strict, Texts
from graphmem.kernel.request import Request

Direction = Literal["out", "in", "both"]  # of the edges that a walk takes, as seen from where it begins


Source = Annotated[str, Field(description="The record that the edge leads from")]
EdgeType = Annotated[str, Field(description="Relation type of the edge")]
Target = Annotated[str, Field(description="The record that the edge leads to")]
Which = Annotated[Direction, Field(description="Which way edges are walked")]


class LinkRequest(Request):
    """An edge to add, or whose weight and note to change."""

    source: Source
    kind: EdgeType
    target: Target
    weight: float | None = Field(None, description="Weight of the edge, above 0, at most 2; its type's if not given")
    note: str | None = Field(None, description="Note on the edge")
    sources: Texts = Field((), description="Where the edge came from: a task, a run, a file, a person")


class UnlinkRequest(Request):
    """Which edge to remove."""

    source: Source
    kind: EdgeType
    target: Target


class RelatedRequest(Request):
    """Which records to reach from a record, and over which edges."""

    ref: Ref
    max_hops: int = Field(DEFAULT_HOPS, ge=1, le=MAX_HOPS, description="Largest number of edges in a path")
    types: RelationTypes = None
    kinds: Texts | None = Field(None, description="Return only records of these kinds and entity types")
    direction: Which = "both"
    min_strength: float | None = Field(
        None,
        ge=0,
        description=f"Cut a path where its strength falls below this; the setting ({MIN_STRENGTH:g}) if not given",
    )
    limit: MostResults = None


class PathRequest(Request):
    """Which records to connect by their strongest path, and over which edges."""

    source: str = Field(description="The record where the path begins")
    target: str = Field(description="The record where the path ends")
    max_hops: int = Field(MAX_HOPS, ge=1, le=MAX_HOPS, description="Largest number of edges in the path")
    types: RelationTypes = None
    direction: Which = "both"


class SolutionsRequest(Request):
    """For which failure to return fixes and solving patterns."""

    ref: Ref
    limit: MostResults = None
    strict: Strict = False


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
    record: Shown[AnyRecord]
    doubts: list[Doubt] = []


class Related(Answer):
    """Strongest first; ``exhaustive`` is false where the search ended at its budget."""

    start: str
    results: list[Reached]
    exhaustive: bool
    truncated: bool


class Connection(Answer):
    """The strongest path between two records; strength 0 and an empty path if they are not connected."""

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    strength: float
    hops: int
    path: list[Edge]
    exhaustive: bool = True


class Solution(Part):
    """
    A pattern that solves a failure, or one near it; ``path`` leads from the failure to the pattern.

    ``handed_out`` counts the tasks that got it when they began, ``worked`` those of them that reported that it helped.
    """

    ref: str
    store: Store = "project"
    strength: float
    help_ratio: float
    path: list[Edge]
    handed_out: int = 0
    worked: int = 0
    record: Shown[Pattern]
    cites: list[Cited] = []
    doubts: list[Doubt] = []


class Solutions(Answer):
    """The fixes of the failure itself; then the patterns, direct solutions first, strongest first."""

    failure: str
    fixes: list[Fix] = []
    doubts: list[Doubt] = []
    results: list[Solution]
