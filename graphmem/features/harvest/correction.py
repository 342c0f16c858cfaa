"""Corrections: a sentence in which a person tells an agent what to do instead, as a rule that may hold for all."""

from graphmem.kernel.model.candidate import Candidate, Occasion, candidate_id
from graphmem.kernel.model.transcript import Message, TranscriptEvent
from graphmem.patterns import lazy_re

MOST = 240  # characters of a sentence that is a rule
WORTH = 0.4
# A rule names what to do, and says that it holds beyond this moment: a plain wish for the next step does neither.
RULE = lazy_re(
    r"(?i)^(?:no[,.:!]? |nope[,.!]? |wait[,.!]? |please |actually,? |and |but |also |remember:? )*"
    r"(?:(?:do not|don't|dont) (?:ever )?(?:use|add|write|call|import|edit|change|touch|create|mock|skip|put) .{6,}"
    r"|(?:never|always) (?!mind)\w+ .{6,}|we (?:always|never) .{8,}"
    r"|use \S+(?: \S+){0,3} (?:instead of|rather than|, not) .{2,}|use \S+ instead\b.{0,}|\S+ (?:should|must)"
    r" (?:always|never) .{8,})"
)
PASSING = lazy_re(
    r"(?i)\b(?:yet|right now|for now|this time|now|just|anything|everything|commit|push|let's|lets|again|here|that|it"
    r"|this (?:one|file|line))\b|\?\s*$"
)
ENDS = lazy_re(r"(?<=[.!?])\s+|\n+")


def correction_of(event: TranscriptEvent, *, source: str, session: str, is_after_act: bool) -> Candidate | None:
    """
    Return the rule that a person's own sentence states, as the candidate of a constraint; None for any other event.

    Args:
        is_after_act: the agent has done something in this session that it can correct.
    """
    if not (is_after_act and isinstance(event, Message) and event.by == "person"):
        return None
    rule = rule_in(event.text)
    evidence = Occasion(source=source, at=event.at, session=session)
    return stated(rule, f"{source}:{session}#{event.number}", evidence, session) if rule else None


def rule_in(text: str) -> str:
    """Return the first sentence of a text that is a rule beyond this moment; empty without one."""
    sentences = (" ".join(sentence.split()) for sentence in ENDS.split(text[:2_000]))
    return next((one for one in sentences if len(one) <= MOST and RULE.match(one) and not PASSING.search(one)), "")


def stated(rule: str, origin: str, evidence: Occasion, session: str) -> Candidate:
    """Return the candidate that a rule is which a person stated in a session or a review."""
    return Candidate(
        id=candidate_id(f"constraint {rule.casefold()}"),
        base=WORTH,
        other=({"kind": "constraint", "constraint": rule, "sources": [origin]},),
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(session,),
    )
