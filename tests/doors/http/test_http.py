"""HTTP: a service as a process and its callers; what it answers, whom it refuses, how it ends."""

import base64
import hashlib
import http.client
import json
import re
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import anyio
import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from graphmem.core.plans.campaign_contract import PlannedTask
from graphmem.doors.http.operations import operations
from graphmem.doors.service.server import Service
from graphmem.kernel.registry import OPERATIONS
from tests.doors.http.served import Answer, Served, said, serve, start
from tests.doors.service.project import Project, new_project, shared_project, stopped, wait_until
from tests.operations import REQUESTS
from tests.pace import patience

pytestmark = pytest.mark.process
TRIGGER = "ModuleNotFoundError: No module named 'pkg_resources'"


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = new_project(tmp_path)
    yield made
    stopped(made)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """One service for the tests that do not end it; each names its records differently."""
    with shared_project(tmp_path_factory) as made:
        made.here("add", "failure", "--name", "boom", "--trigger", TRIGGER, "--fix", "pin setuptools")
        made.here(
            "add", "pattern", "--name", "pin", "--trigger", "a build tool dropped a module", "--insight", "pin it"
        )
        made.here("link", "pattern/pin", "solves", "failure/boom")
        yield serve(made)


# --- what there is ------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_every_operation_has_a_route_or_is_left_out_with_a_reason(served: Served) -> None:
    description = served.send("GET", "/openapi.json").body
    left_out = {name for name, row in OPERATIONS.items() if row.not_over_http}
    found = {path.removeprefix("/v1/").replace("/", ".") for path in description["paths"] if path.startswith("/v1/")}
    known = {f"#/components/schemas/{name}" for name in description["components"]["schemas"]}
    assert set(re.findall(r'"\$ref": "([^"]+)"', json.dumps(description))) <= known
    found.remove("rows")  # the stream of everything, which no other front end has
    found.remove("events")  # the stream of events as they come
    assert {name for name in found if not name.endswith(".stream")} == OPERATIONS.keys() - left_out
    assert REQUESTS.keys() - left_out <= found
    assert found.isdisjoint(left_out)


@pytest.mark.long
def test_the_description_has_every_parameter_but_those_that_are_left_out_with_a_reason(served: Served) -> None:
    schemas = served.send("GET", "/openapi.json").body["components"]["schemas"]
    for name, request in REQUESTS.items():
        if not OPERATIONS[name].not_over_http:
            fields = set(schemas[request.__name__].get("properties", {})) - {"lines", "events", "log"}
            assert fields == request.model_fields.keys() - OPERATIONS[name].without.keys(), name
    assert set(schemas["PlannedTask"]["properties"]) == PlannedTask.model_fields.keys()


@pytest.mark.parametrize(
    ("name", "parameters", "line"),
    [
        ("get", {"ref": "boom"}, "get boom"),
        ("list", {"kind": "failure", "limit": 1}, "list failure --limit 1"),
        ("solutions", {"ref": "failure/boom"}, "solutions failure/boom"),
        ("related", {"ref": "boom"}, "related boom"),
        ("path", {"source": "boom", "target": "pin"}, "path boom pin"),
        ("stale", {}, "stale"),
        ("types.list", {}, "type list"),
        ("queries", {}, "cypher --list"),
        ("sessions.show", {}, "session"),
        ("validate", {}, "validate"),
    ],
)
def test_an_answer_is_the_one_of_the_command_line(
    served: Served, name: str, parameters: dict[str, object], line: str
) -> None:
    done = served.project.here(*line.split(), "--json")
    assert done.returncode == 0, done.stderr
    answer = served.call(name, as_reader=True, **parameters)
    assert (answer.status, answer.body) == (200, json.loads(done.stdout))
    assert (answer.headers["content-type"], answer.headers["cache-control"]) == (
        "application/json",
        "private, no-cache",
    )


def test_what_is_written_is_on_disk_for_everybody(served: Served) -> None:
    added = served.call("failures.add", trigger="the disk is full", fix="empty the cache", name="disk")
    assert (added.status, added.body["action"]) == (200, "created")
    assert json.loads(served.project.run("get", "disk", "--json").stdout)["record"]["fix"] == "empty the cache"
    assert "empty the cache" in served.call("query", text="disk is full").body["results"][0]["record"]["fix"]


def test_lines_come_as_a_text_in_json_or_as_the_body(served: Served) -> None:
    rows = "".join(f'{{"kind":"failure","name":"row-{n}","trigger":"row {n} broke"}}\n' for n in range(3))
    assert served.call("add_rows", lines=rows).body["created"] == 3
    plain = {"Content-Type": "application/x-ndjson"}
    again = served.send("POST", "/v1/add_rows/stream?verbose=true", rows.encode(), plain)
    assert (again.body["unchanged"], len(again.body["results"])) == (3, 3)
    log = {"Content-Type": "text/plain"}
    by_body = served.send("POST", "/v1/match/stream", f"x\n{TRIGGER}\n".encode(), log).body
    by_json = served.call("match", lines=f"x\n{TRIGGER}\n").body
    assert by_body["results"] == by_json["results"] != []


def test_a_run_that_failed_is_matched(served: Served) -> None:
    answer = served.call("ran", command=["pytest"], status=1, log=f"{TRIGGER}\n").body
    assert [hit["ref"] for hit in answer["log"]["results"]] == ["failure/boom"]


def test_a_path_counts_from_the_project_and_none_leads_out_of_it(served: Served) -> None:
    (served.project.root / "cart.py").write_text("x = 1\n")
    found = served.call("failures.add", trigger="the cart is empty", files=["cart.py"])
    assert found.body["record"]["files"] == ["cart.py"]
    for name, parameters in (
        ("export", {"to": "/tmp/x"}),
        ("purge", {"refs": ["boom"], "history_script": "/tmp/x"}),
        ("doctor", {"fix": True}),
    ):
        refused = served.call(name, **parameters)
        assert (refused.status, refused.code) == (422, "usage")
        assert refused.body["detail"] == f"unknown parameter {list(parameters)[-1]!r}"


@pytest.mark.parametrize("era", ["legacy", "auto"])
def test_the_client_of_the_mcp_sdk_recalls_over_http(served: Served, era: str) -> None:
    async def recalled() -> str:
        async with httpx2.AsyncClient(headers={"Authorization": f"Bearer {served.token}"}) as caller:
            transport = streamable_http_client(f"http://127.0.0.1:{served.port}/mcp", http_client=caller)
            async with Client(transport, mode=era) as client:
                assert len((await client.list_tools()).tools) == 8
                content = (await client.call_tool("recall", {"text": TRIGGER})).content[0]
                assert content.type == "text"
                return content.text

    assert "failure/boom" in anyio.run(recalled)
    ping = b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}'
    assert served.send("POST", "/mcp", ping, {"Authorization": f"Bearer {served.read_token}"}).code == "read_only"
    assert served.send("POST", "/mcp", ping, {"Authorization": ""}).code == "unauthorized"


class Seen(HTMLParser):
    """What a browser would load, run or follow, and what is open."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[tuple[str, str]] = set()
        self.open: list[str] = []
        self.style = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {(name, value or "") for name, value in attrs}
        if tag != "meta":
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.style += data if self.open[-1:] == ["style"] else ""


def test_the_description_is_a_page_that_loads_and_runs_nothing(served: Served) -> None:
    answer = served.send("GET", "/docs", headers={"Authorization": ""})
    assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    page = Seen(answer.body.decode())
    assert page.open == []
    assert page.tags.isdisjoint({"script", "link", "img", "iframe", "object", "form", "base", "svg"})
    assert {name for name, _ in page.attributes} == {"lang", "charset", "name", "content", "href", "id"}  # no handler
    targets = {value for name, value in page.attributes if name == "href"}
    anchors = {f"#{value}" for name, value in page.attributes if name == "id"}
    assert targets <= anchors | {"openapi.json"}
    policy = answer.headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(page.style.encode()).digest()).decode()
    assert policy.startswith("default-src 'none';") and policy.endswith(f"style-src 'sha256-{digest}'")
    paths = served.send("GET", "/openapi.json").body["paths"]
    assert {f"#{path}" for path in paths} <= anchors
    assert served.send("GET", "/docs", headers={"Host": "evil.example", "Authorization": ""}).code == "wrong_host"
    assert "boom" not in answer.body.decode()  # nothing of the memory


# --- what a caller has already, and everything at once ------------------------------------------------------------


def again(served: Served, name: str, tag: str, /, **parameters: object) -> Answer:
    """Call an operation whose answer the caller has."""
    path, body = f"/v1/{name.replace('.', '/')}", json.dumps(parameters).encode()
    return served.send("POST", path, body, {"If-None-Match": tag})


FROM_FILES_CALLS: dict[str, dict[str, Any]] = {
    "path": {"source": "failure/boom", "target": "pattern/pin"}, "types.list": {}, "types.show": {"name": "solves"},
    "types.brief": {},
    "names": {"prefix": "failure/b"}, "experiences.recall": {"tags": ["x"]}, "campaigns.ready": {"ref": "campaign/c"},
}  # fmt: skip


def test_an_answer_from_the_files_keeps_its_tag_until_a_file_changes(served: Served) -> None:
    served.call("campaigns.create", objective="a plan", name="c")
    assert FROM_FILES_CALLS.keys() == {name for name, row in OPERATIONS.items() if row.from_files}
    for name, parameters in FROM_FILES_CALLS.items():
        first = served.call(name, as_reader=True, **parameters)
        tag = first.headers["etag"]
        same = again(served, name, f'"x", {tag}', **parameters)
        assert (first.status, same.status, same.body, same.headers["etag"]) == (200, 304, b"", tag), name
        assert again(served, name, tag.removeprefix("W/"), **parameters).status == 304
        assert again(served, name, '"other"', **parameters).status == 200
    tags = [served.call(name, **parameters).headers["etag"] for name, parameters in FROM_FILES_CALLS.items()]
    assert len(set(tags)) == len(tags)  # an operation has its own, and so have other parameters
    assert served.call("names", prefix="pattern/").headers["etag"] not in tags
    served.project.here("add", "failure", "--trigger", "a file changed")
    for tag, (name, parameters) in zip(tags, FROM_FILES_CALLS.items(), strict=True):
        assert again(served, name, tag, **parameters).status == 200, name


def test_any_other_answer_that_reads_has_the_tag_of_what_it_says(served: Served) -> None:
    (served.project.root / "tagged.py").write_text("x = 1\n")
    served.call("failures.add", trigger="a tag is made", name="tag", cites=["tagged.py"])
    tag = served.call("get", ref="tag").headers["etag"]
    assert again(served, "get", tag, ref="tag").status == 304
    (served.project.root / "tagged.py").write_text("x = 2\n")  # no file of the memory: the code that the record cites
    changed = again(served, "get", tag, ref="tag")
    assert (changed.status, [doubt["sign"] for doubt in changed.body["doubts"]]) == (200, ["code"])
    assert "etag" not in served.call("failures.add", trigger="a write has no tag").headers
    assert "etag" not in served.call("get", ref="nothing-has-this-name").headers
    assert served.call("get", ref="tag").headers["cache-control"] == "private, no-cache"
    assert served.call("get", ref="nothing-has-this-name").headers["cache-control"] == "no-store"


def test_all_rows_added_to_another_project_make_the_same_files(served: Served, project: Project) -> None:
    served.call("feedback", ref="failure/boom", helped=True, task="elsewhere")
    rows = project.root / "rows.ndjson"
    rows.write_bytes(served.send("GET", "/v1/rows").body)
    done = project.here("add", "--ndjson", str(rows))
    assert done.returncode == 0, done.stderr
    made, data = ((one.root / ".graphmem" / "data") for one in (project, served.project))
    files = {path.relative_to(data): path.read_bytes() for path in data.rglob("*.ndjson")}
    assert {path.relative_to(made): path.read_bytes() for path in made.rglob("*.ndjson")} == files


def test_all_rows_come_as_the_lines_of_the_files(served: Served) -> None:
    for number in range(5):
        served.call("failures.add", trigger=f"row {number} of many", dedup=False)
        served.call("feedback", ref="failure/boom", helped=True, task=f"row-{number}")
    data = served.project.root / ".graphmem" / "data"
    files = {path: path.read_bytes().splitlines() for path in data.rglob("*.ndjson")}
    answer = served.send("GET", "/v1/rows", headers={"Authorization": f"Bearer {served.read_token}"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    lines = answer.body.splitlines()
    assert sorted(lines) == sorted(line for found in files.values() for line in found)
    for path, found in files.items():
        assert [line for line in lines if line in set(found)] == found, path  # in the order of its file
    tag = answer.headers["etag"]
    assert served.send("GET", "/v1/rows", headers={"If-None-Match": tag}).status == 304
    served.call("failures.add", trigger="one more row")
    assert served.send("GET", "/v1/rows", headers={"If-None-Match": tag}).body.count(b"\n") == len(lines) + 1
    assert served.send("GET", "/v1/rows", headers={"Authorization": ""}).code == "unauthorized"


# --- who may call -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("given", ["", "Bearer", "Bearer wrong", "Basic {token}", "{token}", "Bearer {token}x"])
def test_a_call_without_the_token_is_refused(served: Served, given: str) -> None:
    header = {"Authorization": given.format(token=served.token)}
    for method, path in (("POST", "/v1/get"), ("GET", "/openapi.json"), ("GET", "/nothing"), ("GET", "/docs/")):
        refused = served.send(method, path, headers=header)
        assert (refused.status, refused.code) == (401, "unauthorized")
        assert refused.headers["www-authenticate"].startswith("Bearer")


def test_without_a_token_one_learns_only_that_the_service_answers(served: Served) -> None:
    anybody = served.send("GET", "/healthz", headers={"Authorization": ""})
    assert {value for name, value in anybody.body.items() if name != "ok"} == {"", None}
    known = served.send("GET", "/healthz").body
    printed = json.loads(served.project.here("serve", "--status", "--json").stdout)
    assert {**printed, "requests": 0} == {**known, "requests": 0}


@pytest.mark.long
def test_a_token_to_read_changes_nothing_that_is_remembered(served: Served) -> None:
    data = served.project.root / ".graphmem" / "data"
    before = {path: path.read_bytes() for path in data.rglob("*.ndjson")}
    for name, operation in operations().items():
        answer = served.call(name, as_reader=True)
        if not operation.is_read and operation.row.previews is None:
            assert (answer.status, answer.code) == (403, "read_only"), name
        elif operation.is_read:
            of_git = {"diff": (503,), "check": (503,), "works.show": (404,), "items.list": (404,)}  # there is none here
            assert answer.status in of_git.get(name, (200, 422)), name
    body = b'{"kind":"failure","trigger":"x"}'
    header = {"Authorization": f"Bearer {served.read_token}", "Content-Type": "application/x-ndjson"}
    assert served.send("POST", "/v1/add_rows/stream", body, header).code == "read_only"
    for name, parameters, status in (
        ("prune", {}, 200), ("prune", {"yes": True}, 403), ("failures.add", {"trigger": "x", "dry_run": True}, 200),
        ("failures.add", {"trigger": "x"}, 403), ("purge", {"archived": True, "yes": True}, 403),
    ):  # fmt: skip
        assert served.call(name, as_reader=True, **parameters).status == status, name
    for text, status in (("MATCH (f:Failure) RETURN f.name", 200), ("CREATE (f:Failure {name: 'x'})", 403)):
        answer = served.call("cypher", as_reader=True, query=text)
        assert answer.status == status, answer.body
    assert before == {path: path.read_bytes() for path in data.rglob("*.ndjson")}


def test_another_host_or_origin_is_refused(served: Served) -> None:
    for host in ("evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "[::1", ""):
        refused = served.send("GET", "/healthz", headers={"Host": host.format(port=served.port) or " "})
        assert (refused.status, refused.code) == (421, "wrong_host"), host
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert served.send("GET", "/healthz", headers={"Host": f"{host}:{served.port}"}).status == 200
    own = f"http://127.0.0.1:{served.port}"
    for origin, status in (("http://evil.example", 403), ("null", 403), (f"{own}0", 403), (own, 200)):
        answer = served.send("GET", "/openapi.json", headers={"Origin": origin})
        assert answer.status == status
        assert "access-control-allow-origin" not in answer.headers


def test_tokens_are_in_files_of_this_user_alone_and_nowhere_else(served: Served) -> None:
    assert [stat.S_IMODE(file.stat().st_mode) for file in served.files] == [0o600, 0o600]
    log = next(served.project.runtime.glob("graphmem/*.log")).read_text()
    for token in (served.token, served.read_token):
        assert len(token) > 40
        assert token not in log + said(served.project)


@pytest.mark.long
def test_a_token_can_be_given(project: Project) -> None:
    given = {"GRAPHMEM_HTTP_TOKEN": "a" * 20, "GRAPHMEM_HTTP_READ_TOKEN": "b" * 20}
    served = serve(project, environment=given)
    assert served.files == []
    for token, status in (("a" * 20, 200), ("b" * 20, 403), ("c" * 20, 401)):
        header = {"Authorization": f"Bearer {token}"}
        assert served.send("POST", "/v1/export", b"{}", headers=header).status == status


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["0.0.0.0:0"], "there is no token"),
        (["8080"], "--http is '8080'"),
        (["127.0.0.1:"], "--http is"),
        (["127.0.0.1:70000"], "--http is"),
        (["127.0.0.1:0", "--status"], "--http is for the start of a service"),
    ],
)
def test_an_address_that_is_not_safe_is_refused(
    project: Project, monkeypatch: pytest.MonkeyPatch, arguments: list[str], message: str
) -> None:
    monkeypatch.setattr(Service, "serve", lambda *given, **more: pytest.fail("it serves"))
    refused = project.here("serve", "--http", *arguments)
    assert (refused.returncode, message in refused.stderr) == (2, True), refused.stderr


@pytest.mark.parametrize(
    ("arguments", "environment", "message"),
    [
        pytest.param(["0.0.0.0:0"], {}, "there is no token", marks=pytest.mark.long),
        (["127.0.0.1:0"], {"GRAPHMEM_HTTP_TOKEN": "short"}, "GRAPHMEM_HTTP_TOKEN holds no token"),
        pytest.param(
            ["127.0.0.1:0"],
            {"GRAPHMEM_HTTP_TOKEN": "a" * 20, "GRAPHMEM_HTTP_READ_TOKEN": "a" * 20},
            "are the same",
            marks=pytest.mark.long,
        ),
    ],
)
def test_a_start_that_is_not_safe_is_refused(
    project: Project, arguments: list[str], environment: dict[str, str], message: str
) -> None:
    assert start(project, *arguments, environment=environment).wait(60) == 2
    assert message in said(project)
    assert "short" not in said(project)
    assert list(project.runtime.glob("graphmem/*token")) == []


@pytest.mark.long
def test_a_port_that_is_taken_is_reported(project: Project) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        port = other.getsockname()[1]
        assert start(project, f"127.0.0.1:{port}").wait(60) == 4
    assert f"nothing can listen at 127.0.0.1, port {port}" in said(project)


# --- what is wrong with a call ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "parameters", "status", "code", "detail"),
    [
        ("get", {"ref": "bom"}, 404, "not_found", "nothing is named 'bom'"),
        ("get", {}, 422, "usage", "parameter 'ref' is missing"),
        ("get", {"ref": 3}, 422, "usage", "ref is 3"),
        ("query", {"text": "x", "limit": 0}, 422, "usage", "limit 0 is out of bounds"),
        ("failures.add", {"trigger": "x", "tags": "y"}, 422, "bad_input", "tags is 'y'"),
        ("add_rows", {"lines": "{}\n"}, 422, "bad_input", "1"),
        ("rename", {"ref": "boom", "name": "taken"}, 409, "conflict", "taken"),
        ("cypher", {"query": "CREATE (f:Failure {name: 'x'})"}, 403, "refused", ""),
        ("nothing", {}, 404, "no_route", "no route '/v1/nothing'"),
        ("trust", {"yes": True}, 404, "no_route", "no route '/v1/trust'"),
    ],
)
def test_an_error_is_a_problem_document(
    served: Served, name: str, parameters: dict[str, Any], status: int, code: str, detail: str
) -> None:
    served.call("failures.add", trigger="a taken name", name="taken")
    answer = served.call(name, **parameters)
    assert (answer.status, answer.code) == (status, code)
    assert detail in answer.body["detail"]


@pytest.mark.long
def test_what_the_machine_is_to_blame_for_is_503_or_500(project: Project) -> None:
    served = serve(project)
    served.call("failures.add", trigger="x", name="boom")
    file = project.root / ".graphmem" / "data" / "failure.ndjson"
    config = project.root / ".graphmem" / "config.toml"
    config.write_text("[store]\nlock_timeout = 0.1\n")
    lock = next((project.root / ".graphmem").rglob("*.lock"))
    hold = f"import fcntl, time; f = open({str(lock)!r}, 'a'); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=True)"
    with subprocess.Popen([sys.executable, "-c", f"{hold}; time.sleep(60)"], stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None and holder.stdout.readline()
        locked = served.call("failures.add", trigger="y")
        holder.kill()
    assert (locked.status, locked.code, locked.headers["retry-after"]) == (503, "locked", "1")
    file.chmod(0)
    (project.root / ".graphmem").rename(project.root / "elsewhere")
    gone = served.call("failures.add", trigger="y")
    assert (gone.status, gone.code) == (503, "unavailable")
    assert "retry-after" not in gone.headers  # to wait does not help


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b"{", 400, "bad_json"),
        (b"\xff", 400, "bad_json"),
        (b"[" * 100_000, 400, "bad_json"),
        (b"9" * 5000, 400, "bad_json"),
        (b"", 422, "usage"),
        (b"null", 422, "usage"),
        (b"[1]", 422, "usage"),
        (b'{"ref": "\\ud800"}', 422, "usage"),
        (b'{"ref": NaN}', 422, "usage"),
    ],
)
def test_a_body_that_is_no_request_is_refused(served: Served, body: bytes, status: int, code: str) -> None:
    answer = served.send("POST", "/v1/get", body)
    assert (answer.status, answer.code) == (status, code)


def test_a_body_that_is_too_large_or_of_another_type_is_refused(served: Served) -> None:
    large = b'{"ref": "%s"}' % (b"x" * 9 * 2**20)
    assert served.send("POST", "/v1/get", headers={"Content-Length": str(2**40)}).code == "too_large"
    parts = iter([large[: 2**20]] + [large[2**20 : 2**21]] * 8)
    assert served.send("POST", "/v1/get", parts, {"Content-Length": ""}).code == "too_large"  # type: ignore[arg-type]
    for media_type in ("text/plain", "application/x-www-form-urlencoded", "application/x-ndjson", ""):
        refused = served.send("POST", "/v1/get", b'{"ref": "boom"}', {"Content-Type": media_type})
        assert (refused.status, refused.code) == (415, "wrong_type"), media_type
    assert served.send("GET", "/v1/get").code == "wrong_method"


# --- in the background --------------------------------------------------------------------------------------------


@pytest.mark.long
def test_in_the_background_it_is_started_shown_used_and_ended(project: Project) -> None:
    started = project.run("serve", "--detach", "--http", "127.0.0.1:0", "--json")
    assert (started.returncode, started.stderr) == (0, "")
    found = json.loads(started.stdout)
    shown = project.here("serve", "--status").stdout.splitlines()
    assert shown[-3:] == [
        f"HTTP: {found['http']}",
        f"token for everything: {found['token_file']}",
        f"token for reading: {found['read_token_file']}",
    ]
    port, token = int(found["http"].rpartition(":")[2]), Path(found["token_file"]).read_text().strip()
    caller = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body, header = '{"trigger": "x", "name": "boom"}', {"Authorization": f"Bearer {token}"}
    caller.request("POST", "/v1/failures/add", body, header | {"Content-Type": "application/json"})
    assert json.loads(caller.getresponse().read())["action"] == "created"
    caller.close()
    assert "failure/boom" in project.run("list").stdout
    for address in ("127.0.0.1:0", f"127.0.0.1:{port}"):  # it runs already
        again = json.loads(project.here("serve", "--detach", "--http", address, "--json").stdout)
        assert again["pid"] == found["pid"]
    other = project.here("serve", "--detach", "--http", "127.0.0.1:1")
    assert (other.returncode, f"answers HTTP already, at {found['http']}" in other.stderr) == (4, True)
    assert project.here("serve", "--stop").returncode == 0
    assert [path.suffix for path in project.runtime.glob("graphmem/*") if path.suffix not in (".lock", ".log")] == []


@pytest.mark.parametrize("how", ["--detach", pytest.param("the foreground", marks=pytest.mark.long)])
def test_a_service_without_http_makes_room_for_one_with_it(project: Project, how: str) -> None:
    first = json.loads(project.run("serve", "--detach", "--json").stdout)
    if how == "--detach":
        second = json.loads(project.run("serve", "--detach", "--http", "127.0.0.1:0", "--json").stdout)
    else:
        start(project)
        wait_until(lambda: (project.ask({"manage": "status"}) or {}).get("http") is not None)
        second = json.loads(project.here("serve", "--status", "--json").stdout)
    assert second["pid"] != first["pid"] and second["http"].startswith("http://127.0.0.1:")
    assert project.run("list").returncode == 0
    assert project.here("serve", "--detach", "--json").stdout.count(f'"pid":{second["pid"]}') == 1


@pytest.mark.parametrize(
    ("address", "environment", "status", "message"),
    [
        pytest.param("0.0.0.0:0", {}, 2, "there is no token", marks=pytest.mark.long),
        pytest.param(
            "127.0.0.1:0",
            {"GRAPHMEM_HTTP_TOKEN": "short"},
            2,
            "GRAPHMEM_HTTP_TOKEN holds no token",
            marks=pytest.mark.long,
        ),
        ("{taken}", {}, 4, "nothing can listen at 127.0.0.1"),
    ],
)
def test_a_start_in_the_background_that_fails_says_why(
    project: Project, address: str, environment: dict[str, str], status: int, message: str
) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        given = address.format(taken=f"127.0.0.1:{other.getsockname()[1]}")
        done = project.run("serve", "--detach", "--http", given, environment=environment)
    assert (done.returncode, message in done.stderr.splitlines()[0]) == (status, True), done.stderr
    assert done.stderr.splitlines()[1].startswith("hint: ")
    assert not project.is_answering()


# --- how it ends --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "way",
    ["--stop", *(pytest.param(other, marks=pytest.mark.long) for other in ("SIGTERM", "the project is gone"))],
)
def test_it_ends_with_the_service_and_leaves_nothing(project: Project, way: str) -> None:
    served = serve(project)
    assert served.call("stats").status == 200
    if way == "--stop":
        project.here("serve", "--stop")
    elif way == "SIGTERM":
        served.child.terminate()
    else:
        (project.root / ".graphmem").rename(project.root / "elsewhere")
        (project.root / ".graphmem").mkdir()  # as what still runs may do
    assert served.child.wait(30 * patience()) == 0
    with pytest.raises(ConnectionRefusedError):
        served.call("stats")
    assert [path.suffix for path in project.runtime.glob("graphmem/*") if path.suffix not in (".lock", ".log")] == []


@pytest.mark.long
def test_a_call_keeps_the_service_from_ending_as_idle(project: Project) -> None:
    served = serve(project)
    before = project.requests()
    served.call("stats")
    assert project.requests() == before + 1
    served.send("GET", "/healthz")
    assert project.requests() == before + 1


@pytest.mark.long
def test_many_callers_at_the_same_time_lose_nothing(project: Project) -> None:
    served = serve(project)
    with ThreadPoolExecutor(8) as callers:
        found = list(
            callers.map(lambda n: served.call("failures.add", trigger=f"error {n:03}", dedup=False), range(40))
        )
    assert {one.status for one in found} == {200}
    assert served.call("list", kind="failure").body["total"] == 40


@pytest.mark.long
def test_a_token_of_a_scope_gives_what_the_scope_allows(project: Project) -> None:
    project.here("add", "failure", "--name", "boom", "--trigger", TRIGGER)
    project.here("add", "pattern", "--name", "calm", "--trigger", "noise", "--insight", "be calm")
    project.here("scope", "add", "clerk", "--read", "pattern")
    served = serve(project, environment={"GRAPHMEM_HTTP_TOKEN_OTHER": "unused-token-of-no-scope"})
    status = served.project.ask({"manage": "status"})
    assert status is not None
    files = status["scope_token_files"]
    assert isinstance(files, dict)
    (path,) = files.values()
    assert stat.S_IMODE(Path(path).stat().st_mode) == 0o600
    token = {"Authorization": f"Bearer {Path(path).read_text().strip()}"}
    found = served.send("POST", "/v1/list", b"{}", token)
    assert [one["ref"] for one in found.body["results"]] == ["pattern/calm"]
    assert served.send("POST", "/v1/patterns/add", b'{"trigger": "a", "insight": "b"}', token).status == 403
    assert served.send("POST", "/v1/undo", b"{}", token).status == 403
    for method, route in (("GET", "/v1/rows"), ("GET", "/v1/events"), ("POST", "/mcp")):
        assert served.send(method, route, b"{}" if method == "POST" else None, token).status == 403
    project.here("scope", "add", "clerk", "--read", "failure")
    found = served.send("POST", "/v1/list", b"{}", token)
    assert [one["ref"] for one in found.body["results"]] == ["failure/boom"]
