"""``session …``: what is current, decided and to be kept to."""

import typer

from graphmem.core.records.record_contract import Changed
from graphmem.doors.cli import text
from graphmem.doors.cli.app import Noun
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, passes
from graphmem.errors import Usage
from graphmem.features.learning.sessions import (
    ConstrainRequest,
    DecideRequest,
    EndSessionRequest,
    NoteRequest,
    PreferRequest,
    SessionContext,
    SessionRequest,
    StartSessionRequest,
    WorkOnRequest,
)
from graphmem.kernel.model import Constraint
from graphmem.kernel.registry import Taken

app = typer.Typer(
    cls=Noun, invoke_without_command=True, no_args_is_help=False, rich_markup_mode=None, add_completion=False
)

NAME = Taken("NAME", flag="--session")


@app.callback(epilog="Example: graphmem session")
@passes("sessions.show", SessionRequest, name=NAME)
def session(invocation: Invocation, answer: SessionContext) -> None:
    """Show what is current: task, constraints that hold, the ten newest decisions, preferences."""
    invocation.answer(answer, current := shown(answer))
    if not current:
        invocation.say('nothing is current; to begin: graphmem session start --task "what is to be done"')


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
        lines += contradicting(answer, found.ref)
    for found in answer.recent_decisions:
        lines += [text.line(found.record), *contradicting(answer, found.ref)]
    wishes = answer.user_preferences.model_dump(exclude_none=True)
    lines += [f"{name.replace('_', ' ')}: {text.one_line(str(value))}" for name, value in wishes.items()]
    if answer.session.started_at:
        since, last = answer.session.started_at, answer.session.last_updated
        lines.append(f"session since {since:%Y-%m-%d %H:%M}, last {last:%H:%M}, {answer.session.messages} messages")
    return "\n".join(lines)


def contradicting(answer: SessionContext, ref: str) -> list[str]:
    """Return a line that names what says the opposite of a record, if anything does."""
    others = answer.contradictions.get(ref)
    return [f"    ! contradicts {text.one_line(', '.join(others))}"] if others else []


@app.command(epilog='Example: graphmem session start --task "add a login page"')
@passes("sessions.start", StartSessionRequest, name=NAME)
def start(invocation: Invocation, answer: SessionContext) -> None:
    """Begin a new session; the preferences of the user stay."""
    invocation.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session task "add a login page" --status in_progress')
@passes("sessions.work_on", WorkOnRequest, arguments=1, description=Taken("TEXT"), name=NAME, type=Taken("TYPE"))
def task(invocation: Invocation, answer: SessionContext) -> None:
    """Set the current task or its status; a new text begins a new task."""
    invocation.answer(answer, shown(answer))


@app.command(epilog='Example: graphmem session decide "tokens live in cookies" --because "no XSS can read them"')
@passes(
    "sessions.decide",
    DecideRequest,
    decision=Taken("TEXT"),
    name=NAME,
    reasoning=Taken(flag="--because"),
    task=Taken("ID"),
)
def decide(invocation: Invocation, answer: Changed) -> None:
    """Record a decision; it is committed with the rest of the memory."""
    invocation.answer(answer, text.changed(answer))


@app.command(epilog='Example: graphmem session constrain "no new dependencies" --until 2026-12-01T00:00:00Z')
@passes(
    "sessions.constrain",
    ConstrainRequest,
    constraint=Taken("TEXT"),
    name=NAME,
    source=Taken("WHO"),
    expires_at=Taken("TIME", flag="--until"),
)
def constrain(invocation: Invocation, answer: Changed) -> None:
    """Record a constraint, for everybody or for a named session; it is committed with the rest of the memory."""
    invocation.answer(answer, text.changed(answer))


@app.command(epilog="Example: graphmem session prefer --style terse --approve 'before a push'")
@passes(
    "sessions.prefer",
    PreferRequest,
    name=NAME,
    communication_style=Taken(flag="--style"),
    approval_gates=Taken(flag="--approve"),
    default_model_profile=Taken("NAME", flag="--profile"),
)
def prefer(
    invocation: Invocation,
    call: Call,
    communication_style: str | None,
    approval_gates: str | None,
    default_model_profile: str | None,
) -> None:
    """Note how the user wants to work; an empty text takes a wish back."""
    if (communication_style, approval_gates, default_model_profile) == (None, None, None):
        raise Usage("no preference is given", hint="--style, --approve or --profile")
    answer: SessionContext = call()
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session note --messages 12 --used decision/tokens-live-in-cookies")
@passes("sessions.note", NoteRequest, name=NAME, skills=Taken("NAME"))
def note(invocation: Invocation, answer: SessionContext) -> None:
    """Note how far the session has come, and what it used."""
    invocation.answer(answer, shown(answer))


@app.command(epilog="Example: graphmem session end")
@passes("sessions.end", EndSessionRequest, name=NAME)
def end(invocation: Invocation, answer: Changed) -> None:
    """End the session: what it was and used becomes a record."""
    invocation.answer(answer, text.changed(answer))
