"""The event stream: events as they come, as server-sent events that a caller resumes after the last it got."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from concurrent.futures import Executor
from threading import Event, Lock
from time import monotonic
from typing import Annotated, NamedTuple

from fastapi import FastAPI, Header, Query
from fastapi import Request as Call
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from graphmem.api import Memory
from graphmem.constants import FOLLOW_S
from graphmem.core.records.event_contract import Happening, ListEventsRequest
from graphmem.core.records.event_log import EventFollower
from graphmem.doors.http.guard import EVENTS
from graphmem.doors.http.problems import problem
from graphmem.kernel.store.runtime import Client
from graphmem.names import inert

MEDIA_TYPE = "text/event-stream"
CHANGED = "event: changed\ndata: {}\n\n"  # without an id: a caller goes on after the last event
KEEP_ALIVE_S = 15.0  # seconds without an event after which a comment shows that the stream is there
MOST_STREAMS = 32  # at the same time


class Contents(NamedTuple):
    """What distinguishes the memory from what it was: its files, and what this machine has of it."""

    files: object = None
    candidates: object = None
    events: object = None
    run: object = None


class Stream(StreamingResponse):
    """A response that counts as a stream until it ends, however it ends."""

    def __init__(self, parts: AsyncIterator[str], end: Callable[[], None]) -> None:
        super().__init__(parts, media_type=MEDIA_TYPE)
        self.end = end

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        finally:
            self.end()


class ChangeWatcher:
    """Sees whether anything of the memory, or of what this machine has of it, has changed, once for all streams."""

    def __init__(self) -> None:
        self.lock, self.until, self.contents = Lock(), 0.0, Contents()

    def look(self, client: Client, *, is_first: bool) -> Contents:
        """Return what is there now; to a stream that looks again, perhaps what was there a moment ago."""
        with self.lock:
            if is_first or monotonic() >= self.until:
                with client.reading() as snapshot:
                    stamps = client.state.stamps(("candidates", "event", "run")) or ()
                    self.contents = Contents(snapshot.catalog.contents(), *stamps)
                self.until = monotonic() + FOLLOW_S / 2
            return self.contents


def add_events(app: FastAPI, memory: Memory, workers: Executor, ended: Event) -> None:
    """Add the route of the event stream; each ends when ``ended`` is set."""
    streams: set[object] = set()
    watcher = ChangeWatcher()

    async def call(
        request: Call,
        last_event_id: Annotated[str | None, Header(description="Cursor of the last event that the caller got")] = None,
        cursor: Annotated[str | None, Query(description="The same, for a caller that cannot set the header")] = None,
        type: Annotated[list[str] | None, Query(description="Types of events; task- means all that begin so")] = None,  # noqa: A002
        changes: Annotated[bool, Query(description="Send the event changed too, when the memory did")] = False,
    ) -> Response:
        request.scope["caller"].require_all_kinds("the stream of events")
        if len(streams) >= MOST_STREAMS:
            return problem(503, "unavailable", f"there are {MOST_STREAMS} event streams already", hint="close one")
        follower = EventFollower(ListEventsRequest(types=tuple(type or ()), cursor=last_event_id or cursor))
        seen = Contents()

        def messages() -> list[str]:
            nonlocal seen
            before, seen = seen, watcher.look(memory.store.client, is_first=seen == Contents())
            if before == seen:  # most of the time
                return []
            found = [message(one, place) for one, place in follower.look(memory.store.client)]
            is_new = before != Contents() and before._replace(events=None) != seen._replace(events=None)
            return [*found, CHANGED] if changes and is_new else found

        async def look() -> list[str]:
            return await asyncio.get_running_loop().run_in_executor(workers, messages)

        streams.add(follower)
        try:
            first = await look()  # a cursor that is none is refused before the stream begins
        except BaseException:
            streams.discard(follower)
            raise

        async def parts() -> AsyncIterator[str]:
            yield ": graphmem\n\n"
            silent, found = 0.0, first
            while not ended.is_set():
                for one in found:
                    yield one
                silent = 0.0 if found else silent + FOLLOW_S
                if silent >= KEEP_ALIVE_S:
                    silent = 0.0
                    yield ": still here\n\n"
                await asyncio.sleep(FOLLOW_S)
                found = await look()

        return Stream(parts(), lambda: streams.discard(follower))

    shown = {"description": "Events as they come, until the caller goes", "content": {MEDIA_TYPE: {"schema": {}}}}
    app.get(
        EVENTS,
        operation_id="events",
        tags=["read"],
        response_class=Response,
        summary="Follow what happens",
        responses={200: shown},
    )(call)


def message(one: Happening, cursor: str) -> str:
    """Return an event as a server-sent one; its id is the cursor after it, and a line end in its type no line here."""
    data = inert(json.dumps(one.model_dump(mode="json"), ensure_ascii=False))
    return f"id: {cursor}\nevent: {' '.join(one.type.split())}\ndata: {data}\n\n"
