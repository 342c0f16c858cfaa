"""Tasks of a campaign: each is started with what the project knows, and teaches by how it ends."""

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Literal

from graphmem.constants import CONTEXT_BUDGET
from graphmem.core.briefing.context import gather
from graphmem.core.briefing.context import prepare as prepare_context
from graphmem.core.briefing.context_contract import ContextRequest
from graphmem.core.logs.log_excerpt import kept_question
from graphmem.core.plans.campaign_plan import Plan, framework_of, plan_of
from graphmem.core.records.change import catch_up, encode, rows_to_add
from graphmem.core.records.events import TASK_TYPES, disagreement_text, events_about, move_event, moves_of
from graphmem.core.records.feedback import prepared
from graphmem.core.records.moves import TASK_COMMANDS, TASK_MOVES, refuse_move
from graphmem.core.records.screening import screened
from graphmem.core.records.validation import build, changed, refuse_archived
from graphmem.core.search.match import match
from graphmem.core.search.match_contract import MatchRequest
from graphmem.core.sessions import operations as sessions
from graphmem.core.sessions.operations import WorkOnRequest
from graphmem.errors import GraphmemError, Refused, Usage
from graphmem.features.work.plans import remarked
from graphmem.features.work.task_contract import (
    BlockTaskRequest,
    CompleteTaskRequest,
    HandedOut,
    ReopenTaskRequest,
    ShowTaskRequest,
    StartTaskRequest,
    TaskChanged,
    TaskMove,
    TaskShown,
    Workspace,
)
from graphmem.features.work.workspace import delivered_before, handed_out_before, workspace
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Event, Failure, Pattern, Relation, Task
from graphmem.kernel.model.blackboard import TaskStage
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot, Writing
from graphmem.kernel.system.shell import command
from graphmem.names import edge_key, row_id, split_ref

ACTIONS: Mapping[str, Literal["started", "completed", "blocked", "reopened"]] = {
    "active": "started", "complete": "completed", "blocked": "blocked", "pending": "reopened",
}  # fmt: skip


def _task_of(snapshot: Snapshot, ref: str) -> tuple[int, Task]:
    """Return a live task as its row has it, by reference, by name, or by its campaign and number."""
    number = snapshot.resolve(ref, ["task"])
    refuse_archived(snapshot.catalog, number)
    task = snapshot.catalog.stored(number)
    assert isinstance(task, Task)
    return number, task


def _active_task(snapshot: Snapshot, ref: str) -> tuple[Plan, int, Task]:
    """
    Return a live task with the plan that it is in and its number, as ``_task_of`` finds it.

    Raises:
        Refused: its campaign is gone, or has ended.
    """
    number, task = _task_of(snapshot, ref)
    known = snapshot.catalog.live([task.campaign])
    if task.campaign not in known:
        raise Refused(f"the campaign of {task.ref} is missing or archived: {task.campaign}", hint="restore it first")
    plan = plan_of(snapshot, known[task.campaign][0])
    if plan.campaign.status != "active":
        raise Refused(
            f"{plan.campaign.ref} is {plan.campaign.status}: its tasks no longer move", hint="create another campaign"
        )
    return plan, number, task


# --- start ------------------------------------------------------------------------------------------------------------


@operation("tasks.start", writes=True, example="graphmem task start sso/002", takes={"ref": Taken("REF", "task")})
def start(client: Client, request: StartTaskRequest) -> TaskChanged[Workspace]:
    """
    Start a task whose parents are complete; the answer's workspace is a prompt to begin with.

    What is known is searched for before the lock is taken: a model may be asked.
    """
    with client.reading() as snapshot:
        _, task = _task_of(snapshot, request.ref)
        framework = framework_of(snapshot, task) or ""  # not that of another task which is the current one
    asked = ContextRequest(
        objective=task.objective,
        files=task.delta,
        framework=framework,
        budget=max(request.budget, CONTEXT_BUDGET),
        session=request.session,
    )
    prepare_context(client, asked)
    with client.unchanging(client.clues, client.lexical) as snapshot:
        plan, number, task = _active_task(snapshot, request.ref)
        _refuse_start(plan, number)
        if task.status == "active":
            return _under_way(snapshot, plan, number, task, request.budget)
        known = gather(snapshot, asked, without=("campaign", "task"))  # the task itself says nothing new
    with client.writing() as snapshot:
        plan, number, task = _active_task(snapshot, request.ref)
        _refuse_start(plan, number)
        if task.status == "active":  # another caller started it while this one gathered what is known
            return _under_way(snapshot, plan, number, task, request.budget)
        found = workspace(snapshot, plan, number, request.budget, known.entries, known.asked)
        keys = _keys_of(snapshot, found.prior_knowledge)
        changes = {
            "status": "active",
            "started_at": snapshot.now,
            "prior_knowledge": sorted({*task.prior_knowledge, *keys}),
            "lineage": [
                {"parent": plan.keys[one.parent], "delivered": one.delivered} for one in delivered_before(plan, number)
            ],
        }
        answer = _moved(snapshot, plan, number, changes, session=request.session)
        _put_on_board(snapshot, task, request.session, "in_progress")
    return answer.model_copy(update={"workspace": found})


def _under_way(snapshot: Snapshot, plan: Plan, number: int, task: Task, budget: int) -> TaskChanged[Workspace]:
    """Return the answer for a task that is active already: who started it, and its workspace as it is now."""
    found = workspace(snapshot, plan, number, budget, handed_out_before(snapshot, task))
    return _unmoved(snapshot, number, "unchanged").model_copy(update={"workspace": found})


def _refuse_start(plan: Plan, number: int) -> None:
    """Raise ``Refused`` for a task that cannot start now; the message names what it waits for."""
    task = plan.tasks[number]
    refuse_move(TASK_MOVES, task.ref, task.status, "active", TASK_COMMANDS)
    if task.status == "active":
        return
    states = {one.ref: one.status for one in plan.tasks.values()}
    for need in task.depends:
        state = "complete" if need in plan.settled else states.get(need, "missing or archived")
        if state != "complete":
            raise Refused(
                f"{task.ref} waits for {need}, which is {state}",
                hint=f"what can start: {command('graphmem', 'campaign', 'ready', plan.campaign.name)}",
            )


def _keys_of(snapshot: Snapshot, refs: Iterable[str]) -> list[str]:
    """Return records by key, as rows name them."""
    return sorted({snapshot.catalog.stored(snapshot.resolve(ref)).key_ref for ref in refs})


def _put_on_board(snapshot: Writing, task: Task, session: str | None, status: TaskStage) -> None:
    """Make a task the session's current one in the write that moves it; clear it if it ends and is current."""
    try:
        current = sessions.board_of(snapshot, session).task
        if status == "in_progress":
            is_done = current is not None and current.description == task.objective and current.status == "complete"
            state: TaskStage | None = None if is_done else status  # what is complete is not begun again
            sessions.put_task(
                snapshot,
                WorkOnRequest(description=task.objective, name=session, id=task.name, type=task.type, status=state),
            )
        elif current is not None and current.id == task.name and current.status == "in_progress":
            sessions.put_task(snapshot, WorkOnRequest(name=session, status=status))
    except GraphmemError as error:  # the move itself is written
        snapshot.notify_once(f"the session does not show the task: {error.message}")


# --- the ends ---------------------------------------------------------------------------------------------------------


@operation(
    "tasks.complete",
    writes=True,
    example='graphmem task complete sso/002 --delivered "login works" --used failure/import-error',
    takes={"ref": Taken("REF", "task"), "solved_by": Taken("PATTERN", "ref")},
)
def complete(client: Client, request: CompleteTaskRequest) -> TaskChanged[None]:
    """
    Complete a task, report what helped, and link the patterns that solved what it was blocked by.

    Of a task that is complete already, what it says stays; what it does not say yet, and more reports, are added.
    What the failure is compared by that its block becomes is worked out before the lock is taken: a model may be asked.
    """
    request = screened(client, request, "task")
    if request.solved_by:
        _prepare_failure(client, request.ref)
    with client.writing() as snapshot:
        plan, number, task = _active_task(snapshot, request.ref)
        solvers = [snapshot.catalog.stored(snapshot.resolve(ref, ["pattern"])).key_ref for ref in request.solved_by]
        refuse_move(TASK_MOVES, task.ref, task.status, "complete", TASK_COMMANDS)
        keys = sorted({*_keys_of(snapshot, request.used), *solvers})  # what solved the block helped
        failed = _keys_of(snapshot, request.failed)
        if both := sorted({*keys} & {*failed}):
            ref = snapshot.catalog.shown_refs(both)[both[0]]
            raise Usage(f"{ref} is given as a memory that helped and as one that did not", hint="leave one out")
        blockers, made = _failures_of_block(snapshot, task) if request.solved_by else ([], [])
        said = {"delivered": request.delivered or None, "spent": request.spent}
        changes: dict[str, Any] = {
            "utilized": sorted({*task.utilized, *keys}),
            "blocked_by": sorted({*task.blocked_by, *blockers}),
        }
        if task.status == "complete":
            changes |= _unsaid(snapshot, task, said)
        else:
            given = {name: value for name, value in said.items() if value is not None}
            changes |= {**given, "status": "complete", "completed_at": snapshot.now}
        solves = list(solved(snapshot, task, solvers, blockers))
        also = [*made, *_reported(snapshot, task, keys, failed), *solves]
        answer = _moved(snapshot, plan, number, changes, also=also, session=request.session)
        failures = snapshot.catalog.shown_refs({str(one.row["to"]) for one in solves})
        _put_on_board(snapshot, task, request.session, "complete")
    return answer.model_copy(update={"solved": sorted(failures.values())})


def _unsaid(snapshot: Snapshot, task: Task, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values of fields that are empty in a task; a notice names the others, which stay as they are."""
    new = {name: value for name, value in given.items() if value is not None and getattr(task, name) is None}
    for name, value in given.items():
        if value is not None and name not in new and value != getattr(task, name):
            snapshot.notify_once(f"{task.ref} is {task.status} already; its {name} is not changed")
            snapshot.notify_once(f"hint: {command('graphmem', 'edit', task.ref, '--set', f'{name}=VALUE')}")
    return new


def _prepare_failure(client: Client, ref: str) -> None:
    """Work out before the lock is taken what the failure is compared by that the reason of a block may become."""
    with client.reading() as snapshot:
        _, task = _task_of(snapshot, ref)
    if task.blocked_reason is not None:
        catch_up(client)
        encode(client, "failure", {"trigger": task.blocked_reason})


def _failures_of_block(snapshot: Snapshot, task: Task) -> tuple[list[str], list[Entry]]:
    """
    Return the failures that blocked a task, by key, and the rows of the one that its reason becomes where it has none.

    Raises:
        Refused: the task was not blocked, or the failure that its reason is about is archived.
    """
    if task.blocked_reason is None:
        raise Refused(
            f"{task.ref} was not blocked, so no pattern solved its block",
            hint="report what helped with --used; link a pattern with: graphmem link PATTERN solves FAILURE",
        )
    known = [ref for ref in task.blocked_by if split_ref(ref)[0] == "failure"]
    if known:
        return known, []
    fields = {"trigger": task.blocked_reason, "sources": [task.key_ref], "framework": framework_of(snapshot, task)}
    ref, rows = rows_to_add(snapshot, "failure", fields)
    return [ref], rows


def solved(snapshot: Snapshot, task: Task, patterns: Collection[str], failures: Collection[str]) -> Iterable[Entry]:
    """Yield the rows of the edges from patterns to the failures that they solved, with the task as their evidence."""
    for pattern in patterns:
        record = snapshot.catalog.stored(snapshot.resolve(pattern, ["pattern"]))
        assert isinstance(record, Pattern)
        for failure in failures:
            if split_ref(failure)[0] != "failure":
                continue
            existing = snapshot.catalog.relation(row_id(edge_key(record.key_ref, "solves", failure, symmetric=False)))
            if existing is None:
                fields = {"from": record.key_ref, "type": "solves", "to": failure, "sources": [task.key_ref]}
                yield entry(build("relation", fields, snapshot.now), snapshot.symmetric)
            elif task.key_ref not in existing.sources:
                more = changed(existing, {"sources": sorted({*existing.sources, task.key_ref})}, snapshot.now)
                assert isinstance(more, Relation)
                yield entry(more, snapshot.symmetric)


def _reported(snapshot: Snapshot, task: Task, used: Collection[str], failed: Collection[str]) -> list[Entry]:
    """Return the rows of the reports of a task on memories; what is reported already stays."""
    question = kept_question(task.objective)
    rows = [{"ref": ref, "helped": True} for ref in used] + [{"ref": ref, "helped": False} for ref in failed]
    made = [prepared(snapshot, {**row, "task": task.key_ref, "question": question}) for row in rows]
    return [entry(report, ()) for report, action in made if action != "unchanged"]


@operation(
    "tasks.block",
    writes=True,
    example='graphmem task block sso/002 --reason "ImportError: no module named authlib"',
    arguments=1,
    takes={"ref": Taken("REF", "task"), "by": Taken("FAILURE", "ref")},
)
def block(client: Client, request: BlockTaskRequest) -> TaskChanged[None]:
    """
    Block a task; the answer has the known failures that the reason reports, with what fixes them.

    A task that is blocked already keeps its reason; failures that stop it, and more reports, are added. The reason is
    matched before the lock is taken: expressions and a model may take long.
    """
    request = screened(client, request, "task")
    found = match(client, [f"{line}\n".encode() for line in request.reason.splitlines()], MatchRequest())
    known = [hit for hit in found.results if hit.verdict == "same" and isinstance(hit.record, Failure)]
    with client.writing() as snapshot:
        plan, number, task = _active_task(snapshot, request.ref)
        refuse_move(TASK_MOVES, task.ref, task.status, "blocked", TASK_COMMANDS)
        for ref in request.by:
            snapshot.resolve(ref, ["failure"])
        by = {*_keys_of(snapshot, request.by), *(hit.record.key_ref for hit in known)}
        if task.status == "blocked":
            changes = _unsaid(snapshot, task, {"blocked_reason": request.reason})
            changes["blocked_by"] = sorted({*task.blocked_by, *by})
        else:
            changes = {
                "status": "blocked",
                "blocked_at": snapshot.now,
                "blocked_reason": request.reason,
                "blocked_by": sorted(by),
            }
        also = _reported(snapshot, task, (), _keys_of(snapshot, request.failed))
        answer = _moved(snapshot, plan, number, changes, request.reason, also, session=request.session)
        _put_on_board(snapshot, task, request.session, "blocked")
    return answer.model_copy(update={"known": known})


@operation("tasks.reopen", writes=True, example="graphmem task reopen sso/002", takes={"ref": Taken("REF", "task")})
def reopen(snapshot: Writing, request: ReopenTaskRequest) -> TaskChanged[None]:
    """Make a task pending again, from whatever state it is in."""
    request = screened(snapshot, request, "task")
    plan, number, task = _active_task(snapshot, request.ref)
    refuse_move(TASK_MOVES, task.ref, task.status, "pending", TASK_COMMANDS)
    changes: dict[str, Any] = {"status": "pending"}
    if task.status == "unreachable":
        changes["blocked_by"] = [ref for ref in task.blocked_by if split_ref(ref)[0] != "task"]
    answer = _moved(snapshot, plan, number, changes, request.reason, session=request.session)
    _put_on_board(snapshot, task, request.session, "pending")
    return answer


def _moved(
    snapshot: Writing,
    plan: Plan,
    number: int,
    changes: Mapping[str, Any],
    reason: str | None = None,
    also: Collection[Entry] = (),
    *,
    session: str | None = None,
) -> TaskChanged[Any]:
    """
    Write the changes of a task, with the event of its move and other rows, all or nothing.

    Args:
        reason: what the event says beside the two states. What a task got and used is in its row, where purge finds it.
        also: other rows of the same write.
        session: of the caller; the event names it.
    """
    before = snapshot.catalog.stored(number)
    after = changed(before, changes, snapshot.now)
    assert isinstance(before, Task)
    assert isinstance(after, Task)
    rows = [] if after is before else [entry(after, snapshot.symmetric)]
    is_move = before.status != after.status
    released: list[int] = []
    if is_move:
        rows.append(move_event(snapshot, before, after, {"reason": reason, "session": session}))
        moved_plan = plan.moved(number, after.status)
        for one, causes in moved_plan.unmarked.items():
            if moved_plan.tasks[one].status == "unreachable":  # marking the others is for ``propagate``
                rows += remarked(snapshot, one, causes)
                released += [] if causes else [one]
    if rows or also:
        snapshot.commit([*rows, *also])
    if not is_move:
        return _unmoved(snapshot, number, "updated" if rows or also else "unchanged")
    record = snapshot.catalog.records([number])[number]
    return TaskChanged(
        ref=record.ref,
        action=ACTIONS[after.status],
        record=record,
        released=sorted(snapshot.catalog.refs(released).values()),
    )


def _unmoved(snapshot: Snapshot, number: int, action: Literal["updated", "unchanged"]) -> TaskChanged[Any]:
    """Return the answer for a task that is in the state that was asked for: since when, and by which session."""
    record = snapshot.catalog.records([number])[number]
    last = [one for one in events_about(snapshot, [number]).get(number, ()) if one.type in TASK_TYPES][-1:]
    return TaskChanged(
        ref=record.ref,
        action=action,
        record=record,
        since=format_time(last[0].at) if last else None,
        by=_session_in(last[0]) if last else None,
    )


def _session_in(move: Event) -> str | None:
    """Return the session that made a move, where it was named."""
    found = move.data.get("session") if isinstance(move.data, dict) else None
    return found if isinstance(found, str) else None


# --- show -------------------------------------------------------------------------------------------------------------


@operation("tasks.show", example="graphmem task show sso/002", takes={"ref": Taken("REF", "task")})
def show(snapshot: Snapshot, request: ShowTaskRequest) -> TaskShown:
    """Return a task with its workspace, what became of what it was handed out, and its moves."""
    number, task = _task_of(snapshot, request.ref)
    record = snapshot.catalog.records([number])[number]
    found = None
    campaign = snapshot.catalog.live([task.campaign])
    if task.started_at is not None and campaign:
        plan = plan_of(snapshot, campaign[task.campaign][0])
        found = workspace(snapshot, plan, number, request.budget, handed_out_before(snapshot, task))
    about = events_about(snapshot, [number]).get(number, [])
    moves = list(moves_of([one for one in about if one.type in TASK_TYPES]))
    return TaskShown(
        ref=record.ref,
        record=record,
        workspace=found,
        handed_out=_outcome_of(snapshot, task),
        moves=[
            TaskMove(
                event=one.id,
                at=format_time(move.at),
                before=move.before,
                after=move.after,
                reason=one.data.get("reason") if isinstance(one.data, dict) else None,
                session=_session_in(one),
            )
            for one, move in moves
        ],
        disagreement=disagreement_text([move for _, move in moves]),
    )


def _outcome_of(snapshot: Snapshot, task: Task) -> HandedOut:
    """Return what became of the memories that a task got."""
    handed = {*snapshot.catalog.known(task.prior_knowledge).values()}
    used = {*snapshot.catalog.known(task.utilized).values()}
    reports = snapshot.catalog.reports_of_task(row_id(task.key_ref))
    helped = {number for number, is_good in reports.items() if is_good} | (used - reports.keys())
    failed = {number for number, is_good in reports.items() if not is_good}
    return HandedOut(
        helped=sorted(snapshot.catalog.refs(helped).values()),
        failed=sorted(snapshot.catalog.refs(failed).values()),
        unused=sorted(snapshot.catalog.refs(handed - helped - failed).values()),
    )
