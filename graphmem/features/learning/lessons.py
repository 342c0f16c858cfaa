"""Lessons across runs: what a run saw, what fades, what belongs into a prompt (docs/concepts/learning.md)."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePath
from typing import Any, ClassVar, Literal

from pydantic import Field

from graphmem.constants import INJECTED, LESSON_SIMILARITY
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.records.event_row import put_fact
from graphmem.core.records.extraction import RunFinding, findings, first_of_each, is_seen, is_verdict, overlap
from graphmem.core.records.record_contract import AddRequest, Listed
from graphmem.core.records.screening import screened, screened_fields
from graphmem.core.records.validation import build, identified
from graphmem.errors import BadInput, Refused, Usage
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.finding import Finding as BadFinding
from graphmem.kernel.ledger.codec import finding as bad_line
from graphmem.kernel.ledger.codec import refused_row
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Lesson, Run
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.experience import Confidence, Outcome
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.model.lesson import LessonType, Severity
from graphmem.kernel.model.lesson_state import injected, is_eligible
from graphmem.kernel.ndjson import BadLine, decode, encode, refuse_long
from graphmem.kernel.parameters import (
    Cites,
    Dedup,
    DryRun,
    Files,
    InputName,
    Name,
    Replace,
    Sources,
    Supersedes,
    Tags,
    Verbatim,
)
from graphmem.kernel.registry import operation
from graphmem.kernel.request import EXPECTED, Request
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.names import mark, row_id, visible


class AddLessonRequest(AddRequest):
    """A lesson to add by hand; most come from the events of runs."""

    kind: ClassVar[str] = "lesson"

    description: str = Field(description="The lesson")
    type: LessonType | None = Field(
        None, description="Type of lesson; a preference is injected at once, others after two runs"
    )
    name: Name = None
    domain: str | None = Field(None, description="Domain where the lesson applies; general if not given")
    severity: Severity | None = Field(None, description="Severity of ignoring the lesson; info if not given")
    archetype: str | None = Field(None, description="Kind of project that an archetype_hint is for")
    source: str | None = Field(None, description="Who raised the lesson")
    tags: Tags = None
    sources: Sources = None
    files: Files = None
    cites: Cites = None
    dedup: Dedup = True
    dry_run: DryRun = False
    verbatim: Verbatim = False
    replace: Replace = False
    supersedes: Supersedes = None


class LearnRequest(Request):
    """How to take lessons from the events of a finished run."""

    name: InputName = "<events>"
    run: str | None = Field(None, description="Id of the run; taken from the events or the input's name if not given")
    semantic: bool = Field(False, description="Count a finding that means the same as a lesson, in other words")


class DecayRequest(Request):
    """A run that saw no lesson."""

    run: str = Field(description="Id of the run")


class InjectRequest(Request):
    """Which lessons belong into a prompt."""

    domain: str | None = Field(None, description="Domain of the task, such as code or writing")
    archetype: str | None = Field(None, description="Kind of project that the task belongs to")


class SeenLesson(Part):
    """A lesson that a run saw: by which rule, in which finding; ``overlap`` is of keywords, ``similarity`` a cosine."""

    ref: str
    rule: Literal["keywords", "similarity", "new"]
    finding: str
    overlap: float | None = None
    similarity: float | None = None


class Moved(Part):
    """A lesson whose frequency a run changed; ``faded`` when it counts as archived now."""

    ref: str
    before: int
    after: int
    faded: bool


class Learned(Answer):
    """What a run taught; ``passed_over`` are findings below a warning, or equal to a forgotten lesson."""

    run: str
    action: Literal["created", "updated", "unchanged"]
    seen: list[SeenLesson]
    created: list[str]
    passed_over: int
    moved: list[Moved]


class Injected(Answer):
    """Lessons for a prompt, and the block that says them; empty where none is eligible."""

    text: str
    lessons: list[Listed[Lesson]]


class OfferedLesson(Part):
    """A lesson of an experience."""

    text: str
    ref: str
    confidence: Confidence
    outcome: Outcome


HEADING = "## Known Issues (from past runs)"
TIMES = ("at", "ts", "timestamp", "time")  # where an event says when it was
TYPES = ("type", "kind", "event")  # where an event says what it is
RUNS = ("run", "run_id")  # where an event says in which run


@dataclass(frozen=True)
class RunEvents:
    """The verdicts among the events of one run, and when the last event was, where they say so."""

    rows: list[Mapping[str, Any]]
    run: str
    at: datetime | None


@operation(
    "lessons.learn",
    writes=True,
    stream="events",
    is_held=True,
    leaves=("name",),
    example="graphmem lesson learn events.ndjson --run 2026-11-22-1",
    help="""
    Take from the events of a finished run which lessons it saw, and new ones.

    The findings of every review.verdict count. Half of a finding's keywords in a lesson make it that lesson; a bug or
    warning that matches no lesson becomes a new one. The same events again change nothing.
    """,
)
def learn(client: Client, lines: Iterable[bytes], request: LearnRequest) -> Learned:
    """
    Take from the events of a finished run which lessons it saw, and new ones; the same events change nothing.

    The events are read, and their texts are embedded, before the lock is taken.

    Args:
        lines: NDJSON, an event each; the findings of every ``review.verdict`` count, in any order.
        request: without a run, the run is what the events say, or else a name made of what they hold.

    Raises:
        BadInput: a line is no event, or none is a verdict; nothing was changed.
        Usage: the events are of several runs.
    """
    events = _read_events(client, lines, request.name, request.run)
    if request.semantic:
        client.sync()
        client.embed_ahead([finding.text for finding in findings(events.rows)])
    with client.writing() as snapshot:
        at = events.at or _time_of(snapshot, events.run)
        lessons = snapshot.catalog.of_kind(Lesson, is_live=False)
        seen: dict[str, SeenLesson] = {}
        fresh: list[Lesson] = []
        passed_over = 0
        found = findings(events.rows)
        cosines = _likenesses(snapshot, found, lessons) if request.semantic else {}
        for place, finding in enumerate(found):
            matches = list(_triggered(finding, lessons, cosines.get(place, {})))
            alive = [match for match in matches if not lessons[row_id(match.ref)].is_archived]
            for match in alive:
                seen.setdefault(match.ref, match)
            if not matches and finding.makes_lesson:
                fresh.append(_candidate(snapshot, finding, at))
            passed_over += not alive and (bool(matches) or not finding.makes_lesson)
        made = _named_apart(snapshot.catalog, first_of_each(fresh))
        for lesson in made:
            seen.setdefault(lesson.key_ref, SeenLesson(ref=lesson.key_ref, rule="new", finding=lesson.description))
        puts = [
            entry(lesson, snapshot.symmetric) for lesson in made if not snapshot.catalog.has(row_id(lesson.key_ref))
        ]
        action, moved = _record_run(snapshot, events.run, at, sorted(seen), puts)
        refs = snapshot.catalog.refs([row_id(key) for key in seen])
        shown = [match.model_copy(update={"ref": refs[row_id(key)]}) for key, match in sorted(seen.items())]
        return Learned(
            run=events.run,
            action=action,
            seen=shown,
            created=[lesson.ref for lesson in made],
            passed_over=passed_over,
            moved=moved,
        )


@operation(
    "lessons.decay",
    writes=True,
    example="graphmem lesson decay --run 2026-11-22-2",
    arguments=0,
    help="""
    Record a run that saw no lesson: every tenth silent run takes one off a lesson's frequency.

    Preferences do not fade. At frequency 0 a lesson counts as archived until a run sees it again. A run that is
    there already changes nothing.
    """,
)
def decay(snapshot: Writing, request: DecayRequest) -> Learned:
    """Record a run that saw no lesson, and report which lessons it moved."""
    run = screened(snapshot, request, "run").run
    action, moved = _record_run(snapshot, run, _time_of(snapshot, run), [], [])
    return Learned(run=run, action=action, seen=[], created=[], passed_over=0, moved=moved)


def _time_of(snapshot: Snapshot, run: str) -> datetime:
    """Return when a run was that does not say so: as it is recorded, else now."""
    known = snapshot.catalog.fact(row_id(run))
    return known.at if isinstance(known, Run) else snapshot.now


def _record_run(
    writing: Writing, run: str, at: datetime, seen: list[str], puts: list[Entry]
) -> tuple[Any, list[Moved]]:
    """Write a run with the lessons that it saw, and new lessons with it; return what that did, and what moved."""
    catalog = writing.catalog
    numbers = catalog.numbers("lesson")
    before = catalog.lesson_states(numbers)
    fact = build("run", {"run": run, "at": at, "seen": seen}, writing.now)
    put = put_fact(catalog, fact, writing.symmetric)
    if put.action != "unchanged":
        writing.commit([*puts, put.entry])
    elif puts:
        writing.commit(puts)
    after = catalog.lesson_states(numbers)
    refs = catalog.refs(numbers)
    moved = [
        Moved(ref=refs[number], before=before[number].frequency, after=now.frequency, faded=now.is_faded)
        for number, now in after.items()
        if number in before and (before[number].frequency, before[number].is_faded) != (now.frequency, now.is_faded)
    ]
    return put.action, sorted(moved, key=lambda found: found.ref)


def _read_events(client: Client, lines: Iterable[bytes], name: str, run: str | None) -> RunEvents:
    """Return the events of an input with the run that they are of, and the time of the last."""
    rows: list[Mapping[str, Any]] = []
    bad: list[BadFinding] = []
    times: list[datetime] = []
    runs: set[str] = set()
    others = Counter[str]()
    for place, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            refuse_long(line)
            row = decode(line.strip())
            if is_verdict(row):  # the log of a run may be long, and only these tell
                row = screened_fields(client, "finding", row)
                rows.append(row)
            else:
                others[_type_of(row)] += 1
            times += [parse_time(row[field]) for field in TIMES if isinstance(row.get(field), str)][:1]
            runs.update(str(row[field]) for field in RUNS if isinstance(row.get(field), str))
        except BadLine as error:
            bad.append(bad_line(error, name, place))
        except Refused as error:
            bad.append(bad_line(refused_row(error), name, place))
        except ValueError as error:
            right = str(error).removeprefix(EXPECTED)
            bad.append(bad_line(BadLine("the time of the event is not a time", right, code="bad_row"), name, place))
    if bad:
        many = "line" if len(bad) == 1 else "lines"
        raise BadInput(
            f"{len(bad):,} bad {many}, nothing was changed: {bad[0]}",
            hint="an event is one JSON object",
            details={"findings": [found.model_dump() for found in bad]},
        )
    if not rows:
        raise _no_verdict(name, others)
    if run is None and len(runs) > 1:
        raise Usage(f"the events are of {len(runs)} runs: {', '.join(sorted(runs)[:3])}", hint="give one run at a time")
    named = run or (runs.pop() if runs else _unnamed_run(name, rows, times))
    named = str(screened_fields(client, "run", {"run": named})["run"])
    return RunEvents(rows, named, max(times, default=None))


def _type_of(event: Mapping[str, Any]) -> str:
    """Return what an event says it is."""
    return next((str(event[name]) for name in TYPES if isinstance(event.get(name), str)), "no type")


def _no_verdict(name: str, others: Counter[str]) -> BadInput:
    """Return the error for input that has no review."""
    read = ", ".join(f"{number:,} of {kind!r}" for kind, number in others.most_common(3)) or "nothing"
    return BadInput(
        f"{name} has no review.verdict event; read: {read}",
        hint='an event is {"type": "review.verdict", "findings": […]}; without one: graphmem lesson decay --run ID',
        details={"read": dict(others.most_common(20))},
    )


def _unnamed_run(name: str, verdicts: list[Mapping[str, Any]], times: list[datetime]) -> str:
    """
    Return what a run is called that says no name: after its file and what it holds, for logs share file names.

    A run that found nothing is told from others by its time.
    """
    content = "\n".join(sorted(encode(row).decode() for row in verdicts))
    if times and not findings(verdicts):
        content += f"\n{format_time(max(times))}"
    return f"{'run' if name.startswith('<') else PurePath(name).stem}-{mark(content)}"


def _triggered(found: RunFinding, lessons: Mapping[int, Lesson], cosines: Mapping[int, float]) -> Iterable[SeenLesson]:
    """Yield the lessons that a finding is, each with the rule that says so."""
    for number, lesson in lessons.items():
        share, cosine = overlap(found.text, lesson), cosines.get(number, 0.0)
        if is_seen(share):
            yield SeenLesson(ref=lesson.key_ref, rule="keywords", finding=found.text, overlap=share)
        elif cosine >= LESSON_SIMILARITY:
            yield SeenLesson(ref=lesson.key_ref, rule="similarity", finding=found.text, similarity=cosine)


def _likenesses(
    snapshot: Snapshot, found: list[RunFinding], lessons: Mapping[int, Lesson]
) -> dict[int, dict[int, float]]:
    """Return the cosine of each finding, by its place, with each lesson; nothing without a model."""
    if snapshot.client.embedder is None:
        snapshot.notify_once("no embedding model is at hand: findings are compared by their keywords only")
    if not found or not lessons:
        return {}
    finding = snapshot.client.document_vectors([one.text for one in found])
    known = snapshot.client.document_vectors([lesson.search_text for lesson in lessons.values()])
    if finding is None or known is None:
        return {}
    products = (finding @ known.T).tolist()
    return {place: dict(zip(lessons, row, strict=True)) for place, row in enumerate(products)}


def _candidate(snapshot: Snapshot, found: RunFinding, at: datetime) -> Lesson:
    """Return the lesson that a finding makes: made when its run was, so that every clone makes the same."""
    fields = {
        "type": found.type,
        "archetype": found.archetype or None,
        "description": found.text,
        "severity": found.severity,
        "domain": found.domain,
        "source": found.source or None,
        "tags": list(found.tags),
        "created_at": at,
    }
    made = build("lesson", {**fields, "name": "unnamed"}, at)
    assert isinstance(made, Lesson)
    return made


def _named_apart(catalog: Catalog, made: list[Lesson]) -> list[Lesson]:
    """Return new lessons with their keys and names: two texts may begin alike."""
    taken: dict[str, str] = {}
    found = []
    for lesson in made:
        found.append(identified(catalog, lesson, taken))
        taken[found[-1].ref] = found[-1].key_ref
    return found


@operation(
    "lessons.inject",
    past=True,
    scoped=True,
    example="graphmem lesson inject --domain code",
    help="""
    Print the lessons that belong into a prompt, at most ten.

    Those that two runs saw, and every preference: of this domain or general, preferences first. What five runs
    saw is for every prompt. Where there is nothing to say, nothing is printed.
    """,
)
def inject(snapshot: Snapshot, request: InjectRequest) -> Injected:
    """Return the lessons that belong into a prompt, at most ten, ready to be put there."""
    numbers = [number for number, *_ in snapshot.catalog.live_rows("lesson")]
    lessons = [record for record in snapshot.catalog.records(numbers).values() if isinstance(record, Lesson)]
    last = snapshot.catalog.times_of_runs()
    eligible = [lesson for lesson in lessons if is_eligible(lesson, request.domain, request.archetype)]
    chosen = injected(eligible, lambda lesson: last.get(lesson.last_seen_run or "", ""), INJECTED)
    doubter = Doubter(snapshot)
    doubts = [doubter.of(lesson) for lesson in chosen]
    lines = [HEADING, *map(_injected_line, chosen, doubts)] if chosen else []
    shown = [Listed(ref=one.ref, doubts=against, record=one) for one, against in zip(chosen, doubts, strict=True)]
    return Injected(text="\n".join(lines), lessons=shown)


def _injected_line(lesson: Lesson, doubts: Iterable[Doubt]) -> str:
    """Return a lesson as a line of a prompt, what speaks against it first; nothing in it can end the line."""
    against = "".join(f"({doubt.text}) " for doubt in doubts if doubt.is_mark)
    said = " ".join(visible(against + lesson.description).split())
    seen = [f"seen {lesson.frequency}x", *([" ".join(visible(lesson.source).split())] if lesson.source else [])]
    return f"- {said} [{', '.join(seen)}]"
