"""Occasions: what was reported when something like a question was asked (docs/concepts/retrieval.md, "Reports")."""

from collections.abc import Collection, Mapping
from typing import Any

from graphmem.catalog.keys import hash_of
from graphmem.constants import LIKE_QUESTIONS
from graphmem.machine.asked import question_of
from graphmem.rules.rank import Reports
from graphmem.rules.score import occasion_weight
from graphmem.runtime import Snapshot

Occasions = Mapping[int, tuple[float, float]]  # by record: weights of the reports that it helped, and of all


def occasions_of(snapshot: Snapshot, text: str, vector: Any) -> Occasions:
    """
    Return the records that were reported on when something like ``text`` was asked.

    Args:
        vector: of the text; without one only the same question is like it.
    """
    least = snapshot.settings.retrieval.occasion_similarity
    likeness: dict[bytes, float] = {}
    if snapshot.vectors is not None:
        likeness = snapshot.vectors.questions_like(vector, least, LIKE_QUESTIONS)
    weights = {digest: occasion_weight(cosine, least) for digest, cosine in likeness.items()}
    weights[hash_of(question_of(text))] = 1.0
    found: dict[int, tuple[float, float]] = {}
    for digest, number, helped, total in snapshot.catalog.reports_on(weights):
        before = found.get(number, (0.0, 0.0))
        found[number] = before[0] + weights[digest] * helped, before[1] + weights[digest] * total
    return found


def reports_of(snapshot: Snapshot, occasions: Occasions, numbers: Collection[int]) -> dict[int, Reports]:
    """Return the reports on these records that say what was asked."""
    asked = snapshot.catalog.asked_reports(numbers)
    return {number: Reports(*occasions.get(number, (0.0, 0.0)), *counts) for number, counts in asked.items()}
