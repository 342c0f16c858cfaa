"""``event …`` and ``events``."""

import json
from time import sleep
from typing import Annotated

import typer

from graphmem.constants import FOLLOW_S
from graphmem.core.records.event_contract import AddEventRequest, EventList, Happened, Happening, ListEventsRequest
from graphmem.core.records.event_log import EventFollower
from graphmem.doors.cli import text
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, noun, passes
from graphmem.errors import BadInput
from graphmem.kernel.registry import Taken
from graphmem.names import inert

NO_EVENTS = "nothing has happened yet; tasks, phases and reviews leave events"

app = noun("Record something that happened.")


@app.command(epilog="""Example: graphmem event add review.verdict --data '{"findings": []}'""")
@passes("events.add", AddEventRequest, data=Taken("JSON"))
def add(invocation: Invocation, call: Call, data: str | None) -> None:
    """Record something that happened."""
    answer: Happened = call(data=object_in(data))
    invocation.answer(answer, line(answer.event))


def object_in(given: str | None) -> dict[str, object] | None:
    """Return the object in a text of JSON."""
    if given is None:
        return None
    try:
        found = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise BadInput(f"--data is not JSON: {error}", hint="""such as '{"mode": "full"}'""") from None
    if not isinstance(found, dict):
        raise BadInput(f"--data is {text.one_line(given)!r}", hint="a JSON object")
    return found


@passes("events.list", ListEventsRequest, types=Taken("TYPE"))
def events(
    invocation: Invocation,
    call: Call,
    types: list[str] | None,
    subject: str | None,
    cursor: str | None,
    limit: int,
    follow: Annotated[bool, typer.Option("--follow", help="Print events as they come, until Ctrl-C.")] = False,
) -> None:
    """
    Show what happened, in the order of time.

    Example: graphmem events --type task- --follow
    """
    if not follow:
        answer: EventList = call()
        invocation.answer(answer, "\n".join(map(line, answer.events)))
        if not (answer.events or answer.notices):  # of lines that are not read
            invocation.say("no such events" if types or subject or cursor else NO_EVENTS)
        return
    request = ListEventsRequest(types=tuple(types or ()), subject=subject, cursor=cursor, limit=limit)
    follower = EventFollower(request)
    while True:
        for one, place in follower.look(invocation.memory.client):
            document = {**one.model_dump(mode="json", by_alias=True), "cursor": place}
            invocation.write(inert(json.dumps(document, ensure_ascii=False)) if invocation.is_json else line(one))
        sleep(FOLLOW_S)


def line(one: Happening) -> str:
    """Return an event in one line."""
    data = one.data if isinstance(one.data, dict) else {}
    moved = f"  {data['from']} to {data['to']}" if {"from", "to"} <= data.keys() else ""
    rest = {name: value for name, value in data.items() if name not in ("from", "to")}
    more = f"  {text.one_line(json.dumps(rest, ensure_ascii=False))}" if rest else ""
    return f"{one.at}  {one.type}{f'  {one.subject}' if one.subject else ''}{moved}{more}"
