"""Query: the records that a text is about, best first (docs/concepts/retrieval.md)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from math import prod
from typing import Any, NamedTuple

from graphmem.constants import EXPRESSION_TIMEOUT_S, GRAPH_HITS, MOST_RESULTS, SHOWN_SLOW, TITLED_CHARS
from graphmem.core.evidence.citation_contract import Cited
from graphmem.core.evidence.doubt import doubt_factor, freshness, is_doubted
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.evidence.doubts import Doubter
from graphmem.core.evidence.fixes import fixes
from graphmem.core.evidence.score import band, tier
from graphmem.core.evidence.variant_fixes import variant_fixes
from graphmem.core.logs.comparison import ORDER, Judged, judged
from graphmem.core.logs.diagnosis import diagnose, statement
from graphmem.core.logs.line import numbers
from graphmem.core.logs.log_excerpt import kept_question, telling
from graphmem.core.logs.problem import LogProblem
from graphmem.core.records.candidates import about_text
from graphmem.core.records.read import record_types_of
from graphmem.core.records.screening import places, unexposed
from graphmem.core.search.codes import codes, codes_first
from graphmem.core.search.known import known_of
from graphmem.core.search.occasion_rules import NO_REPORTS
from graphmem.core.search.occasions import Occasions, occasions_of, reports_of
from graphmem.core.search.query_contract import Factors, Found, Hit, QueryRequest
from graphmem.core.search.rank import Profile, ScoreFactors, places_gained
from graphmem.core.search.relevance import Calibration, Evidence, best_of, fused, graph_strengths, reassign
from graphmem.core.search.traversal import refuse_unknown_filters
from graphmem.errors import BadInput, Unavailable
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.catalog.words import in_usual_form
from graphmem.kernel.machine.asked import keep
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.settings.config import Retrieval
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import split_ref

MOST_OF_ONE_SORT = 100  # failures that are compared with a problem
Evidences = Mapping[int, Evidence]  # by number of the record
Relevances = Mapping[int, float]


@dataclass(frozen=True)
class Question:
    """What a query searches for, and among which record types."""

    text: str
    gist: str  # the text; of a log the lines that tell
    record_types: Collection[str] | None  # None for all
    vector: Any  # of the gist; None without a model
    problems: Sequence[LogProblem]  # that the text tells
    profile: Profile
    occasions: Occasions  # what was reported when something like it was asked; nothing in the classic profile


@dataclass(frozen=True)
class Shortlist:
    """
    The records that may answer a question.

    Attributes:
        lexical: those of both indexes by their lexical evidence.
        exact: those that the question names or repeats.
        matched: those whose match expression finds the question.
    """

    lexical: Mapping[int, float]
    exact: Collection[int]
    matched: Collection[int]


Place = tuple[int, float, bool, str]  # the lower the better: level, negative score, whether not pinned, reference


class Ranked(NamedTuple):
    """A candidate in its place."""

    place: Place
    number: int
    relevance: float
    evidence: Evidence
    factors: ScoreFactors
    moved: tuple[int, ...]  # places gained by each factor, in the order of the factors


def query(client: Client, request: QueryRequest) -> Found:
    """Return the records that a text is about, best first (docs/concepts/retrieval.md, "Relevance")."""
    prepare(client, request)
    with client.unchanging(client.clues, client.lexical) as snapshot:
        return find(snapshot, request)


def prepare(client: Client, request: QueryRequest, first: Callable[[], Collection[int]] = tuple) -> None:
    """
    Take in the files, and embed what a query may find; to be called before the snapshot of the query is opened.

    Args:
        first: returns records whose texts are embedded first, beside those with words of the query.
    """
    if not request.text.strip():
        raise BadInput("the query is empty", hint='say what you look for: graphmem query "ImportError: no module"')
    client.sync()
    record_types = _searched_types(client.catalog.vocabulary, request)
    client.refuse_unseen(request.kinds or ())
    if passed := [name for name in request.kinds or () if not client.catalog.vocabulary.is_searched(name)]:
        client.notify_once(f"{', '.join(passed)}: not searched by words or meaning; its type file says search: false")
    client.catch_up(client.lexical)
    most = max(min(request.most, MOST_RESULTS), client.settings.retrieval.candidates)
    gist = telling(request.text)
    client.embed_missing(lambda: [*client.lexical.search(gist, record_types, most), *first()])
    client.question_vector(gist)


def _searched_types(vocabulary: Vocabulary, request: QueryRequest) -> list[str] | None:
    """Return the kinds and types that a query looks among; None for all."""
    kinds = request.kinds
    refuse_unknown_filters(vocabulary, None, [kind for kind in kinds or () if kind != "entity"])
    if not kinds:
        return None
    return sorted({record_type for kind in kinds for record_type in record_types_of(vocabulary, kind)})


def find(snapshot: Snapshot, request: QueryRequest) -> Found:
    """Answer a query in a snapshot; ``prepare`` was called before."""
    text, limit = request.text, min(request.most, MOST_RESULTS)
    record_types, gist = _searched_types(snapshot.vocabulary, request), telling(text)
    question = asked(snapshot, text, gist, record_types, request.profile)
    evidence = _evidence_of(snapshot, question, candidates(snapshot, question, limit))
    calibration = Calibration.of(evidence.values(), snapshot.settings.retrieval.lexical_weight)
    evidence, relevances = rerank(snapshot, question, evidence, calibration)
    is_reranked = any(found.reranked is not None for found in evidence.values())
    evidence, relevances = _with_patterns(snapshot, question, evidence, relevances, calibration, limit)
    # The codes of the question come first; a long one says many that do not matter.
    said = codes(in_usual_form(question.gist)) if len(question.gist) <= TITLED_CHARS else []
    relevances = codes_first(relevances, said, snapshot.lexical.words_of(relevances)) if said else relevances
    ranked = rank(snapshot, question, evidence, relevances, request.min_similarity)
    hits, left_out = _least_doubted(snapshot, question, ranked, limit, is_strict=request.strict)
    tells_problem = any(one.is_read and (one.tool or one.code) for one in question.problems)
    certainty, likely = known_of(
        snapshot, gist, hits, evidence, relevances, question.occasions, tells_problem=tells_problem
    )
    search = "lexical" if question.vector is None else "semantic+lexical"
    reranker = snapshot.client.reranker.name if snapshot.client.reranker and is_reranked else None
    return Found.model_validate(
        {
            "query": text,
            "results": hits,
            "search": search,
            "reranker": reranker,
            "profile": "classic" if question.profile.is_classic else "learned",
            "known": certainty == "high",
            "certainty": certainty,
            "probability": likely,
            "left_out": left_out,
            "asked": keep_question(snapshot, gist),
            "candidates": about_text(snapshot.client, text, limit)
            if request.candidates and certainty != "high"
            else [],
        }
    )


def asked(
    snapshot: Snapshot, text: str, gist: str, record_types: Collection[str] | None, profile: str | None
) -> Question:
    """Return a question with its vector, and what was reported when something like it was asked."""
    vector = snapshot.client.question_vector(gist)
    ranking = profile_of(snapshot.settings.retrieval, profile)
    occasions = Occasions() if ranking.is_classic else occasions_of(snapshot, gist, vector)
    problems = diagnose(text).problems or statement(gist)
    return Question(text, gist, record_types, vector, problems, ranking, occasions)


def profile_of(settings: Retrieval, name: str | None) -> Profile:
    """Return how relevance becomes a score, by the name of a profile; None for that of the settings."""
    return Profile(
        is_classic=(name or settings.profile) == "classic",
        half_life_days=settings.half_life_days,
        cost_exponent=settings.cost_exponent,
        recency_exponent=settings.recency_exponent,
        recency_days=settings.recency_days,
    )


def keep_question(
    snapshot: Snapshot, gist: str, by_ref: Mapping[str, str] | None = None, *, known_as: str | None = None
) -> str | None:
    """Keep what was asked on this machine, for reports; return its id, None where it cannot be kept."""
    if snapshot.is_past:
        return None
    kept = unexposed(snapshot.client, "question", {"question": gist, "by_ref": dict(by_ref or {})})
    parts = {ref: kept_question(part) for ref, part in kept["by_ref"].items()}
    return keep(snapshot.client.state, snapshot.now, kept_question(kept["question"]), parts, known_as=known_as)


# --- candidates -----------------------------------------------------------------------------------------------------


def candidates(snapshot: Snapshot, question: Question, limit: int) -> Shortlist:
    """Return the candidates of both indexes, fused by reciprocal rank, and what is exact."""
    settings = snapshot.settings.retrieval
    most = max(limit, settings.candidates)
    nearest: list[int] = []
    if snapshot.vectors is not None and question.vector is not None:
        nearest = [number for number, _ in snapshot.vectors.search(question.vector, question.record_types, most)]
    lexical = snapshot.lexical.search(question.gist, question.record_types, most, nearest)
    best = fused([list(lexical)[:most], nearest], settings.rrf_k)[:most]
    among = snapshot.vocabulary.record_types if question.record_types is None else question.record_types
    return Shortlist(
        {number: lexical.get(number, 0.0) for number in best},
        snapshot.catalog.of_record_types(exact(snapshot, question), among),
        snapshot.catalog.of_record_types(matched(snapshot, question.text), among),
    )


def exact(snapshot: Snapshot, question: Question) -> set[int]:
    """Return what the query names, the failures that it has a line of the trigger of, or the same error."""
    catalog = snapshot.catalog
    text = question.text.strip()
    record_type, name = split_ref(text)
    types = [one for one in catalog.vocabulary.record_types if one not in FACTS]  # what happened is no answer
    named = catalog.lookup(record_type, name) if record_type in types else None
    found = {*catalog.anywhere(text, types), *([] if named is None else [named])}
    own = places(snapshot).shortened(question.text)  # what is recorded has no path of a machine
    lines = [*question.text.splitlines(), *(own.splitlines() if own != question.text else ())]
    return found | _same_lines(catalog, lines) | same_problems(catalog, question.problems)


def matched(snapshot: Snapshot, text: str) -> set[int]:
    """Return the failures whose own expression finds a text."""
    expressions = snapshot.catalog.expressions(text)
    if not expressions:
        return set()
    from graphmem.core.search.expressions import Matcher, blocks, pieces  # noqa: PLC0415 - 10 ms that few queries need

    matcher = Matcher(expressions, seconds=EXPRESSION_TIMEOUT_S)
    found = {number for block in blocks(pieces(text.encode().split(b"\n"))) for number, _ in matcher.find(block)}
    found |= {number for number, _ in matcher.end()}
    if matcher.slow:
        refs = ", ".join(sorted(snapshot.catalog.refs(list(matcher.slow)[:SHOWN_SLOW]).values()))
        snapshot.notify_once(f"match expressions left aside, too slow on this query: {len(matcher.slow):,} ({refs})")
    return found


def _same_lines(catalog: Catalog, lines: Sequence[str]) -> set[int]:
    """Return the failures of whose triggers one is among these lines."""
    heads = catalog.heads({number for line in lines for number in numbers(line)})
    if not heads:
        return set()
    from graphmem.core.search.expressions import lines_of  # noqa: PLC0415 - as above
    from graphmem.core.search.lines import LineFinder  # noqa: PLC0415 - 10 ms that few queries need

    finder = LineFinder(heads, catalog.begun_by)
    return {record for record, _, _ in finder.find(lines_of([line.encode() for line in lines]))}


def same_problems(catalog: Catalog, problems: Sequence[LogProblem]) -> set[int]:
    """Return the failures whose problem is one of these."""
    found = {number for problem in problems for number in catalog.with_errors(problem.keys, MOST_OF_ONE_SORT)}
    judged = ((number, judgement_of(one, problems)) for number, one in catalog.records(found).items())
    return {number for number, judgement in judged if judgement is not None and judgement.verdict == "same"}


# --- evidence and relevance -----------------------------------------------------------------------------------------


def _evidence_of(snapshot: Snapshot, question: Question, found: Shortlist) -> Evidences:
    """Return what speaks for each candidate, and for what helped on like occasions."""
    others = {*found.exact, *found.matched, *question.occasions.helpful} - found.lexical.keys()
    numbers = {**found.lexical, **dict.fromkeys(sorted(others), 0.0)}
    semantic = _similarities(snapshot, question, numbers)
    return {
        number: Evidence(
            semantic.get(number, 0.0), lexical, float(number in found.exact), float(number in found.matched)
        )
        for number, lexical in numbers.items()
    }


def _similarities(snapshot: Snapshot, question: Question, numbers: Collection[int]) -> dict[int, float]:
    """Return the cosines of records with the question, from 0 to 1; none for those without a vector."""
    if snapshot.vectors is None or question.vector is None:
        return {}
    cosines = snapshot.vectors.cosines_of(numbers, question.vector)
    return {number: min(1.0, max(0.0, cosine)) for number, cosine in cosines.items()}


def rerank(
    snapshot: Snapshot, question: Question, evidence: Evidences, calibration: Calibration
) -> tuple[Evidences, Relevances]:
    """Return evidence and relevances; the reranker, if any, reassigns those of the most relevant that are not exact."""
    relevances = {number: calibration.relevance(found) for number, found in evidence.items()}
    similar = {number: relevance for number, relevance in relevances.items() if not evidence[number].exact}
    if snapshot.client.reranker is None or not similar:
        return evidence, relevances
    most = best_of(similar, snapshot.settings.retrieval.rerank)
    records = snapshot.catalog.records(most)
    try:
        found = snapshot.client.reranker.scores(question.gist, [records[number].search_text for number in most])
    except Unavailable as error:
        snapshot.notify_once(error.message)
        return evidence, relevances
    scores = dict(zip(most, found, strict=True))
    scored = {number: replace(evidence[number], reranked=score) for number, score in scores.items()}
    return {**evidence, **scored}, {**relevances, **reassign(similar, scores)}


def _with_patterns(
    snapshot: Snapshot,
    question: Question,
    evidence: Evidences,
    relevances: Relevances,
    calibration: Calibration,
    limit: int,
) -> tuple[Evidences, Relevances]:
    """Return evidence and relevances with the patterns that solve a hit, through the hit's relevance."""
    hits = {**relevances, **_relevances_of_failures(snapshot, question, limit)}
    best = {number: hits[number] for number in best_of(hits, GRAPH_HITS)}
    strengths = graph_strengths(best, list(snapshot.catalog.steps(best, ["solves"], "in")))
    semantic = _similarities(snapshot, question, strengths.keys() - evidence.keys())
    solving = {
        number: replace(evidence.get(number, Evidence(semantic.get(number, 0.0))), graph=strength)
        for number, strength in strengths.items()
    }
    raised = {
        number: max(relevances[number] if number in relevances else calibration.relevance(found), found.graph)
        for number, found in solving.items()
    }
    return {**evidence, **solving}, {**relevances, **raised}


def _relevances_of_failures(snapshot: Snapshot, question: Question, limit: int) -> Relevances:
    """Return the relevances of the failures that patterns may solve, for a query that is among patterns only."""
    if question.record_types is None or "pattern" not in question.record_types or "failure" in question.record_types:
        return {}
    failures = replace(question, record_types=["failure"])
    evidence = _evidence_of(snapshot, failures, candidates(snapshot, failures, limit))
    calibration = Calibration.of(evidence.values(), snapshot.settings.retrieval.lexical_weight)
    return {number: calibration.relevance(found) for number, found in evidence.items()}


# --- order ----------------------------------------------------------------------------------------------------------


def rank(
    snapshot: Snapshot, question: Question, evidence: Evidences, relevances: Relevances, min_similarity: float | None
) -> list[Ranked]:
    """Return the candidates in order: by level, then by score; of equals pinned ones first."""
    now, numbers, profile = snapshot.now, set(evidence), question.profile
    if question.record_types is not None:
        numbers = snapshot.catalog.of_record_types(numbers, question.record_types)
    bounds = tier_bounds(snapshot.settings.retrieval)
    records = snapshot.catalog.rankable(numbers)
    reports = {} if profile.is_classic else reports_of(snapshot, question.occasions, records)
    placed: list[tuple[Place, int, ScoreFactors]] = []
    for number, record in records.items():
        found, relevance = evidence[number], relevances[number]
        similarity = found.semantic if snapshot.vectors is not None else relevance
        if relevance <= 0.0 or (min_similarity is not None and similarity < min_similarity) or not record.holds(now):
            continue
        factors = profile.factors(record, relevance, reports.get(number, NO_REPORTS), question.occasions.reuse, now)
        exact = 0.0 if record.is_finished and record.ref != question.text.strip() else found.exact
        score = prod(factors, start=relevance)
        place = profile.level(relevance, exact, bounds), -score, not record.is_pinned, record.ref
        placed.append((place, number, factors))
    placed.sort()
    scores = [(level, -score) for (level, score, *_), *_ in placed]
    gained = [
        places_gained(scores, [factors[which] for *_, factors in placed]) for which in range(len(ScoreFactors._fields))
    ]
    return [
        Ranked(place, number, relevances[number], evidence[number], factors, moved)
        for (place, number, factors), moved in zip(placed, zip(*gained, strict=True), strict=True)
    ]


def _least_doubted(
    snapshot: Snapshot, question: Question, ranked: Sequence[Ranked], limit: int, *, is_strict: bool
) -> tuple[list[Hit], list[str]]:
    """
    Return the first hits, and what is left out before these.

    One with marks of doubt gives way on its level. Only what comes up is read.

    Args:
        question: whose problems the failures are compared with.
        is_strict: leave out what has a mark.
    """
    doubter, hits, doubts = Doubter(snapshot), list[Hit](), dict[int, tuple[list[Cited], list[Doubt]]]()
    judgements: dict[int, Judged | None] = {}
    left_out: list[str] = []
    by_number = {found.number: found for found in ranked}
    records = snapshot.catalog.records([found.number for found in ranked[:limit]])
    heap = [(found.place, found.number) for found in ranked]  # sorted, so a heap already
    while heap and len(hits) < limit:
        (level, score, is_usual, ref), number = heappop(heap)
        if number not in records:
            records |= snapshot.catalog.records([number])
        is_compared = number in doubts
        if not is_compared:
            cites = doubter.tree.cites_of(records[number])
            judgements[number] = judgement = _judgement_on(snapshot, question, number, records, by_number)
            marks = against(judgement.verdict, judgement.reasons) if judgement else []
            doubts[number] = cites, [*marks, *doubter.of(records[number], cites)]
        found = doubts[number]
        factors = freshness(found[1]), 1.0 if question.profile.is_classic else doubt_factor(found[1])
        if is_strict and is_doubted(found[1]):
            left_out.append(ref)
            continue
        if factors != (1.0, 1.0) and not is_compared:
            heappush(heap, ((level, score * factors[0] * factors[1], is_usual, ref), number))
        else:
            made = _hit(snapshot, by_number[number], records[number], -score, *found, factors[1])
            if judgement := judgements[number]:
                made = made.model_copy(update={"verdict": judgement.verdict, "reasons": list(judgement.reasons)})
            hits.append(made)
    alike = {records[number].ref: fix for number, fix in variant_fixes(snapshot.catalog, records).items()}
    return [
        one.model_copy(
            update={
                "variant_fix": alike.get(one.ref),
                "holds": doubter.conditions_met(one.record, one.cites),
            }
        )
        for one in hits
    ], left_out


def _judgement_on(
    snapshot: Snapshot, question: Question, number: int, records: dict[int, Record], ranked: Mapping[int, Ranked]
) -> Judged | None:
    """
    Return the verdict on a record, and why; None where nothing was compared.

    What a failure lifts, since it solves it, has the verdict of the failure: it would answer another question, too.
    """
    if ranked[number].evidence.graph:
        solved = [step.far for step in snapshot.catalog.steps([number], ["solves"], "out") if step.far in ranked]
        if solved:
            number = min(solved, key=lambda one: ranked[one].place)
            if number not in records:
                records |= snapshot.catalog.records([number])
    judgement = judgement_of(records[number], question.problems)
    if judgement is None or judgement.problem is None:
        return None
    return Judged("same") if ranked[number].evidence.exact else judgement


def against(verdict: Verdict, reasons: Sequence[str]) -> list[Doubt]:
    """Return the mark of what is about another problem, or about other names than are asked for."""
    said = {"other": "another problem", "same_rule": "may not apply"}.get(verdict)
    return [Doubt(sign="other_error", text=": ".join([said, *reasons[:1]]))] if said else []


def judgement_of(record: Record, problems: Sequence[LogProblem]) -> Judged | None:
    """Return whether problems are those of a failure, of its triggers the nearest one; None of another record."""
    if not isinstance(record, Failure):
        return None
    found = (judged(statement(trigger), problems, record.holds_for) for trigger in record.texts("trigger"))
    return min(found, key=lambda one: ORDER.index(one.verdict), default=None)


def _hit(
    snapshot: Snapshot,
    found: Ranked,
    record: Record,
    score: float,
    cites: list[Cited],
    doubts: list[Doubt],
    doubt: float,
) -> Hit:
    """Return a ranked candidate as answers show it."""
    settings, evidence = snapshot.settings.retrieval, found.evidence
    similarity = evidence.semantic if snapshot.vectors is not None else found.relevance
    bounds = tier_bounds(settings)
    factors = Factors(
        semantic=evidence.semantic,
        lexical=evidence.lexical,
        exact=evidence.exact,
        expression=evidence.expression,
        graph=evidence.graph,
        reranked=evidence.reranked,
        **found.factors._asdict(),
        freshness=freshness(doubts),
        doubt=doubt,
        moved=dict(zip(ScoreFactors._fields, found.moved, strict=True)),
    )
    return Hit(
        ref=record.ref,
        score=score,
        relevance=found.relevance,
        similarity=similarity,
        tier=tier(similarity, **bounds),
        band=band(found.relevance, evidence.exact, **bounds),
        factors=factors,
        record=record,
        fixes=fixes(record),
        cites=cites,
        doubts=doubts,
    )


def tier_bounds(settings: Retrieval) -> dict[str, float]:
    """Return where the tiers and bands begin, as the settings have it."""
    return {"critical": settings.critical, "productive": settings.productive, "exploration": settings.exploration}
