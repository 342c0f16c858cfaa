"""A candidate: a record that waits to be accepted, with what speaks for it (docs/concepts/harvest.md)."""

import hashlib
from collections.abc import Iterable
from typing import Literal, Self

from pydantic import BaseModel, ConfigDict

FAILED_BYTES = 3_000  # characters of what was printed that evidence keeps
EDIT_CHARACTERS = 2_000  # characters of all edits of one evidence
MOST_EDITS = 6  # edits of one evidence
MOST_EVIDENCE = 5  # of one candidate: the first, and the latest
MOST_MARKS = 200  # occasions and sessions of a candidate that are kept apart from each other
AGAIN, MOST_AGAIN = 0.2, 2  # worth for each further session that met the problem, and for how many
ID_DIGITS = 8
IN_CI = "ci"  # the source of what a report of CI says: the command of such an occasion is the name of a check
OF_GIT = "git"  # the source of what the history says
OF_FORGE = "github"  # the source of what people said in an issue or a review
OF_NOTES = "notes:"  # before the name of a file in the sources of a candidate

CandidateState = Literal["waiting", "dismissed", "accepted", "recorded"]
Fields = dict[str, str | bool | list[str] | None]  # of a record, as `add` takes them


class CandidateEdit(BaseModel):
    """A change of a file: what was taken out and what was put in."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    file: str
    removed: str = ""
    added: str = ""


class Occasion(BaseModel):
    """
    One occasion that speaks for a candidate.

    ``source`` says who saw it, such as ``claude-code`` or ``git``; ``at`` when, as ISO 8601. ``failed`` is what the
    command printed when it failed, ``edits`` what was changed then, ``passed`` when it passed, as ISO 8601. ``commit``
    is the one that holds the fix, ``before`` one that does not, as far as they are known; ``folder`` is where the
    command ran, below the project's root. ``author`` is a digest of who wrote the commit, ``reverted`` the commit
    that took it back; ``change`` is a digest of the problem and of what fixed it.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    source: str
    at: str = ""
    session: str | None = None
    commit: str | None = None
    before: str | None = None
    folder: str | None = None
    run: str | None = None
    command: str | None = None
    failed: str | None = None
    edits: tuple[CandidateEdit, ...] = ()
    passed: str | None = None
    author: str | None = None
    reverted: str | None = None
    change: str | None = None

    @property
    def mark(self) -> str:
        """What distinguishes this occasion from others: a check of CI is the same with the pass that ended it."""
        places = () if self.source == IN_CI else (self.session, self.commit, self.run)
        parts = (self.source, *places, self.at, self.command)
        return digest("\0".join(part or "" for part in parts))

    def repeats(self, other: Self) -> bool:
        """Return whether the same change passed on another occasion, in another session or by another author."""
        is_independent = any(
            one and two and one != two for one, two in ((self.session, other.session), (self.author, other.author))
        )  # a session that was resumed is kept twice, with the times of the first
        return self.change is not None and self.change == other.change and is_independent and self.at != other.at


class Candidate(BaseModel):
    """
    A record that waits to be accepted: a failure with or without its pattern, or something else, and its evidence.

    Attributes:
        id: follows from what it is about, so that what was dismissed does not come back.
        keys: digests of what an output has in common with it that reports the same problem.
        worth: how likely it is that it helps another session, from 0 to 1, without what several sessions add.
        is_slip: that it came again is no reason to keep it.
        needs: how many sessions must have met it before it is kept.
        evidence: the occasion that its records are made from, and the latest others.
        marks: the occasions on which it was seen.
        sessions: those that met it; git and the notes of a project are one each, whatever they say how often.
        reason: why it was dismissed.
        refs: the records that it became, or that were written of the same problem.
        proof: what was proven of it: the command, both commits, and when.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    keys: tuple[str, ...] = ()
    state: CandidateState = "waiting"
    base: float = 0.0
    is_slip: bool = False
    needs: int = 1
    failure: Fields | None = None
    pattern: Fields | None = None
    other: tuple[Fields, ...] = ()
    evidence: tuple[Occasion, ...] = ()
    marks: tuple[str, ...] = ()
    sessions: tuple[str, ...] = ()
    reason: str | None = None
    refs: tuple[str, ...] = ()
    proof: dict[str, str] | None = None

    @property
    def worth(self) -> float:
        """How likely it is that it helps another session, from 0 to 1."""
        again = 0.0 if self.is_slip else AGAIN * min(max(0, len(self.sessions) - 1), MOST_AGAIN)
        return round(min(1.0, self.base + again), 3)

    @property
    def parts(self) -> list[tuple[str, Fields]]:
        """What it would be as records, each with its kind."""
        named = [("failure", self.failure), ("pattern", self.pattern), *((str(one["kind"]), one) for one in self.other)]
        return [(kind, fields) for kind, fields in named if fields]

    @property
    def note_file(self) -> str | None:
        """The name of the file of notes that says it; None where something else does."""
        sources = self.other[0].get("sources") if self.other else None
        first = sources[0] if isinstance(sources, list) and sources else ""
        return first.removeprefix(OF_NOTES).rpartition(":")[0] if first.startswith(OF_NOTES) else None

    @property
    def place(self) -> int:
        """Where its sort comes in a review: what failed here and in CI, what git and a forge say, notes for agents."""
        if self.note_file is not None:
            return 2
        return int(bool(self.other) or any(one.source in (OF_GIT, OF_FORGE) for one in self.evidence[:1]))

    @property
    def is_repeated(self) -> bool:
        """Whether what it says to do passed on a second occasion that owes nothing to the first."""
        return self.pattern is not None and any(map(self.evidence[0].repeats, self.evidence[1:]))

    @property
    def occurrences(self) -> int:
        """On how many occasions it was seen."""
        return len(self.marks)

    @property
    def headline(self) -> str:
        """What it is about, in one line."""
        fields = self.failure or self.pattern or next(iter(self.other), {})
        texts = (value for name, value in fields.items() if name != "kind" and isinstance(value, str))
        text = next(filter(None, texts), "")
        return text.splitlines()[0] if text else ""

    def with_more(self, other: Self) -> Self:
        """Return this candidate with the evidence of another one that is about the same."""
        passed = {one.mark: one for one in other.evidence if one.passed}
        known = [one if one.passed else passed.get(one.mark, one) for one in self.evidence]
        fresh = [one for one in other.evidence if one.mark not in self.marks]
        evidence = [*known, *fresh]
        is_better = (other.pattern is not None, other.base) > (self.pattern is not None, self.base)
        better = other if is_better and evidence != list(self.evidence) else self
        lead = [one.mark for one in better.evidence[:1]]
        evidence.sort(key=lambda one: one.mark not in lead)
        is_fixed = better.pattern is not None or self.pattern is not None or other.pattern is not None
        return self.model_copy(
            update={
                "keys": _united(self.keys, other.keys),
                "base": max(self.base, other.base),
                "needs": min(self.needs, other.needs, *([1] if is_fixed else [])),
                "failure": better.failure or self.failure or other.failure,
                "pattern": better.pattern or self.pattern or other.pattern,
                "other": other.other or self.other,
                "evidence": tuple(evidence[:1] + evidence[1:][1 - MOST_EVIDENCE :]),
                "marks": _united(self.marks, other.marks),
                "sessions": _united(self.sessions, other.sessions),
            }
        )


def _united(first: Iterable[str], second: Iterable[str]) -> tuple[str, ...]:
    """Return two lists as one, each value once, at most ``MOST_MARKS``."""
    return tuple(dict.fromkeys((*first, *second)))[:MOST_MARKS]


def digest(text: str) -> str:
    """Return a short digest of a text."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[: 2 * ID_DIGITS]


def candidate_id(key: str) -> str:
    """Return the id of the candidate that is about something."""
    return f"c{digest(key)[:ID_DIGITS]}"
