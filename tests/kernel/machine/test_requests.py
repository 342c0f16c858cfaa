"""A request that comes again after its answer was lost: nothing is changed twice, and the answer is the same."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient
from starlette.types import ASGIApp, Receive, Scope, Send

from graphmem import Memory
from graphmem.constants import REQUESTS
from graphmem.doors.cli.app import run
from graphmem.doors.cli.caller import Invocation, ids_of
from graphmem.doors.http.app import make_app
from graphmem.doors.http.operations import operations
from graphmem.doors.mcp import server as mcp_server
from graphmem.doors.mcp.tools import TOOLS
from graphmem.errors import AlreadyDone, Conflict
from graphmem.kernel.dispatch import OWNER
from graphmem.kernel.ledger import undo
from graphmem.kernel.machine import requests
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.machine.service_state import ServiceStatus
from graphmem.kernel.machine.state import BOUND_EVERY
from tests.doors.http.test_fuzz import REAL
from tests.sample import put_state

# FastAPI's own, where its models are made late.
pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
DERIVED = ("local", "state/state.db")


def contents(root: Path) -> dict[str, bytes]:
    """Return the files of a store and of this machine, but for what is derived and what only reading changes."""
    store = root / ".graphmem"
    found = {str(path.relative_to(store)): path for path in store.rglob("*") if path.is_file()}
    return {name: path.read_bytes() for name, path in sorted(found.items()) if not name.startswith(DERIVED)}


def trusting(app: ASGIApp) -> ASGIApp:
    """Return an application whose callers may do everything, as with the token for it."""

    async def call(scope: Scope, receive: Receive, send: Send) -> None:
        await app({**scope, "caller": OWNER}, receive, send)

    return call


@pytest.fixture
def http(memory: Memory) -> Iterator[TestClient]:
    class NoMetrics:
        def text(self) -> bytes:
            return b""

    app = make_app(memory, lambda: ServiceStatus(ok=True, store=""), NoMetrics(), threading.Event())  # type: ignore[arg-type]
    yield TestClient(trusting(app), base_url="http://127.0.0.1")


def post(http: TestClient, name: str, key: str, given: object) -> Any:
    return http.post(f"/v1/{name.replace('.', '/')}", json=given, headers={"Idempotency-Key": key})


@pytest.mark.long
def test_every_operation_that_writes_is_carried_out_once_over_http(http: TestClient, memory: Memory) -> None:
    assert operations().keys() >= REAL.keys()
    for name, given in REAL.items():
        if operations()[name].is_read:
            continue
        first = post(http, name, name, given)
        before = contents(memory.store.client.root)
        second = post(http, name, name, given)
        assert (second.status_code, second.text) == (first.status_code, first.text), name
        assert contents(memory.store.client.root) == before, name
        row = operations()[name].row
        is_kept = first.status_code == 200 and not row.only_reads(row.request.model_construct(**given))
        assert ("idempotency-replayed" in second.headers) == is_kept, name  # a preview is made again


@pytest.mark.long
def test_what_was_written_before_the_answer_could_be_kept_is_not_written_again(
    http: TestClient, memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As if the process had died between the write and its answer."""
    monkeypatch.setattr(RequestUnderWay, "keep", lambda self, answer: None)
    done = set()
    for name, given in REAL.items():
        if operations()[name].is_read:
            continue
        writes = memory.store.client.ledger.writes
        of_the_worker = contents(memory.store.client.root)
        first = post(http, name, name, given)
        before = contents(memory.store.client.root)
        is_written = {path for path in before if path.startswith("data/") and of_the_worker.get(path) != before[path]}
        if first.status_code != 200 or not is_written:
            continue
        second = post(http, name, name, given)
        again = {"done": True} if name != "split" else first.json() | {"changed": False, "removed": []}
        assert (second.status_code, second.json()) == (200, again), name
        after = contents(memory.store.client.root)
        assert after == before, name
        done.add(name)
        assert writes == memory.store.client.ledger.writes
    assert {"failures.add", "relations.link", "sessions.decide", "phases.reset", "campaigns.add_tasks", "undo"} <= done


def test_a_key_is_for_one_request(http: TestClient) -> None:
    assert post(http, "failures.add", "k", {"trigger": "one"}).status_code == 200
    assert post(http, "failures.add", "k", {"trigger": "two"}).json()["code"] == "conflict"
    assert post(http, "patterns.add", "k", {"trigger": "one", "insight": "x"}).json()["code"] == "conflict"
    assert post(http, "failures.add", "", {"trigger": "two"}).status_code == 400
    assert post(http, "list", "k", {}).json()["total"] == 1  # what reads has no use for a key


def test_lines_that_come_again_are_added_once(http: TestClient, memory: Memory) -> None:
    line = b'{"ref":"failure/boom","helped":true}\n'
    post(http, "failures.add", "1", {"trigger": "it went boom", "name": "boom"})
    send = {"content": line, "headers": {"Idempotency-Key": "2", "Content-Type": "application/x-ndjson"}}
    first, second = (http.post("/v1/feedback_rows/stream", **send).text for _ in range(2))  # type: ignore[arg-type]
    assert first == second
    assert memory.get("boom").record.model_dump()["helped"] == 1


def test_a_refused_request_can_be_corrected_under_its_id(http: TestClient, memory: Memory) -> None:
    for _ in range(2):
        assert post(http, "feedback", "k", {"ref": "failure/boom", "helped": True}).status_code == 404
    memory.failures.add("it went boom", name="boom")
    assert post(http, "feedback", "k", {"ref": "failure/boom", "helped": True}).json()["action"] == "created"


# --- the command line ---------------------------------------------------------------------------------------------


def repeat(root: Path, *words: str) -> int:
    """Run a command as its caller does after the service died."""
    with carried_out(RequestUnderWay("1", "\0".join(words), is_repeat=True)):
        return run([*words, "--dir", str(root)], Invocation(new_id=ids_of("1")))


def test_a_command_that_is_repeated_prints_what_it_printed(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    root = memory.store.client.root
    words = ["session", "start", "--task", "mend the cart"]
    with carried_out(RequestUnderWay("1", "\0".join(words))) as asked:
        assert run([*words, "--dir", str(root)], Invocation(new_id=ids_of("1"))) == 0
        asked.keep({"status": 0, "written": [[1, "the first answer\n"]]})
    before, _ = contents(root), capsys.readouterr()
    assert repeat(root, *words) == 0
    assert capsys.readouterr().out == "the first answer\n"
    assert contents(root) == before


def test_a_command_whose_answer_was_not_kept_is_reported_as_done(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    root = memory.store.client.root
    words = ["add", "failure", "--trigger", "it went boom"]
    with carried_out(RequestUnderWay("1", "\0".join(words))):
        assert run([*words, "--dir", str(root)], Invocation(new_id=ids_of("1"))) == 0
    before, _ = contents(root), capsys.readouterr()
    assert repeat(root, *words) == 0
    assert "done before" in capsys.readouterr().out
    assert contents(root) == before


def test_an_undo_that_may_be_done_is_not_repeated(memory: Memory, capsys: pytest.CaptureFixture[str]) -> None:
    memory.failures.add("it went boom")
    assert repeat(memory.store.client.root, "undo") == 4
    assert "it may be done" in capsys.readouterr().err
    assert memory.list().total == 1


def test_what_no_service_carried_out_is_carried_out(memory: Memory) -> None:
    assert repeat(memory.store.client.root, "add", "failure", "--trigger", "it went boom") == 0
    assert memory.list().total == 1


# --- a write that was cut off -------------------------------------------------------------------------------------


def test_a_write_that_was_noted_and_never_happened_is_carried_out(memory: Memory) -> None:
    """As after a death between the note and the rename of the files."""
    with carried_out(RequestUnderWay("1")) as asked:
        memory.failures.add("it went boom", name="boom")
        kept = memory.store.client.state.read("request", asked.key, requests.DECODE)
        assert kept is not None
        name = kept.note
    layout = memory.store.client.layout
    undo.doubt(layout.undo / f"{name}{undo.SURE}")
    with carried_out(RequestUnderWay("1")), pytest.raises(AlreadyDone), memory.store.client.writing():
        pytest.fail("the rows are there")
    (layout.data / "failure.ndjson").unlink()
    with carried_out(RequestUnderWay("1")):
        memory.failures.add("it went boom", name="boom")
    assert memory.list().total == 1


def test_two_at_the_same_time_are_one(memory: Memory) -> None:
    """The second waits, and gets the answer of the first."""
    answers: list[object] = []

    def send() -> None:
        with carried_out(RequestUnderWay("1")) as asked, Memory(memory.store.client.root) as own:
            try:
                asked.refuse_done(own.store.client.state, lambda note: True)
                answers.append(own.feedback("boom", helped=True).action)
                asked.keep("the answer")
            except AlreadyDone as error:
                answers.append(error.answer)

    memory.failures.add("it went boom", name="boom")
    threads = [threading.Thread(target=send) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(map(str, answers)) == ["created", *["the answer"] * 3]
    assert memory.get("boom").record.model_dump()["helped"] == 1
    assert not requests.under_way


def test_old_requests_are_forgotten(memory: Memory) -> None:
    state = memory.store.client.state
    for number in range(REQUESTS + 40):
        with carried_out(RequestUnderWay(str(number))) as asked:
            asked.has_changed(state)
            asked.keep(number)
    assert REQUESTS <= len(state.read_all("request", bytes)) < REQUESTS + BOUND_EVERY
    with pytest.raises(AlreadyDone):
        RequestUnderWay(str(number)).refuse_done(state, lambda note: True)


def test_a_damaged_value_is_no_request(memory: Memory) -> None:
    asked, root, state = RequestUnderWay("1"), memory.store.client.root, memory.store.client.state
    for text in (b"", b"{", b"[1]", b'{"content": 1}', b"\xff"):
        put_state(root, "request", asked.key, text)
        asked.refuse_done(state, lambda note: True)
    put_state(root, "request", asked.key, json.dumps({"content": "other", "process": 1, "at": 0.0}).encode())
    with pytest.raises(Conflict):
        asked.refuse_done(state, lambda note: True)


# --- MCP ----------------------------------------------------------------------------------------------------------


def call(memory: Memory, name: str, arguments: dict[str, Any], asked: RequestUnderWay) -> Any:
    return mcp_server.result_of(TOOLS[name], lambda: memory, arguments, asked)


@pytest.mark.parametrize("is_kept", [True, False])
def test_every_tool_that_writes_is_carried_out_once(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, *, is_kept: bool
) -> None:
    if not is_kept:
        monkeypatch.setattr(RequestUnderWay, "keep", lambda self, answer: None)
    memory.campaigns.create("a faster shop", name="shop")
    memory.campaigns.add_tasks("shop", [{"seq": 1, "slug": "measure", "objective": "measure it"}])
    memory.failures.add("it went boom", name="boom")
    calls: list[tuple[str, dict[str, Any]]] = [
        ("remember", {"kind": "failure", "trigger": "it went bang", "fix": "duck"}),
        ("feedback", {"ref": "failure/boom", "helped": True}),
        ("task", {"action": "start", "ref": "shop/001"}),
        ("task", {"action": "complete", "ref": "shop/001"}),
    ]
    for name, arguments in calls:
        asked = json.dumps([name, arguments])
        first = call(memory, name, arguments, RequestUnderWay(asked, asked))
        assert not first.is_error, first
        before = contents(memory.store.client.root)
        second = call(memory, name, arguments, RequestUnderWay(asked, asked))
        assert contents(memory.store.client.root) == before, name
        assert not second.is_error
        if is_kept:
            assert second == first
    assert {tool.name for tool in TOOLS.values() if not tool.is_read_only} == {"remember", "feedback", "task", "work"}


def test_a_call_without_an_id_is_a_repeat_only_where_its_answer_was_lost(memory: Memory) -> None:
    memory.failures.add("it went boom", name="boom")

    def report() -> None:
        asked = RequestUnderWay("mcp call x", "x", is_by_content=True)
        assert not call(memory, "feedback", {"ref": "failure/boom", "helped": True}, asked).is_error

    def helped() -> int:
        return int(memory.get("boom").record.model_dump()["helped"])

    report()
    report()
    assert helped() == 2, "a process that lives has sent its answer, or will"
    key, root = RequestUnderWay("mcp call x").key, memory.store.client.root
    kept = memory.store.client.state.read("request", key, json.loads)
    assert kept is not None
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    put_state(root, "request", key, json.dumps({**kept, "process": dead.pid}).encode())
    report()
    assert helped() == 2, "the process has ended, and nobody got its answer"
    put_state(
        root, "request", key, json.dumps({**kept, "process": dead.pid, "at": kept["at"] - requests.REPEATED_S}).encode()
    )
    report()
    assert helped() == 3, "nobody waits that long"
    assert os.getpid() == (memory.store.client.state.read("request", key, json.loads) or {})["process"]
