"""The event stream: what a caller gets that stays, that goes, and that comes back: service.md, section 2."""

import http.client
import json
import time
from collections.abc import Iterator
from typing import Any

import pytest

from graphmem import Memory
from graphmem.doors.http import events
from tests.doors.http.served import Served, serve
from tests.doors.service.project import shared_project
from tests.pace import within


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with shared_project(tmp_path_factory) as made:
        yield serve(made)


class Stream:
    """A caller that reads events."""

    def __init__(self, served: Served, path: str = "/v1/events", **headers: str) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", served.port, timeout=30)
        sent = {"Authorization": f"Bearer {served.read_token}", **headers}
        self.connection.request("GET", path, headers=sent)
        self.answer = self.connection.getresponse()

    def next(self) -> dict[str, Any]:
        """Return the next event with its id."""
        found: dict[str, Any] = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            assert line != ": still here", "no event came"
            if line.startswith(("id: ", "event: ", "data: ")):
                name, _, value = line.partition(": ")
                found[name] = json.loads(value) if name == "data" else value
            elif not line and found:
                return found

    def close(self) -> None:
        self.answer.close()
        self.connection.close()


def add(served: Served, number: int, event_type: str = "lifecycle") -> None:
    assert served.call("events.add", type=event_type, data={"n": number}).status == 200


@pytest.mark.long
def test_a_caller_gets_events_as_they_come_and_goes_on_where_it_was_cut_off(served: Served) -> None:
    add(served, 0)
    stream = Stream(served)
    assert stream.answer.getheader("content-type", "").startswith("text/event-stream")
    add(served, 1)
    first = stream.next()
    assert (first["event"], first["data"]["data"]) == ("lifecycle", {"n": 1})
    stream.close()
    add(served, 2)
    add(served, 3)
    again = Stream(served, **{"Last-Event-ID": first["id"]})
    assert [again.next()["data"]["data"] for _ in range(2)] == [{"n": 2}, {"n": 3}]
    add(served, 4)
    assert again.next()["data"]["data"] == {"n": 4}
    again.close()


@pytest.mark.long
def test_what_the_command_line_does_is_in_the_stream(served: Served) -> None:
    served.call("campaigns.create", objective="a faster shop", name="shop")
    served.call("campaigns.add_tasks", ref="shop", plan=[{"seq": 1, "objective": "measure"}])
    stream = Stream(served, "/v1/events?type=task-")
    add(served, 9)
    assert served.project.run("task", "start", "shop/001").returncode == 0
    found = stream.next()
    assert (found["event"], found["data"]["subject"]) == ("task-started", "task/shop/001-measure")
    stream.close()


@pytest.mark.long
def test_who_asks_for_changes_is_told_when_a_record_comes_and_goes_on_after_the_last_event(served: Served) -> None:
    stream, plain = Stream(served, "/v1/events?changes=true"), Stream(served)
    served.call("failures.add", trigger="a wheel came off", name="wheel")
    assert stream.next() == {"event": "changed", "data": {}}  # without an id
    add(served, 10)
    assert [stream.next()["event"] for _ in range(2)] == ["lifecycle", "changed"]
    assert plain.next()["event"] == "lifecycle"  # nobody else gets it
    (served.project.root / "RULES.md").write_text("# Decisions\n\n- Never log the price of a cart.\n")
    assert served.project.run("import", "notes", "RULES.md").returncode == 0
    waiting = served.call("candidates.review").body["candidates"]
    assert stream.next()["event"] == "changed"
    assert served.project.run("review", "dismiss", waiting[0]["id"]).returncode == 0
    assert stream.next()["event"] == "changed"
    assert served.project.run("build", "change", "add", "src/cart.py").returncode == 0
    assert stream.next()["event"] == "changed"
    stream.close()
    plain.close()


def status_of_a_stream(served: Served) -> int:
    stream = Stream(served)
    stream.close()
    return stream.answer.status


@pytest.mark.long
def test_callers_that_go_free_their_places(served: Served) -> None:
    for _ in range(40):  # more than there may be at the same time
        assert status_of_a_stream(served) == 200
        time.sleep(0.02)
    staying = [Stream(served) for _ in range(33)]
    assert sorted({one.answer.status for one in staying}) == [200, 503]
    for one in staying:
        one.close()
    deadline = time.monotonic() + 20
    while (status := status_of_a_stream(served)) != 200 and time.monotonic() < deadline:
        time.sleep(0.2)
    assert status == 200


def test_a_cursor_that_is_none_and_a_caller_without_a_token_are_refused(served: Served) -> None:
    assert served.send("GET", "/v1/events?cursor=nonsense").code == "bad_input"
    assert served.send("GET", "/v1/events", headers={"Authorization": ""}).code == "unauthorized"


@pytest.mark.long
def test_a_service_with_an_open_stream_ends_when_it_is_asked_to(served: Served) -> None:
    stream = Stream(served)
    begin = time.monotonic()
    assert served.project.run("serve", "--stop").returncode == 0
    served.child.wait(30)
    assert within(time.monotonic() - begin, 30)
    stream.close()


def test_streams_look_at_the_memory_together(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Else 32 of them take a core for as long as they are open."""
    monkeypatch.setattr(events, "FOLLOW_S", 1_000.0)
    watcher, client = events.ChangeWatcher(), memory.store.client
    first = watcher.look(client, is_first=True)
    memory.patterns.add("a noisy place", "stay calm")
    assert all(watcher.look(client, is_first=False) is first for _ in range(32))
    fresh = watcher.look(client, is_first=True)  # of a stream that begins
    assert fresh != first
    assert watcher.look(client, is_first=False) is fresh
