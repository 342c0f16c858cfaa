"""Events of work: each move is one, so that nothing is lost where branches disagree (docs/concepts/campaigns.md)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from graphmem.ledger.row import entry
from graphmem.model import Event, Record
from graphmem.model.entry import Entry
from graphmem.model.field import format_time, parse_time
from graphmem.rules.moves import TASK_EVENTS, Move, disagreement
from graphmem.runtime import Client, Snapshot
from graphmem.usecase.records.validation import build

TASK_TYPES = frozenset(TASK_EVENTS.values())


def event(client: Client, event_type: str, at: datetime, subject: str | None, data: Mapping[str, Any]) -> Entry:
    """
    Return the row of a new event.

    Args:
        subject: the reference by key of what it is about.
        data: what more there is to say; absent values are left out.
    """
    said = {name: value for name, value in data.items() if value not in (None, [], ())}
    made = build(
        "event", {"id": client.new_id(), "at": at, "type": event_type, "subject": subject, "data": said or None}, at
    )
    assert isinstance(made, Event)
    return entry(made, client.ledger.symmetric)


def move_event(client: Client, event_type: str, before: Record, after: Record, reason: str | None = None) -> Entry:
    """Return the row of the event that a record moved from one status to another, at the time that its row has."""
    at = max(after.edited[name] for name in ("status", "blocked_at") if name in after.edited)
    moved = {"from": getattr(before, "status", ""), "to": getattr(after, "status", "")}
    return event(client, event_type, at, after.key_ref, {**moved, "reason": reason})


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


def task_moves(snapshot: Snapshot, tasks: Collection[int]) -> dict[int, list[Move]]:
    """Return the moves of each of these tasks, in the order of time; of their events only what it takes is read."""
    rows: dict[int, list[tuple[datetime, str, Move]]] = {}
    for number, row in snapshot.catalog.rows_about(tasks):
        at = parse_time(row["at"])
        if row["type"] in TASK_TYPES and (move := move_in(at, row.get("data"))):
            rows.setdefault(number, []).append((at, str(row["id"]), move))
    return {number: [move for *_, move in sorted(found)] for number, found in rows.items()}


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
        if move := move_in(one.at, one.data):
            yield one, move


def move_in(at: datetime, data: object) -> Move | None:
    """Return the move that an event is, from its time and data; None where it is another event."""
    if isinstance(data, dict) and {"from", "to"} <= data.keys():
        return Move(at, str(data["from"]), str(data["to"]))
    return None
