"""``phase …``."""

import typer

from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_campaign, invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.phases import MovePhaseRequest, Phase, PhaseRequest

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def phase() -> None:
    """Show or change the phase of the work."""


@app.command(epilog="Example: graphmem phase status")
def status(
    ctx: typer.Context,
    campaign: str | None = option(PhaseRequest, "campaign", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Show the current phase, and which may follow."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.phases.status(campaign=campaign)
    since = f" since {answer.since}" if answer.since else ""
    invocation.answer(answer, f"{answer.phase}{since}\nmay follow: {', '.join(answer.legal)}")


@app.command(epilog="Example: graphmem phase can build")
def can(
    ctx: typer.Context,
    to: Phase = argument(MovePhaseRequest, "phase", metavar="PHASE"),
    campaign: str | None = option(MovePhaseRequest, "campaign", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Say whether a phase may follow the current one."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.phases.can(to, campaign=campaign)
    invocation.answer(answer, f"{answer.before} to {answer.after}: {'possible' if answer.legal else 'not possible'}")


@app.command("to", epilog="Example: graphmem phase to plan")
def move(
    ctx: typer.Context,
    to: Phase = argument(MovePhaseRequest, "phase", metavar="PHASE"),
    campaign: str | None = option(MovePhaseRequest, "campaign", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Go on to another phase."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.phases.move(to, campaign=campaign)
    invocation.answer(answer, f"{answer.before} to {answer.after}")


@app.command(epilog="Example: graphmem phase reset")
def reset(
    ctx: typer.Context,
    campaign: str | None = option(PhaseRequest, "campaign", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Begin again, from whatever phase it is."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.phases.reset(campaign=campaign)
    invocation.answer(answer, f"{answer.before} to {answer.after}")


@app.command(epilog="Example: graphmem phase duration")
def duration(
    ctx: typer.Context,
    campaign: str | None = option(PhaseRequest, "campaign", metavar="NAME", autocompletion=complete_campaign),
) -> None:
    """Show how long each phase took."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.phases.duration(campaign=campaign)
    invocation.answer(answer, "\n".join(f"{one.phase}  {one.begin}  {one.seconds:.0f} s" for one in answer.phases))
