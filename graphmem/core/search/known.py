"""Whether a query found what it asks for: what tells that of its first result (docs/concepts/retrieval.md)."""

from collections.abc import Collection, Mapping, Sequence
from heapq import nlargest

from graphmem.constants import DEFAULT_MODEL, EXACT_RELEVANCE, OTHER_WORD, RIVALS, SAME_QUESTION
from graphmem.core.logs.diagnosis import statement
from graphmem.core.logs.log_excerpt import telling
from graphmem.core.logs.problem import LogProblem
from graphmem.core.search.codes import SaidCode, plain_words, printed_codes
from graphmem.core.search.known_rules import (
    BY_MEANING,
    BY_WORDS,
    Fitted,
    Likely,
    Signs,
    certainty,
    described,
    judged,
    lead,
    overlap,
    probability,
)
from graphmem.core.search.occasion_rules import NO_REPORTS, Reports
from graphmem.core.search.occasions import Occasions
from graphmem.core.search.query_contract import Certainty, Found, Hit
from graphmem.core.search.relevance import Evidence
from graphmem.core.search.sameness import Comparison, compared, is_message
from graphmem.kernel.catalog.words import query_terms
from graphmem.kernel.model import Failure, Pattern, Record
from graphmem.kernel.model.record import Triggered
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import split_ref


def known_of(
    snapshot: Snapshot,
    text: str,
    hits: Sequence[Hit],
    evidence: Mapping[int, Evidence],
    relevances: Mapping[int, float],
    occasions: Occasions,
    *,
    tells_problem: bool,
) -> tuple[Certainty, float]:
    """
    Return how certain it is that the first result answers a text, and how likely.

    Args:
        text: what is searched for: the query, or of a log its telling lines.
        hits: the results; the first one is judged.
        evidence, relevances: of all candidates, however many of them are shown.
        occasions: what was reported when something like the text was asked.
        tells_problem: the text holds a message; else it may describe what happens, and symptoms are asked.
    """
    if not hits:
        return "none", 0.0
    settings, record = snapshot.settings.retrieval, hits[0].record
    if text.strip().removeprefix(f"{record.record_type}/") in (record.name, record.key, *record.other_names):
        return "high", 1.0
    number = snapshot.catalog.lookup(*split_ref(record.ref))
    assert number is not None  # it was just found
    signs, sides = _signs_of(snapshot, text, number, record, evidence, relevances)
    likely = judged(signs.values, sides, _fitted(snapshot))
    if not tells_problem:
        by_symptom = _likely_described(snapshot, text, number, evidence)
        if by_symptom >= settings.known:  # below that it says nothing of what is related
            likely = Likely(likely.related, max(likely.same, by_symptom))
    if hits[0].verdict in ("other", "same_rule"):
        likely = Likely(likely.related, min(likely.same, OTHER_WORD))
    elif (
        evidence[number].exact
        or hits[0].verdict == "same"
        or _has_answered(occasions.reports.get(number, NO_REPORTS))
        or _has_code(snapshot, text, number, evidence)
    ):
        likely = Likely(likely.related, max(likely.same, EXACT_RELEVANCE))
    return certainty(likely, known=settings.known, unsure=settings.unsure), likely.same


def _fitted(snapshot: Snapshot) -> Fitted:
    """Return the weights for the default model; for another one, whose cosines were not measured, those of words."""
    model = snapshot.client.embedder
    return BY_MEANING if model is not None and model.name == DEFAULT_MODEL else BY_WORDS


def _has_answered(reports: Reports) -> bool:
    """Return whether a record helped with the very same question, more than it failed with like ones."""
    return reports.nearest >= SAME_QUESTION and reports.helped > reports.failed


def _signs_of(
    snapshot: Snapshot,
    text: str,
    number: int,
    record: Record,
    evidence: Mapping[int, Evidence],
    relevances: Mapping[int, float],
) -> tuple[Signs, Comparison | None]:
    """
    Return what tells whether a record is relevant; of a pattern that solves a better candidate, of that one.

    The comparison is of its message with the text, and None of a record without one.
    """
    others = {other: relevances[other] for other, found in evidence.items() if not found.graph and other != number}
    nearest = max(others, key=lambda other: (others[other], -other), default=number)
    if evidence[number].graph and others.get(nearest, 0.0) >= relevances[number]:
        number, record = nearest, snapshot.catalog.records([nearest])[nearest]
        del others[nearest]
    found = evidence[number]
    signs = Signs(
        semantic=max(found.semantic, found.graph),
        lead=lead(relevances[number], others.values()),
        overlap=overlap(query_terms(record.search_text), query_terms(text)),
        lexical=found.lexical,
        exact=max(found.exact, found.expression),
    )
    return signs, sides_of(text, record)


def _has_code(snapshot: Snapshot, text: str, number: int, evidence: Collection[int]) -> bool:
    """
    Return whether a text has a code that of all candidates only this record's message has, or that of what it solves.

    Where names tell what is the same problem, as of a missing module, one of them must be in the text too.
    """
    if not (asked := printed_codes(text)):
        return False
    kin, words = {number, *_kin_of(snapshot, number)}, plain_words(text)
    records = snapshot.catalog.records({*evidence, *kin})
    others = [plain_words(one.search_text) for other, one in records.items() if other not in kin]
    rare = [code for code in asked if not any(map(code.is_in, others))]
    told = (one for own in kin & records.keys() for said in messages_of(records[own]) for one in statement(said))
    return any(_is_told(one, code, words) for one in told for code in rare if code.is_in(plain_words(one.text)))


def _is_told(problem: LogProblem, code: SaidCode, words: str) -> bool:
    """Return whether the words of a text that has the code of a problem are about this one, not another of its code."""
    if problem.by == "names" and (code.is_number or not problem.tool):
        return any(f" {plain_words(piece.text)} " in f" {words} " for piece in problem.said.pieces if piece.is_name)
    return problem.by != "frame"


def _kin_of(snapshot: Snapshot, number: int) -> set[int]:
    """Return what a record solves and what solves it."""
    return {step.far for way in ("in", "out") for step in snapshot.catalog.steps([number], ["solves"], way)}


def _likely_described(snapshot: Snapshot, text: str, number: int, evidence: Mapping[int, Evidence]) -> float:
    """
    Return how likely a text describes a failure and what solves it, by its symptoms; 0 where it has none.

    The trigger of a pattern is a symptom of the failures that it solves.
    """
    if _fitted(snapshot) is not BY_MEANING:
        return 0.0
    kin = _kin_of(snapshot, number)
    records = snapshot.catalog.records({number, *kin})
    symptoms = {other: record.symptom for other, record in records.items() if isinstance(record, Failure)}
    symptoms |= {other: record.trigger for other, record in records.items() if isinstance(record, Pattern) and kin}
    said = {other: symptom for other, symptom in symptoms.items() if symptom and other in evidence}
    if not said:
        return 0.0
    nearest = max(evidence[other].semantic for other in said)
    others = max((found.semantic for other, found in evidence.items() if other not in records), default=0.0)
    return described(nearest, nearest - others, max(snapshot.lexical.held(symptom, text) for symptom in said.values()))


def sides_of(text: str, record: Record) -> Comparison | None:
    """Return how a text and a record's message compare, of several the nearest; None of a record without one."""
    found = (compared(text, message, record.search_text) for message in messages_of(record))
    return max(found, key=lambda sides: sum(sides.values), default=None)


def messages_of(record: Record) -> list[str]:
    """Return the messages of the errors that a failure or pattern is about."""
    if not isinstance(record, Triggered):
        return []
    triggers = (record.trigger, *(other.text for other in record.alternates if other.field == "trigger"))
    return [trigger for trigger in triggers if is_message(trigger)]


def probabilities(snapshot: Snapshot, found: Found, hits: Collection[Hit]) -> dict[str, float]:
    """
    Return how likely each of some results is related, by the signs that the first one is judged by.

    The weights are fitted to first results. Of later ones, which have less of a lead, fewer are relevant than this
    says; below `unsure` hardly any is (docs/benchmarks/relevance.md, "A context block").
    """
    weights = _fitted(snapshot).related
    asked = set(query_terms(telling(found.query)))
    nearest = nlargest(
        RIVALS + 1, (hit for hit in found.results if not hit.factors.graph), key=lambda hit: hit.relevance
    )
    likely = {}
    for hit in hits:
        factors = hit.factors
        others = [other.relevance for other in nearest if other is not hit]
        signs = Signs(
            semantic=max(factors.semantic, factors.graph),
            lead=lead(hit.relevance, others),
            overlap=overlap(query_terms(hit.record.search_text), asked),
            lexical=factors.lexical,
            exact=max(factors.exact, factors.expression),
        )
        likely[hit.ref] = probability(signs.values, weights)
    return likely
