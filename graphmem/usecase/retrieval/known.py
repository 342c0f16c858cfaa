"""Whether a query found what it asks for: what tells that of its first result (docs/concepts/retrieval.md)."""

from collections.abc import Mapping, Sequence

from graphmem.catalog.words import query_terms
from graphmem.contract.query import Hit, Known
from graphmem.names import split_ref
from graphmem.rules.known import BY_MEANING, BY_WORDS, Signs, lead, overlap, probability, state
from graphmem.rules.relevance import Evidence
from graphmem.runtime import Snapshot


def known_of(
    snapshot: Snapshot,
    text: str,
    hits: Sequence[Hit],
    evidence: Mapping[int, Evidence],
    relevances: Mapping[int, float],
) -> tuple[Known, float]:
    """
    Return whether what a text asks for is known, and how likely the first result is relevant.

    Args:
        text: what is searched for: the query, or of a log its telling lines.
        hits: the results; the first one is judged.
        evidence, relevances: of all candidates, however many of them are shown.
    """
    if not hits:
        return "false", 0.0
    settings, record = snapshot.settings.retrieval, hits[0].record
    if text.strip().removeprefix(f"{record.record_type}/") in (record.name, record.key, *record.other_names):
        return "true", 1.0
    signs = signs_of(snapshot, text, record.ref, evidence, relevances)
    likely = probability(signs, BY_WORDS if snapshot.vectors is None else BY_MEANING)
    return state(likely, known=settings.known, unsure=settings.unsure), likely


def signs_of(
    snapshot: Snapshot, text: str, ref: str, evidence: Mapping[int, Evidence], relevances: Mapping[int, float]
) -> Signs:
    """Return what tells whether a record is relevant; of a pattern that solves a better candidate, of that one."""
    number = snapshot.catalog.lookup(*split_ref(ref))
    assert number is not None  # it was just found
    others = {other: relevances[other] for other, found in evidence.items() if not found.graph and other != number}
    nearest = max(others, key=lambda other: (others[other], -other), default=number)
    if evidence[number].graph and others.get(nearest, 0.0) >= relevances[number]:
        number = nearest
        del others[nearest]
    found = evidence[number]
    return Signs(
        semantic=max(found.semantic, found.graph),
        lead=lead(relevances[number], others.values()),
        overlap=overlap(query_terms(snapshot.catalog.records([number])[number].search_text), query_terms(text)),
        lexical=found.lexical,
        exact=max(found.exact, found.expression),
    )
