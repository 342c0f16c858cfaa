"""The commands that look after a store: ``init``, ``export``, ``rebuild``, ``validate``, ``doctor`` and others."""

from pathlib import Path
from typing import Annotated

import typer

from graphmem.doors.agents.install import checked
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_kind
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import Usage
from graphmem.features.upkeep.store_contract import (
    DoctorRequest,
    Exported,
    ExportRequest,
    RebuildRequest,
    Rebuilt,
    Reset,
    ResetRequest,
    Resolved,
    Split,
    SplitRequest,
    Trust,
    TrustRequest,
    Vacuumed,
    VacuumRequest,
)
from graphmem.features.upkeep.trust import allowing, lines_of
from graphmem.kernel.finding import Checked, Doctored
from graphmem.kernel.registry import Taken


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
        checked = invocation.memory.export_check()
        invocation.answer(checked, findings(checked, "canonical"))
        if not checked.ok:
            raise typer.Exit(1)
        return
    answer: Exported = call()
    lines = [
        f"{file}  {text.count(found.rows, 'row')}  {found.sha256[:12]}{'  changed' if found.changed else ''}"
        for file, found in answer.files.items()
    ]
    invocation.answer(answer, "\n".join(lines))
    if not lines:
        invocation.say("no rows yet")


@passes("rebuild", RebuildRequest, embed=Taken(meaning="Make no vectors"))
def rebuild(invocation: Invocation, answer: Rebuilt) -> None:
    """
    Rebuild everything derived from the files: catalog, index, graph, and the vectors that are missing.

    Example: graphmem rebuild
    """
    rate = (answer.records + answer.relations) / answer.seconds if answer.seconds else 0.0
    invocation.answer(
        answer,
        f"{text.count(answer.records, 'record')}, {text.count(answer.relations, 'relation')},"
        f" {text.count(answer.embedded, 'text')} embedded in {answer.seconds:.2f} s"
        f" ({rate:,.0f} rows/s)",
    )


@passes("validate")
def validate(invocation: Invocation, call: Call) -> None:
    """
    Check files, vocabulary and graph against each other; errors exit 1, warnings alone exit 0.

    Example: graphmem validate
    """
    invocation.is_talk_off = True  # what is wrong is the answer here, not talk
    answer: Checked = call()
    invocation.answer(answer, findings(answer, "well"))
    if not answer.ok:
        raise typer.Exit(1)


@passes("resolve")
def resolve(invocation: Invocation, call: Call) -> None:
    """
    Merge what git's merge left, row by row: files with conflict markers, and files that lack the other side's rows.

    Example: graphmem resolve
    """
    invocation.is_talk_off = True  # the bad lines are about to be repaired
    answer: Resolved = call()
    lines = [f"resolved: {file}" for file in answer.files] + [f"{found.severity}: {found}" for found in answer.findings]
    invocation.answer(answer, "\n".join(lines) or "no file is left to merge")
    invocation.is_talk_off = False
    if answer.files and not answer.findings:
        invocation.say("now: git add .graphmem, then git commit (or git rebase --continue)")


@passes("vacuum", VacuumRequest)
def vacuum(invocation: Invocation, answer: Vacuumed) -> None:
    """
    Remove what is derived and not needed now: vectors of other models, past states of --at, graphs of scopes, room.

    A command that needs it makes it again.

    Example: graphmem vacuum --dry-run
    """
    verb = "removed" if answer.done else "would remove"
    lines = [f"{verb} {found.what}: {found.bytes:,} bytes" for found in answer.freed]
    invocation.answer(answer, "\n".join(lines))
    size = f"{answer.before:,} bytes, {answer.after:,} afterwards" if answer.done else f"{answer.before:,} bytes"
    invocation.say(f"{'' if answer.freed else 'nothing to remove; '}what is derived has {size}")


@passes("reset", ResetRequest)
def reset(invocation: Invocation, answer: Reset) -> None:
    """
    Take all rows out of the memory in one write; types, scopes and settings stay. Without --yes show what would go.

    What was purged stays away. To take it back: graphmem undo

    Example: graphmem reset
    """
    verb = "removed" if answer.done else "would remove"
    lines = [f"{verb} {text.count(number, 'row')} of {file}" for file, number in answer.rows.items()]
    invocation.answer(answer, "\n".join(lines))
    if not answer.rows:
        invocation.say("the memory is empty")
    elif not answer.done:
        invocation.say("nothing was changed; do it with --yes")


@passes("split", SplitRequest, kind=Taken("KIND", complete_kind))
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
    invocation.answer(answer, f"{answer.kind}: {text.count(answer.rows, 'row')} {state} {where}")
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
    clients = checked(invocation.memory.client.root)
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


@passes("trust", TrustRequest, yes=Taken("DIGEST"))
def trust(invocation: Invocation, answer: Trust) -> None:
    """
    Show which settings load other weights, and which commands, proofs and extractors run; let them count here.

    They come with the branch, so they count only when you have looked at them, and as long as they, the files of
    their models and the scripts that extractors name are the same.

    The digest covers all that is shown; with any other digest nothing is trusted.

    Example: graphmem trust
    """
    state = "trusted" if answer.trusted else "not trusted"
    asked = lines_of(answer.settings, answer.commands, answer.proofs, answer.extractors)
    invocation.answer(answer, "\n".join(f"{state}: {one}" for one in asked))
    if not asked:
        invocation.say("nothing needs trust: no setting, no verify command, no proof, no extractor")
    elif not answer.trusted:
        invocation.say(f"it does not count; allow it with: {allowing(answer.digest)}")


def findings(answer: Checked, well: str) -> str:
    """Return what was found, one a line, or that all is well."""
    lines = [f"{found.severity}: {found.with_fix('fix')}" for found in answer.findings]
    return "\n".join(lines) or f"all files are {well}"
