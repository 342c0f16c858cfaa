"""
The run state: what is going on now on this machine, its build run, and what a step needs first.

It is a file of this machine under a lock of its own: no use case but a skipped step needs a moment of the store.
"""

import json
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, TypeVar, cast, get_args

import orjson
from pydantic import BaseModel, ValidationError

from graphmem.constants import WORKFLOW_BYTES
from graphmem.core.records.events import event
from graphmem.core.records.moves import CHUNK_MOVES, refuse_move
from graphmem.core.records.screening import screened
from graphmem.errors import BadInput, NotFound, Refused
from graphmem.features.runs import run_file
from graphmem.features.runs.contract import (
    BUILD_EXAMPLE,
    BeginBuildRequest,
    BuildResume,
    ChangeRequest,
    CheckpointRequest,
    Choice,
    MoveChunkRequest,
    PlannedBuild,
    PlannedChunk,
    PrioritySource,
    Required,
    RequireStepRequest,
    ResumeBuildRequest,
    RunShown,
    SetRunRequest,
    StepRequest,
)
from graphmem.features.runs.workflow import USUAL, Workflow, missing, refuse_cycle, steps_in
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.run_state import BuildPlan, BuildRun, Chunk, RunState, with_texts
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.suggest import did_you_mean, refuse_unknown
from graphmem.kernel.system import foreign, safe_files
from graphmem.names import quoted

PRIORITY_SOURCES = get_args(PrioritySource)
OWN = ("build_run", "last_updated")  # fields that commands of their own change
MOST_OF_A_CAUSE = 200  # characters of a message that another library made
MOST_NOTED = 1_000  # files that hooks note; of more, the last ones
MOST_NAMES = 20  # in a hint
USUAL_NAME = "usual"  # name of the workflow where a project declares none

SUCH_AS = 'such as {"workflow_step": "build"}'
Model = TypeVar("Model", bound=BaseModel)


def page_fields(client: Client) -> dict[str, RunState]:
    """Return the run state that the page shows, without what agents printed."""
    state = run_file.read(client.state)
    return {"run": state.model_copy(update={"agent_outputs": None})}


@operation("runs.show", example="graphmem build show")
def show(client: Client) -> RunShown:
    """Return the run state."""
    return shown(run_file.read(client.state))


def shown(state: RunState) -> RunShown:
    """Return the run state as an answer."""
    return RunShown.model_validate(state.model_dump(mode="json", exclude_none=True))


def changed(client: Client, state: RunState, fields: Mapping[str, Any]) -> RunState:
    """Return the run state with fields changed: objects are merged, null clears."""
    values = _merged(state.model_dump(mode="json", exclude_none=True), fields)
    values["last_updated"] = format_time(client.now())
    return _validated(RunState, values, "run state")


def _validated(model: type[Model], values: object, what: str, such_as: str | None = None) -> Model:
    """Return values as a model, or raise ``BadInput`` with what is wrong; ``what`` begins the message."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"{what}: {message}", hint=expected or such_as) from None


def _merged(old: Any, new: Any) -> Any:
    """Return a value with a patch of the same form applied, as RFC 7386 says: null takes a value away."""
    if not isinstance(new, Mapping):
        return new
    found = dict(old) if isinstance(old, dict) else {}
    for name, value in new.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = _merged(found.get(name), value)
    return found


def _as_json(given: Mapping[str, object], what: str) -> dict[str, Any]:
    """Return an object as a file of JSON would give it back; ``what`` begins the message where none could."""
    try:
        json.dumps(given, allow_nan=False)
        made: dict[str, Any] = orjson.loads(orjson.dumps(dict(given)))
    except (TypeError, ValueError, RecursionError) as error:
        raise BadInput(f"{what}: {str(error)[:MOST_OF_A_CAUSE]}", hint="an object as JSON has it") from None
    return made


@operation(
    "runs.set",
    writes=True,
    example='graphmem build set \'{"workflow_step": "build", "next_step": null}\'',
    takes={"fields": Taken("JSON|-", reads="json typed", such_as=SUCH_AS)},
)
def set_fields(client: Client, request: SetRunRequest) -> RunShown:
    """Change fields of the run state: objects are merged, ``None`` clears, all other fields stay."""
    request = screened(client, request, "run")
    fields = _as_json(request.fields, "run state")
    for name in fields:
        if name in OWN:
            raise Refused(f"{name!r} is not set by hand", hint="graphmem build begin, chunk, checkpoint, end, resume")
    refuse_unknown("the run state", fields, RunState.model_fields.keys() - {*OWN})
    with run_file.changing(client.state) as held:
        if (listed := fields.get("untracked_changes")) and isinstance(listed, list):
            fields["untracked_changes"] = _united(held.state, listed)
        held.state = changed(client, held.state, fields)
        return shown(held.state)


def take_over(
    client: Client,
    fields: Mapping[str, Any],
    counts: Mapping[str, Counter[str]],
    skip: Callable[[str, str], None],
    *,
    is_real: bool,
) -> None:
    """
    Take fields of a run state from another tool's file; one that has another value here stays.

    Args:
        counts: how many were created and unchanged is added here.
        skip: is told of the others: where in the input they stand, and why.
        is_real: the run state is changed.
    """
    with run_file.changing(client.state) as held:
        here = held.state.model_dump(mode="json", exclude_none=True)
        given = RunState.model_validate(fields).model_dump(mode="json", exclude_none=True)
        for name, value in given.items():
            if name in here and here[name] != value:
                skip(f"run state: {name}", "the run state here has another: graphmem build show")
            else:
                counts["unchanged" if name in here else "created"]["state field"] += 1
        new = {name: value for name, value in given.items() if name not in here}
        if new and is_real:
            held.state = changed(client, held.state, new)


@operation(
    "runs.change",
    writes=True,
    example="graphmem build change add src/cart.py --section checkout",
    takes={"file": Taken(reads="path")},
)
def change(client: Client, request: ChangeRequest) -> RunShown:
    """
    Note a file that was changed outside of the plan, or take it away; the others stay.

    Raises:
        NotFound: the file that is done was not noted.
    """
    request = screened(client, request, "run")
    with run_file.changing(client.state) as held:
        if request.action == "add":
            fields = {"file": request.file, "section": request.section, "section_number": request.section_number}
            kept = _noted(client, held.state, [fields])
        else:
            there = _united(held.state, [])
            kept = [one for one in there if one["file"] != request.file]
            if len(kept) == len(there):
                known = [quoted(one["file"]) for one in there]
                raise NotFound(
                    f"{request.file!r} is not among the untracked changes",
                    hint=did_you_mean(request.file, known) or (f"noted: {_some(known)}" if known else "none is noted"),
                )
        held.state = changed(client, held.state, {"untracked_changes": kept or None})
        return shown(held.state)


def note_edits(client: Client, files: Collection[str]) -> None:
    """Note files that an agent edited while no command of a plan and no build was under way."""
    with run_file.changing(client.state) as held:
        run = held.state.build_run
        if held.state.current_command is None and (run is None or run.status != "running"):
            kept = _noted(client, held.state, [{"file": file} for file in files])
            held.state = changed(client, held.state, {"untracked_changes": kept[-MOST_NOTED:]})


def _noted(client: Client, state: RunState, files: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the untracked changes with files added, as of now, in the active section if no other is given."""
    section = state.active_section
    here = {"section": section.alias, "section_number": section.number} if section else {}
    at = format_time(client.now())
    given = [{name: value for name, value in one.items() if value is not None} for one in files]
    return _united(state, [{**(here if one.keys() == {"file"} else {}), **one, "at": at} for one in given])


def _united(state: RunState, changes: Sequence[Any]) -> list[Any]:
    """Return the untracked changes with others added: one a file, the latest last, so that two writers lose nothing."""
    found: dict[str, Any] = {}
    for one in (*(old.model_dump(mode="json", exclude_none=True) for old in state.untracked_changes or ()), *changes):
        file = str(one.get("file") if isinstance(one, Mapping) else one)
        found.pop(file, None)
        found[file] = one
    return list(found.values())


@operation("runs.done", writes=True, example="graphmem build done plan")
def done(client: Client, request: StepRequest) -> RunShown:
    """Note that a step of the workflow is complete."""
    request = screened(client, request, "run")
    with run_file.changing(client.state) as held:
        steps = list(dict.fromkeys([*(held.state.completed_steps or ()), request.step]))
        ended = {"workflow_step": None} if held.state.workflow_step == request.step else {}
        held.state = changed(client, held.state, {"completed_steps": steps, **ended})
        return shown(held.state)


# --- prerequisites ----------------------------------------------------------------------------------------------------


@operation(
    "runs.require",
    writes=True,
    example="graphmem build require build",
    help="Check what a step needs; exit status 1 where something is missing.",
)
def require(client: Client, request: RequireStepRequest) -> Required:
    """Return whether what a step needs is complete; ``skip`` goes on without, which is recorded."""
    request = screened(client, request, "run")
    state = run_file.read(client.state)
    name = request.workflow or state.workflow
    workflow = _workflow_of(client, name)
    if request.step not in workflow:
        raise NotFound(
            f"the workflow {name or USUAL_NAME!r} has no step {request.step!r}",
            hint=did_you_mean(request.step, workflow) or f"its steps: {_some(workflow)}",
        )
    settled = {*(state.completed_steps or ()), *(state.skipped_steps or ())}
    lacking = missing(workflow, request.step, settled)
    if lacking and request.skip:
        return skipped(client, request.step, lacking)
    return Required(
        step=request.step, met=not lacking, missing=lacking, skipped=[], choices=_ways_on(request.step, lacking)
    )


def skipped(client: Client, step: str, steps: list[str]) -> Required:
    """Note that a step begins without those that it needs."""
    with run_file.changing(client.state) as held:
        kept = list(dict.fromkeys([*(held.state.skipped_steps or ()), *steps]))
        held.state = changed(client, held.state, {"skipped_steps": kept})
    with client.writing() as snapshot:
        said = {"step": step, "skipped": steps}
        snapshot.commit([event(snapshot, "prerequisite-skipped", snapshot.now, None, said)])
    return Required(step=step, met=True, missing=[], skipped=steps, choices=[])


def _some(names: Collection[str]) -> str:
    """Return names for a hint, the first of very many."""
    more = f" and {len(names) - MOST_NAMES:,} more" if len(names) > MOST_NAMES else ""
    return ", ".join(list(names)[:MOST_NAMES]) + more


def _ways_on(step: str, lacking: list[str]) -> list[Choice]:
    """Return how to go on where something is missing."""
    if not lacking:
        return []
    return [
        Choice(number=1, action="run", text=f"run {lacking[0]} now", recommended=True),
        Choice(number=2, action="skip", text=f"begin {step} without {', '.join(lacking)}"),
        Choice(number=3, action="abort", text=f"do not begin {step}"),
    ]


def _workflow_of(client: Client, name: str | None) -> Workflow:
    """
    Return a workflow that the project declares in ``workflows.json``; the usual one where it declares none.

    Raises:
        BadInput: the file is no such declaration. NotFound: it has no workflow of this name.
    """
    path = client.layout.workflows
    if not safe_files.is_file(path):
        if name not in (None, USUAL_NAME):
            raise NotFound(f"no workflow {name!r} is declared", hint=f"declare it in {path}")
        return USUAL
    declared = parsed(safe_files.read(path, most=WORKFLOW_BYTES + 1), str(path))
    if name is None and len(declared) == 1:
        (name,) = declared
    if name is None or name not in declared:
        raise NotFound(
            f"no workflow {name!r} is declared" if name else "several workflows are declared",
            hint=f"one of: {_some(declared)}",
        )
    return declared[name]


def parsed(data: bytes, path: str) -> dict[str, Workflow]:
    """Return the workflows that a file declares."""
    hint = 'such as {"feature": {"plan": [], "build": ["plan"]}}'
    try:
        if len(data) > WORKFLOW_BYTES:
            raise ValueError("it is too large")
        found = foreign.json(data.decode())
    except ValueError as error:
        raise BadInput(f"{path} does not declare workflows: {error}", hint=hint) from None
    if not (isinstance(found, dict) and found and all(isinstance(steps, dict) for steps in found.values())):
        raise BadInput(f"{path} does not declare workflows", hint=hint)
    for name, steps in found.items():
        for step, needs in steps.items():
            if not (isinstance(needs, list) and all(map(_is_need, needs))):
                raise BadInput(
                    f"{path}: {name}.{step} does not list the steps that it needs",
                    hint='such as ["plan"], or ["plan", ["research", "translate"]] where one of two is enough',
                )
            if unknown := [need for need in steps_in(needs) if need not in steps]:
                raise BadInput(f"{path}: {name}.{step} needs {unknown[0]!r}, which is not a step of it", hint=hint)
        refuse_cycle(steps, f"{path}: {name}")
    return cast(dict[str, Workflow], found)


def _is_need(value: object) -> bool:
    """Return whether a value is a step, or a list of steps of which one is enough."""
    steps = value if isinstance(value, list) else [value]
    return bool(steps) and all(isinstance(step, str) for step in steps)


# --- build run --------------------------------------------------------------------------------------------------------


@operation(
    "runs.begin",
    writes=True,
    example="graphmem build begin build.json",
    takes={"plan": Taken("FILE|-", reads="json object", such_as=BUILD_EXAMPLE)},
)
def begin(client: Client, request: BeginBuildRequest) -> RunShown:
    """Begin a build run with the chunks of a plan."""
    request = screened(client, request, "run")
    with run_file.changing(client.state) as held:
        current = held.state.build_run
        if current is not None and current.status == "running":
            raise Refused(f"build run {current.run_id} is under way", hint="graphmem build resume")
        given = _as_json(request.plan, "build run")
        refuse_unknown("the plan of a build run", given, {*PlannedBuild.model_fields, *BuildPlan.model_fields})
        chunks = _chunks_of(given.pop("chunks", None))
        if (source := given.get("priority_source")) not in (None, *PRIORITY_SOURCES):
            raise BadInput(f"priority_source is {source!r}", hint=f"one of: {', '.join(PRIORITY_SOURCES)}")
        version = given.get("spec_version") or held.state.spec_version
        run = {
            "run_id": client.new_id(),
            "status": "running",
            "started_at": format_time(client.now()),
            "plan": {**given, "total_chunks": len(chunks), **({"spec_version": version} if version else {})},
            "chunks": [one.model_dump(mode="json", exclude_none=True) for one in chunks],
        }
        fields = {"build_run": None, **({"spec_version": version} if version else {})}
        cleared = changed(client, held.state, fields)
        held.state = _with_progress(client, cleared, _validated(BuildRun, run, "build run"))
        return shown(held.state)


def _chunks_of(given: object) -> list[Chunk]:
    """Return the chunks of a plan, all of them planned."""
    if not isinstance(given, list) or not given:
        raise BadInput("the plan of a build run has no chunks", hint=BUILD_EXAMPLE)
    chunks: list[Chunk] = []
    for place, row in enumerate(given, 1):
        if isinstance(row, dict):
            refuse_unknown(f"chunk {place} of a plan", row, PlannedChunk.model_fields)
        chunks.append(_validated(Chunk, with_texts(row), f"chunk {place}", BUILD_EXAMPLE))
    ids = [one.id for one in chunks]
    for one in chunks:
        if not one.id.strip():
            raise BadInput("the id of a chunk is empty", hint=BUILD_EXAMPLE)
        if ids.count(one.id) > 1:
            raise BadInput(f"two chunks have the id {one.id!r}", hint="give each an id of its own")
        if unknown := [need for need in one.depends_on if need not in ids]:
            raise BadInput(
                f"chunk {one.id!r} depends on {unknown[0]!r}, which is not a chunk", hint=f"known: {_some(ids)}"
            )
    refuse_cycle({one.id: one.depends_on for one in chunks}, "the plan of the build run")
    return chunks


def _with_progress(client: Client, state: RunState, run: BuildRun) -> RunState:
    """Return the run state with a build run, and how far that is."""
    built = sum(one.status == "completed" for one in run.chunks)
    current = min(built + any(one.status in ("active", "retrying") for one in run.chunks), len(run.chunks))
    fields = {
        "build_run": run.model_dump(mode="json", exclude_none=True),
        "chunk_progress": {"current": current, "total": len(run.chunks)},
    }
    return changed(client, state, fields)


def _current_run(state: RunState) -> BuildRun:
    """
    Return the build run.

    Raises:
        NotFound: there is none.
    """
    if state.build_run is None:
        raise NotFound("no build run is under way", hint="begin one: graphmem build begin PLAN.json")
    return state.build_run


def _under_way(state: RunState) -> BuildRun:
    """
    Return the build run, which goes on.

    Raises:
        NotFound: there is none. Refused: it was ended or given up.
    """
    run = _current_run(state)
    if run.status != "running":
        raise Refused(f"build run {run.run_id} is {run.status}", hint="graphmem build resume --choose resume")
    return run


@operation("runs.chunk", writes=True, example="graphmem build chunk c1 completed")
def move_chunk(client: Client, request: MoveChunkRequest) -> RunShown:
    """Move a chunk of the build run to its next status."""
    with run_file.changing(client.state) as held:
        run = _under_way(held.state)
        found = next((one for one in run.chunks if one.id == request.id), None)
        if found is None:
            known = [one.id for one in run.chunks]
            raise NotFound(
                f"the build run has no chunk {request.id!r}", hint=did_you_mean(request.id, known) or _some(known)
            )
        times = [one for one in (found.started_at, found.completed_at, found.failed_at) if one is not None]
        since = format_time(max(times)) if times else None
        refuse_move(CHUNK_MOVES, f"chunk {found.id}", found.status, request.status, may_stay=False, since=since)
        now = client.now()
        changes: dict[str, Any] = {"status": request.status, "completed_at": None, "failed_at": None}
        if request.status in ("active", "retrying"):
            waits = [one.id for one in run.chunks if one.id in found.depends_on and one.status != "completed"]
            if waits:
                raise Refused(f"chunk {found.id} waits for chunk {waits[0]}", hint="complete that one first")
            changes |= {"attempt": found.attempt + 1, "started_at": now}
        elif request.status == "completed":
            changes |= {"completed_at": now, "spec_version_at_build": held.state.spec_version}
        else:
            changes |= {"failed_at": now}
        chunks = tuple(one.model_copy(update=changes) if one.id == found.id else one for one in run.chunks)
        made = run.model_copy(update={"chunks": chunks, "last_checkpoint": now})
        held.state = _with_progress(client, held.state, made)
        return shown(held.state)


@operation("runs.checkpoint", writes=True, example="graphmem build checkpoint --phase stabilise")
def checkpoint(client: Client, request: CheckpointRequest) -> RunShown:
    """Note that the build run got so far."""
    request = screened(client, request, "run")
    with run_file.changing(client.state) as held:
        run = _under_way(held.state)
        changes = {"last_checkpoint": client.now(), "convergence_phase": request.phase or run.convergence_phase}
        held.state = _with_progress(client, held.state, run.model_copy(update=changes))
        return shown(held.state)


@operation("runs.end", writes=True, example="graphmem build end")
def end(client: Client) -> RunShown:
    """End the build run: cleared where every chunk is completed, else visible as partial."""
    with run_file.changing(client.state) as held:
        run = _current_run(held.state)
        if all(one.status == "completed" for one in run.chunks):
            held.state = changed(client, held.state, {"build_run": None, "chunk_progress": None})
        else:
            held.state = _with_progress(client, held.state, run.model_copy(update={"status": "partial"}))
        return shown(held.state)


@operation("runs.resume", writes=True, example="graphmem build resume --choose resume")
def resume(client: Client, request: ResumeBuildRequest) -> BuildResume:
    """Return what is left of a build run that was cut off, and how to go on; a choice does it."""
    with run_file.changing(client.state) as held:
        run = _current_run(held.state)
        version = held.state.spec_version
        if request.choose == "resume":  # what was under way when its process died is begun again
            chunks = tuple(
                one.model_copy(update={"status": "planned"}) if one.status in ("active", "retrying") else one
                for one in run.chunks
            )
            run = run.model_copy(update={"status": "running", "chunks": chunks})
        elif request.choose == "fresh":
            chunks = tuple(
                Chunk(
                    id=one.id, name=one.name, sections=one.sections, scenarios=one.scenarios, depends_on=one.depends_on
                )
                for one in run.chunks
            )
            run = BuildRun(run_id=client.new_id(), started_at=client.now(), plan=run.plan, chunks=chunks)
        elif request.choose == "cancel":
            run = run.model_copy(update={"status": "partial"})
        if request.choose is not None:
            cleared = changed(client, held.state, {"build_run": None})
            held.state = _with_progress(client, cleared, run)
        built = [one for one in run.chunks if one.status == "completed"]
        return BuildResume(
            run_id=run.run_id,
            completed=built,
            remaining=[one for one in run.chunks if one.status != "completed"],
            drifted=[one for one in built if version is not None and one.spec_version_at_build != version],
            choices=[] if request.choose else RESUME_CHOICES,
            chosen=request.choose,
        )


RESUME_CHOICES = [
    Choice(number=1, action="resume", text="go on with the chunks that remain", recommended=True),
    Choice(number=2, action="fresh", text="build all chunks again"),
    Choice(number=3, action="cancel", text="give the build run up; it stays visible as partial"),
]
