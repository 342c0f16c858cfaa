"""``explore …``."""

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import invocation_of
from graphmem.cli.inputs import opened
from graphmem.cli.options import argument, option
from graphmem.contract.explorations import (
    AggregateExplorationRequest,
    ReportExplorationRequest,
    WaitExplorationRequest,
)
from graphmem.errors import BadInput
from graphmem.model.exploration import ExplorationMode

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def explore() -> None:
    """Gather what several agents find out about a project."""


@app.command(epilog="Example: graphmem explore start")
def start(ctx: typer.Context) -> None:
    """Begin a session; prints its id."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.explorations.start()
    invocation.answer(answer, answer.session)


@app.command(epilog="Example: graphmem explore report 3f2a91c0 structure found.md")
def report(
    ctx: typer.Context,
    exploration: str = argument(ReportExplorationRequest, "session", metavar="SESSION"),
    mode: ExplorationMode = argument(ReportExplorationRequest, "mode", metavar="MODE"),
    file: str = argument(ReportExplorationRequest, "text", metavar="FILE|-"),
) -> None:
    """Keep what an agent found in one mode."""
    invocation = invocation_of(ctx)
    with opened(file) as found:
        data = found.read()
    try:
        said = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{file!r} is not UTF-8: {error.reason}", hint="a text in UTF-8") from None
    answer = invocation.memory.explorations.report(exploration, mode, said)
    invocation.answer(answer, f"kept {answer.mode}{' (late)' if answer.late else ''}")


@app.command(epilog="Example: graphmem explore wait 3f2a91c0 --timeout 60")
def wait(
    ctx: typer.Context,
    exploration: str = argument(WaitExplorationRequest, "session", metavar="SESSION"),
    required: int = option(WaitExplorationRequest, "required", metavar="N"),
    timeout: float = option(WaitExplorationRequest, "timeout", metavar="SECONDS"),
    poll: float = option(WaitExplorationRequest, "poll", metavar="SECONDS"),
) -> None:
    """Wait until enough is reported."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.explorations.wait(exploration, required=required, timeout=timeout, poll=poll)
    lines = [answer.result, f"received: {', '.join(answer.received) or 'nothing'}"]
    lines += [f"missing: {', '.join(answer.missing)}"] if answer.missing else []
    invocation.answer(answer, "\n".join(lines))


@app.command(epilog='Example: graphmem explore aggregate 3f2a91c0 "add single sign-on"')
def aggregate(
    ctx: typer.Context,
    exploration: str = argument(AggregateExplorationRequest, "session", metavar="SESSION"),
    objective: str = argument(AggregateExplorationRequest, "objective", metavar="OBJECTIVE"),
) -> None:
    """Keep what was found in a session as one record."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.explorations.aggregate(exploration, objective)
    invocation.answer(answer, text.changed(answer))
