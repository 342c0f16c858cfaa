"""The service: as a process, with real callers; what it answers, who may ask, and how it ends."""

import contextlib
import errno
import fcntl
import json
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory, __version__
from graphmem.doors.service import caller, manage
from graphmem.doors.service.place import stamp
from graphmem.doors.service.server import Service
from graphmem.doors.service.wire import receive, send
from graphmem.kernel.system.user import callers_own
from tests.doors.service.project import Project, new_project, shared_project, stopped, wait_until
from tests.pace import patience

pytestmark = pytest.mark.process
WRITERS, EACH = (int(part) for part in os.environ.get("GRAPHMEM_TEST_SERVICE_WRITERS", "5 4").split())


@pytest.fixture
def project(tmp_path: Path) -> Iterator[Project]:
    made = new_project(tmp_path)
    yield made
    stopped(made)


@pytest.fixture
def idle(project: Project, monkeypatch: pytest.MonkeyPatch) -> Service:
    """A service in this process, that runs nothing and does not listen."""
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(project.runtime))
    return Service(project.root, lambda *given: pytest.fail("it runs"))


@pytest.fixture
def served(project: Project) -> Project:
    """A project of this test alone, with a service."""
    project.serve()
    return project


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Project]:
    """One with a service for the tests that leave it as it is, and a failure."""
    with shared_project(tmp_path_factory) as made:
        made.here("add", "failure", "--name", "boom", "--trigger", "it went boom", "--fix", "duck")
        made.serve()
        yield made


# --- what it answers ----------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_command_is_answered_by_the_service_with_the_same_bytes(shared: Project) -> None:
    for line in ("get boom", "list --json", "query boom", "solutions boom", "get nothing", "cypher --json x", "stats"):
        before = shared.requests()
        there = shared.run(*line.split())
        assert shared.requests() == before + 1, line
        here = shared.here(*line.split())
        assert shared.requests() == before + 1, line
        assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr), line


@pytest.mark.long
def test_a_command_that_is_to_ask_no_service_asks_none(shared: Project) -> None:
    before = shared.requests()
    there, here = shared.run("get", "boom"), shared.run("get", "boom", environment={"GRAPHMEM_SERVICE": "off"})
    assert shared.requests() == before + 1
    assert (there.returncode, there.stdout, there.stderr) == (here.returncode, here.stdout, here.stderr)


def test_a_path_is_relative_to_the_folder_of_the_caller(shared: Project) -> None:
    before, below = shared.requests(), shared.root / "src"
    below.mkdir()
    (below / "rows.ndjson").write_text('{"kind":"failure","name":"low","trigger":"a low failure"}\n')
    (below / "cart.py").write_text("x = 1\n")
    assert "1 created" in shared.run("add", "--ndjson", "rows.ndjson", cwd=below).stdout
    shared.run("edit", "low", "--file", "cart.py", cwd=below)
    assert json.loads(shared.run("get", "low", "--json", cwd=below).stdout)["record"]["files"] == ["src/cart.py"]
    assert shared.requests() == before + 3


def test_standard_input_is_that_of_the_caller(shared: Project) -> None:
    before = shared.requests()
    assert "fix: duck" in shared.run("match", input="first\nit went boom\n").stdout
    assert "fix: duck" in shared.run("match", "-", input="it went boom\n").stdout
    assert shared.requests() == before + 2


def test_the_variables_of_a_caller_count_for_the_caller_alone(shared: Project) -> None:
    before = shared.requests()
    wrong = shared.run("list", environment={"GRAPHMEM_STORE_LOCK_TIMEOUT": "soon"})
    assert (wrong.returncode, "LOCK_TIMEOUT is 'soon'" in wrong.stderr) == (0, True)
    right = shared.run("list")
    assert (right.returncode, "LOCK_TIMEOUT" in right.stderr) == (0, False)
    assert shared.requests() == before + 2


def test_the_width_that_a_caller_sets_goes_with_its_request(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "70")
    variables = caller.request_of([], "/", "1")["variables"]
    assert isinstance(variables, dict)
    assert variables["COLUMNS"] == "70"


@pytest.mark.parametrize("verb", ["install", "uninstall"])
def test_a_command_that_starts_programs_runs_where_it_is_typed(shared: Project, verb: str) -> None:
    before = shared.requests()
    assert shared.run(verb, "codex", "--dry-run").returncode == 0
    assert shared.requests() == before
    shared.run("get", "nothing")
    assert shared.requests() == before + 1


def test_a_text_that_is_not_utf_8_is_refused_as_without_the_service(shared: Project) -> None:
    command: list[str | bytes] = [sys.executable, "-m", "graphmem", "query", b"caf\xe9"]
    done = [
        subprocess.run(command, cwd=shared.root, capture_output=True, env={**shared.environment, **more}, check=False)
        for more in ({}, {"GRAPHMEM_SERVICE": "off"})
    ]
    assert done[0].returncode == done[1].returncode == 2
    assert done[0].stderr == done[1].stderr


@pytest.mark.long
def test_a_file_that_changed_on_disk_is_taken_in_before_anybody_asks(shared: Project) -> None:
    shared.run("add", "failure", "--name", "fizz", "--trigger", "it went fizz")
    file = shared.root / ".graphmem" / "data" / "failure.ndjson"
    file.write_bytes(file.read_bytes().replace(b"fizz", b"fuzz"))
    catalog = shared.root / ".graphmem" / "local" / "catalog.sqlite"
    wait_until(lambda: any(b"it went fuzz" in path.read_bytes() for path in catalog.parent.glob("catalog.sqlite*")))


def test_the_caller_of_a_service_imports_nothing_heavy(shared: Project) -> None:
    before = shared.requests()
    done = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "graphmem", "list"],
        cwd=shared.root, env=shared.environment, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in done.stderr.splitlines() if line.startswith("import time:")}
    assert shared.requests() == before + 1
    assert names.isdisjoint(
        {"pydantic", "typer", "orjson", "sqlite3", "typing", "subprocess", "graphmem.kernel.store.runtime"}
    )


# --- who may ask --------------------------------------------------------------------------------------------------


def test_the_socket_is_of_this_user_alone(shared: Project) -> None:
    assert shared.socket is not None
    assert stat.S_IMODE(shared.socket.stat().st_mode) == 0o600
    assert stat.S_IMODE(shared.socket.parent.stat().st_mode) == 0o700


def test_a_runtime_folder_that_others_may_write_is_not_used(project: Project) -> None:
    (project.runtime / "graphmem").mkdir()
    (project.runtime / "graphmem").chmod(0o777)
    done = project.run("serve", "--detach")
    assert (done.returncode, "XDG_RUNTIME_DIR" in done.stderr) == (4, True)
    assert project.run("list").returncode == 0


@pytest.mark.parametrize("sent", [b"", b"\0", b"\0\0\0\4null", b"\xff\xff\xff\xff{}", b"GET / HTTP/1.1\r\n\r\n" * 9])
def test_what_is_not_a_request_ends_its_connection_only(shared: Project, sent: bytes) -> None:
    before = shared.requests()
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(shared.socket))
        connection.sendall(sent)
        connection.shutdown(socket.SHUT_WR)
        with contextlib.suppress(ConnectionResetError):
            assert connection.recv(10) == b""
    assert shared.run("list").returncode == 0
    assert shared.requests() == before + 1


def test_a_caller_that_gave_up_waiting_is_not_answered(shared: Project) -> None:
    before = shared.requests()
    command = {
        "arguments": ["add", "failure", "--trigger", "nobody waits for this"],
        "folder": str(shared.root),
        "variables": {"GRAPHMEM_USER_STORE": ""},
        "id": "1",
    }
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(shared.socket))
        send(connection, {**command, "stamp": stamp(), "is_terminal": False}, [])
        assert connection.recv(1) == b"+"
    listed = shared.run("list", "failure")
    assert shared.requests() == before + 1
    assert (listed.returncode, "nobody waits" in listed.stdout + shared.here("list").stdout) == (0, False)


@pytest.mark.skipif(os.getuid() != 0, reason="only root can become another user")
def test_another_user_is_not_answered_even_where_the_modes_let_it(served: Project) -> None:
    assert served.socket is not None
    for path, mode in ((served.runtime, 0o755), (served.socket.parent, 0o755), (served.socket, 0o666)):
        path.chmod(mode)
    code = (
        'import socket; c = socket.socket(socket.AF_UNIX); c.connect(%r); d = b\'{"manage":"status"}\';'
        " c.sendall(len(d).to_bytes(4, 'big') + d); print(len(c.recv(9, socket.MSG_WAITALL)))"
    )
    command = ["/usr/bin/env", "python3", "-c", code % str(served.socket)]
    answers = [subprocess.run(command, capture_output=True, text=True, check=False, user=user) for user in (0, 65534)]
    assert answers[0].stdout == "9\n"
    assert answers[1].stdout != "9\n"


def is_running(pid: int) -> bool:
    """Whether a process runs; one that ended and whose parent did not ask is there still."""
    done = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return bool(done.stdout.strip()) and not done.stdout.startswith("Z")


# --- how it ends --------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_service_is_started_shown_and_ended(project: Project) -> None:
    without = project.here("serve", "--status")
    assert (without.returncode, "no service runs" in without.stdout) == (1, True)
    started = json.loads(project.run("serve", "--detach", "--json").stdout)
    assert (started["ok"], started["version"], started["requests"]) == (True, __version__, 0)
    assert json.loads(project.run("serve", "--detach", "--json").stdout)["pid"] == started["pid"]
    project.run("list")
    assert "answered" in project.run("serve", "--logs").stdout
    assert project.run("serve", "--stop").stdout == "the service has ended\n"
    assert project.socket is None
    wait_until(lambda: not is_running(started["pid"]))
    assert project.run("serve", "--stop").stdout == "no service ran\n"


@pytest.mark.long
def test_the_first_command_starts_a_service_where_the_settings_say_so(project: Project) -> None:
    asked = {"GRAPHMEM_SERVICE_AUTOSTART": "true"}
    project.run("list", environment={**asked, "GRAPHMEM_SERVICE": "off"})
    assert project.socket is None
    project.run("list", environment=asked)
    wait_until(project.is_answering)
    project.run("list", environment=asked)
    assert project.requests() == 1
    assert project.run("serve", "--stop").returncode == 0


@pytest.mark.long
def test_the_log_says_what_was_done_and_holds_no_text_of_the_memory(project: Project) -> None:
    project.run("serve", "--detach", "--log-format", "json")
    project.run("add", "failure", "--trigger", "a very private matter", "--fix", "nobody knows")
    project.run("query", "private matter")
    text = project.run("serve", "--logs").stdout
    entries = [json.loads(line) for line in text.splitlines()]
    assert [entry["message"] for entry in entries] == ["began", "answered", "answered"]
    assert [(entry["command"], entry["status"]) for entry in entries[1:]] == [("add failure", 0), ("query", 0)]
    assert all(entry["ms"] > 0 and entry["at"].endswith("Z") for entry in entries[1:])
    assert "private" not in text
    assert "nobody" not in text


@pytest.mark.long
def test_a_service_that_does_not_answer_is_named(served: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(manage, "ANSWER_S", 0.2)  # which it would not have in minutes
    process = served.started[0]
    process.send_signal(signal.SIGSTOP)
    try:
        for option in ("--stop", "--status", "--detach"):
            done = served.here("serve", option)
            assert (done.returncode, f"process {process.pid}, did not answer" in done.stderr) == (4, True), option
        assert served.run("list").returncode == 0
        assert "did not answer" in served.run("status").stderr
    finally:
        process.send_signal(signal.SIGCONT)


def test_an_output_that_cannot_be_written_is_an_error_as_without_the_service(shared: Project) -> None:
    before = shared.requests()
    for line in (["list"], ["list", "--json"]):
        with open("/dev/full", "wb") as full:
            there = subprocess.run(
                [sys.executable, "-m", "graphmem", *line], cwd=shared.root, env=shared.environment, stdout=full,
                stderr=subprocess.PIPE, text=True, check=False,
            )  # fmt: skip
        assert (there.returncode, "no space left" in there.stderr) == (4, True)
    assert shared.requests() == before + 2


@pytest.mark.parametrize("runtime", ["", "/tmp/" + "ü" * 45])
def test_an_odd_runtime_folder_is_not_used(project: Project, runtime: str) -> None:
    done = project.run("serve", "--status", environment={"XDG_RUNTIME_DIR": runtime})
    assert (done.returncode, done.stderr) == (1, "")
    assert not Path("/graphmem").exists()


def test_there_is_one_service_a_project(shared: Project) -> None:
    second = shared.run("serve", timeout=20 * patience())
    assert (second.returncode, "the service is running" in second.stderr) == (4, True)
    assert shared.is_answering()


@pytest.mark.long
def test_a_service_that_was_killed_leaves_nothing_that_is_in_the_way(project: Project) -> None:
    project.serve().kill()
    project.started[0].wait()
    assert project.socket is not None
    assert project.run("list").returncode == 0
    project.serve()
    assert project.run("list").returncode == 0
    assert project.requests() == 1


@pytest.mark.long
def test_with_http_too_one_that_was_killed_is_not_taken_for_the_new_one(project: Project) -> None:
    project.serve().kill()
    project.started[0].wait()
    done = project.run("serve", "--detach", "--http", "127.0.0.1:0", "--json")
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (0, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "folder"),
    [
        (["init", "--dir", "/tmp/elsewhere"], "."),
        (["trust", "--yes", "0"], "."),
        (["campaign", "learn", "c", "--run-verify"], "."),
        (["doctor", "--fix"], "."),
        (["install", "codex", "--user"], "."),
        (["export", "--to", "/tmp/elsewhere"], "."),
        (["serve"], "."),
        (["list"], "/"),
        (["list", "--dir", "/tmp"], "."),
        (["list", "--user"], "."),
        (["edit", "user:failure/boom", "--fix", "x"], "."),
        (["promote", "failure/boom", "--to", "user"], "."),
        (["dump", "-o", "x"], "."),
        (["stats", "--plot=x.svg"], "."),
        (["stats", "--plot", "x.svg"], "."),
        (["purge", "--history-script=x", "boom"], "."),
        (["match", "/etc/hostname"], "."),
        (["match", "../outside.log"], "."),
        (["match", "link.log"], "."),
        (["add", "--ndjson=../outside.log"], "."),
    ],
)
def test_what_does_not_belong_to_a_service_is_refused_by_the_service_itself(
    project: Project, idle: Service, arguments: list[str], folder: str
) -> None:
    """A caller in a sandbox may reach the socket, and little else."""
    (project.root.parent / "outside.log").write_text("error: it went boom\n")
    (project.root / "link.log").symlink_to("../outside.log")
    variables = {"GRAPHMEM_USER_STORE": ""}
    request = {"arguments": arguments, "folder": str(project.root / folder), "variables": variables}
    assert not idle.may_run(request)
    (project.root / "own.log").write_text("error: it went boom\n")
    for words in (["list"], ["match", "own.log"], ["add", "failure", "--fix=../nowhere"]):
        assert idle.may_run({**request, "arguments": words, "folder": str(project.root)})


def test_a_service_asks_no_other_store_of_a_user_than_its_own(
    project: Project, idle: Service, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A caller in a sandbox would read what it cannot reach."""
    monkeypatch.setenv("GRAPHMEM_USER_STORE", "/home/me/own")

    def may_run(**variables: str) -> bool:
        return idle.may_run({"arguments": ["query", "x"], "folder": str(project.root), "variables": variables})

    assert may_run(GRAPHMEM_USER_STORE="/home/me/own")
    assert may_run(GRAPHMEM_USER_STORE="")
    assert not may_run(GRAPHMEM_USER_STORE="/home/me/secret")
    assert not may_run(XDG_DATA_HOME="/home/me/secret")
    assert not may_run()
    config = tmp_path / "graphmem/config.toml"
    config.parent.mkdir()
    config.write_text('[stores]\norganisation = "/home/me/secret"\n')
    for variables in ({"GRAPHMEM_STORES_ORGANISATION": "/home/me/secret"}, {"XDG_CONFIG_HOME": str(tmp_path)}):
        assert not may_run(GRAPHMEM_USER_STORE="", **variables)
    monkeypatch.setenv("GRAPHMEM_STORES_ORGANISATION", "/home/me/secret")
    assert may_run(GRAPHMEM_USER_STORE="", XDG_CONFIG_HOME=str(tmp_path))
    assert may_run(GRAPHMEM_USER_STORE="", XDG_CONFIG_HOME="/nowhere")


def test_a_service_takes_no_code_and_no_token_from_its_caller() -> None:
    given = {
        "PYTHONPATH": "/tmp", "LD_PRELOAD": "x.so", "PATH": "/tmp", "GIT_EXEC_PATH": "/tmp",
        "GRAPHMEM_HTTP_TOKEN": "t", "GRAPHMEM_HTTP_READ_TOKEN": "r", "GRAPHMEM_DIR": "/p", "GIT_AUTHOR_NAME": "me",
    }  # fmt: skip
    assert callers_own(given) == {"GRAPHMEM_DIR": "/p", "GIT_AUTHOR_NAME": "me"}


def test_a_service_without_a_file_left_waits_and_goes_on(idle: Service) -> None:
    class Full:
        def accept(self) -> Any:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    assert idle.accepted(Full()) is None  # type: ignore[arg-type]
    assert not idle.ended.is_set()


def test_a_service_that_ends_leaves_a_command_to_its_caller(idle: Service) -> None:
    """Not confirmed: the caller runs it by itself, and no empty answer passes for one."""
    idle.stop()
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.sendall(b"+")
        assert not idle.is_confirmed(ours)


def test_a_service_ends_only_after_the_callers_that_it_accepted(idle: Service) -> None:
    idle.connected = 1
    waiting = threading.Thread(target=idle.drain)
    waiting.start()
    waiting.join(0.1)
    assert waiting.is_alive()
    idle.connected = 0
    waiting.join(10)
    assert (waiting.is_alive(), idle.is_left) == (False, True)


@pytest.mark.long
def test_a_service_of_another_version_ends_and_the_caller_goes_on(served: Project) -> None:
    command = {
        "arguments": ["list"],
        "folder": str(served.root),
        "variables": {"GRAPHMEM_USER_STORE": ""},
        "id": "1",
        "is_terminal": False,
    }
    assert served.ask({**command, "stamp": "0.0.1\nolder\nelsewhere\n0"}) is None
    assert served.started[0].wait(20 * patience()) == 0
    assert served.run("list").returncode == 0


@pytest.mark.long
def test_a_service_ends_when_the_project_is_gone(served: Project) -> None:
    served.root.rename(served.root.with_name("elsewhere"))
    assert served.started[0].wait(20 * patience()) == 0
    assert not list((served.runtime / "graphmem").iterdir()), "its socket, lock and log are left"


def test_what_services_of_projects_that_are_gone_left_goes_with_the_next_service(project: Project) -> None:
    folder = project.runtime / "graphmem"
    folder.mkdir(parents=True, mode=0o700)
    kept, gone = project.root.with_name("kept"), project.root.with_name("gone")
    (kept / ".graphmem").mkdir(parents=True)
    for name, place in (("kept", kept), ("gone", gone), ("held", gone)):
        (folder / f"{name}.lock").write_text(f"7\n{place}")
        (folder / f"{name}.log").touch()
        (folder / f"{name}.log.1").touch()
    (folder / "older.lock").write_text("7")
    with (folder / "held.lock").open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        project.serve()
    left = {file.name for file in folder.iterdir() if file.name.startswith(("kept", "gone", "held", "older"))}
    assert left == {"older.lock", *(f"{name}.{end}" for name in ("kept", "held") for end in ("lock", "log", "log.1"))}


@pytest.mark.long
def test_a_service_ends_when_nobody_asks(project: Project) -> None:
    code = (
        "from graphmem.doors.cli import serve; serve.SERVICE_IDLE_S = 0.1; from graphmem.__main__ import main; main()"
    )
    child = subprocess.Popen([sys.executable, "-c", code, "serve"], cwd=project.root, env=project.environment)
    project.started.append(child)
    assert child.wait(30 * patience()) == 0


@pytest.mark.long
def test_at_sigterm_a_service_ends_after_the_command_that_it_runs(served: Project) -> None:
    rows = "".join(f'{{"kind":"failure","name":"n{n}","trigger":"case {n} failed"}}\n' for n in range(1000))
    done: list[subprocess.CompletedProcess[str]] = []
    caller = threading.Thread(target=lambda: done.append(served.run("add", "--ndjson", "-", input=rows)))
    caller.start()
    wait_until(lambda: served.requests() == 1)
    served.started[0].send_signal(signal.SIGTERM)
    caller.join()
    assert done[0].returncode == 0
    assert "1,000 created" in done[0].stdout
    assert served.started[0].wait(20 * patience()) == 0


# --- killed in the middle -----------------------------------------------------------------------------------------


@pytest.mark.long
def test_nothing_is_lost_or_doubled_when_the_service_is_killed_among_writers(project: Project) -> None:
    """A caller whose service dies runs its command by itself; reports have the same ids then, and count once."""
    project.here("add", "failure", "--name", "boom", "--trigger", "it went boom")
    service = project.serve()

    def write(writer: int) -> list[int]:
        found = []
        for number in range(EACH):
            name = f"w{writer}-{number}"
            found.append(project.run("add", "failure", "--trigger", name, "--name", name, "--no-dedup").returncode)
            found.append(project.run("feedback", "boom", "--helped").returncode)
        return found

    with ThreadPoolExecutor(WRITERS) as pool:
        writers = [pool.submit(write, number) for number in range(WRITERS)]
        wait_until(lambda: project.requests() >= WRITERS * EACH // 2)
        service.kill()
        service.wait()
        project.serve()
        assert {status for writer in writers for status in writer.result()} == {0}
    with Memory(project.root) as memory:
        assert memory.list("failure").total == 1 + WRITERS * EACH
        assert memory.get("boom").record.model_dump()["helped"] == WRITERS * EACH
        assert memory.store.validate().ok


def answer_nothing(path: Path, before: Callable[[dict[str, Any]], None]) -> threading.Thread:
    """Be a service that takes one request, does something and dies."""
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(str(path))
    listener.listen()

    def take_and_die() -> None:
        with listener:
            connection, _ = listener.accept()
            with connection:
                request, _ = receive(connection)
                connection.sendall(b"+")
                connection.recv(1)
                assert request is not None
                before(request)
        path.unlink()

    thread = threading.Thread(target=take_and_die)
    thread.start()
    return thread


def abandoned(project: Project) -> Path:
    """The path of the socket of a service that was killed."""
    project.serve().kill()
    project.started[0].wait()
    assert project.socket is not None
    path = project.socket
    path.unlink()
    return path


DYING = """\
import os, sys
from graphmem.doors.service import server
answer = server.send
def send(connection, value, files):
    if "written" in value:
        os._exit(9)
    answer(connection, value, files)
server.send = send
if sys.argv.pop(1) == "early":
    server.RequestUnderWay.keep = lambda self, answer: None
from graphmem.__main__ import main
main()
"""


@pytest.mark.long
@pytest.mark.parametrize("when", ["late", "early"])
@pytest.mark.slow
def test_a_service_that_dies_before_its_answer_is_repeated_and_changes_nothing_twice(
    project: Project, when: str
) -> None:
    """Late: its answer was kept. Early: it was not."""
    project.here("add", "failure", "--name", "boom", "--trigger", "it went boom")
    command = [sys.executable, "-P", "-c", DYING, when, "serve"]
    child = subprocess.Popen(command, cwd=project.root, env=project.environment)
    project.started.append(child)
    wait_until(project.is_answering)
    done = project.run("session", "decide", "Insert with ON CONFLICT", "--because", "it went boom")
    assert child.wait(20 * patience()) == 9
    assert (done.returncode, done.stderr) == (0, "")
    assert ("created decision/" in done.stdout) == (when == "late")
    assert ("done before" in done.stdout) == (when == "early")
    decisions = json.loads(project.here("list", "decision", "--json").stdout)
    assert decisions["total"] == 1


@pytest.mark.long
def test_a_command_that_may_not_run_twice_is_not_repeated(project: Project) -> None:
    """The service may have done it before it died: the caller says so."""
    project.here("add", "failure", "--trigger", "one")
    path = abandoned(project)
    for line, status in (("undo", 4), ("list", 0)):
        thread = answer_nothing(path, lambda request: None)
        assert project.run(*line.split()).returncode == status
        thread.join()


@pytest.mark.long
def test_the_model_is_loaded_before_anybody_asks(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    command = [sys.executable, "-m", "graphmem", "serve"]
    environment = {name: value for name, value in project.environment.items() if name != "GRAPHMEM_EMBEDDING_MODEL"}
    project.started.append(subprocess.Popen(command, cwd=project.root, env=environment, stderr=subprocess.DEVNULL))
    wait_until(project.is_answering)
    wait_until(lambda: (project.ask({"manage": "status"}) or {})["model"] is not None)
