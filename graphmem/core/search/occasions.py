"""Occasions: what was reported when something like a question was asked (docs/concepts/retrieval.md, "Reports")."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from graphmem.constants import LIKE_QUESTIONS, REUSE_AGAINST, REUSE_FOR
from graphmem.core.logs.log_excerpt import kept_question
from graphmem.core.search.occasion_rules import NO_REPORTS, Reports, occasion_weight, reuse
from graphmem.kernel.catalog.hashes import hash_of
from graphmem.kernel.catalog.rankable import Rankable
from graphmem.kernel.store.snapshot import Snapshot


@dataclass(frozen=True)
class Occasions:
    """
    What was reported when something like a question was asked.

    Attributes:
        reports: by record.
        reuse: how often the like questions had an answer in common.
    """

    reports: Mapping[int, Reports] = field(default_factory=dict)
    reuse: float = REUSE_FOR / (REUSE_FOR + REUSE_AGAINST)

    @property
    def helpful(self) -> set[int]:
        """The records that helped."""
        return {number for number, reports in self.reports.items() if reports.helped}


def occasions_of(snapshot: Snapshot, gist: str, vector: Any) -> Occasions:
    """
    Return what was reported when something like a question was asked.

    Args:
        gist: its text; of a log the telling lines.
        vector: of the gist; without one only the same question is like it.
    """
    least, vectors = snapshot.settings.retrieval.occasion_similarity, snapshot.vectors
    cosines = vectors.questions_like(vector, least, LIKE_QUESTIONS) if vectors is not None else {}
    weights = {digest: occasion_weight(cosine, least) for digest, cosine in cosines.items()}
    weights[hash_of(kept_question(gist))] = 1.0
    found: dict[int, Reports] = {}
    helped: dict[bytes, set[int]] = {digest: set() for digest in cosines}
    for digest, number, times, total in snapshot.catalog.reports_on(weights):
        found[number] = found.get(number, NO_REPORTS).and_more(times, total - times, weights[digest])
        if times and digest in helped:
            helped[digest].add(number)
    if vectors is None or len(helped) < 2:
        return Occasions(found)
    return Occasions(found, reuse(vectors.likeness_among(list(helped)), list(helped.values()), least))


def reports_of(snapshot: Snapshot, occasions: Occasions, records: Mapping[int, Rankable]) -> dict[int, Reports]:
    """Return the reports on these records; those that do not say what was asked have the same small weight each."""
    asked, weight = snapshot.catalog.asked_reports(records), snapshot.settings.retrieval.unasked_weight
    found = {}
    for number, record in records.items():
        helped, total = asked.get(number, (0, 0))
        unasked = max(0, record.helped - helped), max(0, record.failed - (total - helped))
        found[number] = occasions.reports.get(number, NO_REPORTS).and_more(*unasked, weight)
    return found
