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
CANONICAL = "2026-11-01T09:30:00.000Z"


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


def last_moves(snapshot: Snapshot, tasks: Collection[int]) -> dict[int, list[Move]]:
    """Return the two last moves of each of these tasks that has as many; of its events only what that takes is read."""
    rows: dict[int, list[tuple[str, str, str, str]]] = {}
    for number, row in snapshot.catalog.rows_about(tasks):
        data = row.get("data")
        if row["type"] in TASK_TYPES and isinstance(data, dict) and "from" in data and "to" in data:
            move = canonical(str(row["at"])), str(row["id"]), str(data["from"]), str(data["to"])
            rows.setdefault(number, []).append(move)
    return {
        number: [Move(parse_time(at), before, after) for at, _, before, after in sorted(found)[-2:]]
        for number, found in rows.items()
        if len(found) > 1
    }


def canonical(time: str) -> str:
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
            yield one, Move(one.at, str(one.data["from"]), str(one.data["to"]))
