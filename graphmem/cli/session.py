"""``session …``: what is current, decided and to be kept to."""

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_ref, invocation_of
from graphmem.cli.options import argument, option
from graphmem.contract.sessions import (
    ConstrainRequest,
    DecideRequest,
    NoteRequest,
    PreferRequest,
    SessionContext,
    SessionRequest,
    StartSessionRequest,
    WorkOnRequest,
)
from graphmem.errors import Usage
from graphmem.model import Constraint
from graphmem.model.blackboard import TaskStage

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None, add_completion=False
)

NAME = option(SessionRequest, "name", "--session", metavar="NAME")


@app.callback(epilog="Example: graphmem session")
def session(ctx: typer.Context, name: str | None = NAME) -> None:
    """Show what is current: task, constraints that hold, the ten newest decisions, preferences."""
    if ctx.invoked_subcommand is None:
        invocation = invocation_of(ctx)
        answer = invocation.memory.sessions.show(name)
        invocation.answer(answer, shown(answer))


def shown(answer: SessionContext) -> str:
    """Return what is current for people."""
    lines = []
    if task := answer.current_task or answer.last_task:
        named = f"{text.one_line(task.description)}{f' ({task.id})' if task.id else ''}"
        is_current = f"task: {named}  [{task.status}, since {task.started_at:%H:%M}]"
        lines.append(is_current if answer.current_task else f"last task: {named}")
    for found in answer.active_constraints:
        assert isinstance(found.record, Constraint)
        until = found.record.expires_at
        lines.append(f"{text.line(found.record)}{f'  (until {until:%Y-%m-%d %H:%M})' if until else ''}")
    lines += [text.line(found.record) for found in answer.recent_decisions]
    wishes = answer.user_preferences.model_dump(exclude_none=True)
    lines += [f"{name.replace('_', ' ')}: {text.one_line(str(value))}" for name, value in wishes.items()]
    if answer.session.started_at:
        since, last = answer.session.started_at, answer.session.last_updated
        lines.append(f"session since {since:%Y-%m-%d %H:%M}, last {last:%H:%M}, {answer.session.messages} messages")
    return "\n".join(lines)


@app.command(epilog='Example: graphmem session start --task "add a login page"')
def start(
    ctx: typer.Context,
    name: str | None = NAME,
    task: str | None = option(StartSessionRequest, "task", metavar="TEXT"),
    conversation: str | None = option(StartSessionRequest, "conversation", metavar="ID"),
) -> None:
    """Begin a new session; the preferences of the user stay."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.start(name, conversation=conversation, task=task)
    invocation.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session task "add a login page" --status in_progress')
def task(
    ctx: typer.Context,
    description: str | None = argument(WorkOnRequest, "description", metavar="TEXT"),
    name: str | None = NAME,
    id_: str | None = option(WorkOnRequest, "id", metavar="ID"),
    kind: str | None = option(WorkOnRequest, "type", metavar="TYPE"),
    status: TaskStage | None = option(WorkOnRequest, "status"),
) -> None:
    """Set the current task or its status; a new text begins a new task."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.work_on(description, name, id=id_, type=kind, status=status)
    invocation.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session decide "tokens live in cookies" --because "no XSS can read them"')
def decide(
    ctx: typer.Context,
    decision: str = argument(DecideRequest, "decision", metavar="TEXT"),
    because: str | None = option(DecideRequest, "reasoning", "--because", metavar="TEXT"),
    task: str | None = option(DecideRequest, "task", metavar="ID"),
    key: str | None = option(DecideRequest, "key", "--name", metavar="SLUG"),
    name: str | None = NAME,
) -> None:
    """Record a decision; it is committed with the rest of the memory."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.decide(decision, name, reasoning=because, task=task, key=key)
    invocation.answer(answer, text.changed(answer))


@app.command(epilog='Example: graphmem session constrain "no new dependencies" --until 2026-12-01T00:00:00Z')
def constrain(
    ctx: typer.Context,
    constraint: str = argument(ConstrainRequest, "constraint", metavar="TEXT"),
    source: str | None = option(ConstrainRequest, "source", metavar="WHO"),
    until: str | None = option(ConstrainRequest, "expires_at", "--until", metavar="TIME"),
    key: str | None = option(ConstrainRequest, "key", "--name", metavar="SLUG"),
    name: str | None = NAME,
) -> None:
    """Record a constraint, for everybody or for a named session; it is committed with the rest of the memory."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.constrain(constraint, name, source=source, expires_at=until, key=key)
    invocation.answer(answer, text.changed(answer))


@app.command(epilog="Example: graphmem session prefer --style terse --approve 'before a push'")
def prefer(
    ctx: typer.Context,
    style: str | None = option(PreferRequest, "communication_style", "--style", metavar="TEXT"),
    approve: str | None = option(PreferRequest, "approval_gates", "--approve", metavar="TEXT"),
    profile: str | None = option(PreferRequest, "default_model_profile", "--profile", metavar="NAME"),
    name: str | None = NAME,
) -> None:
    """Note how the user wants to work; an empty text takes a wish back."""
    if (style, approve, profile) == (None, None, None):
        raise Usage("no preference is given", hint="--style, --approve or --profile")
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.prefer(
        name, communication_style=style, approval_gates=approve, default_model_profile=profile
    )
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session note --messages 12 --used decision/tokens-live-in-cookies")
def note(
    ctx: typer.Context,
    messages: int | None = option(NoteRequest, "messages", metavar="N"),
    conversation: str | None = option(NoteRequest, "conversation", metavar="ID"),
    skill: list[str] | None = option(NoteRequest, "skills", "--skill", metavar="NAME"),
    used: list[str] | None = option(NoteRequest, "used", metavar="REF", autocompletion=complete_ref),
    name: str | None = NAME,
) -> None:
    """Note how far the session has come, and what it used."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.note(
        name, messages=messages, conversation=conversation, skills=skill or (), used=used or ()
    )
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session end")
def end(ctx: typer.Context, name: str | None = NAME) -> None:
    """End the session: what it was and used becomes a record."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.sessions.end(name)
    invocation.answer(answer, text.changed(answer))
