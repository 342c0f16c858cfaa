"""What was learned, as sections of a context block: lessons, insights and experiences."""

from collections.abc import Collection, Iterator

from graphmem.core.briefing.context_contract import ContextEntry, ContextRequest
from graphmem.core.briefing.sections import EXPERIENCES, INSIGHTS, LESSONS, Pick, entry_of, lesson_marks
from graphmem.core.evidence.notes import notes_of
from graphmem.core.records.experience import by_worth
from graphmem.features.learning.experiences import RecallRequest, recall
from graphmem.features.learning.lessons import InjectRequest, inject
from graphmem.kernel.model import Experience, Insight, Lesson
from graphmem.kernel.store.snapshot import Snapshot


def entries(snapshot: Snapshot, request: ContextRequest, picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """Yield what was learned for a task."""
    yield from _lesson_entries(snapshot, request, picks)
    yield from _experience_entries(snapshot, request, picks)


def _lesson_entries(snapshot: Snapshot, request: ContextRequest, picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """Yield the lessons to inject, then those that the objective is about, then the insights that it is about."""
    asked = InjectRequest(domain=request.domain, archetype=request.archetype)
    injected = [found.record for found in inject(snapshot, asked).lessons]
    for record in injected:
        assert isinstance(record, Lesson)
        yield entry_of(LESSONS, record, [("lesson", record.description)], lesson_marks(record))
    known = {record.ref for record in injected}
    for pick in picks:
        if isinstance(lesson := pick.hit.record, Lesson) and lesson.ref not in known:
            yield entry_of(LESSONS, lesson, [("lesson", lesson.description)], lesson_marks(lesson), pick)
    for pick in picks:
        if isinstance(insight := pick.hit.record, Insight):
            marks = [insight.category, f"seen {insight.occurrences}x", f"confidence {insight.confidence}"]
            notes = [("insight", insight.statement)]
            for name in ("symptoms", "root_cause", "resolution", "context"):
                if value := getattr(insight, name):
                    notes.append((name.replace("_", " "), value))
            yield entry_of(INSIGHTS, insight, notes, marks, pick)


def _experience_entries(snapshot: Snapshot, request: ContextRequest, picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """
    Yield experiences with their lessons, those of sure or successful ones first.

    Those that the retrieval protocol picks for the type and the tags of the task, and those of a tag that the objective
    names; where the protocol picks none, those that the objective is about.
    """
    recalled = recall(snapshot, RecallRequest(task_type=request.task_type, tags=request.tags))
    protocol = [found.record for found in recalled.experiences]
    for one in by_worth(record for record in protocol if isinstance(record, Experience)):
        yield entry_of(EXPERIENCES, one, notes_of(one), _experience_marks(one))
    shown = {record.ref for record in protocol}
    for pick in picks:
        if not isinstance(record := pick.hit.record, Experience) or record.ref in shown:
            continue
        if pick.because or not protocol:
            yield entry_of(EXPERIENCES, record, notes_of(record), _experience_marks(record), pick)


def _experience_marks(record: Experience) -> list[str]:
    """Return what is known of an experience."""
    return [record.task_type, record.outcome, f"confidence {record.confidence}"]
