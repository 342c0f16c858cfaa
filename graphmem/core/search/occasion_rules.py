"""
What reports on one question say about another one (docs/concepts/retrieval.md, "Reports"; decision 20).

Whether a memory helps again depends on how alike the questions are, and on the project: in one, like questions have the
same answer again and again; in another, what helped once is never needed again. So that is measured among the reports
themselves (``reuse``), and a report counts for as much as it did for the like questions before.
"""

from collections.abc import Sequence, Set
from typing import NamedTuple

from graphmem.constants import (
    DOUBT_SHARE,
    FAIL_DOUBT,
    FAILED_SHARE,
    HELP_DOUBT,
    NEAREST_TIMES,
    OCCASION_SIMILARITY,
    REUSE_AGAINST,
    REUSE_FOR,
    SAME_POWER,
)


class Reports(NamedTuple):
    """
    Reports on one record, each weighed by how alike its question is to the one at hand.

    Attributes:
        helped, failed: the sums of the weights.
        nearest: the largest weight of one that says that it helped.
    """

    helped: float = 0.0
    failed: float = 0.0
    nearest: float = 0.0

    def and_more(self, helped: float, failed: float, weight: float) -> "Reports":
        """Return these with more reports, all of the same weight; ``helped`` and ``failed`` are how many."""
        if not helped and not failed:
            return self
        nearest = max(self.nearest, weight) if helped else self.nearest
        return Reports(self.helped + weight * helped, self.failed + weight * failed, nearest)


NO_REPORTS = Reports()


def occasion_weight(cosine: float, least: float = OCCASION_SIMILARITY) -> float:
    """Return how much a report counts whose question has this cosine with the one at hand: 0 up to ``least``."""
    return max(0.0, (cosine - least) / (1 - least)) if least < 1 else float(cosine >= 1)


def reuse(likeness: Sequence[Sequence[float]], helped: Sequence[Set[int]], least: float = OCCASION_SIMILARITY) -> float:
    """
    Return how often like questions had an answer in common, from 0 to 1.

    Args:
        likeness: the cosines of some questions with each other, shape ``(questions, questions)``.
        helped: for each question, the records that helped.
    """
    shared, pairs = REUSE_FOR, REUSE_FOR + REUSE_AGAINST
    for place, cosines in enumerate(likeness):
        answers = helped[place]
        if not answers:
            continue
        for other in range(place):
            if helped[other] and cosines[other] > least:
                weight = occasion_weight(cosines[other], least)
                pairs += weight
                shared += 0.0 if answers.isdisjoint(helped[other]) else weight
    return shared / pairs


def help_factor(relevance: float, reports: Reports, reuse: float) -> float:
    """
    Return what reports multiply a relevance by: 1 without any.

    What helped is a reason to believe in a record beside its relevance; it takes away doubt, as far as like questions
    have the same answer here, and in full where the very same question was asked. Very many reports on questions that
    are hardly alike count no more than two of the most alike one. What failed takes a fifth away at most.

    Args:
        relevance: above 0.
        reuse: how often like questions had an answer in common.
    """
    number = reports.helped + reports.failed
    if not number:
        return 1.0
    sure = min(number, NEAREST_TIMES * reports.nearest)
    again = reuse + (1 - reuse) * reports.nearest**SAME_POWER
    gain = again * reports.helped / number * sure / (sure + HELP_DOUBT)
    loss = FAILED_SHARE * reports.failed / (number + FAIL_DOUBT)
    return (relevance + (1 - DOUBT_SHARE * relevance) * gain) * (1 - loss) / relevance
