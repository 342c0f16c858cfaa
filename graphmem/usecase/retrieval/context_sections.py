"""What was decided and learned, as entries of a context block: constraints, decisions, lessons, experiences."""

from collections.abc import Collection, Iterator

from graphmem.contract.context import ContextEntry
from graphmem.contract.experiences import RecallRequest
from graphmem.contract.lessons import InjectRequest
from graphmem.contract.query import Hit
from graphmem.model import Experience, Insight, Lesson, Record
from graphmem.model.experience import ExperienceType
from graphmem.rules.context import entry_text
from graphmem.rules.experience import by_worth
from graphmem.runtime import Client, Snapshot
from graphmem.usecase.learning.experiences import recall
from graphmem.usecase.learning.lessons import inject
from graphmem.usecase.learning.sessions import board_of, constraints, decisions

SESSION, LESSONS, INSIGHTS, EXPERIENCES = "Constraints and decisions", "Lessons", "Insights", "Experiences"


def session_entries(snapshot: Snapshot, session: str | None) -> Iterator[ContextEntry]:
    """Yield the constraints that hold and the newest decisions."""
    used = set(board_of(snapshot, session).session.used)
    for constraint in constraints(snapshot, session, used):
        until = f"until {constraint.expires_at:%Y-%m-%d %H:%M} UTC" if constraint.expires_at else "holds"
        notes = [("constraint", constraint.constraint), *([("from", constraint.source)] if constraint.source else [])]
        yield taught(SESSION, constraint, [until], notes)
    for decision in decisions(snapshot, session, used):
        notes = [("decided", decision.decision), *([("because", decision.reasoning)] if decision.reasoning else [])]
        yield taught(SESSION, decision, [f"of {decision.created_at:%Y-%m-%d}"], notes)


def lesson_entries(
    client: Client, hits: Collection[Hit], domain: str | None, archetype: str | None
) -> Iterator[ContextEntry]:
    """Yield the lessons to inject, then those that the objective is about, then the insights that it is about."""
    injected = [found.record for found in inject(client, InjectRequest(domain=domain, archetype=archetype)).lessons]
    for record in injected:
        assert isinstance(record, Lesson)
        yield taught(LESSONS, record, lesson_marks(record), [("lesson", record.description)])
    known = {record.ref for record in injected}
    for hit in hits:
        if isinstance(lesson := hit.record, Lesson) and hit.ref not in known:
            yield of_hit(LESSONS, hit, lesson_marks(lesson), [("lesson", lesson.description)])
    for hit in hits:
        if isinstance(insight := hit.record, Insight):
            marks = [insight.category, f"seen {insight.occurrences}x", f"confidence {insight.confidence}"]
            notes = [("insight", insight.statement)]
            for name in ("symptoms", "root_cause", "resolution", "context"):
                if value := getattr(insight, name):
                    notes.append((name.replace("_", " "), value))
            yield of_hit(INSIGHTS, hit, marks, notes)


def lesson_marks(lesson: Lesson) -> list[str]:
    """Return what is known of a lesson."""
    return [lesson.severity, f"seen {lesson.frequency}x"]


def experience_entries(
    client: Client, hits: Collection[Hit], task_type: ExperienceType | None, tags: Collection[str]
) -> Iterator[ContextEntry]:
    """
    Yield experiences with their lessons, those of sure or successful ones first.

    Those that the retrieval protocol picks for the type and the tags of the task; where it picks none, those that the
    objective is about.
    """
    recalled = recall(client, RecallRequest(task_type=task_type, tags=tags))
    picked = [found.record for found in recalled.experiences]
    for one in by_worth(record for record in picked if isinstance(record, Experience)):
        yield taught(EXPERIENCES, one, experience_marks(one), experience_notes(one))
    for hit in () if picked else hits:
        if isinstance(record := hit.record, Experience):
            yield of_hit(EXPERIENCES, hit, experience_marks(record), experience_notes(record))


def experience_marks(record: Experience) -> list[str]:
    """Return what is known of an experience."""
    return [record.task_type, record.outcome, f"confidence {record.confidence}", f"of {record.day}"]


def experience_notes(record: Experience) -> list[tuple[str, str]]:
    """Return what an experience tells."""
    notes = [("task", record.description), ("approach", record.approach)]
    return notes + [("lesson", lesson) for lesson in record.lessons]


def taught(section: str, record: Record, marks: list[str], notes: list[tuple[str, str]]) -> ContextEntry:
    """Return a record that is in the block whatever the objective says."""
    return ContextEntry(
        section=section,
        ref=record.ref,
        tier="critical",
        similarity=1.0,
        record=record,
        text=entry_text(record.ref, marks, notes),
    )


def of_hit(section: str, hit: Hit, marks: list[str], notes: list[tuple[str, str]]) -> ContextEntry:
    """Return a record that is in the block because the objective is about it."""
    marks = [hit.band, f"score {hit.score:.3g}", *marks]
    return ContextEntry(
        section=section,
        ref=hit.ref,
        tier=hit.tier,
        similarity=hit.similarity,
        relevance=hit.relevance,
        score=hit.score,
        factors=hit.factors,
        record=hit.record,
        text=entry_text(hit.ref, marks, notes),
    )
