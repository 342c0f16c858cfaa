"""What the order of a query's results takes from a record, read from its row: only what is shown is parsed whole."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from graphmem.constants import FINISHED_FACTOR
from graphmem.core.evidence.score import BANDS, age_decay, band, cost_factor, recency
from graphmem.core.search.occasion_rules import Reports, help_factor
from graphmem.kernel.catalog.rankable import Rankable
from graphmem.kernel.model.reports import help_ratio


class ScoreFactors(NamedTuple):
    """What relevance is multiplied by."""

    cost: float
    help_ratio: float
    age_decay: float
    finished: float = 1.0


@dataclass(frozen=True, slots=True)
class Profile:
    """
    How relevance becomes a score and an order (docs/concepts/retrieval.md, "Score and order").

    Attributes:
        is_classic: the formula whose factors are taken as they are, inside bands of relevance.
        half_life_days: of the classic age decay.
        cost_exponent, recency_exponent: of the factors of the learned profile; 0 leaves one out.
    """

    is_classic: bool
    half_life_days: float
    cost_exponent: float
    recency_exponent: float
    recency_days: float

    def factors(
        self, record: Rankable, relevance: float, reports: Reports, reuse: float, now: datetime
    ) -> ScoreFactors:
        """
        Return what the relevance of a record, above 0, is multiplied by.

        Args:
            reports: those on the record, by how alike their questions are; the classic profile takes its plain counts.
            reuse: how often like questions had an answer in common.
        """
        finished = FINISHED_FACTOR if record.is_finished else 1.0
        if self.is_classic:
            return ScoreFactors(
                cost_factor(record.value),
                help_ratio(record.helped, record.failed),
                age_decay(record.last, now, self.half_life_days),
                finished,
            )
        return ScoreFactors(
            cost_factor(record.value) ** self.cost_exponent,
            help_factor(relevance, reports, reuse),
            recency(record.last, now, self.recency_days) ** self.recency_exponent,
            finished,
        )

    def level(self, relevance: float, exact: float, bounds: Mapping[str, float]) -> int:
        """Return what results are sorted by before their score: the band, or only whether they are exact."""
        return BANDS.index(band(relevance, exact, **bounds)) if self.is_classic else int(not exact)


def places_gained(scores: Sequence[tuple[int, float]], factors: Sequence[float]) -> list[int]:
    """
    Return how many places each result gains by a factor; below 0 where it loses some.

    Args:
        scores: level and score of each result, in their order, factors included.
        factors: the factor of each.
    """
    if len(set(factors)) < 2:
        return [0] * len(scores)
    without = [
        (level, -score / factor, place)
        for place, ((level, score), factor) in enumerate(zip(scores, factors, strict=True))
    ]
    found = [0] * len(scores)
    for place, (*_, number) in enumerate(sorted(without)):
        found[number] = place - number
    return found
