"""What a run teaches: the findings of its reviews, as lessons that were seen (docs/concepts/learning.md)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from graphmem.constants import KEYWORD_OVERLAP
from graphmem.kernel.model import Lesson
from graphmem.patterns import lazy_re

WORD = lazy_re(r"[^\W_]+(?:[-_.'’][^\W_]+)*")
STOP_WORDS = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but by"
    " can could did do does doing down during each few for from further had has have having he her here hers him his"
    " how i if in into is it its itself just me more most my no nor not now of off on once only or other our out over"
    " own same she should so some such than that the their them then there these they this those through to too under"
    " until up very was we were what when where which while who whom why will with would you your".split()
)
OTHER_TYPES = ("preference", "anti_pattern")  # of a lesson, which a finding may name
SEVERITIES = ("bug", "warning", "info", "recommendation")
OTHER_WORDS = {"critical": "bug", "error": "bug", "warn": "warning"}  # for a severity
TEXTS = ("description", "message", "text", "finding", "issue", "title")  # where a finding says what it found
VERDICT = "review.verdict"


@dataclass(frozen=True, order=True)
class RunFinding:
    """What a review found."""

    text: str
    severity: str = "info"
    domain: str = "general"
    source: str = ""
    tags: tuple[str, ...] = ()
    type: str = "pattern"
    archetype: str = ""  # of a hint: for whom it is

    @property
    def makes_lesson(self) -> bool:
        """Return whether it is bad enough to be learned from."""
        return self.severity in ("bug", "warning")


@lru_cache(4096)  # each finding is compared with each lesson
def keywords(text: str) -> frozenset[str]:
    """Return the words of a text in lower case, without punctuation and stop words."""
    return frozenset(word for word in WORD.findall(text.lower()) if word not in STOP_WORDS)


def overlap(finding: str, lesson: Lesson) -> float:
    """Return the share of a finding's keywords that a lesson's description and tags hold; 0 where it has none."""
    found = keywords(finding)
    return len(found & keywords(" ".join([lesson.description, *lesson.tags]))) / len(found) if found else 0.0


def is_seen(share: float) -> bool:
    """Return whether a finding is a lesson, by the share of its keywords."""
    return share >= KEYWORD_OVERLAP


def findings(events: Iterable[Mapping[str, Any]]) -> list[RunFinding]:
    """Return the findings of every review verdict among events, each once, in an order of their own."""
    return sorted({found for event in events if is_verdict(event) for found in findings_of(event)})


def is_verdict(event: Mapping[str, Any]) -> bool:
    """Return whether an event is the verdict of a review, in graphmem's rows or in another tool's."""
    return VERDICT in (event.get("type"), event.get("kind"), event.get("event"))


def findings_of(event: Mapping[str, Any]) -> Iterator[RunFinding]:
    """Yield what one verdict found."""
    data = event.get("data") if isinstance(event.get("data"), dict) else event
    assert isinstance(data, Mapping)
    given = data.get("findings")
    for found in given if isinstance(given, list) else ():
        fields = {"description": found} if isinstance(found, str) else found
        if not isinstance(fields, dict):
            continue
        text = next((fields[name] for name in TEXTS if isinstance(fields.get(name), str)), "").strip()
        if text:
            tags = fields["tags"] if isinstance(fields.get("tags"), list) else []
            severity = _word_of(fields, "severity", data, event).lower()
            severity = OTHER_WORDS.get(severity, severity)
            reviewer = _word_of(data, "archetype", event)
            sort = _word_of(fields, "type") or ("archetype_hint" if _word_of(fields, "archetype") else "pattern")
            hint_for = (_word_of(fields, "archetype") or reviewer) if sort == "archetype_hint" else ""
            yield RunFinding(
                text=text,
                severity=severity if severity in SEVERITIES else "info",
                domain=_word_of(fields, "domain", data, event) or "general",
                source=_word_of(fields, "source", data, event) or _word_of(fields, "reviewer", data, event) or reviewer,
                tags=tuple(sorted({tag for tag in tags if isinstance(tag, str)})),
                type=sort if hint_for or sort in OTHER_TYPES else "pattern",
                archetype=hint_for,
            )


def _word_of(fields: Mapping[str, Any], name: str, *more: Mapping[str, Any]) -> str:
    """Return what a finding says of itself under a name, or else what its verdict says."""
    values = (found.get(name) for found in (fields, *more))
    return next((value for value in values if isinstance(value, str) and value), "")


def first_of_each(candidates: Sequence[Lesson]) -> list[Lesson]:
    """Return the candidates that no candidate before them says already."""
    kept: list[Lesson] = []
    for lesson in candidates:
        if not any(is_seen(overlap(lesson.description, other)) for other in kept):
            kept.append(lesson)
    return kept
