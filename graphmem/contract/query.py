"""What a search takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.constants import QUERY_LIMIT
from graphmem.contract.answer import Answer, Part, Shown
from graphmem.contract.citations import Cited, Fix
from graphmem.contract.request import Request

Tier = Literal["critical", "productive", "exploration", "background"]
Band = Literal["exact", "critical", "productive", "exploration", "background"]
Known = Literal["true", "unsure", "false"]


class QueryRequest(Request):
    """Which records a text is about."""

    text: str = Field(description="An error message, a symbol, or a sentence")
    kinds: tuple[str, ...] | None = Field(None, description="Return only these kinds and entity types")
    limit: int = Field(QUERY_LIMIT, ge=1, description="Return at most this many records")
    min_similarity: float | None = Field(None, ge=0, le=1, description="Return only records at least this similar")


class Factors(Part):
    """What a score is made of; ``reranked`` is what the reranker gave, if there is one and it looked at the record."""

    semantic: float
    lexical: float
    exact: float
    graph: float
    reranked: float | None
    cost: float
    help_ratio: float
    age_decay: float
    freshness: float = 1.0


class Hit(Part):
    """A record that a query found; results are in the order of ``band``, then ``score``."""

    ref: str
    score: float
    relevance: float
    similarity: float
    tier: Tier
    band: Band
    factors: Factors
    record: Shown
    fixes: list[Fix] = []
    cites: list[Cited] = []


class Found(Answer):
    """
    What a query found, best first; ``reranker`` is the model that reordered it, if one did.

    ``probability`` is how likely the first result is relevant, and ``known`` what follows from it.
    """

    query: str
    results: list[Hit]
    search: Literal["semantic+lexical", "lexical"]
    reranker: str | None
    known: Known
    probability: float
