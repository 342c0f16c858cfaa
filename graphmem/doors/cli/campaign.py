"""``campaign …`` and ``similar``."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer

from graphmem.core.plans.campaign_contract import (
    PLAN_EXAMPLE,
    Actual,
    AddTasksRequest,
    CampaignRequest,
    CampaignStanding,
    CampaignTasks,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    FinalStatus,
    MergedPlan,
    MergePlanRequest,
    Ready,
    ReadyRequest,
    ReplanInput,
    Similar,
    SimilarRequest,
)
from graphmem.core.records.record_contract import Changed
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_campaign
from graphmem.doors.cli.commands import CAMPAIGN, Call, noun, passes
from graphmem.doors.cli.inputs import json_in
from graphmem.errors import Usage
from graphmem.kernel.model import Record
from graphmem.kernel.registry import Taken
from graphmem.kernel.system import shell

PLAN = Taken("FILE|-")
app = noun("Plan tasks, see what can start and what cannot, finish.")


@app.command(epilog='Example: graphmem campaign create "Add single sign-on" --name sso')
@passes(
    "campaigns.create",
    CreateCampaignRequest,
    without=("tags", "sources"),
    framework=Taken("F"),
    failure_cost_k=Taken("K"),
)
def create(invocation: Invocation, answer: Changed) -> None:
    """Begin a campaign."""
    invocation.answer(answer, text.changed(answer))


@app.command("add-tasks", epilog="Example: graphmem campaign add-tasks sso plan.json")
@passes("campaigns.add_tasks", AddTasksRequest, ref=CAMPAIGN, plan=PLAN)
def add_tasks(invocation: Invocation, call: Call, plan: str) -> None:
    """Add the tasks of a plan, all or none; a cycle is refused with its path."""
    answer: CampaignTasks = call(plan=json_in(plan, PLAN_EXAMPLE))
    invocation.answer(answer, lines(answer.tasks))


def lines(tasks: Sequence[Record]) -> str:
    """Return tasks, a line each."""
    return "\n".join(f"{task.ref}  {text.gist(task)}" for task in tasks)


@app.command(epilog="Example: graphmem campaign ready sso")
@passes("campaigns.ready", ReadyRequest, ref=CAMPAIGN)
def ready(invocation: Invocation, answer: Ready) -> None:
    """Show the tasks that can start now: pending, every parent complete."""
    invocation.answer(answer, lines(answer.ready))
    if not answer.ready:
        invocation.say("nothing can start")


@app.command(epilog="Example: graphmem campaign status sso")
@passes("campaigns.status", CampaignRequest, ref=CAMPAIGN)
def status(invocation: Invocation, answer: CampaignStanding) -> None:
    """Show where a campaign is: its tasks, what cannot run and why, and what it took."""
    invocation.answer(answer, "\n".join(shown(answer)))


@app.command(epilog="Example: graphmem campaign propagate sso")
@passes("campaigns.propagate", CampaignRequest, ref=CAMPAIGN)
def propagate(invocation: Invocation, answer: CampaignStanding) -> None:
    """Mark the tasks that cannot run as unreachable, and those that can again as pending."""
    invocation.answer(answer, "\n".join(shown(answer)))
    invocation.say(f"changed: {', '.join(answer.changed)}" if answer.changed else "nothing changed")


@app.command("replan-input", epilog="Example: graphmem campaign replan-input sso --json")
@passes("campaigns.replan_input", CampaignRequest, ref=CAMPAIGN)
def replan_input(invocation: Invocation, answer: ReplanInput) -> None:
    """Print what a planner needs to plan the unfinished part of a campaign again."""
    found = [f"{answer.campaign}  {text.one_line(answer.objective)}"]
    found += [f"complete  {one.ref}  {text.one_line(one.delivered)}".rstrip() for one in answer.completed]
    found += [f"blocked  {one.ref}  {text.one_line(one.reason)}".rstrip() for one in answer.blocked]
    found += [f"remaining  {task.ref}  {text.gist(task)}" for task in answer.remaining]
    invocation.answer(answer, "\n".join(found))


@app.command("merge-plan", epilog="Example: graphmem campaign merge-plan sso plan.json")
@passes("campaigns.merge_plan", MergePlanRequest, ref=CAMPAIGN, plan=PLAN)
def merge_plan(invocation: Invocation, call: Call, plan: str) -> None:
    """Put the tasks of a plan in the place of the unfinished part, all or none; what is complete stays."""
    answer: MergedPlan = call(plan=json_in(plan, PLAN_EXAMPLE))
    found = [
        f"{word}: {', '.join(refs)}"
        for word, refs in (
            ("kept", answer.kept), ("added", answer.added), ("changed", answer.changed), ("removed", answer.removed)
        )
        if refs
    ]  # fmt: skip
    invocation.answer(answer, "\n".join(found))


def shown(answer: CampaignStanding) -> Iterator[str]:
    """Yield the lines of a campaign for people."""
    counts = ", ".join(f"{number} {status}" for status, number in answer.counts.items())
    yield f"{answer.campaign}  [{answer.state.replace('_', ' ')}]  {counts or 'no tasks yet'}"
    causes = {one.ref: one.blocked_by for one in answer.unreachable}
    ready = set(answer.ready)
    for task in answer.tasks:
        yield f"{task.ref}  {text.gist(task)}{'  (ready)' if task.ref in ready else ''}"
        if task.ref in causes:
            yield f"    cannot run: {', '.join(causes[task.ref])}"
        elif getattr(task, "status", "") == "blocked":
            yield f"    reason: {text.one_line(getattr(task, 'blocked_reason', None))}"
    for one in answer.disagreements:
        yield f"{one.ref}: {one.text}"
    if answer.duplicates:
        yield f"two tasks have the number {', '.join(answer.duplicates)}"
    if answer.estimate is not None:
        usual = f", campaigns that have ended took {answer.estimate.usual:.2g} times" if answer.estimate.usual else ""
        planned = text.count(answer.estimate.tasks, "task")
        yield f"estimated: complexity {answer.estimate.complexity:g}, {planned}{usual}"
    yield f"actual: {took(answer.actual)}"
    if answer.replan_suggested:
        yield f"another plan is worth making: {shell.command('graphmem', 'campaign', 'replan-input', answer.campaign)}"


def took(actual: Actual) -> str:
    """Return what a campaign took."""
    spent = f", {actual.spent:g} of a budget of {actual.budget:g}" if actual.budget or actual.spent else ""
    blocked = f", {actual.blocked} blocked on the way" if actual.blocked else ""
    return f"{actual.finished} of {text.count(actual.tasks, 'task')}, {actual.minutes:g} minutes{spent}{blocked}"


@app.command(epilog='Example: graphmem campaign complete sso --outcome "login works with two providers"')
@passes("campaigns.complete", CompleteCampaignRequest, ref=CAMPAIGN)
def complete(
    invocation: Invocation,
    call: Call,
    status: FinalStatus | None,
    partial: Annotated[bool, typer.Option("--partial", help="The same as --status partial.")] = False,
) -> None:
    """Finish a campaign and keep its fingerprint for similar; with open tasks it needs --partial."""
    if partial and status not in (None, "partial"):
        raise Usage(f"--partial contradicts --status {status}", hint="give one of them")
    answer: CampaignTasks = call(status="partial" if partial else status)
    invocation.answer(answer, text.fields(answer.record))


@passes(
    "similar",
    SimilarRequest,
    text=Taken("CAMPAIGN-OR-OBJECTIVE", complete_campaign),
    threshold=Taken("S"),
    limit=Taken(flag="--max"),
)
def similar(invocation: Invocation, answer: Similar) -> None:
    """
    Find campaigns that have ended in any way and resemble a campaign or an objective.

    Example: graphmem similar "add a login page"
    """
    found_lines = []
    for found in answer.results:
        parts = f"objective {found.parts.objective:.2f}, files {found.parts.files:.2f}, size {found.parts.size:.2f}"
        found_lines.append(f"{found.ref}  [{found.similarity:.3f}: {parts}]  {text.gist(found.record)}")
        found_lines += [f"    outcome: {text.one_line(found.outcome)}"] if found.outcome else []
        found_lines.append(f"    took: {took(found.took)}")
        found_lines += [f"    blocked by: {', '.join(found.blocked_by)}"] if found.blocked_by else []
        found_lines += [f"    solved by: {', '.join(found.solved_by)}"] if found.solved_by else []
        found_lines += [f"    {ref}: {one}" for ref, doubts in found.doubts.items() for one in text.against(doubts)]
    invocation.answer(answer, "\n".join(found_lines))
    if not found_lines:
        invocation.say("no campaign that has ended is like it")
