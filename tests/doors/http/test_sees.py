"""Over HTTP, a caller who may see some kinds gets these and no others, from every route."""

import threading
from collections.abc import Callable

import pytest
from starlette.testclient import TestClient
from starlette.types import Receive, Scope, Send

from graphmem import Memory
from graphmem.doors.http.app import make_app
from graphmem.doors.http.guard import EVENTS, MCP, ROWS
from graphmem.doors.http.operations import operations
from graphmem.kernel.dispatch import OWNER, Caller
from graphmem.kernel.machine.service_state import ServiceStatus
from graphmem.kernel.registry import OPERATIONS

pytestmark = pytest.mark.filterwarnings("ignore::pydantic.warnings.UnsupportedFieldAttributeWarning")
SEER = Caller(sees=frozenset({"pattern"}))


@pytest.fixture
def as_caller(memory: Memory) -> Callable[[Caller], TestClient]:
    """Return a client of the routes for a caller."""

    class NoMetrics:
        def text(self) -> bytes:
            return b""

    app = make_app(memory, lambda: ServiceStatus(ok=True, store=""), NoMetrics(), threading.Event())  # type: ignore[arg-type]

    def client(caller: Caller) -> TestClient:
        async def call(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "caller": caller}, receive, send)

        return TestClient(call, base_url="http://127.0.0.1")

    return client


def test_every_route_is_limited_or_refused(memory: Memory, as_caller: Callable[[Caller], TestClient]) -> None:
    memory.failures.add("the secret attic", name="attic")
    memory.patterns.add("a place", "stay calm", name="calm")
    some = as_caller(SEER)
    found = some.post("/v1/list", json={})
    assert (found.status_code, [one["ref"] for one in found.json()["results"]]) == (200, ["pattern/calm"])
    for name, route in operations().items():
        answer = some.post(route.path, json={})
        assert "attic" not in answer.text, name
        if not OPERATIONS[name].scoped:
            assert answer.status_code == 403, name
    for answer in (
        some.get(ROWS),
        some.get(EVENTS),
        some.post(MCP, json={"jsonrpc": "2.0", "id": 1, "method": "ping"}),
    ):
        assert (answer.status_code, answer.json()["code"]) == (403, "refused")
        assert "this caller may not see all" in answer.json()["detail"]


def test_a_tag_does_not_tell_that_something_hidden_changed(
    memory: Memory, as_caller: Callable[[Caller], TestClient]
) -> None:
    memory.patterns.add("a place", "stay calm", name="calm")
    tags: dict[Caller, list[str]] = {SEER: [], OWNER: []}
    for number in range(2):
        for caller, found in tags.items():
            found.append(as_caller(caller).post("/v1/names", json={"prefix": "pattern/"}).headers["etag"])
        memory.failures.add(f"secret {number}", name=f"secret-{number}")
    assert tags[SEER][0] == tags[SEER][1]
    assert tags[OWNER][0] != tags[OWNER][1]


def test_a_repeat_of_the_request_of_another_caller_is_not_answered_as_the_first(
    memory: Memory, as_caller: Callable[[Caller], TestClient]
) -> None:
    memory.failures.add("the secret attic", name="attic", fix="below the stone")
    memory.store.scopes.add("clerk", write=["failure"])
    given = {"json": {"trigger": "the secret attic", "fix": "turn it"}, "headers": {"Idempotency-Key": "1"}}
    assert "below the stone" in as_caller(OWNER).post("/v1/failures/add", **given).text  # type: ignore[arg-type]
    clerk = as_caller(Caller(scope="clerk"))
    for _ in range(2):
        found = clerk.post("/v1/failures/add", **given)  # type: ignore[arg-type]
        assert (found.status_code, found.json()["action"]) == (200, "created")
        assert "below the stone" not in found.text
    assert found.headers["idempotency-replayed"] == "true"
    assert clerk.get("/healthz").json()["store"] == ""


def test_the_user_s_own_store_is_not_asked_over_http(
    user: Memory, memory: Memory, as_caller: Callable[[Caller], TestClient]
) -> None:
    user.patterns.add("git push is refused by the hook", "sign the commits", name="sign")
    found = as_caller(OWNER).post("/v1/query", json={"text": "git push is refused by the hook"})
    assert (found.status_code, found.json()["results"]) == (200, [])
    assert as_caller(OWNER).post("/v1/get", json={"ref": "user:pattern/sign"}).status_code == 404
