"""Events of work: each move is one, so that nothing is lost where branches disagree (docs/concepts/campaigns.md)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from graphmem.core.records.moves import TASK_EVENTS, Move, disagreement
from graphmem.core.records.validation import build
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model import Event, Task
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.field import format_time, parse_time
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import row_id

TASK_TYPES = frozenset(TASK_EVENTS.values())
MoveRow = tuple[str, str, str, str, int | None]  # time and id, both states, how many moves were known
ORDER = itemgetter(0, 1)
EMPTY: Mapping[str, Any] = MappingProxyType({})
CANONICAL = "2026-11-01T09:30:00.000Z"


def event(
    snapshot: Snapshot,
    event_type: str,
    at: datetime,
    subject: str | None,
    data: Mapping[str, Any],
    *,
    identity: str | None = None,
) -> Entry:
    """
    Return the row of a new event.

    Args:
        subject: the reference by key of what it is about.
        data: what more there is to say; absent values are left out.
        identity: of the event, where a repeat of the call is to change nothing.
    """
    said = {name: value for name, value in data.items() if value not in (None, [], ())}
    made = build(
        "event",
        {
            "id": identity or snapshot.client.new_id(),
            "at": at,
            "type": event_type,
            "subject": subject,
            "data": said or None,
        },
        at,
    )
    assert isinstance(made, Event)
    return entry(made, snapshot.symmetric)


def move_event(snapshot: Snapshot, before: Task, after: Task, said: Mapping[str, Any] = EMPTY) -> Entry:
    """
    Return the row of the event that a task moved from one status to another, at the time that its row has.

    Args:
        said: what more there is to say, such as the reason.
    """
    number = row_id(after.key_ref)
    known = len(task_moves(snapshot, [number]).get(number, ()))
    moved = {"from": before.status, "to": after.status, "move": known + 1}
    return event(snapshot, TASK_EVENTS[after.status], after.edited["status"], after.key_ref, {**moved, **said})


def events_about(snapshot: Snapshot, numbers: Collection[int]) -> dict[int, list[Event]]:
    """Return the events about each of these records, in the order of their times."""
    steps = list(snapshot.catalog.steps(numbers, ["about"], "in"))
    events = snapshot.catalog.records({step.far for step in steps})
    found: dict[int, list[Event]] = {}
    for step in steps:
        if isinstance(one := events.get(step.far), Event):
            found.setdefault(step.near, []).append(one)
    return {number: sorted(about, key=lambda one: (one.at, one.id)) for number, about in found.items()}


def events_of_type(snapshot: Snapshot, event_type: str) -> list[Event]:
    """Return the events of a type, in the order of their times."""
    mark = f'"type":"{event_type}"'.encode()
    numbers = [number for number, _, _, line in snapshot.catalog.live_rows("event") if mark in line]
    found = [one for one in snapshot.catalog.records(numbers).values() if isinstance(one, Event)]
    return sorted((one for one in found if one.type == event_type), key=lambda one: (one.at, one.id))


def task_moves(snapshot: Snapshot, tasks: Collection[int], *, is_unsettled: bool = False) -> dict[int, list[Move]]:
    """
    Return the moves of each of these tasks, in the order of time; of its events only what that takes is read.

    Args:
        is_unsettled: only of tasks that two branches may have moved apart, which are few.
    """
    rows: dict[int, list[MoveRow]] = {}
    for number, row in snapshot.catalog.rows_about(tasks):
        data = row.get("data")
        if row["type"] in TASK_TYPES and isinstance(data, dict) and "from" in data and "to" in data:
            states = str(data["from"]), str(data["to"])
            rows.setdefault(number, []).append((_canonical(str(row["at"])), str(row["id"]), *states, _known_by(data)))
    return {
        number: [Move(parse_time(at), before, after, known) for at, _, before, after, known in sorted(found, key=ORDER)]
        for number, found in rows.items()
        if not is_unsettled or _may_disagree(found)
    }


def _may_disagree(rows: Sequence[MoveRow]) -> bool:
    """Return whether the last of some moves may have been made without knowledge of another one."""
    known = max(rows, key=ORDER)[-1]
    return known is None or known < len(rows)


def _known_by(data: Mapping[str, object]) -> int | None:
    """Return how many earlier moves were known when a move was made, as its event has it."""
    found = data.get("move")
    return found if isinstance(found, int) else None


def _canonical(time: str) -> str:
    """Return the time of a row in the form that sorts; rows written by a program have it."""
    return time if len(time) == len(CANONICAL) and time[-1] == "Z" else format_time(parse_time(time))


def disagreement_text(moves: Sequence[Move]) -> str | None:
    """Return in words where two branches disagree about a state; None where they do not."""
    found = disagreement(moves)
    if found is None:
        return None
    first, last = found
    return (
        f"two branches moved it: to {first.after} at {format_time(first.at)}, and from {last.before} to {last.after} at"
        f" {format_time(last.at)}; the later one decides"
    )


def moves_of(events: Collection[Event]) -> Iterator[tuple[Event, Move]]:
    """Yield those events that are moves from one state to another, each with its move."""
    for one in events:
        if isinstance(one.data, dict) and {"from", "to"} <= one.data.keys():
            yield one, Move(one.at, str(one.data["from"]), str(one.data["to"]), _known_by(one.data))
