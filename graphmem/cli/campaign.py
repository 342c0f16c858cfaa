"""``campaign …`` and ``similar``."""

import json

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_campaign, session_of
from graphmem.cli.inputs import opened
from graphmem.cli.options import argument, option
from graphmem.contract.campaigns import (
    AddTasksRequest,
    CompleteCampaignRequest,
    CreateCampaignRequest,
    FinalStatus,
    ReadyRequest,
    SimilarRequest,
)
from graphmem.errors import BadInput

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def campaign() -> None:
    """Plan tasks, see what can start, finish."""


@app.command(epilog='Example: graphmem campaign create "Add single sign-on" --name sso')
def create(
    ctx: typer.Context,
    objective: str = argument(CreateCampaignRequest, "objective", metavar="OBJECTIVE"),
    name: str | None = option(CreateCampaignRequest, "name", metavar="SLUG"),
    framework: str | None = option(CreateCampaignRequest, "framework", metavar="F"),
) -> None:
    """Begin a campaign."""
    session = session_of(ctx)
    answer = session.memory.campaigns.create(objective, name=name, framework=framework)
    session.answer(answer, text.changed(answer))


@app.command("add-tasks", epilog="Example: graphmem campaign add-tasks sso plan.json")
def add_tasks(
    ctx: typer.Context,
    name: str = argument(AddTasksRequest, "ref", metavar="NAME", autocompletion=complete_campaign),
    plan: str = argument(AddTasksRequest, "plan", metavar="FILE|-"),
) -> None:
    """Add the tasks of a plan, all or none; a cycle is refused with its path."""
    session = session_of(ctx)
    with opened(plan) as file:
        data = file.read()
    try:
        parsed = json.loads(data)
    except (ValueError, RecursionError) as error:
        why = "nested too deeply" if isinstance(error, RecursionError) else error
        raise BadInput(
            f"{plan!r} is not JSON: {why}", hint='such as {"tasks": [{"seq": 1, "objective": "…"}]}'
        ) from None
    answer = session.memory.campaigns.add_tasks(name, parsed)
    session.answer(answer, "\n".join(f"{task.ref}  {text.gist(task)}" for task in answer.tasks))


@app.command(epilog="Example: graphmem campaign ready sso")
def ready(
    ctx: typer.Context,
    name: str = argument(ReadyRequest, "ref", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Show the tasks that can start now: pending, every parent complete."""
    session = session_of(ctx)
    answer = session.memory.campaigns.ready(name)
    session.answer(answer, "\n".join(f"{task.ref}  {text.gist(task)}" for task in answer.ready))
    if not answer.ready:
        session.say("nothing can start")


@app.command(epilog='Example: graphmem campaign complete sso --outcome "login works with two providers"')
def complete(
    ctx: typer.Context,
    name: str = argument(CompleteCampaignRequest, "ref", metavar="NAME", autocompletion=complete_campaign),
    outcome: str | None = option(CompleteCampaignRequest, "outcome", metavar="TEXT"),
    status: FinalStatus | None = option(CompleteCampaignRequest, "status"),
) -> None:
    """Finish a campaign and keep its fingerprint for similar."""
    session = session_of(ctx)
    answer = session.memory.campaigns.complete(name, outcome=outcome, status=status)
    session.answer(answer, text.fields(answer.record))


def similar(
    ctx: typer.Context,
    about: str = argument(SimilarRequest, "text", metavar="CAMPAIGN-OR-OBJECTIVE", autocompletion=complete_campaign),
    threshold: float | None = option(SimilarRequest, "threshold", metavar="S"),
    limit: int = option(SimilarRequest, "limit", "--max", metavar="N"),
) -> None:
    """
    Find finished campaigns that resemble a campaign or an objective.

    Example: graphmem similar "add a login page"
    """
    session = session_of(ctx)
    answer = session.memory.similar(about, threshold=threshold, limit=limit)
    lines = []
    for found in answer.results:
        parts = f"objective {found.parts.objective:.2f}, files {found.parts.files:.2f}, size {found.parts.size:.2f}"
        lines.append(f"{found.ref}  [{found.similarity:.3f}: {parts}]  {text.gist(found.record)}")
        lines += [f"    outcome: {text.one_line(found.outcome)}"] if found.outcome else []
        lines += [f"    blocked by: {', '.join(found.blocked_by)}"] if found.blocked_by else []
        lines += [f"    solved by: {', '.join(found.solved_by)}"] if found.solved_by else []
    session.answer(answer, "\n".join(lines))
    if not lines:
        session.say("no finished campaign is like it")
