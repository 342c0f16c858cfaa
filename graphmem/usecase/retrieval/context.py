"""Context: the one answer that an agent asks for before it begins (docs/concepts/context.md)."""

import contextlib
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from graphmem.catalog.database import CatalogError
from graphmem.catalog.usage import accesses, count
from graphmem.constants import CANDIDATES, CONTEXT_CAMPAIGNS, CONTEXT_SOLUTIONS
from graphmem.contract.campaigns import SimilarCampaign, SimilarRequest
from graphmem.contract.citations import Cited
from graphmem.contract.context import ContextBlock, ContextEntry, ContextRequest, LeftOut
from graphmem.contract.query import Factors, Found, Hit, QueryRequest
from graphmem.errors import BadInput
from graphmem.model import Campaign, Constraint, Entity, Failure, MemoryRecord, Pattern, Record
from graphmem.model.cite import Cite
from graphmem.model.field import format_time
from graphmem.rules.context import Entry, block, entry_text, fitting, quoted, tokens
from graphmem.rules.fixes import fixes
from graphmem.rules.rank import Profile
from graphmem.rules.score import tier
from graphmem.runtime import Client, Snapshot
from graphmem.usecase.campaigns import similar
from graphmem.usecase.records.citations import CiteChecker
from graphmem.usecase.retrieval.context_sections import (
    EXPERIENCES,
    INSIGHTS,
    LESSONS,
    SESSION,
    experience_entries,
    lesson_entries,
    session_entries,
)
from graphmem.usecase.retrieval.query import profile_of, query, tier_bounds
from graphmem.usecase.retrieval.traversal import solving

SECTIONS = (SESSION, "Failures", "Patterns", LESSONS, INSIGHTS, EXPERIENCES, "Similar campaigns", "Entities")
USUAL: frozenset[str] = frozenset({"critical", "productive"})  # tiers that are always worth a prompt
HARD: frozenset[str] = frozenset({"high", "very_high"})  # complexities for which more is taken
WORD = re.compile(r"\w[\w-]*")
MENTIONED = re.compile(r"[^\s,;()\[\]{}<>\"'`]+")  # what may be a name in a text


def context(client: Client, request: ContextRequest) -> ContextBlock:
    """
    Return what the project remembers for a task, cut to a budget, and count what was returned.

    A memory with one of the task's tags, or a word of the objective as a tag, is taken if it is worth a look; one with
    one of the files in its files or cites comes first.
    """
    if not request.objective.strip():
        raise BadInput("the objective is empty", hint='say what is to be done: graphmem context "add a login page"')
    wanted = frozenset(request.tiers) or (USUAL | {"exploration"} if request.complexity in HARD else USUAL)
    bounds = tier_bounds(client.settings.retrieval)
    found = query(client, QueryRequest(text=request.objective, limit=CANDIDATES, profile=request.profile))
    tags = {word.lower() for word in (*request.tags, *WORD.findall(request.objective))}
    filed = list(about_files(client, set(request.files), {hit.ref: hit for hit in found.results}))
    first = {hit.ref for hit in filed}
    taken = [*filed, *(hit for hit in found.results if hit.ref not in first and is_wanted(hit, wanted, tags, bounds))]
    alike = list(campaigns(client, request.objective))
    learned = [
        *lesson_entries(client, taken, request.domain, request.archetype),
        *experience_entries(client, taken, request.task_type, request.tags),
    ]
    with client.reading() as snapshot:
        entries = [
            *session_entries(snapshot, request.session),
            *learned,
            *memories(snapshot, taken, explain=request.explain),
            *alike,
            *entities(snapshot, request.objective, taken),
        ]
        known = {hit.ref: hit.cites for hit in found.results}
        entries = list(with_cites(snapshot, entries, known))
        entries.sort(key=lambda entry: SECTIONS.index(entry.section))
        below = [hit for hit in found.results if hit.ref not in first and not is_wanted(hit, wanted, tags, bounds)]
        return cut(snapshot, request.objective, request.budget, found, entries, first, below)


def cut(
    snapshot: Snapshot,
    objective: str,
    budget: int,
    found: Found,
    entries: list[ContextEntry],
    first: Collection[str],
    below: Collection[Hit],
) -> ContextBlock:
    """
    Return the block of what fits into the budget, and count that as returned.

    Args:
        first: references of the memories that are about the task's files.
        below: what the query found below the tiers that are taken.
    """
    profile = profile_of(snapshot.settings.retrieval, found.profile)
    texts = [
        Entry(entry.section, entry.text, worth(snapshot, entry, profile, is_first=entry.ref in first))
        for entry in entries
    ]
    fit = fitting(texts, budget, found.asked)
    text = block([texts[place] for place in sorted(fit)], budget, found.asked)
    before = accesses(snapshot.layout.usage, {entry.record.key_ref for entry in entries})
    kept = [with_accesses(entries[place], before) for place in sorted(fit)]
    refs = list(dict.fromkeys(ref for entry in kept for ref in (entry.ref, *entry.solved_by)))
    counted(snapshot, refs)
    shown = {ref for entry in entries for ref in (entry.ref, *entry.solved_by)}
    over = [
        LeftOut(ref=entry.ref, reason="budget", similarity=entry.similarity)
        for place, entry in enumerate(entries)
        if place not in fit
    ]
    under = [LeftOut(ref=hit.ref, reason="tier", similarity=hit.similarity) for hit in below if hit.ref not in shown]
    left_out = sorted(over + under, key=lambda out: -out.similarity)
    return ContextBlock(
        objective=objective,
        text=text,
        tokens=tokens(text),
        budget=budget,
        refs=refs,
        entries=kept,
        left_out=left_out,
        search=found.search,
        asked=found.asked,
        note=said_of(over, under, budget, is_empty=not kept),
    )


def said_of(over: Sequence[LeftOut], below: Sequence[LeftOut], budget: int, *, is_empty: bool) -> str | None:
    """Return why a block is empty, or what it left out; None where there is nothing to say."""
    if is_empty and not over and not below:
        return "nothing is known for this"
    parts = [f"{len(over):,} over the budget of {budget:,} tokens"] if over else []
    if below:
        nearest = max(below, key=lambda out: out.similarity)
        parts.append(f"{len(below):,} below the tier, nearest {nearest.ref} ({nearest.similarity:.2f})")
    return f"left out: {'; '.join(parts)}" if parts else None


def about_files(client: Client, files: Collection[str], hits: Mapping[str, Hit]) -> Iterator[Hit]:
    """Yield the memories that have one of these files in their files or cites, as hits; the most relevant first."""
    if not files:
        return
    with client.reading() as snapshot:
        numbers = [
            number for number in snapshot.catalog.holding(files) if is_about(snapshot.catalog.stored(number), files)
        ]
        records = snapshot.catalog.records(numbers).values()
    places = {ref: place for place, ref in enumerate(hits)}
    made = [hits.get(record.ref) or unasked(record) for record in records]
    yield from sorted(made, key=lambda hit: (places.get(hit.ref, len(places)), hit.ref))


def is_about(record: Record, files: Collection[str]) -> bool:
    """Return whether a memory names one of these files, in its files or as the path of a cite."""
    if not isinstance(record, MemoryRecord):
        return False
    return any(path in files for path in (*record.files, *cited_paths(record)))


def cited_paths(record: MemoryRecord) -> Iterator[str]:
    """Yield the paths of the files that a memory cites."""
    for text in record.cites:
        with contextlib.suppress(ValueError):
            yield Cite.parse(text).path


def unasked(record: Record) -> Hit:
    """Return a record that no query found, as a hit without evidence."""
    factors = Factors(
        semantic=0.0, lexical=0.0, exact=0.0, graph=0.0, reranked=None, cost=1.0, help_ratio=0.5, age_decay=1.0
    )
    return Hit(
        ref=record.ref,
        score=0.0,
        relevance=0.0,
        similarity=0.0,
        tier="background",
        band="background",
        factors=factors,
        record=record,
        fixes=fixes(record),
    )


def with_cites(
    snapshot: Snapshot, entries: Collection[ContextEntry], known: Mapping[str, list[Cited]]
) -> Iterator[ContextEntry]:
    """Yield entries with the code that they, and the patterns with them, cite, and how that is now."""
    tree = CiteChecker(snapshot)
    for entry in entries:
        records = snapshot.catalog.records([snapshot.resolve(ref) for ref in entry.solved_by]).values()
        found = known.get(entry.ref) or tree.cites_of(entry.record)
        found = [*found, *tree.cites_of(*records)]
        notes = [quoted("code", cite_note(one)) for one in found]
        yield entry.model_copy(update={"cites": found, "text": "\n".join([entry.text, *notes])}) if found else entry


def cite_note(found: Cited) -> str:
    """Return what a prompt should know of cited code: where it is, and whether it is what the record was about."""
    place = f"{found.path}:{found.symbol}" if found.symbol else found.path or found.cite
    return {
        "fresh": place,
        "moved": f"{place}, now in {found.moved_to}",
        "changed": f"{place}, changed since{f', now in {found.moved_to}' if found.moved_to else ''}: check before use",
        "gone": f"{place}, no longer there: check before use",
        "unknown": f"{place}, not compared",
    }[found.state]


def with_accesses(entry: ContextEntry, before: Mapping[str, tuple[int, str]]) -> ContextEntry:
    """Return an entry with how often its record was returned before."""
    number, last = before.get(entry.record.key_ref, (0, None))
    return entry.model_copy(update={"access_count": number, "last_accessed": last})


def is_wanted(hit: Hit, tiers: Collection[str], tags: set[str], bounds: Mapping[str, float]) -> bool:
    """Return whether a hit belongs into the block; what helped with something like it is as near as its score."""
    if hit.factors.exact or hit.factors.expression or hit.tier in tiers:
        return True
    if hit.factors.help_ratio > 1 and tier(hit.score, **bounds) in tiers:
        return True
    record = hit.record
    is_tagged = isinstance(record, MemoryRecord) and not tags.isdisjoint(tag.lower() for tag in record.tags)
    return is_tagged and (hit.tier == "exploration" or hit.band != "background")


def worth(snapshot: Snapshot, entry: ContextEntry, profile: Profile, *, is_first: bool) -> tuple[float, ...]:
    """Return what decides who stays: constraints, then what is about the files, then as `query` sorts."""
    if isinstance(entry.record, Constraint):
        return (2,)
    exact = entry.factors.exact if entry.factors else 0.0
    relevance = entry.similarity if entry.relevance is None else entry.relevance
    level = profile.level(relevance, exact, tier_bounds(snapshot.settings.retrieval))
    return 1 if is_first else -level, relevance if entry.score is None else entry.score


def memories(snapshot: Snapshot, hits: Collection[Hit], *, explain: bool) -> Iterator[ContextEntry]:
    """Yield the failures with what solves them, then the patterns that solve none of these."""
    solving = solved(snapshot, [hit.ref for hit in hits if isinstance(hit.record, Failure)])
    used = set[str]()
    for hit in hits:
        if isinstance(failure := hit.record, Failure):
            notes = [("when", failure.trigger), *(("fix", fix.text) for fix in hit.fixes)]
            patterns = solving.get(hit.ref, [])
            said = {text for _, text in notes}
            for pattern in patterns:  # a text is in the block once
                is_said = pattern.ref in used or pattern.insight in said
                notes.append(
                    ("fix", pattern.ref) if is_said else (f"fix, {pattern.ref}{record_of(pattern)}", pattern.insight)
                )
            used |= {pattern.ref for pattern in patterns}
            yield entry_of("Failures", hit, notes, [pattern.ref for pattern in patterns], explain)
    for hit in hits:
        if isinstance(record := hit.record, Pattern) and hit.ref not in used:
            yield entry_of("Patterns", hit, [("when", record.trigger), ("do", record.insight)], [], explain)


def solved(snapshot: Snapshot, failures: Collection[str]) -> dict[str, list[Pattern]]:
    """Return the patterns that solve each of these failures, the strongest few."""
    numbers = {snapshot.resolve(ref): ref for ref in failures}
    return {
        numbers[number]: [record for record in found if isinstance(record, Pattern)][:CONTEXT_SOLUTIONS]
        for number, found in solving(snapshot.catalog, numbers).items()
    }


def record_of(memory: MemoryRecord) -> str:
    """Return how often a memory helped and failed, where anything is known."""
    reports = memory.helped + memory.failed
    return f", helped {memory.helped} of {reports}" if reports else ""


def entry_of(section: str, hit: Hit, notes: list[tuple[str, str]], solved_by: list[str], explain: bool) -> ContextEntry:
    """Return a hit as the block shows it."""
    record = hit.record
    helped = record_of(record).removeprefix(", ") if isinstance(record, MemoryRecord) else ""
    nearness = [hit.band, f"score {hit.score:.3g}"] if hit.relevance else ["about a file of the task"]
    marks = [*nearness, *([helped] if helped else []), known_since(record)]
    if record.sources:
        notes = [*notes, ("from", ", ".join(record.sources))]
    text = entry_text(hit.ref, marks, notes, why(hit) if explain else None)
    return ContextEntry(
        section=section,
        ref=hit.ref,
        tier=hit.tier,
        similarity=hit.similarity,
        text=text,
        relevance=hit.relevance,
        score=hit.score,
        factors=hit.factors,
        solved_by=solved_by,
        record=record,
        fixes=hit.fixes,
    )


def known_since(record: Record) -> str:
    """Return the day on which a record last changed."""
    return f"of {record.updated_at:%Y-%m-%d}"


def why(hit: Hit) -> str:
    """Return what a score is made of."""
    factors: Factors = hit.factors
    reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.2f}"
    freshness = "" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.2f}"
    return (
        f"score {hit.score:.3f} = relevance {hit.relevance:.3f} × cost {factors.cost:.2f} × help_ratio"
        f" {factors.help_ratio:.2f} × age_decay {factors.age_decay:.2f}{freshness}; semantic {factors.semantic:.2f},"
        f" lexical {factors.lexical:.2f}, exact {factors.exact:g}, graph {factors.graph:.2f}{reranked}"
    )


def campaigns(client: Client, objective: str) -> Iterator[ContextEntry]:
    """Yield the finished campaigns that resemble the objective, with what blocked and what solved them."""
    bounds = tier_bounds(client.settings.retrieval)
    for found in similar(client, SimilarRequest(text=objective, limit=CONTEXT_CAMPAIGNS)).results:
        nearness = tier(found.similarity, **bounds)
        marks = [nearness, f"similarity {found.similarity:.2f}", known_since(found.record)]
        yield ContextEntry(
            section="Similar campaigns",
            ref=found.ref,
            tier=nearness,
            similarity=found.similarity,
            text=entry_text(found.ref, marks, campaign_notes(found)),
            record=found.record,
        )


def campaign_notes(found: SimilarCampaign) -> list[tuple[str, str]]:
    """Return what a prompt should know of a campaign."""
    assert isinstance(found.record, Campaign)
    notes = [("objective", found.record.objective), ("outcome", found.outcome or found.record.status)]
    notes += [("blocked by", ", ".join(found.blocked_by))] if found.blocked_by else []
    return notes + ([("used", ", ".join(found.solved_by))] if found.solved_by else [])


def entities(snapshot: Snapshot, objective: str, hits: Collection[Hit]) -> Iterator[ContextEntry]:
    """Yield the entities that the objective mentions by name, and those it is about."""
    known = {hit.ref: hit for hit in hits if isinstance(hit.record, Entity)}
    for hit in known.values():
        assert isinstance(hit.record, Entity)
        yield entry_of("Entities", hit, [("value", hit.record.value)] if hit.record.value else [], [], False)
    words = {word.strip(".:!?") for word in MENTIONED.findall(objective)}
    found = {snapshot.catalog.lookup(kind, word) for kind in snapshot.catalog.vocabulary.entities for word in words}
    records = snapshot.catalog.records([number for number in found if number is not None]).values()
    for record in sorted(records, key=lambda record: record.ref):
        if isinstance(record, Entity) and not record.is_archived and record.ref not in known:
            notes = [("value", record.value)] if record.value else []
            text = entry_text(record.ref, ["mentioned", known_since(record)], notes)
            yield ContextEntry(
                section="Entities", ref=record.ref, tier="critical", similarity=1.0, text=text, record=record
            )


def counted(snapshot: Snapshot, refs: Collection[str]) -> None:
    """Count what was returned on this machine."""
    if not refs or snapshot.is_past:
        return
    keys = [record.key_ref for record in snapshot.catalog.records([snapshot.resolve(ref) for ref in refs]).values()]
    try:
        count(snapshot.layout.usage, keys, format_time(snapshot.now))
    except (OSError, CatalogError) as error:
        snapshot.notify_once(f"accesses are not counted: {error}")
