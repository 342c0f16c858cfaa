"""``task …``."""

from collections.abc import Iterator

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_ref, complete_task, invocation_of
from graphmem.cli.match import shown as shown_match
from graphmem.cli.options import argument, option
from graphmem.contract.tasks import (
    BlockTaskRequest,
    CompleteTaskRequest,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
    TaskChanged,
    TaskShown,
)

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def task() -> None:
    """Start, complete or block a task of a campaign."""


@app.command(epilog="Example: graphmem task start sso/002")
def start(
    ctx: typer.Context,
    ref: str = argument(StartTaskRequest, "ref", metavar="REF", autocompletion=complete_task),
    budget: int = option(StartTaskRequest, "budget", metavar="TOKENS"),
    named: str | None = option(StartTaskRequest, "session", metavar="NAME"),
) -> None:
    """Start a task; prints its workspace, a prompt with what the project knows for it."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.tasks.start(ref, budget=budget, session=named)
    invocation.answer(answer, answer.workspace.text if answer.workspace else "")
    for line in changed(answer).splitlines():
        invocation.say(line)


@app.command(epilog='Example: graphmem task complete sso/002 --delivered "login works" --used failure/import-error')
def complete(
    ctx: typer.Context,
    ref: str = argument(CompleteTaskRequest, "ref", metavar="REF", autocompletion=complete_task),
    delivered: str | None = option(CompleteTaskRequest, "delivered", metavar="TEXT"),
    used: list[str] = option(CompleteTaskRequest, "used", metavar="REF", autocompletion=complete_ref),
    failed: list[str] = option(CompleteTaskRequest, "failed", metavar="REF", autocompletion=complete_ref),
    solved_by: list[str] = option(CompleteTaskRequest, "solved_by", metavar="PATTERN", autocompletion=complete_ref),
    spent: float | None = option(CompleteTaskRequest, "spent", metavar="N"),
    named: str | None = option(CompleteTaskRequest, "session", metavar="NAME"),
) -> None:
    """Complete a task, report which memories helped, and link what solved its block."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.tasks.complete(
        ref, delivered=delivered, used=used or (), failed=failed or (), solved_by=solved_by or (), spent=spent,
        session=named,
    )  # fmt: skip
    invocation.answer(answer, changed(answer))


@app.command(epilog='Example: graphmem task block sso/002 --reason "ImportError: no module named authlib"')
def block(
    ctx: typer.Context,
    ref: str = argument(BlockTaskRequest, "ref", metavar="REF", autocompletion=complete_task),
    reason: str = option(BlockTaskRequest, "reason", metavar="TEXT"),
    by: list[str] = option(BlockTaskRequest, "by", metavar="FAILURE", autocompletion=complete_ref),
    failed: list[str] = option(BlockTaskRequest, "failed", metavar="REF", autocompletion=complete_ref),
    named: str | None = option(BlockTaskRequest, "session", metavar="NAME"),
) -> None:
    """Block a task, and show what is known of the error that stops it."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.tasks.block(ref, reason, by=by or (), failed=failed or (), session=named)
    invocation.answer(answer, changed(answer))


@app.command(epilog="Example: graphmem task reopen sso/002")
def reopen(
    ctx: typer.Context,
    ref: str = argument(ReopenTaskRequest, "ref", metavar="REF", autocompletion=complete_task),
    reason: str | None = option(ReopenTaskRequest, "reason", metavar="TEXT"),
    named: str | None = option(ReopenTaskRequest, "session", metavar="NAME"),
) -> None:
    """Make a task pending again."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.tasks.reopen(ref, reason=reason, session=named)
    invocation.answer(answer, changed(answer))


@app.command(epilog="Example: graphmem task show sso/002")
def show(
    ctx: typer.Context,
    ref: str = argument(ShowTaskRequest, "ref", metavar="REF", autocompletion=complete_task),
    budget: int = option(ShowTaskRequest, "budget", metavar="TOKENS"),
) -> None:
    """Show a task, what became of what it was handed out, and its moves."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.tasks.show(ref, budget=budget)
    invocation.answer(answer, "\n".join(shown(answer)))


def done(answer: TaskChanged) -> str:
    """Return in a line what happened to a task; where nothing did, since when it is so, and which session did that."""
    if answer.action not in ("updated", "unchanged"):
        return f"{answer.action} {answer.ref}"
    said = f"{answer.ref} is {getattr(answer.record, 'status', '')} already"
    said += f", since {answer.since}" if answer.since else ""
    said += f", by session {answer.by}" if answer.by else ""
    return said if answer.action == "unchanged" else f"{said}; what was not reported yet is added"


def changed(answer: TaskChanged) -> str:
    """Return what happened to a task, and what follows from it."""
    lines = [done(answer)]
    lines += [f"can run again: {', '.join(answer.released)}"] if answer.released else []
    lines += [f"solved: {', '.join(answer.solved)}"] if answer.solved else []
    return "\n".join([*lines, *(shown_match(hit, is_placed=False) for hit in answer.known)])


def shown(answer: TaskShown) -> Iterator[str]:
    """Yield the lines of a task for people."""
    yield text.fields(answer.record)
    for word, refs in (
        ("helped", answer.handed_out.helped),
        ("failed", answer.handed_out.failed),
        ("handed out and not reported on", answer.handed_out.unused),
    ):
        if refs:
            yield f"  {word}: {', '.join(refs)}"
    for move in answer.moves:
        by = f"  by session {move.session}" if move.session else ""
        because = f"  {text.one_line(move.reason)}" if move.reason else ""
        yield f"  {move.at}  {move.before} to {move.after}{by}{because}"
    if answer.disagreement:
        yield f"  {answer.disagreement}"
