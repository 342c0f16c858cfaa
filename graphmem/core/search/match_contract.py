"""What matching a log takes and returns."""

from typing import Literal

from pydantic import Field

from graphmem.core.evidence.citation_contract import Cited, Fix, VariantFix
from graphmem.core.evidence.doubt_contract import Doubt
from graphmem.core.records.candidate_contract import SeenCandidate
from graphmem.core.records.record_contract import Listed
from graphmem.kernel.answer import Answer, Part, Shown, Store
from graphmem.kernel.model import Failure, Pattern
from graphmem.kernel.model.verdict import Verdict
from graphmem.kernel.parameters import Strict
from graphmem.kernel.request import Request


class MatchRequest(Request):
    """How to answer what a log reports."""

    strict: Strict = False
    explain: bool = Field(False, description="Also how the log was read: each problem, by which format, and its names")
    all: bool = Field(False, description="Also what is alike and another problem, with what the two differ in")


class Matched(Part):
    """
    A known failure that a log reports, and by what it was found.

    ``verdict`` says whether it is the same problem, the same rule for other names, another one, or unclear, and
    ``reasons`` why. ``line`` and ``text`` are where the log first says so, ``lines`` all such lines, up to 1,000.
    ``recorded`` is the line of the trigger by which it was found; None where that stands in the log, or an
    expression or the meaning found it.
    ``by`` says how it was found: ``line`` if the log holds the trigger itself, ``match`` if its expression hits,
    ``signature`` if its problem is the same, ``near`` if it is like it, ``similarity`` if it means much the same, or
    has the same words where there is no model.
    ``cites`` are those of the failure and of the patterns that solve it. ``holds`` are the conditions of the
    failure that the line and the project meet, a clause each.
    """

    ref: str
    store: Store = "project"
    by: Literal["line", "match", "signature", "near", "similarity"]
    line: int
    text: str
    lines: list[int]
    recorded: str | None = None
    similarity: float | None = None
    verdict: Verdict = "same"
    reasons: list[str] = []
    solved_by: list[Listed[Pattern]] = []
    record: Shown[Failure]
    fixes: list[Fix] = []
    variant_fix: VariantFix | None = None
    cites: list[Cited] = []
    doubts: list[Doubt] = []
    holds: list[str] = []


class ReadProblem(Part):
    """
    A problem as it was read in a log.

    ``tool`` is that of the format, empty where general rules read the line. ``template`` is the message with ``*`` for
    its ``names``; ``identity`` says what makes another problem the same. ``printed`` is the line as it was read,
    ``text`` what is left of it.
    """

    line: int
    tool: str
    code: str
    message: str
    template: str
    names: list[str]
    identity: str
    file: str = ""
    place: int | None = None
    test: str = ""
    frame: str = ""
    text: str
    printed: str


class MatchedLog(Answer):
    """
    What a log reports, by its lines, surest first.

    ``cut`` counts the lines of which only the beginning was looked at, ``unread`` those after so many errors that their
    own were not looked up. The expressions of the failures in ``slow`` were left aside, for want of time.
    ``unknown`` holds problems of which no failure is the same, each as a trigger that would find it again; ``unlike``
    are those of them that no result of the project is about.
    ``read`` holds all problems as they were read, where that was asked for.
    ``asked`` names the lines in a report on one of the failures, for 30 days. ``candidates`` report errors that no
    record answers: they were seen in a session or a run, and not reviewed yet.
    """

    results: list[Matched]
    lines: int
    cut: int
    unread: int = 0
    slow: list[str]
    unknown: list[str] = []
    unlike: list[str] = []
    read: list[ReadProblem] | None = None
    asked: str | None = None
    candidates: list[SeenCandidate] = []
