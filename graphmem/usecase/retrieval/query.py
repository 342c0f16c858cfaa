"""Find: by reference, by list, by relevance (docs/concepts/retrieval.md)."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any

from graphmem.catalog.catalog import Catalog
from graphmem.catalog.usage import accesses
from graphmem.config import Retrieval
from graphmem.constants import EXPRESSION_TIMEOUT_S, GRAPH_HITS, MOST_RESULTS, SHOWN_SLOW
from graphmem.contract.query import Factors, Found, Hit, QueryRequest
from graphmem.contract.records import GetRequest, Got, Listed, Listing, ListRequest
from graphmem.contract.relations import Edge
from graphmem.errors import BadInput, Unavailable, Usage
from graphmem.model import Constraint, Failure, MemoryRecord, Pattern, Record
from graphmem.model.field import parse_time
from graphmem.model.vocabulary import Vocabulary
from graphmem.names import split_ref
from graphmem.rules.fixes import fixes
from graphmem.rules.line import numbers
from graphmem.rules.log_excerpt import telling
from graphmem.rules.merge import FACTS
from graphmem.rules.relevance import Calibration, Evidence, reassign
from graphmem.rules.score import BANDS, age_decay, band, cost_factor, help_ratio, tier
from graphmem.rules.signature import Error, errors
from graphmem.rules.suggest import did_you_mean
from graphmem.runtime import Client, Snapshot
from graphmem.usecase.records.citations import CiteChecker, freshness
from graphmem.usecase.retrieval.traversal import refuse_unknown_filters


def get(client: Client, request: GetRequest) -> Got:
    """Return a record with its edges."""
    with client.reading() as snapshot:
        number = snapshot.resolve(request.ref)
        record = snapshot.catalog.records([number])[number]
        steps = list(snapshot.catalog.steps([number], None, "both"))
        names = snapshot.catalog.refs({step.far for step in steps} | {number})
        notes = snapshot.catalog.notes(
            {(s.near, s.type, s.far) if s.is_out else (s.far, s.type, s.near) for s in steps}
        )
        edges = []
        for step in steps:
            src, dst = (step.near, step.far) if step.is_out else (step.far, step.near)
            note = notes.get((src, step.type, dst))
            edges.append(Edge(source=names[src], type=step.type, target=names[dst], weight=step.weight, note=note))
        edges.sort(key=lambda edge: (edge.type, edge.source, edge.target))
        count, last = accesses(snapshot.layout.usage, [record.key_ref]).get(record.key_ref, (0, None))
        return Got(ref=record.ref, record=record, relations=edges, access_count=count, last_accessed=last,
                   fixes=fixes(record), cites=CiteChecker(snapshot).cites_of(record))  # fmt: skip


def listing(client: Client, request: ListRequest) -> Listing:
    """Return the live records of a kind or entity type (or the archived ones), by name or another field."""
    tags, sort, limit = request.tags, request.sort, request.limit
    with client.reading() as snapshot:
        record_types = record_types_of(snapshot.vocabulary, request.kind)
        ids = snapshot.catalog.listed(record_types, is_live=not request.archived)
        if not tags and sort is None:
            records = snapshot.catalog.records(ids[:limit])
            found = [records[number] for number in ids[:limit]]
            return Listing(results=[Listed(ref=record.ref, record=record) for record in found], total=len(ids))
        records = snapshot.catalog.records(ids)
        found = [records[number] for number in ids if set(tags) <= set(getattr(records[number], "tags", ()))]
        total = len(found)
        if sort is not None:
            found = sorted_by(found, sort)
        return Listing(results=[Listed(ref=record.ref, record=record) for record in found[:limit]], total=total)


def record_types_of(vocabulary: Vocabulary, kind: str | None) -> list[str]:
    """Return the record types that a filter names: one, all entity types for ``entity``, or all but what happened."""
    if kind is None:
        return [record_type for record_type in vocabulary.record_types if record_type not in FACTS]
    if kind == "entity":
        return sorted(vocabulary.entities)
    if kind not in vocabulary.record_types:
        known = [*vocabulary.record_types, "entity"]
        raise Usage(
            f"{kind!r} is not a kind or entity type", hint=did_you_mean(kind, known) or f"known: {', '.join(known)}"
        )
    return [kind]


def sorted_by(records: list[Record], field: str) -> list[Record]:
    """Sort records by a field, those without a value last; ``-field`` sorts the other way."""
    name, is_reverse = field.removeprefix("-"), field.startswith("-")
    known = {found for record in records for found in (*type(record).model_fields, *type(record).model_computed_fields)}
    if records and name not in known:
        raise Usage(
            f"no field {name!r} to sort by", hint=did_you_mean(name, known) or f"known: {', '.join(sorted(known))}"
        )
    with_value = [record for record in records if getattr(record, name, None) is not None]
    without = [record for record in records if getattr(record, name, None) is None]
    try:
        return sorted(with_value, key=lambda record: getattr(record, name), reverse=is_reverse) + without
    except TypeError:
        raise Usage(f"field {name!r} has values of several kinds, nothing to sort by") from None


@dataclass
class Request:
    """A query, the record types it looks among, and the evidence gathered for its candidates."""

    text: str
    gist: str  # the text; of a log the lines that tell
    record_types: list[str] | None
    vector: Any  # of the gist; None without a model
    found: dict[int, Evidence] = field(default_factory=dict)
    yardstick: Calibration = field(default_factory=lambda: Calibration.of(()))
    reranked: dict[int, float] = field(default_factory=dict)  # the relevances that a reranker has handed out

    def of(self, number: int) -> Evidence:
        return self.found.setdefault(number, Evidence())

    def relevance(self, number: int) -> float:
        evidence = self.found[number]
        return max(self.reranked.get(number, self.yardstick.relevance(evidence)), evidence.graph)


def query(client: Client, request: QueryRequest) -> Found:
    """Return the records that a text is about, best first (docs/concepts/retrieval.md, "Relevance")."""
    text, kinds, limit = request.text, request.kinds, min(request.limit, MOST_RESULTS)
    if not text.strip():
        raise BadInput("the query is empty", hint='say what you look for: graphmem query "ImportError: no module"')
    client.sync()
    vocabulary = client.catalog.vocabulary
    refuse_unknown_filters(vocabulary, None, [kind for kind in kinds or () if kind != "entity"])
    record_types = (
        sorted({record_type for kind in kinds for record_type in record_types_of(vocabulary, kind)}) if kinds else None
    )
    client.catch_up(client.lexical)
    gist = telling(text)
    if client.vectors is not None:
        most = max(limit, client.settings.retrieval.candidates)
        near = client.lexical.search(gist, record_types, most) if client.vectors.is_behind else ()
        client.embed_missing(near)
    with client.reading(client.clues, client.lexical) as snapshot:
        embedder = snapshot.embedder if snapshot.vectors is not None else None
        asked = Request(text, gist, record_types, embedder.encode_query(gist) if embedder else None)
        gather(snapshot, asked, limit)
        rerank(snapshot, asked)
        gather_graph(snapshot, asked, limit)
        now = client.now()
        ranked = [
            (place, hit)
            for place, hit in rank(snapshot, asked, request.min_similarity)
            if not isinstance(hit.record, Constraint) or hit.record.holds(now)
        ]
        hits = freshest(snapshot, ranked, limit)
    search = "semantic+lexical" if embedder else "lexical"
    reranker = client.reranker.name if client.reranker and asked.reranked else None
    return Found.model_validate({"query": text, "results": hits, "search": search, "reranker": reranker})


def gather(snapshot: Snapshot, asked: Request, limit: int) -> None:
    """Take the candidates of both indexes, fused by reciprocal rank, and what is exact, with the evidence for each."""
    settings = snapshot.settings.retrieval
    most = max(limit, settings.candidates)
    nearest: list[int] = []
    if snapshot.vectors is not None:
        nearest = [number for number, _ in snapshot.vectors.search(asked.vector, asked.record_types, most)]
    lexical = snapshot.lexical.search(asked.gist, asked.record_types, most, nearest)
    fused: dict[int, float] = {}
    for ranking in (list(lexical)[:most], nearest):
        for place, number in enumerate(ranking, 1):
            fused[number] = fused.get(number, 0.0) + 1 / (settings.rrf_k + place)
    for number in sorted(fused, key=lambda found: -fused[found])[:most]:
        asked.of(number).lexical = lexical.get(number, 0.0)
    gather_exact(snapshot, asked)
    compare_vectors(snapshot, asked)
    asked.yardstick = Calibration.of(asked.found.values(), settings.lexical_weight)


def compare_vectors(snapshot: Snapshot, asked: Request) -> None:
    """Give the candidates that have none yet their semantic evidence."""
    if snapshot.vectors is not None:
        unknown = [number for number, evidence in asked.found.items() if evidence.semantic == 0.0]
        for number, row in snapshot.vectors.of(unknown):
            asked.found[number].semantic = min(1.0, max(0.0, float(row @ asked.vector)))


def gather_exact(snapshot: Snapshot, asked: Request) -> None:
    """Mark what the query names, and the failures whose own expression finds it or that tell of the same error."""
    catalog = snapshot.catalog
    text = asked.text.strip()
    record_type, name = split_ref(text)
    named = catalog.lookup(record_type, name) if record_type in catalog.vocabulary.record_types else None
    numbers = {*catalog.anywhere(text), *([] if named is None else [named])}
    lines = asked.text.splitlines()
    numbers |= {*same_lines(catalog, lines), *matched(snapshot, asked.text), *same_errors(catalog, errors(lines))}
    live = catalog.of_record_types(
        numbers, asked.record_types if asked.record_types is not None else catalog.vocabulary.record_types
    )
    for number in live:
        asked.of(number).exact = 1.0


def matched(snapshot: Snapshot, text: str) -> set[int]:
    """Return the failures whose own expression finds a text."""
    expressions = snapshot.catalog.expressions(text)
    if not expressions:
        return set()
    from graphmem.usecase.retrieval.expressions import Matcher, blocks, lines_of  # noqa: PLC0415 - 10 ms that few queries need

    matcher = Matcher(expressions, seconds=EXPRESSION_TIMEOUT_S)
    found = {number for block in blocks(lines_of(text.encode().split(b"\n"))) for number, _ in matcher.find(block)}
    if matcher.slow:
        refs = ", ".join(sorted(snapshot.catalog.refs(list(matcher.slow)[:SHOWN_SLOW]).values()))
        snapshot.notify_once(f"match expressions left aside, too slow on this query: {len(matcher.slow):,} ({refs})")
    return found


def same_lines(catalog: Catalog, lines: Sequence[str]) -> set[int]:
    """Return the failures of whose triggers one stands among these lines."""
    heads = catalog.heads({number for line in lines for number in numbers(line)})
    if not heads:
        return set()
    from graphmem.usecase.retrieval.expressions import lines_of  # noqa: PLC0415 - as above
    from graphmem.usecase.retrieval.lines import LineFinder  # noqa: PLC0415 - 10 ms that few queries need

    finder = LineFinder(heads, catalog.begun_by)
    return {record for record, _, _ in finder.find(lines_of(line.encode() for line in lines))}


def same_errors(catalog: Catalog, found: Iterable[Error]) -> set[int]:
    """Return the failures that tell of one of these errors, by its signature."""
    return {number for error in found for number in catalog.with_errors(error.exact_keys)}


def rerank(snapshot: Snapshot, asked: Request) -> None:
    """Let the reranker, if there is one, hand out the relevances of the most relevant that are not exact."""
    relevances = {number: asked.relevance(number) for number, evidence in asked.found.items() if not evidence.exact}
    if snapshot.reranker is None or not relevances:
        return
    most = sorted(relevances, key=lambda number: (-relevances[number], number))[: snapshot.settings.retrieval.rerank]
    records = snapshot.catalog.records(most)
    try:
        found = snapshot.reranker.scores(asked.gist, [records[number].search_text for number in most])
    except Unavailable as error:
        snapshot.notify_once(error.message)
        return
    scores = dict(zip(most, found, strict=True))
    for number, score in scores.items():
        asked.found[number].reranked = score
    asked.reranked = reassign(relevances, scores)


def gather_graph(snapshot: Snapshot, asked: Request, limit: int) -> None:
    """Let in the patterns that solve a hit: the hit's relevance times the weight, never more than the hit's own."""
    hits = {number: asked.relevance(number) for number in asked.found}
    if asked.record_types is not None and "pattern" in asked.record_types and "failure" not in asked.record_types:
        failures = Request(asked.text, asked.gist, ["failure"], asked.vector)
        gather(snapshot, failures, limit)
        hits |= {number: failures.relevance(number) for number in failures.found}
    best = dict(sorted(hits.items(), key=lambda hit: (-hit[1], hit[0]))[:GRAPH_HITS])
    for step in list(snapshot.catalog.steps(best, ["solves"], "in")):
        evidence = asked.of(step.far)
        evidence.graph = max(evidence.graph, best[step.near] * min(1.0, step.weight))


Place = tuple[int, float, str]  # the lower the better: the band of a hit, its negative score, and its reference


def rank(snapshot: Snapshot, asked: Request, min_similarity: float | None) -> list[tuple[Place, Hit]]:
    """Return the candidates as hits: by band, then by score."""
    catalog, now = snapshot.catalog, snapshot.now
    if asked.record_types is not None:
        kept = catalog.of_record_types(asked.found, asked.record_types)
        asked.found = {number: evidence for number, evidence in asked.found.items() if number in kept}
    records = catalog.records(asked.found)
    compare_vectors(snapshot, asked)
    last_helped = catalog.reports(asked.found)
    bounds = tier_bounds(snapshot.settings.retrieval)
    hits: list[tuple[Place, Hit]] = []
    for number, record in records.items():
        evidence = asked.found[number]
        relevance = asked.relevance(number)
        similarity = evidence.semantic if snapshot.vectors is not None else relevance
        if record.is_archived or relevance <= 0.0 or (min_similarity is not None and similarity < min_similarity):
            continue
        factors = factors_of(record, evidence, last_helped.get(number, (0, 0, None))[2], now, snapshot)
        score = relevance * factors.cost * factors.help_ratio * factors.age_decay
        level = band(relevance, evidence.exact, **bounds)
        hit = Hit(ref=record.ref, score=score, relevance=relevance, similarity=similarity,
                  tier=tier(similarity, **bounds), band=level, factors=factors, record=record,
                  fixes=fixes(record))  # fmt: skip
        hits.append(((BANDS.index(level), -score, record.ref), hit))
    return sorted(hits, key=itemgetter(0))


def freshest(snapshot: Snapshot, ranked: list[tuple[Place, Hit]], limit: int) -> list[Hit]:
    """Return the first hits; one whose cited code changed gives way inside its band. Only what comes up is compared."""
    tree, found = CiteChecker(snapshot), list[Hit]()
    heap = [(place, False, hit) for place, hit in ranked]  # sorted, so a heap already
    while heap and len(found) < limit:
        (level, score, ref), is_compared, hit = heappop(heap)
        cites = hit.cites if is_compared else tree.cites_of(hit.record)
        if (factor := freshness(cites)) < 1.0 and not is_compared:
            factors = hit.factors.model_copy(update={"freshness": factor})
            hit = hit.model_copy(update={"score": hit.score * factor, "factors": factors, "cites": cites})
            heappush(heap, ((level, score * factor, ref), True, hit))
        else:
            found.append(hit.model_copy(update={"cites": cites}) if cites else hit)
    return found


def tier_bounds(settings: Retrieval) -> dict[str, float]:
    """Return where the tiers and bands begin, as the settings have it."""
    return {"critical": settings.critical, "productive": settings.productive, "exploration": settings.exploration}


def factors_of(
    record: Record, evidence: Evidence, last_helped: str | None, now: datetime, snapshot: Snapshot
) -> Factors:
    """Return what a record's score is made of."""
    last = max(record.updated_at, parse_time(last_helped)) if last_helped else record.updated_at
    cost = record.cost if isinstance(record, Failure) else record.saved if isinstance(record, Pattern) else None
    counts = (record.helped, record.failed) if isinstance(record, MemoryRecord) else (0, 0)
    return Factors(
        semantic=evidence.semantic,
        lexical=evidence.lexical,
        exact=evidence.exact,
        graph=evidence.graph,
        reranked=evidence.reranked,
        cost=cost_factor(cost),
        help_ratio=help_ratio(*counts),
        age_decay=age_decay(last, now, snapshot.settings.retrieval.half_life_days),
    )
