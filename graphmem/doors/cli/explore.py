"""``explore …``."""

from graphmem.core.records.record_contract import Changed
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, noun, passes
from graphmem.doors.cli.inputs import opened
from graphmem.errors import BadInput
from graphmem.features.explore.operations import (
    AggregateExplorationRequest,
    ExplorationReported,
    ExplorationStarted,
    ExplorationWaited,
    ReportExplorationRequest,
    WaitExplorationRequest,
)
from graphmem.kernel.registry import Taken

SECONDS = Taken("SECONDS")
app = noun("Gather what several agents find out about a project.")


@app.command(epilog="Example: graphmem explore start")
@passes("explorations.start")
def start(invocation: Invocation, answer: ExplorationStarted) -> None:
    """Begin a session; prints its id."""
    invocation.answer(answer, answer.session)


@app.command(epilog="Example: graphmem explore report 3f2a91c0 structure found.md")
@passes("explorations.report", ReportExplorationRequest, text=Taken("FILE|-"))
def report(invocation: Invocation, call: Call, text: str) -> None:
    """Keep what an agent found in one mode."""
    with opened(text) as found:
        data = found.read()
    try:
        said = data.decode()
    except UnicodeDecodeError as error:
        raise BadInput(f"{text!r} is not UTF-8: {error.reason}", hint="a text in UTF-8") from None
    answer: ExplorationReported = call(text=said)
    invocation.answer(answer, f"kept {answer.mode}{' (late)' if answer.late else ''}")


@app.command(epilog="Example: graphmem explore wait 3f2a91c0 --timeout 60")
@passes("explorations.wait", WaitExplorationRequest, timeout=SECONDS, poll=SECONDS)
def wait(invocation: Invocation, answer: ExplorationWaited) -> None:
    """Wait until enough is reported."""
    lines = [answer.result, f"received: {', '.join(answer.received) or 'nothing'}"]
    lines += [f"missing: {', '.join(answer.missing)}"] if answer.missing else []
    invocation.answer(answer, "\n".join(lines))


@app.command(epilog='Example: graphmem explore aggregate 3f2a91c0 "add single sign-on"')
@passes("explorations.aggregate", AggregateExplorationRequest)
def aggregate(invocation: Invocation, answer: Changed) -> None:
    """Keep what was found in a session as one record."""
    invocation.answer(answer, text.changed(answer))
