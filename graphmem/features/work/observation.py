"""Observe: finished and blocked tasks become failures, patterns, edges and reports (docs/concepts/campaigns.md)."""

import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, get_args

from pydantic import Field

from graphmem.constants import CHECK_BYTES, CHECK_S, CHECKS_AT_ONCE
from graphmem.core.evidence.citations import Unread, content_of
from graphmem.core.logs.derivation import expression_of
from graphmem.core.logs.draft import SEEN_WORTH
from graphmem.core.plans.campaign_plan import plan_of
from graphmem.core.records.candidates import keep, queue_of
from graphmem.core.records.change import add, add_to, ready
from graphmem.core.records.events import event, events_about
from graphmem.core.records.feedback import prepared
from graphmem.core.records.record_contract import Changed
from graphmem.core.records.relation_contract import Edge
from graphmem.core.records.screening import unexposed
from graphmem.core.records.validation import changed
from graphmem.core.search.query import query
from graphmem.core.search.query_contract import QueryRequest
from graphmem.errors import BadInput, NotFound, Usage
from graphmem.features.work.campaigns import campaign_of, seen_together
from graphmem.features.work.tasks import solved
from graphmem.features.work.worth_keeping import TaskSigns, criteria, is_offered
from graphmem.kernel.answer import Answer, Part
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Campaign, Failure, Pattern, Task
from graphmem.kernel.model.candidate import Candidate, Fields, Occasion, candidate_id
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import Request
from graphmem.kernel.settings.trust import are_trusted
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.kernel.system.checks import CheckEnd, run_all
from graphmem.kernel.system.surroundings import variables
from graphmem.kernel.text import count
from graphmem.names import row_id, split_ref

Verdict = Literal["CONFIRMED", "FALSE_POSITIVE", "INDETERMINATE", "ERROR"]
StepName = Literal["list", "verify", "failures", "patterns", "link", "feedback", "co_occurs"]


class ObserveRequest(Request):
    """Which campaign to learn from."""

    ref: str | None = Field(None, description="The campaign; the only active one if not given")
    run_verify: bool = Field(False, description="Run the verify commands of blocked tasks, which must be trusted")
    yes: bool = Field(False, description="Write the patterns that are offered")


class ObservedStep(Part):
    """One step: whether it was done, what it did, or why it left something out."""

    step: StepName
    done: bool
    reason: str


class Verified(Part):
    """
    What the verify command of a blocked task says of the block.

    ``CONFIRMED``: it still fails. ``FALSE_POSITIVE``: it passes. ``INDETERMINATE``: its time was up. ``ERROR``: it
    could not be run. ``tail`` is the end of what it wrote.
    """

    task: str
    verdict: Verdict
    seconds: float
    tail: str


class OfferedPattern(Part):
    """A finished task with its points by criterion; ``ref`` is the pattern made of it, if one is."""

    task: str
    score: int
    criteria: dict[str, int]
    offered: bool
    ref: str | None = None


class Observed(Answer):
    """What finished and blocked tasks of a campaign became."""

    campaign: str
    steps: list[ObservedStep]
    verified: list[Verified]
    failures: list[Changed[Failure]]
    patterns: list[OfferedPattern]
    links: list[Edge]
    feedback: int


VERIFIED = "block-verified"
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)


@dataclass
class Observation:
    """One run over the tasks of a campaign; each step adds what it did."""

    client: Client
    request: ObserveRequest
    campaign: str
    number: int
    tasks: dict[int, Task]  # as their rows have them
    names: dict[int, str]
    framework: str | None = None  # of the campaign
    steps: list[ObservedStep] = field(default_factory=list)
    verified: list[Verified] = field(default_factory=list)
    failures: list[Changed[Failure]] = field(default_factory=list)
    patterns: dict[int, OfferedPattern] = field(default_factory=dict)

    @property
    def finished(self) -> dict[int, Task]:
        """The tasks that are complete."""
        return {number: task for number, task in self.tasks.items() if task.status == "complete"}

    @property
    def blocked(self) -> dict[int, Task]:
        """The tasks that are blocked."""
        return {number: task for number, task in self.tasks.items() if task.status == "blocked"}

    def report(self, step: StepName, done: str, *left_out: str) -> None:
        """Note what a step did, and why it left something out."""
        self.steps.append(ObservedStep(step=step, done=bool(done), reason="; ".join(filter(None, (done, *left_out)))))


def _some(number: int, noun: str, what: str) -> str:
    """Return how many of something there are; an empty text for none."""
    return f"{count(number, noun)} {what}" if number else ""


@operation(
    "observe",
    writes=True,
    positional=1,
    command="campaign learn",
    at_home=True,
    without={"run_verify": "runs commands of the project on this machine"},
    example="graphmem campaign learn sso --run-verify",
    arguments=1,
    takes={"ref": Taken("CAMPAIGN", "campaign")},
    help="""
    Learn from the finished and blocked tasks of a campaign: failures, patterns, edges, reports.

    Verify commands come with the branch, so they run only with --run-verify, and when they are trusted.
    """,
)
def observe(client: Client, request: ObserveRequest) -> Observed:
    """
    Turn the finished and blocked tasks of a campaign into failures, patterns, edges and reports.

    Between its writes it runs programs and asks a model, while the lock is not held.
    """
    run = _begun(client, request)
    verdicts = _verify_blocks(run)
    _extract_failures(run, verdicts)
    with client.reading() as snapshot:  # the failures changed the tasks
        take(run, snapshot)
    _offer_patterns(run)
    links, feedback = _connect(run)
    return Observed(
        campaign=run.campaign,
        steps=run.steps,
        verified=run.verified,
        failures=run.failures,
        patterns=list(run.patterns.values()),
        links=links,
        feedback=feedback,
    )


def _begun(client: Client, request: ObserveRequest) -> Observation:
    """List the finished and blocked tasks."""
    with client.reading() as snapshot:
        number, campaign = campaign_of(snapshot, request.ref) if request.ref else _only_active(snapshot)
        run = Observation(client, request, campaign.ref, number, {}, {}, campaign.framework)
        take(run, snapshot)
    run.report("list", f"{count(len(run.finished), 'finished task')}, {count(len(run.blocked), 'blocked one')}")
    return run


def take(run: Observation, snapshot: Snapshot) -> None:
    """Take in the tasks as they are now."""
    plan = plan_of(snapshot, run.number)
    stored = {number: snapshot.catalog.stored(number) for number in plan.tasks}
    run.tasks = {number: task for number, task in stored.items() if isinstance(task, Task)}
    run.names = {number: task.ref for number, task in plan.tasks.items()}


def _only_active(snapshot: Snapshot) -> tuple[int, Campaign]:
    """Return the only campaign that has not ended."""
    found = {number: one for number, one in snapshot.catalog.of_kind(Campaign).items() if one.status == "active"}
    if not found:
        raise NotFound("no campaign is active", hint="name one: graphmem campaign learn CAMPAIGN")
    if len(found) > 1:
        names = ", ".join(sorted(snapshot.catalog.refs(found).values()))
        raise Usage("several campaigns are active", hint=f"name one of: {names}")
    return campaign_of(snapshot, snapshot.catalog.refs(found)[min(found)])


# --- blocks -----------------------------------------------------------------------------------------------------------


def _verify_blocks(run: Observation) -> dict[int, Verdict]:
    """Run the verify commands of blocked tasks, if asked for; return the last verdict on each block."""
    before = _verdicts_before(run)
    commands = {number: task.verify for number, task in run.blocked.items() if task.verify}
    silent = len(run.blocked) - len(commands)
    without = _some(silent, "blocked task", "without a verify command")
    if not run.request.run_verify:
        left = _some(len(commands), "verify command", "not run: --run-verify was not given")
        run.report("verify", "", left or "no block to verify", without)
        return before
    if commands and not are_trusted(run.client.layout.config, commands.values()):
        run.report("verify", "", "the commands come with the branch; look at them, and allow them with: graphmem trust")
        return before
    ends = run_all(
        list(commands.values()), run.client.root, variables(), at_once=CHECKS_AT_ONCE, seconds=CHECK_S,
        kept_bytes=CHECK_BYTES,
    )  # fmt: skip
    found = dict(zip(commands, ends, strict=True))
    verdicts = {number: _verdict_of(end) for number, end in found.items()}
    run.verified = [
        Verified(
            task=run.names[number],
            verdict=verdicts[number],
            seconds=round(end.seconds, 2),
            tail=unexposed(run.client, "verify", end.tail),
        )
        for number, end in found.items()
    ]
    _record_verdicts(run, {number: one for number, one in verdicts.items() if before.get(number) != one})
    run.report("verify", _some(len(found), "command", "run"), "" if found else "no block to verify", without)
    return before | verdicts


def _verdict_of(end: CheckEnd) -> Verdict:
    """Return what the end of a verify command says of a block."""
    if end.is_timed_out:
        return "INDETERMINATE"
    if not end.could_run:
        return "ERROR"
    return "FALSE_POSITIVE" if end.status == 0 else "CONFIRMED"


def _verdicts_before(run: Observation) -> dict[int, Verdict]:
    """Return the last verdict on each block, of those that were given since the task was blocked."""
    found: dict[int, Verdict] = {}
    with run.client.reading() as snapshot:
        for number, events in events_about(snapshot, run.blocked).items():
            since = run.tasks[number].blocked_at
            for one in events:
                said = one.data.get("verdict") if isinstance(one.data, dict) else None
                if one.type == VERIFIED and said in VERDICTS and (since is None or one.at >= since):
                    found[number] = VERDICTS[VERDICTS.index(said)]
    return found


def _record_verdicts(run: Observation, verdicts: dict[int, Verdict]) -> None:
    """Record verdicts that are new as events."""
    if not verdicts:
        return
    with run.client.writing() as snapshot:
        rows = [
            event(snapshot, VERIFIED, snapshot.now, run.tasks[number].key_ref, {"verdict": verdict})
            for number, verdict in verdicts.items()
        ]
        snapshot.commit(rows)


def _extract_failures(run: Observation, verdicts: dict[int, Verdict]) -> None:
    """Make failures of the blocks that are confirmed, and of no others."""
    known = 0
    for number, task in run.blocked.items():
        if verdicts.get(number) != "CONFIRMED" or not (task.blocked_reason or "").strip():
            continue
        if any(split_ref(ref)[0] == "failure" for ref in task.blocked_by):
            known += 1
            continue
        given = ready(run.client, "failure", {"trigger": task.blocked_reason, **_fields_of(run, task)})
        with run.client.writing(*run.client.compared_by) as snapshot:
            try:
                made = add_to(snapshot, "failure", {**given, "match": expression_of(given["trigger"])})
            except BadInput:  # an expression that the program does not take
                made = add_to(snapshot, "failure", given)
            run.failures.append(made)
            stored = snapshot.catalog.stored(number)
            assert isinstance(stored, Task)
            after = changed(stored, {"blocked_by": sorted({*stored.blocked_by, made.record.key_ref})}, snapshot.now)
            snapshot.commit([entry(after, snapshot.symmetric)])
    open_blocks = [number for number in run.blocked if verdicts.get(number) != "CONFIRMED"]
    run.report(
        "failures",
        _some(len(run.failures), "failure", "recorded"),
        _some(known, "block", "known already"),
        _some(len(open_blocks), "block", "not confirmed"),
        "" if run.blocked else "no task is blocked",
    )


# --- patterns ---------------------------------------------------------------------------------------------------------


def _offer_patterns(run: Observation) -> None:
    """Score the finished tasks, and write those that are worth it as patterns, if asked for."""
    written, mute = 0, 0
    found_patterns = list[Candidate]()
    own = _patterns_by_task(run)
    for number, task in run.finished.items():
        signs = TaskSigns(
            was_blocked=task.blocked_at is not None,
            are_idioms_applied=_are_idioms_applied(run.client.root, task),
            budget_left=None if task.budget is None or task.spent is None else task.budget - task.spent,
            files=len(task.delta),
            similarity=_similarity(run.client, task, own.get(task.key_ref)),
        )
        found = criteria(signs)
        offer = OfferedPattern(
            task=run.names[number],
            score=sum(found.values()),
            criteria=found,
            offered=is_offered(found) and bool(task.delivered),
            ref=own.get(task.key_ref),
        )
        if is_offered(found) and not task.delivered:
            mute += 1
        if offer.offered and offer.ref is None and run.request.yes:
            fields = {"trigger": task.objective, "insight": task.delivered, **_fields_of(run, task)}
            made = add(run.client, "pattern", {**fields, "files": list(task.delta) or None})
            offer = offer.model_copy(update={"ref": made.ref})
            written += 1
            with queue_of(run.client).changing() as queue:
                if (offered := candidate_id(task.key_ref)) in queue.candidates:  # by a run without --yes
                    queue.settle(offered, state="accepted", refs=(made.ref,))
        elif offer.offered and offer.ref is None:
            found_patterns.append(of_task(run, task))
        run.patterns[number] = offer
    if found_patterns:
        with queue_of(run.client).changing() as queue:
            keep(queue, found_patterns)
    waiting = sum(one.offered and one.ref is None for one in run.patterns.values())
    run.report(
        "patterns",
        _some(written, "pattern", "written"),
        _some(waiting, "pattern", "offered; --yes writes them"),
        _some(mute, "task", "without a word on what it delivered"),
        "" if written or waiting or mute else "nothing to offer",
    )


def _fields_of(run: Observation, task: Task) -> dict[str, Any]:
    """Return where a memory that is made of a task comes from, and what that was built with."""
    framework = task.framework or run.framework
    return {"sources": [task.key_ref]} | ({"framework": framework} if framework else {})


def of_task(run: Observation, task: Task) -> Candidate:
    """Return the candidate that a finished task is: what it was for, and what it delivered."""
    evidence = Occasion(source="observe", run=task.key_ref, passed=format_time(task.completed_at or task.updated_at))
    fields: Fields = {"trigger": task.objective, "insight": task.delivered, **_fields_of(run, task)}
    return Candidate(
        id=candidate_id(task.key_ref),
        base=SEEN_WORTH,
        pattern=fields,
        evidence=(evidence,),
        marks=(evidence.mark,),
        sessions=(evidence.mark,),
    )


def _patterns_by_task(run: Observation) -> dict[str, str]:
    """Return the patterns that were made of tasks, by the task."""
    with run.client.reading() as snapshot:
        found = snapshot.catalog.of_kind(Pattern)
        names = snapshot.catalog.refs(found)
        tasks = {task.key_ref for task in run.tasks.values()}
        return {source: names[number] for number, one in found.items() for source in one.sources if source in tasks}


def _similarity(client: Client, task: Task, own: str | None) -> float:
    """Return how near the nearest pattern is to a task, but for the one that was made of it."""
    text = f"{task.objective}\n{task.delivered or ''}"
    hits = query(client, QueryRequest(text=text, kinds=("pattern",), limit=2)).results
    return max((hit.similarity for hit in hits if hit.ref != own), default=0.0)


def _are_idioms_applied(root: Path, task: Task) -> bool:
    """Return whether a task's files, or its delivery, use all required idioms and no forbidden one."""
    if task.idioms is None or not task.idioms.required:
        return False
    text = "\n".join([task.delivered or "", *_texts_of(root, task.delta)])
    return all(one in text for one in task.idioms.required) and not any(one in text for one in task.idioms.forbidden)


def _texts_of(root: Path, files: Sequence[str]) -> Iterator[str]:
    """Yield the texts of those files that are of the project and can be read."""
    for file in files:
        with contextlib.suppress(Unread):
            yield (content_of(root, file) or b"").decode("utf-8", "replace")


# --- edges and reports ------------------------------------------------------------------------------------------------


def _connect(run: Observation) -> tuple[list[Edge], int]:
    """Link patterns with the failures that their tasks fixed, report what was used, and link failures seen together."""
    with run.client.writing() as snapshot:
        solves = list(_solving_edges(run, snapshot))
        reports = list(_reports_of_use(run, snapshot))
        tasks = list(plan_of(snapshot, run.number).tasks.values())
        together = [entry(edge, snapshot.symmetric) for edge in seen_together(snapshot, tasks)]
        if rows := [*solves, *reports, *together]:
            snapshot.commit(rows)
        links = [_edge_of(snapshot, one) for one in (*solves, *together)]
    ends: list[tuple[StepName, str]] = [
        ("link", _some(len(solves), "edge", "from patterns to failures")),
        ("feedback", _some(len(reports), "report", "written")),
        ("co_occurs", _some(len(together), "edge", "between failures")),
    ]
    for step, done in ends:
        run.report(step, done, "" if done else "nothing new")
    return links, len(reports)


def _solving_edges(run: Observation, snapshot: Snapshot) -> Iterator[Entry]:
    """Yield the edges from the patterns of tasks that were blocked and then fixed."""
    for number, offer in run.patterns.items():
        task = run.tasks[number]
        if offer.ref is not None and task.blocked_at is not None:
            yield from solved(snapshot, task, [offer.ref], task.blocked_by)


def _reports_of_use(run: Observation, snapshot: Snapshot) -> Iterator[Entry]:
    """Yield reports on the memories that finished tasks say they used, and did not report on."""
    for task in run.finished.values():
        done = snapshot.catalog.reports_of_task(row_id(task.key_ref))
        for ref, number in snapshot.catalog.known(task.utilized).items():
            if number not in done:
                report, action = prepared(snapshot, {"ref": ref, "helped": True, "task": task.key_ref})
                if action != "unchanged":
                    yield entry(report, ())


def _edge_of(snapshot: Snapshot, made: Entry) -> Edge:
    """Return an edge that was written, by the current names of its ends."""
    source, target = str(made.row["from"]), str(made.row["to"])
    names = snapshot.catalog.shown_refs([source, target])
    kind = str(made.row["type"])
    weight = made.row.get("weight") or snapshot.vocabulary.relations[kind].weight
    return Edge(
        source=names.get(source, source),
        type=kind,
        target=names.get(target, target),
        weight=float(str(weight)),
    )
