"""``event …`` and ``events``."""

import json
from time import sleep
from typing import Annotated

import typer

from graphmem.cli import text
from graphmem.cli.app import Noun
from graphmem.cli.caller import complete_ref, invocation_of
from graphmem.cli.options import argument, option
from graphmem.constants import FOLLOW_S
from graphmem.contract.events import AddEventRequest, Happening, ListEventsRequest
from graphmem.errors import BadInput
from graphmem.names import inert
from graphmem.usecase.work.event_log import EventFollower

app = typer.Typer(cls=Noun, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def event() -> None:
    """Record something that happened."""


@app.command(epilog="""Example: graphmem event add review.verdict --data '{"findings": []}'""")
def add(
    ctx: typer.Context,
    event_type: str = argument(AddEventRequest, "type", metavar="TYPE"),
    subject: str | None = option(AddEventRequest, "subject", metavar="REF", autocompletion=complete_ref),
    data: str | None = option(AddEventRequest, "data", metavar="JSON"),
) -> None:
    """Record something that happened."""
    invocation = invocation_of(ctx)
    answer = invocation.memory.events.add(event_type, subject=subject, data=object_in(data))
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


def events(
    ctx: typer.Context,
    types: list[str] = option(ListEventsRequest, "types", "--type", metavar="TYPE"),
    subject: str | None = option(ListEventsRequest, "subject", metavar="REF", autocompletion=complete_ref),
    cursor: str | None = option(ListEventsRequest, "cursor", metavar="CURSOR"),
    limit: int = option(ListEventsRequest, "limit", metavar="N"),
    follow: Annotated[bool, typer.Option("--follow", help="Print events as they come, until Ctrl-C.")] = False,
) -> None:
    """
    Show what happened, in the order of time.

    Example: graphmem events --type task- --follow
    """
    invocation = invocation_of(ctx)
    if not follow:
        answer = invocation.memory.events.list(types=types or (), subject=subject, cursor=cursor, limit=limit)
        invocation.answer(answer, "\n".join(map(line, answer.events)))
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
