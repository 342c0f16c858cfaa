"""How the run state reads on a terminal."""

import json

from graphmem.features.runs.contract import BuildResume, Required, RunShown
from graphmem.kernel.registry import Printout, reads
from graphmem.names import collapsed, quoted


@reads("runs.done")
def _run_done_text(answer: RunShown) -> str:
    return f"complete: {', '.join(answer.completed_steps or ())}"


@reads("runs.change")
def _run_change_text(answer: RunShown) -> str:
    changes = answer.untracked_changes or ()
    files = [quoted(one.file) + (f"  ({collapsed(one.section)})" if one.section else "") for one in changes]
    return "\n".join(files) or "no change is untracked"


@reads("runs.require")
def _run_require_text(answer: Required, step: str) -> Printout:
    lines = [f"{step} can begin"] if answer.met else [f"missing: {', '.join(answer.missing)}"]
    lines += [f"skipped: {', '.join(answer.skipped)}"] if answer.skipped else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    return Printout("\n".join(lines), status=0 if answer.met else 1)


@reads("runs.show", "runs.set", "runs.begin", "runs.chunk", "runs.checkpoint", "runs.end")
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


@reads(BuildResume)
def _left_of(answer: BuildResume) -> str:
    """Return what is left of a build run for people."""
    lines = [f"build run {answer.run_id}"]
    for word, chunks in (("completed", answer.completed), ("remaining", answer.remaining), ("drifted", answer.drifted)):
        lines += [f"{word}: {', '.join(one.id for one in chunks)}"] if chunks else []
    lines += [f"  {one.number}. {one.text}{' (recommended)' if one.recommended else ''}" for one in answer.choices]
    return "\n".join(lines)
