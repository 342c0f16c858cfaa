"""Context: the one answer that an agent asks for before it begins (docs/concepts/context.md)."""

import math
import posixpath
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from graphmem.constants import CANDIDATES, CONTEXT_CAMPAIGNS, CONTEXT_LABELLED, CONTEXT_OF_FRAMEWORK, CONTEXT_SOLUTIONS
from graphmem.core.briefing.context_contract import ContextBlock, ContextEntry, ContextRequest, LeftOut
from graphmem.core.briefing.sections import (
    EXPERIENCES,
    EXPLORATIONS,
    INSIGHTS,
    LESSONS,
    SESSION,
    Pick,
    entry_of,
    exploration_entries,
    session_entries,
    with_contradictions,
)
from graphmem.core.evidence.citation_contract import Cited
from graphmem.core.evidence.doubt import is_doubted
from graphmem.core.evidence.doubt_contract import NOTES
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.notes import notes_of, of_variant
from graphmem.core.evidence.score import BANDS, tier
from graphmem.core.evidence.variant_fixes import variant_fixes
from graphmem.core.plans.campaign_contract import SimilarCampaign, SimilarRequest
from graphmem.core.plans.campaign_plan import framework_of
from graphmem.core.plans.similar_campaigns import campaign_numbers, find_similar
from graphmem.core.search.budget import BlockEntry, block, fitting, quoted, tokens, track_record
from graphmem.core.search.known import probabilities
from graphmem.core.search.query import find, profile_of, tier_bounds
from graphmem.core.search.query import prepare as prepare_query
from graphmem.core.search.query_contract import Factors, Found, Hit, QueryRequest
from graphmem.core.search.rank import Profile
from graphmem.core.search.traversal import solving
from graphmem.core.sessions.operations import board_of, current_of
from graphmem.errors import BadInput, Unavailable
from graphmem.kernel.machine.usage import accesses, count
from graphmem.kernel.model import Constraint, Entity, Failure, Pattern, Record, Task
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.label import Sort, folded, paths, words
from graphmem.kernel.registry import extensions
from graphmem.kernel.settings.config import Retrieval
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import one_line, visible

SAID_ELSEWHERE = ("code", "failed", *NOTES)  # the lines about code and the track record tell it, or no mark
SECTIONS = (
    SESSION, "Failures", "Patterns", LESSONS, INSIGHTS, EXPLORATIONS, EXPERIENCES, "Similar campaigns", "Entities",
)  # fmt: skip
USUAL: frozenset[str] = frozenset({"critical", "productive"})  # tiers that are always worth a prompt
HARD: frozenset[str] = frozenset({"high", "very_high"})  # complexities for which more is taken


class Label(NamedTuple):
    """
    Which tag, path or framework of the task a record carries.

    ``is_file``: a path, and not one below it; ``is_framework``: the framework, and neither tag nor path.
    """

    text: str
    is_file: bool
    is_framework: bool = False


VERBS: Mapping[Sort, str] = {"cite": "cites", "file": "lists"}  # what a record does with a path


def context(client: Client, request: ContextRequest, *, without: Collection[str] = ()) -> ContextBlock:
    """Return what the project remembers for a task, cut to a budget, and count what was returned."""
    prepare(client, request)
    with client.unchanging(client.clues, client.lexical) as snapshot:
        return gather(snapshot, request, without=without)


def prepare(client: Client, request: ContextRequest) -> None:
    """Take in the files, and embed what the answer may need; to be called before its snapshot is opened."""
    if not request.objective.strip():
        raise BadInput("the objective is empty", hint='say what is to be done: graphmem context "add a login page"')
    prepare_query(client, _question_of(request), lambda: campaign_numbers(client))


def _question_of(request: ContextRequest, kinds: Collection[str] | None = None) -> QueryRequest:
    """Return the query of an objective, among all kinds or some."""
    return QueryRequest(
        text=request.objective, limit=CANDIDATES, profile=request.profile, strict=request.strict, kinds=kinds
    )


def gather(snapshot: Snapshot, request: ContextRequest, *, without: Collection[str] = ()) -> ContextBlock:
    """
    Return what a snapshot has for a task; ``prepare`` was called before.

    What answers the objective is taken if anything is known for it, or if the caller names tiers. What carries a tag or
    a file of the task is there as well, after what answers the objective.

    Args:
        without: kinds that are not looked among.
    """
    kinds = [kind for kind in snapshot.vocabulary.record_types if kind not in without] if without else None
    found = find(snapshot, _question_of(request, kinds))
    is_known = found.certainty != "none" or bool(request.tiers)
    picks = _picked(snapshot, request, found, is_known=is_known)
    entries = [
        *session_entries(snapshot, request.session),
        *exploration_entries(picks),
        *(entry for entries_of in extensions("section") for entry in entries_of(snapshot, request, picks)),
        *_memories(snapshot, picks, is_strict=request.strict),
        *(campaigns(snapshot, request.objective) if is_known else ()),
        *_entities(snapshot, request.objective, picks),
    ]
    hits = {hit.ref: hit for hit in found.results}
    entries = list(with_contradictions([*_with_doubts(snapshot, entries, hits, is_strict=request.strict)]))
    first = next((pick.hit.ref for pick in picks if pick.has_file), None)
    entries.sort(key=lambda entry: (SECTIONS.index(entry.section), entry.ref != first))
    return _cut(snapshot, request, found, picks, entries, is_known=is_known)


def _cut(
    snapshot: Snapshot,
    request: ContextRequest,
    found: Found,
    picks: Collection[Pick],
    entries: list[ContextEntry],
    *,
    is_known: bool,
) -> ContextBlock:
    """Return the block of those entries that fit into the budget, and count them as returned."""
    aside = {pick.hit.ref for pick in picks if not pick.is_near}
    taken = {ref for entry in entries for ref in (entry.ref, *entry.solved_by)}
    taken |= {pick.hit.ref for pick in picks}  # some kinds have no section
    out = list(_not_taken(snapshot.settings.retrieval, request, found, taken, is_known=is_known))
    profile = profile_of(snapshot.settings.retrieval, found.profile)
    texts = [
        BlockEntry(entry.section, entry.text, worth(snapshot, entry, profile, is_aside=entry.ref in aside))
        for entry in entries
    ]
    fit = fitting(texts, request.budget, found.asked)
    text = block([texts[place] for place in sorted(fit)], request.budget, found.asked)
    before = accesses(snapshot.client.state, {entry.record.key_ref for entry in entries})
    kept = [_with_accesses(entries[place], before) for place in sorted(fit)]
    refs = list(dict.fromkeys(ref for entry in kept for ref in (entry.ref, *entry.solved_by)))
    _counted(snapshot, refs)
    over = [
        LeftOut(ref=entry.ref, reason="budget", similarity=entry.similarity)
        for place, entry in enumerate(entries)
        if place not in fit
    ]
    return ContextBlock(
        objective=request.objective,
        text=text,
        tokens=tokens(text),
        budget=request.budget,
        refs=refs,
        entries=kept,
        left_out=sorted(over + out, key=lambda one: -one.similarity),
        search=found.search,
        known=found.known,
        certainty=found.certainty,
        probability=found.probability,
        asked=found.asked,
        note=_note_of(snapshot, request, found, over, out, is_known=is_known, is_empty=not kept),
    )


def _not_taken(
    settings: Retrieval, request: ContextRequest, found: Found, taken: Collection[str], *, is_known: bool
) -> Iterator[LeftOut]:
    """Yield the results of the query that are not taken, each with why."""
    tiers, bounds = _tiers_of(request), tier_bounds(settings)
    for hit in found.results:
        if hit.ref not in taken:
            is_unlikely = not is_known or _is_near(hit, tiers, bounds)
            yield LeftOut(ref=hit.ref, reason="known" if is_unlikely else "tier", similarity=hit.similarity)


def _note_of(
    snapshot: Snapshot,
    request: ContextRequest,
    found: Found,
    over: Sequence[LeftOut],
    out: Sequence[LeftOut],
    *,
    is_known: bool,
    is_empty: bool,
) -> str | None:
    """Return why a block is empty, or what it left out; None where there is nothing to say."""
    parts = [f"{len(over):,} over the budget of {request.budget:,} tokens"] if over else []
    below = [one for one in out if one.reason == "tier"]
    if out and not is_known:
        parts.append(f"nothing known for this, nearest {out[0].ref} has probability {found.probability:.2f}")
    elif len(out) > len(below):
        parts.append(f"{len(out) - len(below):,} unlikely to be relevant")
    if below:
        nearest = max(below, key=lambda one: one.similarity)
        which = "of other tiers" if request.tiers else "below the tier"
        parts.append(f"{len(below):,} {which}, nearest {nearest.ref} ({nearest.similarity:.2f})")
    if found.left_out:
        parts.append(f"{len(found.left_out):,} with marks of doubt")
    if not is_empty:
        return f"left out: {'; '.join(parts)}" if parts else None
    if not parts and found.results:
        parts = ["what is near is of kinds that a block does not show"]
    elif not parts:
        parts = ["nothing known for this" if snapshot.catalog.live_counts()[0] else "nothing is recorded yet"]
    return f"empty: {'; '.join(parts)}"


def _picked(snapshot: Snapshot, request: ContextRequest, found: Found, *, is_known: bool) -> list[Pick]:
    """Return the records that a block takes because of the objective: what answers it, then what its labels find."""
    near = _wanted(snapshot, request, found) if is_known else []
    hits = {hit.ref: hit for hit in found.results}
    reasons = _labelled(snapshot, request)
    refs = {hit.ref for hit in near}
    places = {ref: place for place, ref in enumerate(hits)}

    def place(ref: str) -> tuple[bool, int, str]:
        return not reasons[ref].is_file, places.get(ref, len(places)), ref

    aside = sorted(reasons.keys() - refs, key=place)
    others = [ref for ref in aside if not reasons[ref].is_framework][:CONTEXT_LABELLED]
    others += [ref for ref in aside if reasons[ref].is_framework][:CONTEXT_OF_FRAMEWORK]
    records = snapshot.catalog.records([snapshot.resolve(ref) for ref in others if ref not in hits]).values()
    made = hits | {record.ref: _unasked(record) for record in records}
    picks = [(hit, reasons.get(hit.ref)) for hit in (*near, *(made[ref] for ref in others if ref in made))]
    return [
        Pick(
            hit,
            label.text if label else None,
            hit.ref in refs,
            _why(hit) if request.explain else None,
            has_file=label is not None and label.is_file,
        )
        for hit, label in picks
    ]


def _labelled(snapshot: Snapshot, request: ContextRequest) -> dict[str, Label]:
    """Return the records that carry a tag, path or framework that is given or named in the objective, and which."""
    catalog = snapshot.catalog
    given = {posixpath.normpath(path) for path in request.files}
    named = paths(request.objective, str(snapshot.root))
    exact = given | {path.rstrip("/") for path in named}
    folders = given | {path.rstrip("/") for path in named if "/" in path}
    found = dict[int, Label]()
    for sort, verb in VERBS.items():
        for path, number in catalog.labelled(sort, exact):
            found.setdefault(number, Label(f"{verb} {visible(path)}", True))
        for folder in sorted(folders):
            for number in catalog.labelled_below(sort, folder):
                found.setdefault(number, Label(f"{verb} a file below {visible(folder)}", False))
    tags = {folded(tag): tag for tag in (*words(request.objective), *request.tags)}
    for tag, number in catalog.labelled("tag", tags):
        found.setdefault(number, Label(f"tagged {visible(tags[tag])}", False))
    frameworks = {folded(name): name for name in (*words(request.objective), _framework_in(snapshot, request)) if name}
    for name, number in catalog.labelled("framework", frameworks):
        found.setdefault(number, Label(f"same framework, {one_line(frameworks[name])}", False, is_framework=True))
    return {ref: found[number] for number, ref in catalog.refs(found).items()}


def _framework_in(snapshot: Snapshot, request: ContextRequest) -> str | None:
    """Return the framework of a request; where it names none, that of the task that is being worked on."""
    if request.framework is not None:
        return request.framework
    current = current_of(snapshot, board_of(snapshot, request.session))
    known = snapshot.catalog.known({f"task/{current.id}"}) if current and current.id else {}
    tasks = (snapshot.catalog.stored(number) for number in known.values())
    return next((framework_of(snapshot, one) for one in tasks if isinstance(one, Task)), None)


def _unasked(record: Record) -> Hit:
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


def _with_doubts(
    snapshot: Snapshot, entries: Collection[ContextEntry], hits: Mapping[str, Hit], *, is_strict: bool
) -> Iterator[ContextEntry]:
    """
    Yield entries with what speaks against relying on them before their texts, and the code that they cite after those.

    What holds for an entry holds for the patterns with it. If strict, an entry with a mark of doubt is left out.

    Args:
        hits: what the query found, by reference: their code was compared already.
    """
    doubter = Doubter(snapshot)
    for entry in entries:
        hit = hits.get(entry.ref)
        own = hit.cites if hit else doubter.tree.cites_of(entry.record)
        doubts = hit.doubts if hit else doubter.of(entry.record, own)
        if is_strict and is_doubted(doubts):
            continue
        records = snapshot.catalog.records([snapshot.resolve(ref) for ref in entry.solved_by]).values()
        cites = [*own, *doubter.tree.cites_of(*records)]
        against = [quoted("doubt", doubt.text) for doubt in doubts if doubt.sign not in SAID_ELSEWHERE]
        for record in records:
            found = [doubt.text for doubt in doubter.of(record) if doubt.sign not in SAID_ELSEWHERE]
            against += [quoted(f"doubt about {record.ref}", text) for text in found]
        against += [quoted("code", _cite_note(one)) for one in cites if one.state in ("changed", "gone")]
        code = [quoted("code", _cite_note(one)) for one in cites if one.state not in ("changed", "gone")]
        head, *rest = entry.text.split("\n", 1)
        text = "\n".join([head, *against, *rest, *code])
        yield entry.model_copy(update={"cites": cites, "doubts": doubts, "text": text})


def _cite_note(found: Cited) -> str:
    """Return what a prompt should know of cited code: where it is, and whether it is what the record was about."""
    place = f"{found.path}:{found.symbol}" if found.symbol else found.path or found.cite
    return {
        "fresh": place,
        "moved": f"{place}, now in {found.moved_to}",
        "changed": f"{place}, changed since{f', now in {found.moved_to}' if found.moved_to else ''}: check before use",
        "gone": f"{place}, no longer there: check before use",
        "unknown": f"{place}, not compared",
    }[found.state]


def _with_accesses(entry: ContextEntry, before: Mapping[str, tuple[int, str]]) -> ContextEntry:
    """Return an entry with how often its record was returned before."""
    number, last = before.get(entry.record.key_ref, (0, None))
    return entry.model_copy(update={"access_count": number, "last_accessed": last})


def _tiers_of(request: ContextRequest) -> Collection[str]:
    """Return the tiers to take."""
    return frozenset(request.tiers) or (USUAL | {"exploration"} if request.complexity in HARD else USUAL)


def _wanted(snapshot: Snapshot, request: ContextRequest, found: Found) -> list[Hit]:
    """Return the results in the tiers that are asked for; in the usual tiers, without the unlikely ones."""
    settings, tiers = snapshot.settings.retrieval, _tiers_of(request)
    near = [hit for hit in found.results if _is_near(hit, tiers, tier_bounds(settings))]
    if tiers != USUAL:  # the caller asks for more
        return near
    sure = {hit.ref for hit in near if hit.factors.exact or hit.factors.help_ratio > 1}
    sure |= {hit.ref for hit in found.results[:1]}  # the one that the whole answer was judged by
    likely = probabilities(snapshot, found, [hit for hit in near if hit.ref not in sure])
    return [hit for hit in near if hit.ref in sure or likely[hit.ref] >= settings.unsure]


def _is_near(hit: Hit, tiers: Collection[str], bounds: Mapping[str, float]) -> bool:
    """Return whether a hit reaches one of these tiers by similarity, relevance or reports, or by its expression."""
    if hit.factors.exact or hit.factors.expression or hit.tier in tiers or hit.band in tiers:
        return True
    return hit.factors.help_ratio > 1 and tier(hit.score, **bounds) in tiers


def worth(snapshot: Snapshot, entry: ContextEntry, profile: Profile, *, is_aside: bool) -> tuple[float, ...]:
    """
    Return what decides who stays: constraints, then as `query` sorts, then what is there for a label alone.

    Of equals pinned ones come first.
    """
    if isinstance(entry.record, Constraint):
        return 1, entry.record.pinned
    exact = entry.factors.exact if entry.factors else 0.0
    relevance = entry.similarity if entry.relevance is None else entry.relevance
    level = profile.level(relevance, exact, tier_bounds(snapshot.settings.retrieval))
    score = relevance if entry.score is None else entry.score
    return -math.inf if is_aside else -level, score, entry.record.is_pinned


def _memories(snapshot: Snapshot, picks: Collection[Pick], *, is_strict: bool) -> Iterator[ContextEntry]:
    """
    Yield the failures with what solves them, then the patterns that solve none of these.

    In each band those come first that have a fix or a pattern that solves them; across bands nearness says more.
    """
    failures = [pick for pick in picks if isinstance(pick.hit.record, Failure)]
    solving = _solved(snapshot, [pick.hit.ref for pick in failures], is_strict=is_strict)
    numbers = {snapshot.resolve(pick.hit.ref): pick.hit.record for pick in failures}
    alike = {numbers[number].ref: fix for number, fix in variant_fixes(snapshot.catalog, numbers).items()}
    refs = {pick.hit.ref for pick in failures}
    unsolved = {pick.hit.ref for pick in failures if not pick.hit.fixes and not solving.get(pick.hit.ref)}
    used = set[str]()

    def place(pick: Pick) -> tuple[bool, int, bool]:
        return not pick.is_near, BANDS.index(pick.hit.band), pick.hit.ref in unsolved

    for pick in sorted(failures, key=place):
        failure, patterns = pick.hit.record, solving.get(pick.hit.ref, [])
        assert isinstance(failure, Failure)
        notes = notes_of(failure)
        near = alike.get(failure.ref)
        notes += [("fix of a variant", near.ref)] if near and near.ref in refs else of_variant(near)
        said = {text for _, text in notes}
        for pattern in patterns:  # a text is in the block once
            is_said = pattern.ref in used or pattern.insight in said
            word = f"fix, {pattern.ref}, {track_record(pattern.helped, pattern.failed)}"
            notes.append(("fix", pattern.ref) if is_said else (word, pattern.insight))
        used |= {pattern.ref for pattern in patterns}
        marks = ["unsolved"] if failure.ref in unsolved else []
        entry = entry_of("Failures", failure, [*notes, *sources(failure)], marks, pick)
        found = {"solved_by": [pattern.ref for pattern in patterns], "variant_fix": near}
        yield entry.model_copy(update=found)
    for pick in picks:
        if isinstance(record := pick.hit.record, Pattern) and record.ref not in used:
            yield entry_of("Patterns", record, [*notes_of(record), *sources(record)], (), pick)


def _solved(snapshot: Snapshot, failures: Collection[str], *, is_strict: bool) -> dict[str, list[Pattern]]:
    """Return the patterns that solve each of these failures, the strongest few; if strict, without marks of doubt."""
    numbers, doubter = {snapshot.resolve(ref): ref for ref in failures}, Doubter(snapshot)
    patterns = {
        ref: [record for record in found if isinstance(record, Pattern)]
        for ref, found in ((numbers[number], found) for number, found in solving(snapshot.catalog, numbers).items())
    }
    return {
        ref: [one for one in found if not (is_strict and is_doubted(doubter.of(one)))][:CONTEXT_SOLUTIONS]
        for ref, found in patterns.items()
    }


def sources(record: Record) -> list[tuple[str, str]]:
    """Return where a record comes from, as a text of the block."""
    return [("from", ", ".join(record.sources))] if record.sources else []


def _why(hit: Hit) -> str:
    """Return what a score is made of."""
    factors: Factors = hit.factors
    reranked = "" if factors.reranked is None else f", reranked {factors.reranked:.2f}"
    finished = "" if factors.finished == 1.0 else f" × finished {factors.finished:.2f}"
    freshness = "" if factors.freshness == 1.0 else f" × freshness {factors.freshness:.2f}"
    freshness += "" if factors.doubt == 1.0 else f" × doubt {factors.doubt:.2f}"
    return (
        f"score {hit.score:.3f} = relevance {hit.relevance:.3f} × cost {factors.cost:.2f} × help_ratio"
        f" {factors.help_ratio:.2f} × age_decay {factors.age_decay:.2f}{finished}{freshness};"
        f" semantic {factors.semantic:.2f}, lexical {factors.lexical:.2f}, exact {factors.exact:g},"
        f" graph {factors.graph:.2f}{reranked}"
    )


def campaigns(snapshot: Snapshot, objective: str) -> Iterator[ContextEntry]:
    """Yield the campaigns that have ended and resemble the objective, with what blocked and what solved them."""
    bounds = tier_bounds(snapshot.settings.retrieval)
    for found in find_similar(snapshot, SimilarRequest(text=objective, limit=CONTEXT_CAMPAIGNS)).results:
        nearness = tier(found.similarity, **bounds)
        marks = [nearness, found.status, f"similarity {found.similarity:.2f}"]
        entry = entry_of("Similar campaigns", found.record, _campaign_notes(found), marks)
        yield entry.model_copy(update={"tier": nearness, "similarity": found.similarity})


def _campaign_notes(found: SimilarCampaign) -> list[tuple[str, str]]:
    """Return what a prompt should know of a campaign."""
    notes = [("objective", found.record.objective), ("outcome", found.outcome or found.status)]
    notes += [("blocked by", ", ".join(found.blocked_by))] if found.blocked_by else []
    notes += [("used", ", ".join(found.solved_by))] if found.solved_by else []
    return notes + [(f"doubt about {ref}", one.text) for ref, doubts in found.doubts.items() for one in doubts]


def _entities(snapshot: Snapshot, objective: str, picks: Collection[Pick]) -> Iterator[ContextEntry]:
    """Yield the entities that the objective is about, and those that it mentions by name."""
    known = {pick.hit.ref: pick for pick in picks if isinstance(pick.hit.record, Entity)}
    catalog, named = snapshot.catalog, words(objective)
    found = {catalog.lookup(kind, word) for kind in catalog.vocabulary.entities for word in named}
    mentioned = catalog.records([number for number in found if number is not None]).values()
    for pick in known.values():
        assert isinstance(pick.hit.record, Entity)
        yield entry_of("Entities", pick.hit.record, [*notes_of(pick.hit.record), *sources(pick.hit.record)], (), pick)
    for record in sorted(mentioned, key=lambda record: record.ref):
        if isinstance(record, Entity) and not record.is_archived and record.ref not in known:
            yield entry_of("Entities", record, notes_of(record), ["mentioned"])


def _counted(snapshot: Snapshot, refs: Collection[str]) -> None:
    """Count what was returned on this machine."""
    if not refs or snapshot.is_past:
        return
    keys = [record.key_ref for record in snapshot.catalog.records([snapshot.resolve(ref) for ref in refs]).values()]
    try:
        count(snapshot.client.state, keys, format_time(snapshot.now))
    except Unavailable as error:
        snapshot.notify_once(f"accesses are not counted: {error}")
