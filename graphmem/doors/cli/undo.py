"""``supersede``, ``purge``, ``undo``."""

from pathlib import Path
from typing import Annotated

import typer

from graphmem.core.records.record_contract import Changed, Purged, PurgeRequest, SupersedeRequest, Write
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_ref, invocation_of
from graphmem.doors.cli.commands import passes
from graphmem.errors import Usage
from graphmem.kernel.registry import Taken


@passes("supersede", SupersedeRequest, old=Taken("OLD", complete_ref), new=Taken("NEW", complete_ref))
def supersede(invocation: Invocation, answer: Changed) -> None:
    """
    Archive a record that another one of its kind takes the place of; get shows which.

    Example: graphmem supersede pattern/pin-setuptools pattern/use-importlib --reason "pkg_resources is gone for good"
    """
    invocation.answer(answer, f"{text.changed(answer)}{text.ASIDE}superseded by {answer.record.superseded_by}")


@passes("purge", PurgeRequest, arguments=1, refs=Taken("REF…", complete_ref), history_script=Taken("FILE"))
def purge(invocation: Invocation, answer: Purged, yes: bool, history_script: Path | None) -> None:
    """
    Destroy records, every row that names them, their vectors, and their names in other records.

    The tasks of a campaign go with it. No merge brings a purged record back, but git's own history still has it:
    --history-script writes a program that shows what it would remove there, and removes it with --yes.

    Example: graphmem purge failure/with-a-password --yes
    """
    invocation.answer(answer, purged(answer, is_written=history_script is not None))
    if history_script is not None and not answer.records:
        return
    if not answer.records:
        invocation.say("nothing to purge")
    elif not yes:
        invocation.say("nothing was changed; do it with --yes")


def purged(answer: Purged, *, is_written: bool) -> str:
    """Return what a purge destroyed, or would."""
    would = "" if answer.done else "would be "
    lines = [f"{would}purged {ref}" for ref in answer.records]
    lines += [f"{would}changed {ref}" for ref in answer.changed]
    lines += [f"{would}removed from {file}: {text.count(rows, 'row')}" for file, rows in answer.rows.items()]
    lines += [f"{would}removed: {text.count(answer.vectors, 'vector')}"] if answer.vectors else []
    lines += [f"quoted by {ref}, which stays: edit it, or purge it too" for ref in answer.quoted_by]
    if is_written:
        lines += [f"git's history: look at the head of the program, then run it: {answer.history[0]}"]
    elif answer.done and answer.history:
        lines += [f"git's history still has them; to remove them there: {answer.history[0]}"]
    return "\n".join(lines)


def undo(
    ctx: typer.Context,
    number: Annotated[int | None, typer.Argument(metavar="N", help="How many writes [default: 1].")] = None,
    listing: Annotated[bool, typer.Option("--list", help="Show what can be taken back, the last first.")] = False,
) -> None:
    """
    Take back the last writes of this clone, all or none: rows that they added go, others are as they were.

    The last 50 are kept, declared types too. It is refused where their rows were changed since, also by a checkout of
    another branch. An undo cannot be taken back, and neither can a purge.

    Example: graphmem undo 2
    """
    invocation = invocation_of(ctx)
    if listing:
        if number is not None:
            raise Usage("--list takes nothing back", hint="give either N or --list")
        answer = invocation.memory.undoable()
        invocation.answer(answer, "\n".join(f"{n:>2}  {written(w)}" for n, w in enumerate(answer.writes, 1)))
        if not answer.writes:
            invocation.say("nothing to undo")
        return
    answer = invocation.memory.undo(1 if number is None else number)
    invocation.answer(answer, "\n".join(f"took back {written(write)}" for write in answer.writes))


def written(write: Write) -> str:
    """Return a write on one line: when, by what, how many rows, and which."""
    counts = [f"{number:,} {what}" for what in ("added", "changed", "removed") if (number := getattr(write, what))]
    total = write.added + write.changed + write.removed
    rows = ", ".join(write.rows) + (", …" if total > len(write.rows) else "")
    return f"{write.at}  {write.command}  {', '.join(counts)}: {rows}"
