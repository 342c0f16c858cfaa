"""Events: what happened, in the order of time, from the files and from this machine (docs/concepts/campaigns.md)."""

import contextlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from graphmem.core.records.event_contract import (
    AddEventRequest,
    EventList,
    Happened,
    Happening,
    ListEventsRequest,
    Verification,
)
from graphmem.core.records.events import event
from graphmem.core.records.screening import screened
from graphmem.errors import BadInput, Refused, Unavailable
from graphmem.kernel.ledger.codec import complaint
from graphmem.kernel.model import Event
from graphmem.kernel.model.field import format_time
from graphmem.kernel.registry import Taken, operation
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.snapshot import Snapshot
from graphmem.names import split_ref
from graphmem.patterns import lazy_re

TYPE = lazy_re(r"[a-z][a-z0-9]*([.-][a-z0-9]+)*")
MOST_OF_A_TYPE = 64  # characters
OF_COMMANDS = {  # beginnings of the types that commands of their own record
    "task-": "task",
    "phase-": "phase",
    "inbox-": "inbox",
    "campaign-": "campaign",
    "block-": "observe",
    "prerequisite-": "run",
}
OF_THIS_MACHINE = "context-"
VERIFICATIONS = ("chunk-verified", "verification-failed")
Key = tuple[str, str]  # time and id: the order of events in time

EVENT_EXAMPLE = """such as '{"mode": "full"}'"""


@operation(
    "events.add",
    writes=True,
    example="graphmem event add review.verdict --data '{\"findings\": []}'",
    takes={"data": Taken("JSON", reads="json typed", such_as=EVENT_EXAMPLE)},
)
def add(client: Client, request: AddEventRequest) -> Happened:
    """
    Record something that happened; types that begin with ``context-`` stay on this machine.

    It is kept there under another lock than that of the store.
    """
    request = screened(client, request, "event")
    _refuse_bad(request)
    if request.type.startswith(OF_THIS_MACHINE):
        return Happened(event=keep_here(client, request))
    with client.writing() as snapshot:
        made = event(snapshot, request.type, snapshot.now, _subject_of(snapshot, request.subject), request.data or {})
        snapshot.commit([made])
        record = made.record
        assert isinstance(record, Event)
        return Happened(event=_shown(record.to_row(), snapshot))


def _refuse_bad(request: AddEventRequest) -> None:
    """Raise an error for an event of no type, of a type that a command records, or that does not say what it must."""
    if not TYPE.fullmatch(request.type) or len(request.type) > MOST_OF_A_TYPE:
        raise BadInput(
            f"event type {request.type[:MOST_OF_A_TYPE]!r} is not words of a-z 0-9 with - or . between them",
            hint="such as review.verdict",
        )
    if noun := OF_COMMANDS.get(f"{request.type.partition('-')[0]}-"):
        raise Refused(f"{request.type!r} is recorded by graphmem {noun}", hint=f"see: graphmem {noun} --help")
    if request.type in VERIFICATIONS:
        try:
            Verification.model_validate(request.data or {})
        except ValidationError as error:
            message, expected = complaint(error)
            raise BadInput(f"{request.type}: {message}", hint=expected) from None


def _subject_of(snapshot: Snapshot, subject: str | None) -> str | None:
    """Return a subject as rows have it: a record by key, words as they are."""
    if subject is None or not split_ref(subject)[0]:
        return subject
    known = snapshot.catalog.known([subject])
    return snapshot.catalog.stored(known[subject]).key_ref if known else subject


def keep_here(client: Client, request: AddEventRequest) -> Happening:
    """Keep an event on this machine."""
    row: dict[str, Any] = {"id": client.new_id(), "at": format_time(client.now()), "type": request.type}
    row |= {"subject": request.subject} if request.subject else {}
    row |= {"data": dict(request.data)} if request.data else {}
    try:
        with client.state.changing() as kept:
            kept.put("event", row["id"], orjson.dumps(row, option=orjson.OPT_SORT_KEYS))
    except OSError as error:
        raise Unavailable(
            f"{client.state.path} cannot be written: {error.strerror}", hint="is the store writable?"
        ) from None
    return Happening(**row, is_local=True)


@operation("events.list")
def events(snapshot: Snapshot, request: ListEventsRequest) -> EventList:
    """Return events in the order of time: the last ones, or the next after a cursor."""
    every = _all_rows(snapshot)
    order = _order_of(snapshot, every)
    found = _asked_for(every, snapshot, request)
    if request.cursor is None:
        found = found[-request.limit :]
        last = max(every, key=lambda row: order[row["id"]], default=None)
    else:
        found = _arrived_after(request.cursor, found, order)[: request.limit]
        last = found[-1] if found else None
    return EventList(
        events=[_shown(row, snapshot) for row in found], cursor=_cursor_of(last) if last else request.cursor
    )


def _all_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the rows of all events, of the files and of this machine, in the order of time."""
    rows = [orjson.loads(line) for *_, line in snapshot.catalog.live_rows("event")]
    rows += [{**row, "is_local": True} for row in snapshot.client.state.read_all("event", _row_of).values()]
    return sorted(rows, key=_key_of)


def _row_of(value: bytes) -> dict[str, Any]:
    """Return the row of an event of this machine, or raise ``ValueError``."""
    row = orjson.loads(value)
    if not (isinstance(row, dict) and all(isinstance(row.get(name), str) for name in ("id", "at", "type"))):
        raise ValueError("it is not an event")
    return row


def _order_of(snapshot: Snapshot, rows: Sequence[dict[str, Any]]) -> dict[str, int]:
    """
    Return the place of each event in the order in which they arrived in this clone; new ones are noted as the last.

    An event that a merge brings has the time at which it happened elsewhere, and a clock may go back: so whoever asks
    what came after a cursor is answered in this order. Where it is lost, the order of time begins it again.
    """
    state, ids = snapshot.client.state, [row["id"] for row in rows]
    order = state.read_all("arrival", bytes)
    if any(one not in order for one in ids):
        with contextlib.suppress(Unavailable), state.changing() as kept:
            for one in ids:
                kept.put("arrival", one, b"")
            order = kept.read_all("arrival", bytes)  # others may have noted some meanwhile
    return {one: place for place, one in enumerate(dict.fromkeys([*order, *ids]))}


def _asked_for(rows: Iterable[dict[str, Any]], snapshot: Snapshot, request: ListEventsRequest) -> list[dict[str, Any]]:
    """Return the rows of the events that a request asks for."""
    subject = _subject_of(snapshot, request.subject)
    return [
        row for row in rows if (subject is None or row.get("subject") == subject) and _is_of(row["type"], request.types)
    ]


def _arrived_after(cursor: str, rows: Iterable[dict[str, Any]], order: Mapping[str, int]) -> list[dict[str, Any]]:
    """Return the events after a cursor as they arrived; after one of another clone, those with a later time."""
    at, mark, identity = cursor.partition("~")
    if not mark or not at[:4].isdigit():
        raise BadInput(f"{cursor[:80]!r} is not a cursor", hint="it is the `cursor` in: graphmem event list --json")
    key = at, identity
    place = order.get(key[1])
    found = [row for row in rows if (_key_of(row) > key if place is None else order[row["id"]] > place)]
    return sorted(found, key=lambda row: order[row["id"]])


def _is_of(event_type: str, types: tuple[str, ...]) -> bool:
    """Return whether a type is among some, of which one that ends in ``-`` or ``.`` means all that begin so."""
    return not types or any(
        event_type == one or (one.endswith(("-", ".")) and event_type.startswith(one)) for one in types
    )


def _key_of(row: dict[str, Any]) -> Key:
    """Return what orders an event."""
    return row["at"], row["id"]


def _cursor_of(row: dict[str, Any]) -> str:
    """Return the cursor after an event."""
    return "~".join(_key_of(row))


def _shown(row: dict[str, Any], snapshot: Snapshot) -> Happening:
    """Return an event as an answer shows it: about a record by its current name."""
    subject = row.get("subject")
    names = snapshot.catalog.shown_refs([subject]) if subject and split_ref(subject)[0] else {}
    return Happening(
        id=row["id"],
        at=row["at"],
        type=row["type"],
        subject=names.get(subject, subject) if subject else None,
        data=row.get("data"),
        is_local=row.get("is_local", False),
    )


class EventFollower:
    """
    Finds events as they come, each once; also one that a merge brings, whatever its time.

    Args:
        request: which ones; with a cursor, first those after it.
    """

    def __init__(self, request: ListEventsRequest) -> None:
        self.request = request
        self.seen: set[str] | None = None

    def look(self, client: Client) -> list[tuple[Happening, str]]:
        """Return the events that came since the last look, each with its cursor."""
        with client.reading() as snapshot:
            every = _all_rows(snapshot)
            order = _order_of(snapshot, every)
            rows = _asked_for(every, snapshot, self.request)
            if self.seen is None:
                cursor = self.request.cursor
                fresh = [] if cursor is None else _arrived_after(cursor, rows, order)
                self.seen = {row["id"] for row in rows} - {row["id"] for row in fresh}
            fresh = sorted((row for row in rows if row["id"] not in self.seen), key=lambda row: order[row["id"]])
            self.seen.update(row["id"] for row in fresh)
            return [(_shown(row, snapshot), _cursor_of(row)) for row in fresh]
