"""The session: what is current here, what was decided, which constraints hold (docs/concepts/learning.md)."""

from collections.abc import Callable, Collection, Mapping
from datetime import datetime
from typing import Any

from pydantic import Field, ValidationError

from graphmem.constants import RECENT_DECISIONS
from graphmem.core.records import change
from graphmem.core.records.credits import hook_sessions, write_waiting
from graphmem.core.records.moves import STAGE_MOVES, refuse_move
from graphmem.core.records.record_contract import Changed, Listed
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import build, changed, keyed, refuse_no_slug, refuse_past
from graphmem.core.sessions import blackboard
from graphmem.errors import BadInput, Refused, Unavailable
from graphmem.kernel.answer import Answer
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Campaign, Constraint, Decision, Session, Task
from graphmem.kernel.model.blackboard import Blackboard, CurrentSession, CurrentTask, Preferences, TaskStage
from graphmem.kernel.parameters import SessionName, Texts
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.request import InputRequest
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.names import collapsed, mark, row_id, slug


class SessionRequest(InputRequest):
    """Of which session to return what is current."""

    name: SessionName = None


class EndSessionRequest(SessionRequest):
    """Which session to end."""


class StartSessionRequest(SessionRequest):
    """A session to begin; one that is under way is ended first."""

    conversation: str | None = Field(None, description="Id of the agent's conversation")
    task: str | None = Field(None, description="What the session is about; becomes the current task")


class WorkOnRequest(InputRequest):
    """What is being worked on, or its status; a new description begins a new task."""

    description: str | None = Field(None, description="What is being worked on")
    name: SessionName = None
    id: str | None = Field(None, description="Id of the task, such as auth/001-setup")
    type: str | None = Field(None, description="Type of the task, such as bug or feature")
    status: TaskStage | None = Field(None, description="Status of the task")


class DecideRequest(InputRequest):
    """A decision to record."""

    decision: str = Field(description="What was decided")
    name: SessionName = None
    reasoning: str | None = Field(None, description="Why it was decided")
    task: str | None = Field(None, description="Task that it was decided in; the current one if not given")
    key: str | None = Field(None, description="Name of the decision; made from its text if not given")


class ConstrainRequest(InputRequest):
    """A constraint to record."""

    constraint: str = Field(description="The constraint")
    name: SessionName = None
    source: str | None = Field(None, description="Who set the constraint")
    expires_at: str | None = Field(None, description="When it ends: a time with its zone; never if not given")
    key: str | None = Field(None, description="Name of the constraint; made from its text if not given")


class PreferRequest(SessionRequest):
    """How the user wants to work; an empty text removes a preference, and what is not given stays."""

    communication_style: str | None = Field(None, description="How to communicate with the user")
    approval_gates: str | None = Field(None, description="What to ask the user before")
    default_model_profile: str | None = Field(None, description="The usual model profile")


class NoteRequest(SessionRequest):
    """How far a session has come, and what it used."""

    messages: int | None = Field(None, ge=0, description="Number of messages so far")
    conversation: str | None = Field(None, description="Id of the agent's conversation")
    skills: Texts = Field((), description="Skills that were invoked")
    used: Texts = Field((), description="Records that the session used")


class SessionContext(Answer):
    """
    What is current: of this machine the task, the preferences and the session; of the project the rest.

    ``last_task`` is the one that was worked on last, where it is finished or its campaign has ended. ``contradictions``
    names for a decision or constraint the others that say its opposite.
    """

    current_task: CurrentTask | None
    last_task: CurrentTask | None
    recent_decisions: list[Listed[Decision]]
    active_constraints: list[Listed[Constraint]]
    contradictions: dict[str, list[str]] = {}
    user_preferences: Preferences
    session: CurrentSession


MOST_OF_A_NAME = 90  # characters of a session in the name of its record
Change = Callable[[Snapshot, Blackboard], Mapping[str, Any]]


@operation(
    "sessions.show",
    positional=1,
    command="session",
    example="graphmem session",
    takes={"name": Taken("NAME", flag="--session")},
    help="Show what is current: task, constraints that hold, the ten newest decisions, preferences.",
)
def show(snapshot: Snapshot, request: SessionRequest) -> SessionContext:
    """Return what is current; the empty answer where nothing is."""
    return _context_of(snapshot, request.name, board_of(snapshot, request.name))


def board_of(snapshot: Snapshot, session: str | None) -> Blackboard:
    """Return the blackboard of a session; damage is reported, and it counts as empty."""
    if session is not None:
        refuse_no_slug("session", session)
    return blackboard.read(snapshot.client.state, session)


def contradictions(said: Mapping[str, str]) -> dict[str, list[str]]:
    """Return which of some texts say the opposite of which others, by their names."""
    if len(said) < 2:
        return {}
    from graphmem.core.records.opposed import opposed  # noqa: PLC0415 - 100 ms that few briefings need

    against = {ref: [other for other in said if opposed(said[ref], said[other])] for ref in said}
    return {ref: others for ref, others in against.items() if others}


def _context_of(snapshot: Snapshot, session: str | None, board: Blackboard) -> SessionContext:
    """Return a blackboard with the decisions and constraints that it goes with."""
    used = set(board.session.used)
    current = current_of(snapshot, board)
    decided, held = decisions(snapshot, session, used), constraints(snapshot, session, used)
    said = {one.ref: one.decision for one in decided} | {one.ref: one.constraint for one in held}
    return SessionContext(
        current_task=current,
        last_task=board.task if current is None else None,
        recent_decisions=[Listed(ref=one.ref, record=one) for one in decided],
        active_constraints=[Listed(ref=one.ref, record=one) for one in held],
        contradictions=contradictions(said),
        user_preferences=board.preferences,
        session=board.session,
    )


def current_of(snapshot: Snapshot, board: Blackboard) -> CurrentTask | None:
    """Return what is being worked on: no task that is finished, here or by another, or whose campaign has ended."""
    task = board.task
    if task is None or task.status == "complete":
        return None
    known = snapshot.catalog.known({task.id, f"task/{task.id}"}) if task.id else {}
    for number in known.values():
        record = snapshot.catalog.stored(number)
        if isinstance(record, Task) and (record.status == "complete" or has_ended(snapshot, record.campaign)):
            return None
    return task


def has_ended(snapshot: Snapshot, campaign: str) -> bool:
    """Return whether a campaign, by reference, has ended or is archived."""
    record = next((snapshot.catalog.stored(number) for number in snapshot.catalog.known({campaign}).values()), None)
    return isinstance(record, Campaign) and (record.has_ended or record.is_archived)


def decisions(snapshot: Snapshot, session: str | None, used: Collection[str] = ()) -> list[Decision]:
    """Return ten decisions, pinned, then the newest: of a named session its own, and those that it uses by name."""
    numbers = [number for number, *_ in list(snapshot.catalog.live_rows("decision"))]
    found = [one for one in snapshot.catalog.records(numbers).values() if isinstance(one, Decision)]
    own = [one for one in found if session is None or one.session == session or one.key_ref in used]
    return sorted(own, key=lambda one: (one.pinned, one.created_at, one.ref), reverse=True)[:RECENT_DECISIONS]


def constraints(snapshot: Snapshot, session: str | None, used: Collection[str] = ()) -> list[Constraint]:
    """Return the constraints that hold, pinned first: everybody's, those of a named session, and those that it uses."""
    numbers = [number for number, *_ in list(snapshot.catalog.live_rows("constraint"))]
    found = [one for one in snapshot.catalog.records(numbers).values() if isinstance(one, Constraint)]
    now = snapshot.now
    return sorted(
        (one for one in found if one.holds(now) and (one.session in (None, session) or one.key_ref in used)),
        key=lambda one: (not one.pinned, one.ref),
    )


def _put(snapshot: Writing, session: str | None, change: Change) -> SessionContext:
    """Change the blackboard of a session, in a write that is under way."""
    now = snapshot.now
    before = board_of(snapshot, session)
    values = before.model_dump(mode="json") | dict(change(snapshot, before))
    begun = values["session"].get("started_at") or now
    values["session"] = {**values["session"], "started_at": begun, "last_updated": now}
    try:
        after = Blackboard.model_validate(values)
    except ValidationError as error:
        message, expected = complaint(error)
        raise BadInput(f"session: {message}", hint=expected) from None
    _as_record(snapshot, after, session)  # what could not be kept at its end is refused now
    _drop_expired(snapshot, now)
    blackboard.write(snapshot.client.state, session, after)
    return _context_of(snapshot, session, after)


def _drop_expired(writing: Writing, now: datetime) -> None:
    """Archive the constraints that expired, all but pinned ones."""
    every = writing.catalog.of_kind(Constraint).values()
    expired = [one for one in every if not one.holds(now) and not one.pinned]
    values = {"archived_at": now, "archive_reason": "expired"}
    if expired:
        writing.commit([entry(changed(one, values, now), writing.symmetric) for one in expired])


@operation(
    "sessions.start",
    writes=True,
    positional=1,
    example='graphmem session start --task "add a login page"',
    takes={"name": Taken("NAME", flag="--session")},
)
def start(snapshot: Writing, request: StartSessionRequest) -> SessionContext:
    """Begin a new session; the preferences of the user stay."""
    request = screened(snapshot, request, "session")

    def begun(snapshot: Snapshot, before: Blackboard) -> dict[str, Any]:
        made = {"description": request.task, "started_at": snapshot.now} if request.task else None
        return {"task": made, "session": {"started_at": snapshot.now, "conversation": request.conversation}}

    under_way = board_of(snapshot, request.name)
    if under_way.task or under_way.session.messages or under_way.session.used or under_way.session.skills:
        snapshot.notify_once(f"ended {finish(snapshot, request.name, under_way).ref}")
    return _put(snapshot, request.name, begun)


@operation(
    "sessions.work_on",
    writes=True,
    positional=2,
    command="session task",
    example='graphmem session task "add a login page" --status in_progress',
    arguments=1,
    takes={"name": Taken("NAME", flag="--session")},
)
def work_on(snapshot: Writing, request: WorkOnRequest) -> SessionContext:
    """Set what is being worked on, or its state; a new description begins a new task."""
    request = screened(snapshot, request, "session")
    return put_task(snapshot, request)


def put_task(snapshot: Writing, request: WorkOnRequest) -> SessionContext:
    """Set what is being worked on, or its state, in a write that is under way."""

    def tasked(snapshot: Snapshot, before: Blackboard) -> dict[str, Any]:
        given = request.model_dump(exclude={"name"}, exclude_none=True)
        if before.task is None and "description" not in given:
            raise Refused("no task is current", hint='say what it is: graphmem session task "add a login page"')
        is_new = before.task is None or given.get("description") not in (None, before.task.description)
        if not is_new and before.task is not None:
            refuse_move(STAGE_MOVES, "the task", before.task.status, given.get("status", before.task.status))
        old = {"started_at": snapshot.now} if is_new or before.task is None else before.task.but()
        return {"task": {**old, **given}}

    return _put(snapshot, request.name, tasked)


@operation(
    "sessions.prefer",
    writes=True,
    positional=1,
    arguments=0,
    takes={
        "name": Taken("NAME", flag="--session"),
        "communication_style": Taken(flag="--style"),
        "approval_gates": Taken(flag="--approve"),
        "default_model_profile": Taken("NAME", flag="--profile"),
    },
    help="Note how the user wants to work; an empty text takes a wish back.",
    example="graphmem session prefer --style terse --approve 'before a push'",
)
def prefer(snapshot: Writing, request: PreferRequest) -> SessionContext:
    """Note how the user wants to work."""
    request = screened(snapshot, request, "session")
    given = request.model_dump(exclude={"name"}, exclude_none=True)
    values = {name: value or None for name, value in given.items()}
    return _put(
        snapshot, request.name, lambda snapshot, before: {"preferences": before.preferences.model_dump() | values}
    )


@operation(
    "sessions.note",
    writes=True,
    positional=1,
    example="graphmem session note --messages 12 --used decision/tokens-live-in-cookies",
    takes={"name": Taken("NAME", flag="--session")},
)
def note(snapshot: Writing, request: NoteRequest) -> SessionContext:
    """Note how far the session has come, the skills it invoked and the records it used."""
    request = screened(snapshot, request, "session")

    def noted(snapshot: Snapshot, before: Blackboard) -> dict[str, Any]:
        keys = [snapshot.catalog.stored(snapshot.resolve(ref)).key_ref for ref in request.used]
        current = before.session
        return {
            "session": current.but(
                messages=request.messages,
                conversation=request.conversation,
                skills=sorted({*current.skills, *request.skills}),
                used=sorted({*current.used, *keys}),
            )
        }

    return _put(snapshot, request.name, noted)


@operation(
    "sessions.decide",
    writes=True,
    positional=2,
    example='graphmem session decide "tokens live in cookies" --because "no XSS can read them"',
    takes={"name": Taken("NAME", flag="--session"), "reasoning": Taken(flag="--because")},
)
def decide(snapshot: Writing, request: DecideRequest) -> Changed[Decision]:
    """Record a decision; it is committed with the rest of the memory."""
    request = screened(snapshot, request, "decision")
    fields = {
        "decision": request.decision,
        "reasoning": request.reasoning,
        "session": request.name,
        "name": request.key,
    }
    return change.add_to(snapshot, "decision", {**fields, "task": _task_of(snapshot, request)})


def _task_of(snapshot: Snapshot, request: DecideRequest) -> str | None:
    """Return the task that a decision is of: the one that is named, else the current one."""
    current = current_of(snapshot, board_of(snapshot, request.name))
    named = request.task or (current.id if current else None)
    known = snapshot.catalog.known({named, f"task/{named}"}) if named else {}
    if known:
        return snapshot.catalog.stored(min(known.values())).key_ref
    return named or (collapsed(current.description) if current else None)


@operation(
    "sessions.constrain",
    writes=True,
    positional=2,
    example='graphmem session constrain "no new dependencies" --until 2026-12-01T00:00:00Z',
    takes={"name": Taken("NAME", flag="--session"), "expires_at": Taken("TIME", flag="--until")},
)
def constrain(snapshot: Writing, request: ConstrainRequest) -> Changed[Constraint]:
    """Record a constraint, for everybody or for a named session, until a time if one is given."""
    request = screened(snapshot, request, "constraint")
    if request.expires_at is not None:
        refuse_past(request.expires_at, snapshot.now)
    fields = {
        "constraint": request.constraint,
        "source": request.source,
        "expires_at": request.expires_at,
        "session": request.name,
        "name": request.key,
    }
    return change.add_to(snapshot, "constraint", fields)


def _as_record(snapshot: Snapshot, board: Blackboard, session: str | None) -> Session:
    """Return the record of a session that ends; its existing row if an earlier end was cut off."""
    current, now = board.session, snapshot.now
    fields = {
        "ended_at": now,
        "task": board.task.description if board.task else None,
        "conversation": current.conversation,
        "messages": current.messages or None,
        "skills": current.skills or None,
        "used": current.used or None,
    }
    named = {"name": _name_of(snapshot, board, session), "started_at": current.started_at}
    made = build("session", {**named, **fields}, now)
    assert isinstance(made, Session)
    if snapshot.catalog.has(row_id(made.key_ref)):
        before = snapshot.catalog.stored(row_id(made.key_ref))
        assert isinstance(before, Session)
        made = changed(before, fields, now)
    return keyed(snapshot.catalog, made)


def _name_of(snapshot: Snapshot, board: Blackboard, session: str | None) -> str:
    """Return the name of a session: with a mark of its start, for other clones end sessions of the same name."""
    about = board.task.description if board.task else ""
    started = board.session.started_at
    begun = mark(f"{board.session.conversation}\n{session}\n{started}")
    return f"{started:%Y-%m-%d}_{(session or slug(about) or 'session')[:MOST_OF_A_NAME]}-{begun}"


@operation(
    "sessions.end",
    writes=True,
    positional=1,
    example="graphmem session end",
    takes={"name": Taken("NAME", flag="--session")},
)
def end(snapshot: Writing, request: EndSessionRequest) -> Changed[Session]:
    """
    End the session: what it was and used becomes a record.

    What helped in sessions of agents, and waits for their end, is written too.
    """
    write_waiting(snapshot, hook_sessions(snapshot.client).every())
    return finish(snapshot, request.name, board_of(snapshot, request.name))


def finish(snapshot: Writing, session: str | None, board: Blackboard) -> Changed[Session]:
    """
    End a session, in a write that is under way.

    Raises:
        Refused: it was not begun.
    """
    if board.session.started_at is None:
        raise Refused(
            f"no session {session!r} is under way" if session else "no session is under way",
            hint="graphmem session start",
        )
    made = _as_record(snapshot, board, session)
    snapshot.commit([entry(made, snapshot.symmetric)])
    try:
        blackboard.write(snapshot.client.state, session, Blackboard(preferences=board.preferences))
    except Unavailable as error:  # the record is written: the session has ended
        snapshot.notify_once(f"the session that ended is still shown: {error}")
    return Changed(ref=made.ref, action="created", record=made)
