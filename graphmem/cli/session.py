"""``session …``: what is current, decided and to be kept to."""

from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_ref, session_of
from graphmem.contract.sessions import SessionContext
from graphmem.errors import Usage
from graphmem.model import Constraint
from graphmem.model.blackboard import TaskStage

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None, add_completion=False
)

Name = Annotated[
    str | None, typer.Option("--session", metavar="NAME", help="A session by name; without, the project's own.")
]


@app.callback(epilog="Example: graphmem session")
def session(ctx: typer.Context, name: Name = None) -> None:
    """Show what is current: task, constraints that hold, the ten newest decisions, preferences."""
    if ctx.invoked_subcommand is None:
        shell = session_of(ctx)
        answer = shell.memory.sessions.show(name)
        shell.answer(answer, shown(answer))


def shown(answer: SessionContext) -> str:
    """Return what is current for people."""
    lines = []
    if task := answer.current_task:
        named = f" ({task.id})" if task.id else ""
        lines.append(f"task: {text.one_line(task.description)}{named}  [{task.status}, since {task.started_at:%H:%M}]")
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
    name: Name = None,
    task: Annotated[str | None, typer.Option("--task", metavar="TEXT", help="What it is about.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", metavar="ID", help="Of the agent.")] = None,
) -> None:
    """Begin a new session; the preferences of the user stay."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.start(name, conversation=conversation, task=task)
    shell.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session task "add a login page" --status in_progress')
def task(
    ctx: typer.Context,
    description: Annotated[str | None, typer.Argument(metavar="TEXT", help="What is being worked on.")] = None,
    name: Name = None,
    id_: Annotated[str | None, typer.Option("--id", metavar="ID", help="Such as auth/001-setup.")] = None,
    kind: Annotated[str | None, typer.Option("--type", metavar="TYPE", help="Such as bug or feature.")] = None,
    status: Annotated[TaskStage | None, typer.Option("--status", help="Status of the task.")] = None,
) -> None:
    """Set the current task or its status; a new text begins a new task."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.work_on(description, name, id=id_, type=kind, status=status)
    shell.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session decide "tokens live in cookies" --because "no XSS can read them"')
def decide(
    ctx: typer.Context,
    decision: Annotated[str, typer.Argument(metavar="TEXT", help="What was decided.")],
    because: Annotated[str | None, typer.Option("--because", metavar="TEXT", help="Why.")] = None,
    task: Annotated[str | None, typer.Option("--task", metavar="ID", help="In which task; the current one.")] = None,
    key: Annotated[str | None, typer.Option("--name", metavar="SLUG", help="Its name.")] = None,
    name: Name = None,
) -> None:
    """Record a decision; it is committed with the rest of the memory."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.decide(decision, name, reasoning=because, task=task, key=key)
    shell.answer(answer, text.changed(answer))


@app.command(epilog='Example: graphmem session constrain "no new dependencies" --until 2026-12-01T00:00:00Z')
def constrain(
    ctx: typer.Context,
    constraint: Annotated[str, typer.Argument(metavar="TEXT", help="The constraint.")],
    source: Annotated[str | None, typer.Option("--source", metavar="WHO", help="Who set it.")] = None,
    until: Annotated[
        str | None, typer.Option("--until", metavar="TIME", help="With its zone; for good without.")
    ] = None,
    key: Annotated[str | None, typer.Option("--name", metavar="SLUG", help="Its name.")] = None,
    name: Name = None,
) -> None:
    """Record a constraint, for everybody or for a named session; it is committed with the rest of the memory."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.constrain(constraint, name, source=source, expires_at=until, key=key)
    shell.answer(answer, text.changed(answer))


@app.command(epilog="Example: graphmem session prefer --style terse --approve 'before a push'")
def prefer(
    ctx: typer.Context,
    style: Annotated[str | None, typer.Option("--style", metavar="TEXT", help="How to communicate.")] = None,
    approve: Annotated[str | None, typer.Option("--approve", metavar="TEXT", help="What to ask before.")] = None,
    profile: Annotated[str | None, typer.Option("--profile", metavar="NAME", help="The usual model profile.")] = None,
    name: Name = None,
) -> None:
    """Note how the user wants to work; an empty text takes a wish back."""
    given = {"communication_style": style, "approval_gates": approve, "default_model_profile": profile}
    values = {field: value or None for field, value in given.items() if value is not None}
    if not values:
        raise Usage("no preference is given", hint="--style, --approve or --profile")
    shell = session_of(ctx)
    answer = shell.memory.sessions.prefer(name, **values)
    shell.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session note --messages 12 --used decision/tokens-live-in-cookies")
def note(
    ctx: typer.Context,
    messages: Annotated[int | None, typer.Option("--messages", metavar="N", min=0, help="So far.")] = None,
    conversation: Annotated[str | None, typer.Option("--conversation", metavar="ID", help="Of the agent.")] = None,
    skill: Annotated[list[str] | None, typer.Option("--skill", metavar="NAME", help="That was invoked.")] = None,
    used: Annotated[
        list[str] | None,
        typer.Option("--used", metavar="REF", autocompletion=complete_ref, help="A record that it used."),
    ] = None,
    name: Name = None,
) -> None:
    """Note how far the session has come, and what it used."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.note(
        name, messages=messages, conversation=conversation, skills=skill or (), used=used or ()
    )
    shell.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session end")
def end(ctx: typer.Context, name: Name = None) -> None:
    """End the session: what it was and used becomes a record."""
    shell = session_of(ctx)
    answer = shell.memory.sessions.end(name)
    shell.answer(answer, text.changed(answer))
