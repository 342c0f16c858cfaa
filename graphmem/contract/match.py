"""What matching a log takes and returns."""

from typing import Literal

from graphmem.contract.answer import Answer, Part, Shown, Store
from graphmem.contract.citations import Cited, Fix, VariantFix
from graphmem.contract.doubts import Doubt
from graphmem.contract.harvest import SeenCandidate
from graphmem.contract.parameters import Strict
from graphmem.contract.records import Listed
from graphmem.contract.request import Request


class MatchRequest(Request):
    """How to answer what a log reports."""

    strict: Strict = False


class Matched(Part):
    """
    A known failure that a log reports, and by what it was found.

    ``line`` and ``text`` are where the log first says so, ``lines`` all such lines, up to 1,000. By ``line`` the log
    holds the trigger itself, by ``match`` its expression hits, ``signature`` is the same error, ``near`` the same error
    in another place, ``similarity`` one of a similar meaning, or of the same words where there is no model; then
    ``differs`` are the words that distinguish the two.
    ``cites`` are those of the failure and of the patterns that solve it. ``holds`` are the conditions of the
    failure that the line and the project meet, a clause each.
    """

    ref: str
    store: Store = "project"
    by: Literal["line", "match", "signature", "near", "similarity"]
    line: int
    text: str
    lines: list[int]
    similarity: float | None = None
    differs: list[str] = []
    solved_by: list[Listed] = []
    record: Shown
    fixes: list[Fix] = []
    variant_fix: VariantFix | None = None
    cites: list[Cited] = []
    doubts: list[Doubt] = []
    holds: list[str] = []


class MatchedLog(Answer):
    """
    What a log reports, by its lines, surest first.

    ``cut`` counts the lines of which only the beginning was looked at, ``unread`` those after so many errors that their
    own were not looked up. The expressions of the failures in ``slow`` were left aside, for want of time.
    ``unknown`` holds errors that no failure has the signature of, each as a trigger that would find it again.
    ``asked`` names the lines in a report on one of the failures, for 30 days. ``candidates`` report errors that no
    record answers: they were seen in a session or a run, and not reviewed yet.
    """

    results: list[Matched]
    lines: int
    cut: int
    unread: int = 0
    slow: list[str]
    unknown: list[str] = []
    asked: str | None = None
    candidates: list[SeenCandidate] = []
