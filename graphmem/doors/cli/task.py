"""``task …``."""

from collections.abc import Iterator

from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation, complete_ref, complete_task
from graphmem.doors.cli.commands import noun, passes
from graphmem.doors.cli.match import shown as shown_match
from graphmem.features.work.task_contract import (
    BlockTaskRequest,
    CompleteTaskRequest,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
    TaskChanged,
    TaskShown,
)
from graphmem.kernel.registry import Taken

TASK = Taken("REF", complete_task)
app = noun("Start, complete or block a task of a campaign.")


@app.command(epilog="Example: graphmem task start sso/002")
@passes("tasks.start", StartTaskRequest, ref=TASK)
def start(invocation: Invocation, answer: TaskChanged) -> None:
    """Start a task; prints its workspace, a prompt with what the project knows for it."""
    invocation.answer(answer, answer.workspace.text if answer.workspace else "")
    for line in changed(answer).splitlines():
        invocation.say(line)


@app.command(epilog='Example: graphmem task complete sso/002 --delivered "login works" --used failure/import-error')
@passes("tasks.complete", CompleteTaskRequest, ref=TASK, solved_by=Taken("PATTERN", complete_ref))
def complete(invocation: Invocation, answer: TaskChanged) -> None:
    """Complete a task, report which memories helped, and link what solved its block."""
    invocation.answer(answer, changed(answer))


@app.command(epilog='Example: graphmem task block sso/002 --reason "ImportError: no module named authlib"')
@passes("tasks.block", BlockTaskRequest, arguments=1, ref=TASK, by=Taken("FAILURE", complete_ref))
def block(invocation: Invocation, answer: TaskChanged) -> None:
    """Block a task, and show what is known of the error that stops it."""
    invocation.answer(answer, changed(answer))


@app.command(epilog="Example: graphmem task reopen sso/002")
@passes("tasks.reopen", ReopenTaskRequest, ref=TASK)
def reopen(invocation: Invocation, answer: TaskChanged) -> None:
    """Make a task pending again."""
    invocation.answer(answer, changed(answer))


@app.command(epilog="Example: graphmem task show sso/002")
@passes("tasks.show", ShowTaskRequest, ref=TASK)
def show(invocation: Invocation, answer: TaskShown) -> None:
    """Show a task, what became of what it was handed out, and its moves."""
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
