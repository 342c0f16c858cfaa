"""How the evidence for a record becomes one number (docs/concepts/retrieval.md, "Relevance"; decision 4)."""

import math
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace

from graphmem.constants import (
    BEND,
    EXACT_RELEVANCE,
    EXPRESSION_WEIGHT,
    EXPRESSION_WORTH,
    HARDLY_SHARED,
    HELD_TIMES,
    LEXICAL_WEIGHT,
)
from graphmem.kernel.catalog.steps import Step


@dataclass(frozen=True, slots=True)
class Evidence:
    """What speaks for one candidate, each part in [0, 1] but what a reranker says."""

    semantic: float = 0.0  # cosine of text and query
    lexical: float = 0.0  # share of what the query asks for that the text holds, by rarity
    exact: float = 0.0
    expression: float = 0.0  # 1 where the record's match expression finds the query
    graph: float = 0.0
    reranked: float | None = None  # what a reranker gave it, of any size


@dataclass(frozen=True)
class Calibration:
    """
    What the candidates of one query are measured by.

    Their order is that of ``likeness``, where the best lexical evidence of the query counts in full unless it is next
    to nothing: few words of a sentence are ever found, yet they say much about which record is nearer than another.
    More of them say more, so the share that is found counts besides. How near the nearest is they do not say. So
    likeness is bent, its order kept: the best becomes what its evidence is worth by itself, and a small likeness stays
    what it is.
    """

    best_lexical: float
    best_likeness: float
    curve: float
    lexical_weight: float

    @classmethod
    def of(cls, candidates: Collection[Evidence], lexical_weight: float = LEXICAL_WEIGHT) -> "Calibration":
        """Return what these candidates are measured by."""
        straight = cls(max((found.lexical for found in candidates), default=0.0), math.inf, 0.0, lexical_weight)
        best = max(map(straight.likeness, candidates), default=0.0)
        worth = max(map(_worth_of, candidates), default=0.0)
        return replace(straight, best_likeness=best, curve=worth**-BEND - best**-BEND) if best else straight

    def likeness(self, evidence: Evidence) -> float:
        """Return how alike query and record are, beside the other candidates; it may pass 1."""
        lexical = evidence.lexical * (1 / max(self.best_lexical, HARDLY_SHARED) + HELD_TIMES)
        return evidence.semantic + self.lexical_weight * lexical + EXPRESSION_WEIGHT * evidence.expression

    def relevance(self, evidence: Evidence) -> float:
        """Return the relevance: the bent likeness, raised by what is exact or solves a hit."""
        likeness = min(self.likeness(evidence), self.best_likeness)
        relevance: float = min(1.0, likeness / (1 + self.curve * likeness**BEND) ** (1 / BEND))
        if evidence.exact:
            relevance = EXACT_RELEVANCE + (1 - EXACT_RELEVANCE) * relevance
        return max(relevance, evidence.graph)


def _worth_of(evidence: Evidence) -> float:
    """Return what the evidence for a candidate is worth by itself, from 0 to 1: independent reasons to believe it."""
    doubt = (1 - evidence.semantic) * (1 - evidence.lexical) * (1 - EXPRESSION_WORTH * evidence.expression)
    return 1 - doubt


def reassign(relevances: Mapping[int, float], scores: Mapping[int, float]) -> dict[int, float]:
    """Return the relevances of what has a score in the order of the scores, the highest to the best; ties stay."""
    best_first = sorted(scores, key=lambda number: (-scores[number], -relevances[number]))
    return dict(zip(best_first, sorted((relevances[number] for number in scores), reverse=True), strict=True))


def fused(rankings: Iterable[Iterable[int]], constant: int) -> list[int]:
    """Return what several rankings have by reciprocal rank fusion, the best first; ties in the order of rankings."""
    scores: dict[int, float] = {}
    for ranking in rankings:
        for place, number in enumerate(ranking, 1):
            scores[number] = scores.get(number, 0.0) + 1 / (constant + place)
    return sorted(scores, key=lambda number: -scores[number])


def best_of(values: Mapping[int, float], most: int) -> list[int]:
    """Return the records with the largest values, the largest first."""
    return sorted(values, key=lambda number: (-values[number], number))[:most]


def graph_strengths(relevances: Mapping[int, float], steps: Iterable[Step]) -> dict[int, float]:
    """Return how strongly edges support what they lead to: the relevance of their hit times the weight, at most 1."""
    strengths: dict[int, float] = {}
    for step in steps:
        strength = relevances[step.near] * min(1.0, step.weight)
        strengths[step.far] = max(strengths.get(step.far, 0.0), strength)
    return strengths
