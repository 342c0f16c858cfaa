"""Connections: how many, for how long, and what of a request counts as one that runs."""

import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from starlette.responses import PlainTextResponse
from starlette.types import Receive, Scope, Send

from graphmem.core.records.event_contract import Happening
from graphmem.doors.http import guard, server
from graphmem.doors.http.events import message
from graphmem.doors.http.tokens import tokens
from graphmem.errors import Refused
from tests.pace import patience

HEAD = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\n"


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "lifespan":
        while (await receive())["type"] != "lifespan.shutdown":
            await send({"type": "lifespan.startup.complete"})
        await send({"type": "lifespan.shutdown.complete"})
        return
    while (await receive()).get("more_body"):
        pass
    await PlainTextResponse("well")(scope, receive, send)


@pytest.fixture
def idle_s() -> float:
    """How long a connection may bring nothing; tests that do not wait for it give it long."""
    return 60.0


@pytest.fixture
def port(monkeypatch: pytest.MonkeyPatch, idle_s: float) -> Iterator[int]:
    monkeypatch.setattr(server, "IDLE_S", idle_s)
    monkeypatch.setattr(server, "MOST_CONNECTIONS", 3)
    with server.bound("127.0.0.1", 0) as listener, server.running(app, listener):  # type: ignore[arg-type]
        yield listener.getsockname()[1]


def connected(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), timeout=10 * patience())


def is_closed(connection: socket.socket) -> bool:
    """Return whether the server closes a connection, once the rest of an answer has come."""
    try:
        while connection.recv(1000):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


def is_answered(port: int) -> bool:
    """Return whether a request of a new connection is answered; wait a little where it is not."""
    try:
        with connected(port) as connection:
            connection.sendall(HEAD + b"\r\nabcde")
            if b"200 OK" in connection.recv(10_000):
                return True
    except ConnectionError:
        pass
    time.sleep(0.1)
    return False


@pytest.mark.long
@pytest.mark.parametrize("idle_s", [0.3])
@pytest.mark.parametrize("sent", [b"", b"G", HEAD, HEAD + b"\r\nabcde"], ids=["nothing", "a letter", "half", "one"])
def test_a_connection_that_brings_no_request_is_closed(port: int, sent: bytes) -> None:
    with connected(port) as connection:
        connection.sendall(sent)
        if sent.endswith(b"abcde"):
            assert b"200 OK" in connection.recv(10_000)
        assert is_closed(connection)


@pytest.mark.long
@pytest.mark.parametrize("idle_s", [0.5])
def test_a_body_may_take_its_time(port: int) -> None:
    with connected(port) as connection:
        connection.sendall(HEAD + b"\r\n")
        for letter in b"abcde":
            time.sleep(0.2)
            connection.sendall(bytes([letter]))
        assert b"200 OK" in connection.recv(10_000)


@pytest.mark.long
def test_more_connections_than_the_bound_are_closed(port: int) -> None:
    held = [connected(port) for _ in range(3)]
    for connection in held:  # each has a request under way
        connection.sendall(HEAD + b"\r\n")
    time.sleep(0.1)
    with connected(port) as one_more:
        assert is_closed(one_more)
    for connection in held:
        connection.sendall(b"abcde")
        assert b"200 OK" in connection.recv(10_000)
        connection.close()
    assert any(is_answered(port) for _ in range(100))  # as soon as the server has seen that they are gone


def test_a_request_counts_once_its_body_is_there() -> None:
    """Before that nothing runs, so a slow caller does not keep the service from ending."""
    parts = iter([(b"a", True), (b"b", True), (b"c", False), (b"", False)])
    counts: list[int] = []

    async def receive() -> dict[str, object]:
        body, more = next(parts)
        return {"type": "http.request", "body": body, "more_body": more}

    given = guard.counted(receive, lambda: counts.append(1))
    seen = []
    for _ in range(4):
        with pytest.raises(StopIteration):
            given().__await__().send(None)
        seen.append(len(counts))
    assert seen == [0, 0, 1, 1]


def test_a_text_of_an_event_ends_no_line_of_the_stream() -> None:
    kind = 'x\nid: 999\ndata: {"forged": true}\n\nid: 1000\revent: task-completed\r\ndata: {}'
    one = Happening.model_construct(id="1", at="2026-11-01T00:00:00.000Z", type=kind, data={"a": "b\n\nid: 2"})
    lines = message(one, "5").splitlines()
    assert [line.partition(": ")[0] for line in lines] == ["id", "event", "data", ""]
    assert lines[0] == "id: 5"


def test_more_scopes_than_are_served_are_refused_before_a_token_is_made(tmp_path: Path) -> None:
    """A branch may bring any number of them; every pair of tokens is compared."""
    scopes = [f"s{n}" for n in range(101)]
    with pytest.raises(Refused, match="101 scopes; at most 100 are served"), tokens(tmp_path, scopes):
        pass
