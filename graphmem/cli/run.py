"""``run …``: what is going on now on this machine. The runner of commands is ``ran``."""

import json

import typer

from graphmem.cli.app import Noun
from graphmem.cli.caller import invocation_of
from graphmem.cli.inputs import json_in, json_of
from graphmem.cli.options import argument, option
from graphmem.contract.runs import (
    BUILD_EXAMPLE,
    BeginBuildRequest,
    BuildResume,
    CheckpointRequest,
    ChunkMove,
    MoveChunkRequest,
    RequireStepRequest,
    ResumeAction,
    ResumeBuildRequest,
    RunShown,
    SetRunRequest,
    StepRequest,
)
from graphmem.errors import BadInput

SUCH_AS = 'such as {"workflow_step": "build"}'
app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def run() -> None:
    """Show or change what is going on now on this machine; to run a command: graphmem ran -- COMMAND."""


@app.command(epilog="Example: graphmem run show")
def show(ctx: typer.Context) -> None:
    """Show the run state."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.show()
    invocation.answer(answer, shown(answer))


@app.command("set", epilog="""Example: graphmem run set '{"workflow_step": "build", "next_step": null}'""")
def set_fields(
    ctx: typer.Context,
    fields: str = argument(SetRunRequest, "fields", metavar="JSON|-"),
) -> None:
    """Change fields of the run state; all others stay."""
    invocation = invocation_of(ctx)
    what = "standard input" if fields == "-" else repr(fields[:80])
    given = json_in(fields, SUCH_AS) if fields == "-" else json_of(fields, what, SUCH_AS)
    answer = invocation.memory.runs.set(object_of(given, what, SUCH_AS))
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run done plan")
def done(ctx: typer.Context, step: str = argument(StepRequest, "step", metavar="STEP")) -> None:
    """Note that a step of the workflow is complete."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.done(step)
    invocation.answer(answer, f"complete: {', '.join(answer.completed_steps or ())}")


@app.command(epilog="Example: graphmem run require build")
def require(
    ctx: typer.Context,
    step: str = argument(RequireStepRequest, "step", metavar="STEP"),
    workflow: str | None = option(RequireStepRequest, "workflow", metavar="NAME"),
    skip: bool = option(RequireStepRequest, "skip"),
) -> None:
    """Check what a step needs; exit status 1 where something is missing."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.require(step, workflow=workflow, skip=skip)
    lines = [f"{step} can begin"] if answer.met else [f"missing: {', '.join(answer.missing)}"]
    lines += [f"skipped: {', '.join(answer.skipped)}"] if answer.skipped else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    invocation.answer(answer, "\n".join(lines))
    raise typer.Exit(0 if answer.met else 1)


@app.command(epilog="Example: graphmem run begin build.json")
def begin(ctx: typer.Context, plan: str = argument(BeginBuildRequest, "plan", metavar="FILE|-")) -> None:
    """Begin a build run with the chunks of a plan."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.begin(object_of(json_in(plan, BUILD_EXAMPLE), "the plan", BUILD_EXAMPLE))
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run chunk c1 completed")
def chunk(
    ctx: typer.Context,
    chunk_id: str = argument(MoveChunkRequest, "id", metavar="ID"),
    status: ChunkMove = argument(MoveChunkRequest, "status", metavar="STATUS"),
) -> None:
    """Move a chunk of the build run to its next status."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.chunk(chunk_id, status)
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run checkpoint --phase stabilise")
def checkpoint(ctx: typer.Context, phase: str | None = option(CheckpointRequest, "phase", metavar="TEXT")) -> None:
    """Note that the build run got so far."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.checkpoint(phase=phase)
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run end")
def end(ctx: typer.Context) -> None:
    """End the build run; it stays visible as partial where chunks remain."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.end()
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem run resume --choose resume")
def resume(ctx: typer.Context, choose: ResumeAction | None = option(ResumeBuildRequest, "choose")) -> None:
    """Show what is left of a build run that was cut off, and how to go on."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.runs.resume(choose=choose)
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
    lines = [f"{name}: {value if isinstance(value, str) else json.dumps(value)}" for name, value in values.items()]
    if run is not None:
        lines.append(f"build run {run['run_id']}: {run['status']}")
        lines += [f"  {one['id']}  [{one['status']}] {one['name']}".rstrip() for one in run["chunks"]]
    return "\n".join(lines) or "nothing is going on"


def left_of(answer: BuildResume) -> str:
    """Return what is left of a build run for people."""
    lines = [f"build run {answer.run_id}"]
    for word, chunks in (("completed", answer.completed), ("remaining", answer.remaining), ("drifted", answer.drifted)):
        lines += [f"{word}: {', '.join(one.id for one in chunks)}"] if chunks else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    return "\n".join(lines)
