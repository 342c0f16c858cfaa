"""``run …``: what is going on now on this machine. The runner of commands is ``ran``."""

import json

import typer

from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, noun, passes
from graphmem.doors.cli.inputs import json_in, json_of
from graphmem.doors.cli.paths import from_root
from graphmem.errors import BadInput
from graphmem.features.runs.contract import (
    BUILD_EXAMPLE,
    BeginBuildRequest,
    BuildResume,
    ChangeRequest,
    CheckpointRequest,
    MoveChunkRequest,
    Required,
    RequireStepRequest,
    ResumeBuildRequest,
    RunShown,
    SetRunRequest,
    StepRequest,
)
from graphmem.kernel.registry import Taken
from graphmem.names import collapsed, quoted

SUCH_AS = 'such as {"workflow_step": "build"}'
app = noun("Show or change what is going on now on this machine; to run a command: graphmem ran -- COMMAND.")


@app.command(epilog="Example: graphmem run show")
@passes("runs.show")
def show(invocation: Invocation, answer: RunShown) -> None:
    """Show the run state."""
    invocation.answer(answer, shown(answer))


@app.command("set", epilog="""Example: graphmem run set '{"workflow_step": "build", "next_step": null}'""")
@passes("runs.set", SetRunRequest, fields=Taken("JSON|-"))
def set_fields(invocation: Invocation, call: Call, fields: str) -> None:
    """Change fields of the run state; all others stay."""
    what = "standard input" if fields == "-" else repr(fields[:80])
    given = json_in(fields, SUCH_AS) if fields == "-" else json_of(fields, what, SUCH_AS)
    answer: RunShown = call(fields=object_of(given, what, SUCH_AS))
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run done plan")
@passes("runs.done", StepRequest)
def done(invocation: Invocation, answer: RunShown) -> None:
    """Note that a step of the workflow is complete."""
    invocation.answer(answer, f"complete: {', '.join(answer.completed_steps or ())}")


@app.command(epilog="Example: graphmem run change add src/cart.py --section checkout")
@passes("runs.change", ChangeRequest, section=Taken("ALIAS"), section_number=Taken("N"))
def change(invocation: Invocation, call: Call, file: str) -> None:
    """Note a file that was changed outside of the plan (add), or take it away (done)."""
    answer: RunShown = call(file=from_root(invocation.memory.client.root, file))
    changes = answer.untracked_changes or ()
    files = [quoted(one.file) + (f"  ({collapsed(one.section)})" if one.section else "") for one in changes]
    invocation.answer(answer, "\n".join(files) or "no change is untracked")


@app.command(epilog="Example: graphmem run require build")
@passes("runs.require", RequireStepRequest, workflow=Taken("NAME"))
def require(invocation: Invocation, answer: Required, step: str) -> None:
    """Check what a step needs; exit status 1 where something is missing."""
    lines = [f"{step} can begin"] if answer.met else [f"missing: {', '.join(answer.missing)}"]
    lines += [f"skipped: {', '.join(answer.skipped)}"] if answer.skipped else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    invocation.answer(answer, "\n".join(lines))
    raise typer.Exit(0 if answer.met else 1)


@app.command(epilog="Example: graphmem run begin build.json")
@passes("runs.begin", BeginBuildRequest, plan=Taken("FILE|-"))
def begin(invocation: Invocation, call: Call, plan: str) -> None:
    """Begin a build run with the chunks of a plan."""
    answer: RunShown = call(plan=object_of(json_in(plan, BUILD_EXAMPLE), "the plan", BUILD_EXAMPLE))
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run chunk c1 completed")
@passes("runs.chunk", MoveChunkRequest)
def chunk(invocation: Invocation, answer: RunShown) -> None:
    """Move a chunk of the build run to its next status."""
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run checkpoint --phase stabilise")
@passes("runs.checkpoint", CheckpointRequest)
def checkpoint(invocation: Invocation, answer: RunShown) -> None:
    """Note that the build run got so far."""
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run end")
@passes("runs.end")
def end(invocation: Invocation, answer: RunShown) -> None:
    """End the build run; it stays visible as partial where chunks remain."""
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run resume --choose resume")
@passes("runs.resume", ResumeBuildRequest)
def resume(invocation: Invocation, answer: BuildResume) -> None:
    """Show what is left of a build run that was cut off, and how to go on."""
    invocation.answer(answer, left_of(answer))


def object_of(made: object, what: str, such_as: str) -> dict[str, object]:
    """Return a value that is a JSON object, or raise ``BadInput``."""
    if not isinstance(made, dict):
        raise BadInput(f"{what} is not a JSON object", hint=such_as)
    return made


def shown(answer: RunShown) -> str:
    """Return the run state for people, a field a line."""
    values = answer.model_dump(mode="json", exclude_none=True)
    values.pop("notices", None)
    run = values.pop("build_run", None)
    lines = [
        f"{name}: {collapsed(value) if isinstance(value, str) else json.dumps(value)}" for name, value in values.items()
    ]
    if run is not None:
        lines.append(f"build run {run['run_id']}: {run['status']}")
        lines += [f"  {one['id']}  [{one['status']}] {collapsed(one['name'])}".rstrip() for one in run["chunks"]]
    return "\n".join(lines) or "nothing is going on"


def left_of(answer: BuildResume) -> str:
    """Return what is left of a build run for people."""
    lines = [f"build run {answer.run_id}"]
    for word, chunks in (("completed", answer.completed), ("remaining", answer.remaining), ("drifted", answer.drifted)):
        lines += [f"{word}: {', '.join(one.id for one in chunks)}"] if chunks else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    return "\n".join(lines)
