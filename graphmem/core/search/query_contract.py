"""What a search takes and returns."""

from typing import Annotated, ClassVar, Literal

from pydantic import Field

from graphmem.constants import QUERY_LIMIT
from graphmem.core.evidence.citation_contract import Cited, Fix, VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.score import Band, Tier
from graphmem.core.records.candidate_contract import SeenCandidate
from graphmem.kernel.answer import Answer, Part, Shown, Store
from graphmem.kernel.model import AnyRecord
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.parameters import Strict
from graphmem.kernel.request import Request

Profile = Literal["classic", "learned"]
Certainty = Literal["high", "low", "none"]


ProfileName = Annotated[
    Profile | None, Field(description="How relevance becomes a score; the setting retrieval.profile if not given")
]


class QueryRequest(Request):
    """Which records a text is about."""

    asks: ClassVar[bool] = True

    text: str = Field(description="An error message, a symbol, or a sentence")
    kinds: tuple[str, ...] | None = Field(None, description="Return only these kinds and entity types")
    limit: int | None = Field(None, ge=1, description=f"Return at most this many records; {QUERY_LIMIT} if not given")
    min_similarity: float | None = Field(None, ge=0, le=1, description="Return only records at least this similar")
    profile: ProfileName = None
    strict: Strict = False
    candidates: bool = Field(False, description="Return candidates too, where no record surely answers")

    @property
    def most(self) -> int:
        """How many records are returned at most."""
        return QUERY_LIMIT if self.limit is None else self.limit


class Factors(Part):
    """
    What a score is made of: relevance × cost × help_ratio × age_decay × finished × freshness × doubt.

    In the learned profile these are powers; in the classic one, the factors of its formula. ``expression`` is 1 where
    the record's match expression finds the query, ``reranked`` what a reranker gave, if one looked at the record.
    ``finished`` is below 1 for a task that is complete. ``moved`` is how many places the record gains by each of cost,
    help_ratio, age_decay and finished, below 0 where it loses some.
    """

    semantic: float
    lexical: float
    exact: float
    expression: float = 0.0
    graph: float
    reranked: float | None
    cost: float
    help_ratio: float
    age_decay: float
    finished: float = 1.0
    freshness: float = 1.0
    doubt: float = 1.0
    moved: dict[str, int] = {}


class Hit(Part):
    """
    A record that a query found.

    Exact ones are first; the others are in the order of ``score``, in the classic profile of ``band``, then ``score``.
    ``verdict`` says whether the problem of the question is that of the failure, or of the one that the record is found
    by: the same, the same rule for other names, another one, or unclear, and ``reasons`` why; None where neither side
    tells one.
    ``holds`` are its conditions that the project meets, ``doubts`` what speaks against it.
    """

    ref: str
    store: Store = "project"
    verdict: Verdict | None = None
    reasons: list[str] = []
    score: float
    relevance: float
    similarity: float
    tier: Tier
    band: Band
    factors: Factors
    record: Shown[AnyRecord]
    fixes: list[Fix] = []
    variant_fix: VariantFix | None = None
    cites: list[Cited] = []
    doubts: list[Doubt] = []
    holds: list[str] = []


class Found(Answer):
    """
    What a query found, best first.

    ``reranker`` is the model that reordered it, if one did; ``asked`` names the question in a report, for 30 days.
    ``probability`` is how likely the first result is about the very thing that was asked, ``certainty`` what follows
    from it, and ``known`` whether that is high. ``left_out`` are the records that are not there because they have a
    mark of doubt, where that was asked for. ``candidates`` are what was not reviewed yet, where that was asked for and
    nothing is known.
    """

    query: str
    results: list[Hit]
    search: Literal["semantic+lexical", "lexical"]
    reranker: str | None
    profile: Profile
    known: bool
    certainty: Certainty
    probability: float
    left_out: list[str] = []
    asked: str | None = None
    candidates: list[SeenCandidate] = []
