"""``event …``."""

import json
from time import sleep
from typing import Annotated

import typer

from graphmem.constants import FOLLOW_S
from graphmem.core.records.event_contract import EventList, ListEventsRequest
from graphmem.core.records.event_log import EventFollower
from graphmem.core.records.text import event_line
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.cli.commands import Call, group_of, passes
from graphmem.kernel.registry import Taken
from graphmem.names import inert

NO_EVENTS = "nothing has happened yet; tasks, phases and reviews leave events"


app = group_of("event", "Record something that happened, list or follow what did.")


@app.command("list")
@passes("events.list", types=Taken("TYPE"))
def list_events(
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

    Example: graphmem event list --type task- --follow
    """
    if not follow:
        answer: EventList = call()
        invocation.answer(answer, "\n".join(map(event_line, answer.events)))
        if not (answer.events or answer.notices):  # of lines that are not read
            invocation.say("no such events" if types or subject or cursor else NO_EVENTS)
        return
    request = ListEventsRequest(types=tuple(types or ()), subject=subject, cursor=cursor, limit=limit)
    follower = EventFollower(request)
    while True:
        for one, place in follower.look(invocation.memory.store.client):
            document = {**one.model_dump(mode="json", by_alias=True), "cursor": place}
            invocation.write(inert(json.dumps(document, ensure_ascii=False)) if invocation.is_json else event_line(one))
        sleep(FOLLOW_S)
