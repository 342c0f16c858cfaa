"""What was decided and learned, as entries of a context block: constraints, decisions, lessons, experiences."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphmem.constants import BRIEFED_TYPES
from graphmem.core.evidence.notes import notes_of
from graphmem.core.records.experience import by_worth
from graphmem.core.search.budget import entry_text, quoted, quoted_name, track_record
from graphmem.core.search.query_contract import Hit
from graphmem.core.sessions.operations import board_of, constraints, contradictions, decisions
from graphmem.features.briefing.context_contract import ContextEntry
from graphmem.features.learning.experiences import RecallRequest, recall
from graphmem.features.learning.lessons import InjectRequest, inject
from graphmem.kernel.model import (
    Constraint,
    Decision,
    Experience,
    Exploration,
    Insight,
    Lesson,
    MemoryRecord,
    Pattern,
    Record,
)
from graphmem.kernel.model.experience import ExperienceType
from graphmem.kernel.model.vocabulary import EntityType, RelationType
from graphmem.kernel.store.snapshot import Snapshot

SESSION, LESSONS, INSIGHTS = "Constraints and decisions", "Lessons", "Insights"
EXPLORATIONS, EXPERIENCES = "Explorations", "Experiences"
TYPES = "Types of this project"

Notes = Sequence[tuple[str, str]]  # texts, each with a word for what it is


class Pick(NamedTuple):
    """
    A record that a block takes because of the objective.

    Attributes:
        because: which tag or file of the task it carries, if any.
        is_near: it answers the objective; else it is there for a tag or a file alone.
        why: what its score is made of, where that is asked for.
        has_file: it cites or lists a file of the task itself, not one below a folder.
    """

    hit: Hit
    because: str | None
    is_near: bool
    why: str | None
    has_file: bool


def types_lines(snapshot: Snapshot) -> list[str]:
    """Return the project's own types, those with the most rows first, in a line for each sort; the last names more."""
    vocabulary, lines = snapshot.client.known_types, list[str]()
    counts = snapshot.catalog.counts_by_type() | snapshot.catalog.edge_counts()
    own: tuple[Mapping[str, EntityType | RelationType], ...] = vocabulary.entities, vocabulary.project_relations
    for what, types in zip(("entities", "relations"), own, strict=True):
        names = sorted(types.keys() - vocabulary.drifted, key=lambda name: (-counts.get(name, 0), name))
        more = f" and {len(names) - BRIEFED_TYPES:,} more" if len(names) > BRIEFED_TYPES else ""
        shown = (quoted_name(name) + (snapshot.client.rights_to(types[name]) or "") for name in names[:BRIEFED_TYPES])
        lines += [f"{what}: {', '.join(shown)}{more}"] if names else []
    return [*lines[:-1], f"{lines[-1]}; what they mean: graphmem type brief"] if lines else []


def session_entries(snapshot: Snapshot, session: str | None) -> Iterator[ContextEntry]:
    """Yield the constraints that hold and the newest decisions."""
    used = set(board_of(snapshot, session).session.used)
    for constraint in constraints(snapshot, session, used):
        until = f"until {constraint.expires_at:%Y-%m-%d %H:%M} UTC" if constraint.expires_at else "holds"
        notes = [("constraint", constraint.constraint), *([("from", constraint.source)] if constraint.source else [])]
        yield entry_of(SESSION, constraint, notes, [until])
    for decision in decisions(snapshot, session, used):
        yield entry_of(SESSION, decision, notes_of(decision))


def lesson_entries(
    snapshot: Snapshot, picks: Collection[Pick], domain: str | None, archetype: str | None
) -> Iterator[ContextEntry]:
    """Yield the lessons to inject, then those that the objective is about, then the insights that it is about."""
    injected = [found.record for found in inject(snapshot, InjectRequest(domain=domain, archetype=archetype)).lessons]
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


def lesson_marks(lesson: Lesson) -> list[str]:
    """Return what is known of a lesson."""
    return [lesson.severity, f"seen {lesson.frequency}x"]


def experience_entries(
    snapshot: Snapshot, picks: Collection[Pick], task_type: ExperienceType | None, tags: Collection[str]
) -> Iterator[ContextEntry]:
    """
    Yield experiences with their lessons, those of sure or successful ones first.

    Those that the retrieval protocol picks for the type and the tags of the task, and those of a tag that the objective
    names; where the protocol picks none, those that the objective is about.
    """
    recalled = recall(snapshot, RecallRequest(task_type=task_type, tags=tags))
    protocol = [found.record for found in recalled.experiences]
    for one in by_worth(record for record in protocol if isinstance(record, Experience)):
        yield entry_of(EXPERIENCES, one, notes_of(one), _experience_marks(one))
    shown = {record.ref for record in protocol}
    for pick in picks:
        if not isinstance(record := pick.hit.record, Experience) or record.ref in shown:
            continue
        if pick.because or not protocol:
            yield entry_of(EXPERIENCES, record, notes_of(record), _experience_marks(record), pick)


def exploration_entries(picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """Yield the explorations that the objective is about, with what was found."""
    for pick in picks:
        if isinstance(record := pick.hit.record, Exploration):
            yield entry_of(EXPLORATIONS, record, notes_of(record), (), pick)


def _experience_marks(record: Experience) -> list[str]:
    """Return what is known of an experience."""
    return [record.task_type, record.outcome, f"confidence {record.confidence}"]


def with_contradictions(entries: Sequence[ContextEntry]) -> Iterator[ContextEntry]:
    """Yield entries, each with the names of those constraints, decisions and patterns that say its opposite."""
    said = {entry.ref: text for entry in entries if (text := position(entry.record))}
    opposites = contradictions(said)
    for entry in entries:
        against = opposites.get(entry.ref, [])
        head, *rest = entry.text.split("\n", 1)
        notes = [quoted("doubt", f"contradicts {', '.join(against)}")] if against else []
        yield entry.model_copy(update={"contradicts": against, "text": "\n".join([head, *notes, *rest])})


def position(record: Record) -> str | None:
    """Return what a record says that another may contradict."""
    match record:
        case Constraint():
            return record.constraint
        case Decision():
            return record.decision
        case Pattern():
            return f"{record.trigger}: {record.insight}"
    return None


def entry_of(
    section: str, record: Record, notes: Notes, marks: Sequence[str] = (), pick: Pick | None = None
) -> ContextEntry:
    """
    Return a record as the block shows it.

    Args:
        marks: what is known of a record of its kind.
        pick: why it is there; None where it is in the block whatever the objective says.
    """
    text = entry_text(record.ref, _clauses(record, marks, pick), notes, pick.why if pick else None)
    if pick is None:
        return ContextEntry(section=section, ref=record.ref, tier="critical", similarity=1.0, record=record, text=text)
    hit = pick.hit
    return ContextEntry(
        section=section,
        ref=hit.ref,
        tier=hit.tier,
        similarity=hit.similarity,
        relevance=hit.relevance,
        score=hit.score,
        factors=hit.factors,
        because=pick.because,
        record=record,
        text=text,
        fixes=hit.fixes,
    )


def _clauses(record: Record, marks: Sequence[str], pick: Pick | None) -> list[str]:
    """Return what is shown beside a record's name: how near it is, why it is there, its track record, its day."""
    found = [pick.hit.band, f"score {pick.hit.score:.3g}"] if pick and pick.hit.relevance else []
    found += [pick.because] if pick and pick.because else []
    found += marks
    found += [track_record(record.helped, record.failed)] if isinstance(record, MemoryRecord) else []
    return [*found, f"of {record.day if isinstance(record, Experience) else f'{record.updated_at:%Y-%m-%d}'}"]
