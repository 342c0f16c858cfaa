"""The commands that look after a store: ``init``, ``export``, ``rebuild``, ``validate``, ``doctor`` and others."""

from pathlib import Path
from typing import Annotated

import typer

from graphmem.doors.agents.install import find_faults
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import Usage
from graphmem.features.upkeep.store_contract import DoctorRequest, Exported, ExportRequest, Split, SplitRequest
from graphmem.features.upkeep.text import findings
from graphmem.kernel.finding import Doctored
from graphmem.kernel.registry import Taken
from graphmem.kernel.text import count


@passes("export", ExportRequest, to=Taken("DIR"))
def export(
    invocation: Invocation,
    call: Call,
    to: Path | None,
    check: Annotated[
        bool, typer.Option("--check", help="Write nothing; exit 1 where a file is not canonical.")
    ] = False,
) -> None:
    """
    Bring every file into canonical form, or check that it is.

    Example: graphmem export --check
    """
    if check and to is not None:
        raise Usage("--check writes nothing, --to writes a copy", hint="give one of them")
    if check:
        checked = invocation.memory.store.export_check()
        invocation.answer(checked, findings(checked, "canonical"))
        if not checked.ok:
            raise typer.Exit(1)
        return
    answer: Exported = call()
    lines = [
        f"{file}  {count(found.rows, 'row')}  {found.sha256[:12]}{'  changed' if found.changed else ''}"
        for file, found in answer.files.items()
    ]
    invocation.answer(answer, "\n".join(lines))
    if not lines:
        invocation.say("no rows yet")


@passes("split", SplitRequest, kind=Taken("KIND", "kind"))
def split(
    invocation: Invocation,
    call: Call,
    files: Annotated[
        int,
        typer.Option(
            "--files", metavar="N", help=f"{SplitRequest.model_fields['files'].description}. One of: 1, 16, 256."
        ),
    ] = SplitRequest.model_fields["files"].default,
) -> None:
    """
    Put the rows of a large kind, entity type or relation type into several files, so that writing one costs little.

    In the order of their names, the files hold the lines of the one file. --files 1 takes it back.

    Example: graphmem split failure --files 256
    """
    answer: Split = call(files=files)
    where = "one file" if answer.files == 1 else f"{answer.files} files"
    state = "now in" if answer.changed else "already in"
    invocation.answer(answer, f"{answer.kind}: {count(answer.rows, 'row')} {state} {where}")
    if answer.changed:
        invocation.say("now: git add .graphmem, then git commit")


@passes("doctor", DoctorRequest, fix=Taken(note="without --yes, only list it"))
def doctor(
    invocation: Invocation,
    call: Call,
    fix: bool,
    yes: Annotated[bool, typer.Option("--yes", help="With --fix: do it.")] = False,
) -> None:
    """
    Check all that validate does, what git needs in this clone, leftovers, and whether a model is at hand.

    What --fix takes out of the files, undo brings back. Errors exit 1, warnings alone exit 0.

    Example: graphmem doctor --fix --yes
    """
    if yes and not fix:
        raise Usage("--yes alone does nothing", hint="graphmem doctor --fix --yes")
    invocation.is_talk_off = True  # what is wrong is the answer here, not talk
    found: Doctored = call(fix=fix and yes)
    clients = find_faults(invocation.memory.store.client.root)
    answer = found.model_copy(update={"findings": [*found.findings, *clients]})
    lines = [f"fixed: {found}" for found in answer.mended]
    if answer.findings or not lines:
        lines.append(findings(answer, "well"))
    invocation.answer(answer, "\n".join(lines))
    invocation.is_talk_off = False
    if fix and not yes and answer.findings:
        invocation.say("nothing was changed; do it with: graphmem doctor --fix --yes")
    if not answer.ok:
        raise typer.Exit(1)
