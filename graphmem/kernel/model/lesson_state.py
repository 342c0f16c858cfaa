"""The state of a lesson: how often runs saw it, and how long they have been silent (docs/concepts/learning.md)."""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from pydantic import JsonValue

from graphmem.constants import ALWAYS_FREQUENCY, ELIGIBLE_FREQUENCY, PREFERENCE_PLACES, SILENT_RUNS
from graphmem.kernel.model import Lesson
from graphmem.kernel.model.field import format_time

Order = tuple[str, str]  # of runs: when, in its canonical text, then which


class LessonState(NamedTuple):
    """What a lesson has come to; ``is_faded`` counts as archived until a run sees it again."""

    frequency: int
    silent: int  # runs since the last one that saw it, or since the last loss
    last_run: str | None = None
    is_faded: bool = False

    @property
    def fields(self) -> dict[str, JsonValue]:
        """The fields of a lesson that say so."""
        return {
            "frequency": self.frequency,
            "runs_since_last_seen": self.silent,
            "last_seen_run": self.last_run,
        }


def imported(lesson: Lesson) -> LessonState:
    """Return the state of a lesson before any run: what was imported with it."""
    return LessonState(lesson.frequency, lesson.runs_since_last_seen, lesson.last_seen_run)


def after_seen(standing: LessonState, run: str) -> LessonState:
    """Return the state of a lesson after a run that saw it."""
    return LessonState(standing.frequency + 1, 0, run)


def after_silence(standing: LessonState, runs: int, lesson: Lesson) -> LessonState:
    """Return the state of a lesson after so many runs that did not see it: each ten take one off its frequency."""
    if lesson.type == "preference" or lesson.pinned:
        return standing
    losses, silent = divmod(standing.silent + runs, SILENT_RUNS)
    frequency = max(0, standing.frequency - losses)
    is_faded = standing.is_faded or (losses > 0 and frequency == 0)
    return LessonState(frequency, silent, standing.last_run, is_faded)


def _after_restore(standing: LessonState) -> LessonState:
    """Return the state of a lesson that was brought back: as if it had just been seen, once at least."""
    return LessonState(max(1, standing.frequency), 0, standing.last_run)


def standing(lesson: Lesson, runs: Sequence[Order], seen: Iterable[Order]) -> LessonState:
    """
    Return the state of a lesson after all runs, in their order.

    Args:
        runs: every run, in order, each once; those from before the lesson was made count only where they saw it.
        seen: those of them that saw it, in order.
    """
    found, place = imported(lesson), bisect_left(runs, (format_time(lesson.created_at), ""))
    marks = [(bisect_left(runs, order), 1, order[1]) for order in seen]
    if lesson.restored_at is not None:
        marks.append((bisect_left(runs, (format_time(lesson.restored_at), "")), 0, ""))
    for at, is_run, run in sorted(marks):
        found = after_silence(found, max(0, at - place), lesson)
        found = after_seen(found, run) if is_run else _after_restore(found)
        place = max(place, at + is_run)
    return after_silence(found, max(0, len(runs) - place), lesson)


def is_frequent(lesson: Lesson) -> bool:
    """Return whether a lesson was seen often enough to be injected; a preference always is."""
    return lesson.frequency >= ELIGIBLE_FREQUENCY or lesson.type == "preference"


def injected(eligible: Sequence[Lesson], last_seen: Callable[[Lesson], str], limit: int) -> list[Lesson]:
    """
    Return the lessons for a prompt, at most ``limit``: preferences first, the newest, then the most frequent.

    Of preferences, and of those equally frequent, pinned ones go first.

    Preferences have four places, the others the rest; places that one sort leaves free go to the other.

    Args:
        last_seen: when a lesson was last seen; of two that are equally frequent the later one is first.
    """
    wishes = sorted((found for found in eligible if found.type == "preference"), key=lambda found: found.ref)
    wishes.sort(key=lambda found: (found.pinned, found.created_at), reverse=True)
    others = sorted((found for found in eligible if found.type != "preference"), key=lambda found: found.ref)
    others.sort(key=lambda found: (found.frequency, found.pinned, last_seen(found)), reverse=True)
    number = max(min(PREFERENCE_PLACES, limit), limit - len(others))
    chosen = wishes[:number]
    return [*chosen, *others[: max(0, limit - len(chosen))]]


def is_eligible(lesson: Lesson, domain: str | None, archetype: str | None) -> bool:
    """
    Return whether a lesson, as it is, is for a prompt.

    Seen twice or a wish of the user; of the domain or general; a hint for an archetype only for that one. What was seen
    five times passes both filters.
    """
    if not is_frequent(lesson):
        return False
    if lesson.frequency >= ALWAYS_FREQUENCY:
        return True
    fits_domain = lesson.domain in (domain, "general")
    return fits_domain and (lesson.type != "archetype_hint" or lesson.archetype == archetype)
