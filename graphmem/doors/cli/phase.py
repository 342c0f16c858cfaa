"""``phase …``."""

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import noun, passes
from graphmem.features.work.phases import (
    MovePhaseRequest,
    PhaseCan,
    PhaseDurations,
    PhaseMoved,
    PhaseRequest,
    PhaseStatus,
)

app = noun("Show or change the phase of the work.")


@app.command(epilog="Example: graphmem phase status")
@passes("phases.status", PhaseRequest)
def status(invocation: Invocation, answer: PhaseStatus) -> None:
    """Show the current phase, and which may follow."""
    since = f" since {answer.since}" if answer.since else ""
    invocation.answer(answer, f"{answer.phase}{since}\nmay follow: {', '.join(answer.legal)}")


@app.command(epilog="Example: graphmem phase can build")
@passes("phases.can", MovePhaseRequest)
def can(invocation: Invocation, answer: PhaseCan) -> None:
    """Say whether a phase may follow the current one."""
    invocation.answer(answer, f"{answer.before} to {answer.after}: {'possible' if answer.legal else 'not possible'}")


@app.command("to", epilog="Example: graphmem phase to plan")
@passes("phases.move", MovePhaseRequest)
def move(invocation: Invocation, answer: PhaseMoved) -> None:
    """Go on to another phase."""
    invocation.answer(answer, f"{answer.before} to {answer.after}")


@app.command(epilog="Example: graphmem phase reset")
@passes("phases.reset", PhaseRequest)
def reset(invocation: Invocation, answer: PhaseMoved) -> None:
    """Begin again, from whatever phase it is."""
    invocation.answer(answer, f"{answer.before} to {answer.after}")


@app.command(epilog="Example: graphmem phase duration")
@passes("phases.duration", PhaseRequest)
def duration(invocation: Invocation, answer: PhaseDurations) -> None:
    """Show how long each phase took."""
    invocation.answer(answer, "\n".join(f"{one.phase}  {one.begin}  {one.seconds:.0f} s" for one in answer.phases))
