"""The health of a memory as figures: how importance spreads, how good estimates are, whether learning happens."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import get_args

from graphmem.constants import IMPORTANCE_BOUNDS
from graphmem.core.stats.contract import Accuracy, Estimated, ImportanceBand
from graphmem.core.stats.effectiveness_contract import LoopStage
from graphmem.kernel.model import Experience
from graphmem.kernel.model.experience import Complexity, ExperienceType

STEPS: tuple[Complexity, ...] = get_args(Complexity)  # from the least


def ratio(part: int, whole: int) -> float:
    """Return a share, 0 of nothing."""
    return part / whole if whole else 0.0


def bands(importances: Iterable[float]) -> list[ImportanceBand]:
    """Return how many importances are in each band."""
    found = Counter(bisect_right(IMPORTANCE_BOUNDS, value) - 1 for value in importances)
    return [ImportanceBand(low=low, number=found[place]) for place, low in enumerate(IMPORTANCE_BOUNDS)]


def accuracies(experiences: Iterable[Experience]) -> list[Accuracy]:
    """Return how well complexity was estimated, for each type of task of which something is known."""
    known: dict[ExperienceType, Counter[tuple[Complexity, Complexity]]] = {}
    for one in experiences:
        if one.complexity_estimated and one.complexity_actual:
            pair = (one.complexity_estimated, one.complexity_actual)
            known.setdefault(one.task_type, Counter())[pair] += 1
    return [_accuracy(task_type, pairs) for task_type, pairs in sorted(known.items())]


def _accuracy(task_type: ExperienceType, pairs: Counter[tuple[Complexity, Complexity]]) -> Accuracy:
    """Return how well complexity was estimated, given how often each pair of estimate and actual came up."""
    total = pairs.total()
    off = sum((STEPS.index(actual) - STEPS.index(estimated)) * number for (estimated, actual), number in pairs.items())
    equal = sum(number for (estimated, actual), number in pairs.items() if estimated == actual)
    found = sorted(pairs.items(), key=lambda item: (STEPS.index(item[0][0]), STEPS.index(item[0][1])))
    return Accuracy(
        task_type=task_type,
        experiences=total,
        mean_difference=ratio(off, total),
        equal_ratio=ratio(equal, total),
        pairs=[Estimated(estimated=estimated, actual=actual, number=number) for (estimated, actual), number in found],
    )


# --- the loop ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, order=True)
class Piece:
    """A campaign, which begins at its time, or a run, which ends at it."""

    at: datetime
    ref: str

    @property
    def is_run(self) -> bool:
        return self.ref.startswith("run/")


def window(pieces: Collection[Piece], last: int) -> tuple[datetime | None, list[Piece]]:
    """Return when the last so many pieces of work begin, and these; None for the beginning of everything."""
    order = sorted(pieces)
    if len(order) <= last:
        return None, order
    before, first = order[-last - 1], order[-last]
    return before.at if first.is_run else first.at, order[-last:]


@dataclass(frozen=True)
class LoopCounts:
    """
    What a verdict on the loop is made of.

    Attributes:
        captured, injected, used, helped: failures that came to each stage; what helped was used, and injected.
        reports: on failures, and on what solves them.
        known: failures that are not archived, however old.
        pieces: campaigns and runs that were looked at.
        finished: tasks among them that are complete.
    """

    captured: int = 0
    injected: int = 0
    used: int = 0
    helped: int = 0
    reports: int = 0
    known: int = 0
    pieces: int = 0
    finished: int = 0


def broken_stage(counts: LoopCounts) -> LoopStage | None:
    """Return the first stage that no failure reached; a period without new failures is not a break."""
    if counts.helped or not (counts.known or counts.captured or counts.pieces):
        return None
    stages: Sequence[tuple[LoopStage, int]] = (
        ("captured", counts.captured or counts.known),
        ("injected", counts.injected),
        ("used", counts.used),
    )
    return next((name for name, number in stages if not number), "helped")


def verdict(counts: LoopCounts) -> str:
    """Return in words how far learning comes, and where it ends."""
    so_far = f"captured {counts.captured:,}, injected {counts.injected:,}"
    match broken_stage(counts):
        case "captured":
            return "captured 0: campaigns and runs end, and no failure is recorded"
        case "injected":
            return f"{so_far}: what is known is not handed to the tasks"
        case "used" if counts.finished:
            return f"{so_far}, feedback on 0: tasks finish without reporting what they used"
        case "used":
            return f"{so_far}, feedback on 0: no agent reports whether the returned records helped"
        case "helped" if counts.reports:
            return f"{so_far}, used {counts.used:,}, helped 0: what is known is used and does not help"
        case "helped":
            return f"{so_far}, used {counts.used:,}, feedback on 0: tasks name what they used, not whether it helped"
    if not counts.helped:
        return "nothing is recorded yet"
    return f"{so_far}, used {counts.used:,}, helped {counts.helped:,}: learning happens"
