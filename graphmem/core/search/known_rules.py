"""
Whether anything is known: how likely the first result is what was asked (docs/concepts/retrieval.md; decision 24).

Three logistic regressions on few signs. One says whether the result is related to the question at all. The second says
of a failure with a message whether the question is about the very same error. The weights of these two were fitted on
2026-11-25 to questions of the public sets, put to stores with and without their answers, and to near misses;
``python -m tests.bench.known --data FOLDER`` fits and prints them again. The third judges questions that describe what
happens and hold no message, by symptoms: ``python -m tests.bench.symptoms`` fits it.
"""

import math
from collections.abc import Collection, Iterable, Sequence
from heapq import nlargest
from operator import mul
from typing import NamedTuple

from graphmem.constants import FAINT_COSINE, OTHER_WORD, RIVALS, USUAL_LEAD
from graphmem.core.search.query_contract import Certainty
from graphmem.core.search.sameness import Comparison


class Signs(NamedTuple):
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


class Fitted(NamedTuple):
    """
    A constant and what each sign counts; none is negative, so more evidence never lowers the probability.

    ``related`` is for the values of ``Signs``, ``same`` for these and the values of a ``Comparison``.
    """

    related: tuple[float, ...]
    same: tuple[float, ...]


class Likely(NamedTuple):
    """How likely a result is related to a question, and how likely it is the very thing that was asked."""

    related: float
    same: float


# A constant and what the signs of `described` count, where the search is by meaning. The constant is 0.22 lower than
# fitted: of questions whose failure is not there at most one in twenty may be called known.
DESCRIBED = (-4.15, 4.8, 5.66, 3.89)


def described(semantic: float, margin: float, share: float) -> float:
    """
    Return how likely a failure is what a question describes in words of its own.

    Args:
        semantic: the cosine of the question with its text or its symptom, whichever is larger.
        margin: how much larger that is than the cosine of the next record; negative where another one is nearer.
        share: of the words of its symptom, by rarity, those that are in the question.
    """
    return probability((semantic, margin, share), DESCRIBED)


BY_MEANING = Fitted(
    (-0.875, 2.408, 6.015, 0.585, 0.568, 0.278),
    (-2.289, 1.533, 3.037, 0.928, 0.0, 1.723, 1.604, 2.268, 1.147, 5.444, 6.075, 1.346, 2.187, 0.709),
)
BY_WORDS = Fitted(  # without a model there is no cosine
    (-3.519, 0.0, 2.47, 3.801, 2.514, 0.25),
    (-4.114, 0.0, 0.0, 1.957, 1.921, 2.008, 2.832, 2.144, 1.24, 4.711, 5.058, 1.452, 2.34, 0.77),
)


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


def judged(signs: Sequence[float], sides: Comparison | None, fitted: Fitted) -> Likely:
    """
    Return how likely a result is related, and the same.

    Args:
        signs: what the search says of it, the values of ``Signs``.
        sides: how the question and the result's message compare; None of a result without one.
        fitted: the weights for a search by meaning, or by words alone.
    """
    related = probability(signs, fitted.related)
    if sides is None:
        return Likely(related, related)
    same = probability((*signs, *sides.values), fitted.same)
    return Likely(related, min(same, OTHER_WORD) if sides.is_other else same)


def probability(values: Sequence[float], weights: Sequence[float]) -> float:
    """Return the probability that signs and their weights make, between 0 and 1."""
    constant, *factors = weights
    return 1 / (1 + math.exp(-constant - sum(map(mul, factors, values))))


def certainty(likely: Likely, *, known: float, unsure: float) -> Certainty:
    """Return ``high`` for what is likely the same (from ``known``), ``none`` for what is not even related."""
    if likely.same >= known:
        return "high"
    return "low" if max(likely) >= unsure else "none"
