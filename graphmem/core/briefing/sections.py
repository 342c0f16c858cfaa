"""What a context block and a briefing show of records, as entries: how each reads, and what contradicts it."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphmem.constants import BRIEFED_TYPES
from graphmem.core.briefing.context_contract import ContextEntry
from graphmem.core.evidence.notes import notes_of
from graphmem.core.search.budget import entry_text, quoted, quoted_name, track_record
from graphmem.core.search.query_contract import Hit
from graphmem.core.sessions.operations import board_of, constraints, contradictions, decisions
from graphmem.kernel.model import Constraint, Decision, Experience, Exploration, Lesson, MemoryRecord, Pattern, Record
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


def lesson_marks(lesson: Lesson) -> list[str]:
    """Return what is known of a lesson."""
    return [lesson.severity, f"seen {lesson.frequency}x"]


def exploration_entries(picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """Yield the explorations that the objective is about, with what was found."""
    for pick in picks:
        if isinstance(record := pick.hit.record, Exploration):
            yield entry_of(EXPLORATIONS, record, notes_of(record), (), pick)


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
    return [*found, f"recorded {record.day if isinstance(record, Experience) else f'{record.updated_at:%Y-%m-%d}'}"]
