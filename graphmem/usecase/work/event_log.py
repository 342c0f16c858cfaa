"""Events: what happened, in the order of time, from the files and from this machine (docs/concepts/campaigns.md)."""

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Any

import orjson
from pydantic import ValidationError

from graphmem.contract.events import (
    AddEventRequest,
    EventList,
    Happened,
    Happening,
    ListEventsRequest,
    Verification,
)
from graphmem.errors import BadInput, Locked, Refused, Unavailable
from graphmem.ledger.codec import complaint
from graphmem.machine import local_events
from graphmem.model import Event
from graphmem.model.field import format_time
from graphmem.names import split_ref
from graphmem.runtime import Client, Snapshot, counted
from graphmem.usecase.records.screening import screened
from graphmem.usecase.work.events import event

TYPE = re.compile(r"[a-z][a-z0-9]*([.-][a-z0-9]+)*")
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
Key = tuple[str, str]  # time and id: the order of events


def add(client: Client, request: AddEventRequest) -> Happened:
    """Record something that happened; what concerns the context of one agent stays on this machine."""
    request = screened(client, request, "event")
    refuse_bad(request)
    if request.type.startswith(OF_THIS_MACHINE):
        return Happened(event=keep_here(client, request))
    with client.writing() as snapshot:
        made = event(client, request.type, snapshot.now, subject_of(snapshot, request.subject), request.data or {})
        client.ledger.commit([made])
        record = made.record
        assert isinstance(record, Event)
        return Happened(event=shown(record.to_row(), snapshot))


def refuse_bad(request: AddEventRequest) -> None:
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


def subject_of(snapshot: Snapshot, subject: str | None) -> str | None:
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
    path = client.layout.local_events
    try:
        local_events.keep(path, client.local / "events.lock", client.lock_timeout_s, row, client.notify)
    except (OSError, Locked) as error:
        raise Unavailable(f"{path} cannot be written: {error}", hint="is the store writable?") from None
    return Happening(**row, is_local=True)


def events(client: Client, request: ListEventsRequest) -> EventList:
    """
    Return events in the order of time: the last ones, or those after a cursor.

    What a merge brings, or a clock that went back makes, may be earlier than a cursor: a cursor counts the events up to
    it, so that the answer says when there are more of them now.
    """
    with client.reading() as snapshot:
        every = all_rows(snapshot)
        keys = [key_of(row) for row in every]
        found = asked_for(every, snapshot, request)
        if request.cursor is None:
            found = found[-request.limit :]
        else:
            after, count = parsed_cursor(request.cursor)
            late = bisect_right(keys, after) - count
            if late > 0:
                snapshot.notify_once(
                    f"{counted(late, 'event')} with an earlier time came after this cursor, as a merge brings them;"
                    " without --cursor they are shown"
                )
            found = [row for row in found if key_of(row) > after][: request.limit]
        last = key_of(found[-1]) if found else after if request.cursor else None
        return EventList(events=[shown(row, snapshot) for row in found], cursor=cursor_of(last, keys) if last else None)


def all_rows(snapshot: Snapshot) -> list[dict[str, Any]]:
    """Return the rows of all events, of the files and of this machine, in the order of time."""
    rows = [orjson.loads(line) for *_, line in snapshot.catalog.live_rows("event")]
    rows += [{**row, "is_local": True} for row in local_events.rows(snapshot.layout.local_events)]
    return sorted(rows, key=key_of)


def asked_for(rows: Iterable[dict[str, Any]], snapshot: Snapshot, request: ListEventsRequest) -> list[dict[str, Any]]:
    """Return the rows of the events that a request asks for."""
    subject = subject_of(snapshot, request.subject)
    return [
        row for row in rows if (subject is None or row.get("subject") == subject) and is_of(row["type"], request.types)
    ]


def is_of(event_type: str, types: tuple[str, ...]) -> bool:
    """Return whether a type is among some, of which one that ends in ``-`` or ``.`` means all that begin so."""
    return not types or any(
        event_type == one or (one.endswith(("-", ".")) and event_type.startswith(one)) for one in types
    )


def key_of(row: dict[str, Any]) -> Key:
    """Return what orders an event."""
    return row["at"], row["id"]


def cursor_of(key: Key, keys: Sequence[Key]) -> str:
    """Return the cursor after an event; ``keys`` are those of all events in their order."""
    return f"{'~'.join(key)}~{bisect_right(keys, key)}"


def parsed_cursor(cursor: str) -> tuple[Key, int]:
    """
    Return the event that a cursor is after, and how many events there were up to it.

    Raises:
        BadInput: it is no cursor.
    """
    at, _, rest = cursor.partition("~")
    identity, _, count = rest.rpartition("~")
    if not identity or not at[:4].isdigit() or not count.isdecimal():
        raise BadInput(f"{cursor[:80]!r} is not a cursor", hint="the `cursor` of an answer of: graphmem events --json")
    return (at, identity), int(count)


def shown(row: dict[str, Any], snapshot: Snapshot) -> Happening:
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


class Follower:
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
            every = all_rows(snapshot)
            keys = [key_of(row) for row in every]
            rows = asked_for(every, snapshot, self.request)
            if self.seen is None:
                after = parsed_cursor(self.request.cursor)[0] if self.request.cursor else None
                self.seen = {row["id"] for row in rows if after is None or key_of(row) <= after}
            fresh = [row for row in rows if row["id"] not in self.seen]
            self.seen.update(row["id"] for row in fresh)
            return [(shown(row, snapshot), cursor_of(key_of(row), keys)) for row in fresh]
