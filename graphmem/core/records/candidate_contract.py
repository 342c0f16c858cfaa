"""What importing sessions and reviewing candidates takes and returns."""

from pathlib import Path
from typing import Literal

from pydantic import Field

from graphmem.kernel.answer import Answer, Part, Shown
from graphmem.kernel.model import AnyRecord, Failure, Pattern
from graphmem.kernel.model.candidate import Occasion
from graphmem.kernel.model.field import Day
from graphmem.kernel.parameters import DryRun
from graphmem.kernel.request import Request

CANDIDATE = "Id of the candidate, its first characters, its name, or words of that which no other has"
SourceStatus = Literal["read", "unchanged", "skipped"]


class ImportSessionsRequest(Request):
    """Which transcripts of coding agents to read."""

    paths: tuple[Path, ...] = Field(
        (), description="Files or folders; the usual places of all clients if none is given"
    )
    client: str | None = Field(None, description="Read the transcripts of this client only, such as codex")
    since: Day | None = Field(None, description="Leave out sessions before this day, as 2026-11-01")
    any_project: bool = Field(False, description="Read sessions of other projects too")
    dry_run: DryRun = False


class ImportNotesRequest(Request):
    """Which notes for agents to read."""

    paths: tuple[Path, ...] = Field(
        (), description="Files or folders; those at the usual places of this project if none is given"
    )
    dry_run: DryRun = False


class ImportGitRequest(Request):
    """Which part of the history to read."""

    since: Day | None = Field(None, description="Leave out commits before this day, as 2026-11-01")
    dry_run: DryRun = False


class ImportAllRequest(Request):
    """Whether to keep what is found."""

    dry_run: DryRun = False


class ImportCiRequest(Request):
    """Which reports and logs of CI to read."""

    paths: tuple[Path, ...] = Field(description="Reports and logs, or folders that hold some")
    commit: str | None = Field(None, description="The commit that reports are of which do not name one")
    dry_run: DryRun = False


class ReadSource(Part):
    """A file that was read, was read before, or was left out, and why."""

    path: str
    kind: str
    status: SourceStatus
    reason: str | None = None


class Harvested(Answer):
    """
    What was found in transcripts, history, logs or notes.

    ``read`` counts what they hold, ``candidates`` what became of what was found; those worth too little are ``below``.
    ``unread`` counts what could not be read, by reason.
    """

    format: str
    applied: bool
    read: dict[str, int]
    sources: list[ReadSource]
    unread: dict[str, int] = {}
    candidates: dict[str, int]
    waiting: int


class HarvestedAll(Answer):
    """What was found in sessions, history and notes, one part each."""

    parts: list[Harvested]
    applied: bool
    waiting: int


class ReviewRequest(Request):
    """Which candidates to return."""

    limit: int = Field(10, description="At most this many", ge=0)
    dismissed: bool = Field(False, description="Return the dismissed candidates instead")
    notes: bool = Field(False, description="Return what the files say that agents load anyway instead")


class ShowCandidateRequest(Request):
    """Which candidate to return with all its evidence."""

    id: str = Field(description=CANDIDATE)


class ShownCandidate(Part):
    """A record that waits to be accepted, with what speaks for it; ``worth`` is from 0 to 1."""

    id: str
    name: str = Field("", description="What its first record is called when it is accepted, if that is free")
    worth: float
    occurrences: int
    state: str
    failure: Shown[Failure] | None = None
    pattern: Shown[Pattern] | None = None
    other: list[Shown[AnyRecord]] = []
    evidence: list[Occasion] = []
    near: str | None = Field(None, description="A record that says nearly the same")
    reason: str | None = None
    proof: dict[str, str] | None = None


class SeenCandidate(Part):
    """
    A candidate that an answer shows where no record answers: it was seen, and not reviewed yet.

    ``insight`` is what was changed before it passed, ``seen`` where and when, in a clause. In an answer to an agent the
    three are empty, unless this clone has proved it or the setting ``harvest.hand_out`` says otherwise.
    """

    id: str
    text: str
    insight: str
    seen: str
    worth: float


class CandidateList(Answer):
    """
    Candidates: what failed, then what the history says, then notes, each the most worth first.

    ``total`` is how many there are, ``below`` how many were worth too little. ``notes`` counts by file what is left
    out, because agents load the file anyway.
    """

    candidates: list[ShownCandidate]
    total: int
    below: int
    notes: dict[str, int] = {}


class AcceptCandidateRequest(Request):
    """Which candidate to write as records, with which words."""

    id: str | None = Field(None, description=CANDIDATE)
    trigger: str | None = Field(None, description="The error as it was observed; the constraint, or the decision")
    fix: str | None = Field(None, description="What resolves the failure")
    symptom: str | None = Field(
        None, description="The failure in plain words, as a person would report it: one sentence"
    )
    insight: str | None = Field(None, description="What to do then; the reasoning of a decision")
    name: str | None = Field(None, description="Name of the failure, or of the only record")
    tags: tuple[str, ...] | None = Field(None, description="Tags")
    into: str | None = Field(None, description="Add it to this record instead of making new ones")
    at_least: Literal["repeated", "proven"] | None = Field(
        None,
        description="Without an id: accept all that the same edit fixed in two sessions, or for two authors; or proven",
    )
    dry_run: DryRun = False


class DismissCandidateRequest(Request):
    """Which candidate not to keep."""

    id: str = Field(description=CANDIDATE)
    reason: str | None = Field(None, description="Why it is of no use")


class ProveCandidateRequest(Request):
    """Which candidate to prove by running its command at the commits before and after the fix."""

    id: str = Field(description=CANDIDATE)
    yes: str | None = Field(
        None,
        description="Run the command that the answer with this digest showed; without it, only show",
        max_length=100,
    )


class ProofPlan(Part):
    """
    What a proof runs, and at which commits: the first must fail as the candidate says, the second must pass.

    Where the first has not the check yet, the second must fail with ``files`` as the first has them.
    """

    command: str
    folder: str
    before: str
    after: str
    files: list[str] = []
    digest: str


class Reviewed(Part):
    """What became of one candidate, and the records that it became."""

    id: str
    action: Literal["accepted", "dismissed", "planned", "proven", "disproven"]
    refs: list[str] = []
    proof: dict[str, str] | None = None
    plan: ProofPlan | None = None
    reason: str | None = Field(None, description="Why it is not proven")


class ProofChecked(Part):
    """Whether what was proven of a record still is so, and if not, why."""

    ref: str
    proven: bool
    reason: str | None = None


class ProofsChecked(Answer):
    """
    The records whose proof was run again.

    ``untrusted`` are those whose command was not trusted in this clone, so that it did not run.
    """

    results: list[ProofChecked]
    untrusted: list[str] = []


class ReviewedList(Answer):
    """What became of candidates."""

    reviewed: list[Reviewed]
    waiting: int
