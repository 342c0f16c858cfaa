"""
Whether anything is known: how likely the first result of a query is relevant (docs/concepts/retrieval.md; decision 21).

A logistic regression on few signs. Its weights were fitted on 2026-11-23 to questions of the public sets, put to stores
with and without their answers; ``python -m tests.bench.known --data FOLDER`` fits and prints them again.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from heapq import nlargest
from operator import mul
from typing import NamedTuple

from graphmem.constants import FAINT_COSINE, RIVALS, USUAL_LEAD
from graphmem.contract.query import Known


@dataclass(frozen=True, slots=True)
class Signs:
    """What tells whether the first result is relevant: the larger each is, the likelier; all in [0, 1]."""

    semantic: float  # its cosine with the question
    lead: float  # how far its relevance is above that of the next ones
    overlap: float  # share of its words that are in the question
    lexical: float  # share of the question that it holds, by rarity
    exact: float

    @property
    def values(self) -> tuple[float, ...]:
        """What the weights are for, in their order."""
        return math.log(max(self.semantic, FAINT_COSINE)), self.lead, self.overlap, self.lexical, self.exact


class Weights(NamedTuple):
    """What each sign counts; none is negative, so more evidence never lowers the probability."""

    constant: float
    semantic: float
    lead: float
    overlap: float
    lexical: float
    exact: float


BY_MEANING = Weights(-0.875, 2.408, 6.015, 0.585, 0.568, 0.278)
BY_WORDS = Weights(-3.519, 0.0, 2.47, 3.801, 2.514, 0.25)  # without a model there is no cosine


def lead(relevance: float, others: Iterable[float]) -> float:
    """
    Return how far a relevance is above the mean of the next ones.

    Of a small store, that has fewer than these, the missing ones count as they usually are: that nothing is beside a
    result says nothing where there is nothing else.
    """
    nearest = nlargest(RIVALS, others)
    missing = RIVALS - len(nearest)
    return (sum(max(0.0, relevance - other) for other in nearest) + missing * USUAL_LEAD * relevance) / RIVALS


def overlap(words: Collection[str], asked: Collection[str]) -> float:
    """Return the share of a record's words that are in the question."""
    return len({*words} & {*asked}) / len({*words}) if words else 0.0


def probability(signs: Signs, weights: Weights) -> float:
    """Return how likely the first result is relevant, between 0 and 1."""
    constant, *factors = weights
    return 1 / (1 + math.exp(-constant - sum(map(mul, factors, signs.values))))


def state(likely: float, *, known: float, unsure: float) -> Known:
    """Return what a probability means: ``true`` from ``known``, ``unsure`` from ``unsure``, below it ``false``."""
    if likely >= known:
        return "true"
    return "unsure" if likely >= unsure else "false"
