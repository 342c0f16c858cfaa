"""``supersede``, ``purge``, ``undo``."""

from typing import Annotated

import typer

from graphmem.core.records.record_contract import Write
from graphmem.doors.cli.caller import invocation_of
from graphmem.errors import Usage


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
        answer = invocation.memory.store.undoable()
        invocation.answer(answer, "\n".join(f"{n:>2}  {_written(w)}" for n, w in enumerate(answer.writes, 1)))
        if not answer.writes:
            invocation.say("nothing to undo")
        return
    answer = invocation.memory.undo(1 if number is None else number)
    invocation.answer(answer, "\n".join(f"took back {_written(write)}" for write in answer.writes))


def _written(write: Write) -> str:
    """Return a write on one line: when, by what, how many rows, and which."""
    counts = [f"{number:,} {what}" for what in ("added", "changed", "removed") if (number := getattr(write, what))]
    total = write.added + write.changed + write.removed
    rows = ", ".join(write.rows) + (", …" if total > len(write.rows) else "")
    return f"{write.at}  {write.command}  {', '.join(counts)}: {rows}"
