"""``campaign …`` and ``similar``."""

import json
from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_campaign, session_of
from graphmem.cli.inputs import opened
from graphmem.constants import SIMILAR_MAX
from graphmem.errors import BadInput, Usage
from graphmem.model.campaign import CampaignStatus

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)

Which = Annotated[str, typer.Argument(metavar="NAME", autocompletion=complete_campaign, help="The campaign.")]


@app.callback()
def campaign() -> None:
    """Plan tasks, see what can start, finish."""


@app.command(epilog='Example: graphmem campaign create "Add single sign-on" --name sso')
def create(
    ctx: typer.Context,
    objective: Annotated[str, typer.Argument(metavar="OBJECTIVE", help="Framework or tool that the pattern is for.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="SLUG", help="Its name; made from the objective.")
    ] = None,
    framework: Annotated[str | None, typer.Option("--framework", metavar="F", help="What it is built with.")] = None,
) -> None:
    """Begin a campaign."""
    session = session_of(ctx)
    answer = session.memory.campaigns.create(objective, name=name, framework=framework)
    session.answer(answer, text.changed(answer))


@app.command("add-tasks", epilog="Example: graphmem campaign add-tasks sso plan.json")
def add_tasks(
    ctx: typer.Context,
    name: Which,
    plan: Annotated[str, typer.Argument(metavar="FILE|-", help='JSON: a list of tasks, or {"tasks": […]}.')],
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
def ready(ctx: typer.Context, name: Which) -> None:
    """Show the tasks that can start now: pending, every parent complete."""
    session = session_of(ctx)
    answer = session.memory.campaigns.ready(name)
    session.answer(answer, "\n".join(f"{task.ref}  {text.gist(task)}" for task in answer.ready))
    if not answer.ready:
        session.say("nothing can start")


@app.command(epilog='Example: graphmem campaign complete sso --outcome "login works with two providers"')
def complete(
    ctx: typer.Context,
    name: Which,
    outcome: Annotated[str | None, typer.Option("--outcome", metavar="TEXT", help="Outcome of the task.")] = None,
    status: Annotated[
        str | None, typer.Option("--status", metavar="complete|partial|failed", help="Told by its tasks if not given.")
    ] = None,
) -> None:
    """Finish a campaign and keep its fingerprint for similar."""
    session = session_of(ctx)
    answer = session.memory.campaigns.complete(name, outcome=outcome, status=status_of(status))
    session.answer(answer, text.fields(answer.record))


def status_of(value: str | None) -> CampaignStatus | None:
    """Return a status that a campaign can end with, or say which there are."""
    match value:
        case None | "complete" | "partial" | "failed":
            return value
    raise Usage(f"status {value!r} ends no campaign", hint="one of: complete, partial, failed")


def similar(
    ctx: typer.Context,
    about: Annotated[
        str,
        typer.Argument(
            metavar="CAMPAIGN-OR-OBJECTIVE",
            autocompletion=complete_campaign,
            help="A campaign, or what one would be for.",
        ),
    ],
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold", metavar="S", min=0.0, max=1.0, help="Only those at least this similar [default: 0.5]."
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--max", metavar="N", min=1, help="At most this many.")] = SIMILAR_MAX,
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
