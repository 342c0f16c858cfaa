"""
A plugin of pytest: every command line that a test runs in this process is answered by a service instead.

    python -m pytest -p tests.through_service tests/doors/cli

One service answers for all folders, for a request says where it was typed; the rule that a service answers for its own
project alone is taken out of it (``tests/doors/service`` tests that rule). What a test replaces in this process is not
replaced there: such tests are marked ``in_this_process``, and are left out.
"""

import atexit
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence

import pytest

from graphmem.doors.cli import app
from graphmem.doors.cli.caller import Invocation
from graphmem.doors.service import caller
from graphmem.kernel import terminal

SERVICE = """
from graphmem.__main__ import main
from graphmem.doors.service import server
server.Service.may_run = lambda self, request: not server.runs_here([str(word) for word in request["arguments"]])
main()
"""
RUNTIME = tempfile.mkdtemp(prefix="gm")
os.environ["XDG_RUNTIME_DIR"] = RUNTIME
ENVIRONMENT = dict(os.environ)
run_in_process = app.run
counts = {"served": 0, "here": 0}


def socket_of_service() -> str:
    """Start a service in a new store, and return its socket."""
    folder = tempfile.mkdtemp(prefix="gm")
    subprocess.run([sys.executable, "-m", "graphmem", "init", folder], check=True, capture_output=True)
    child = subprocess.Popen(
        [sys.executable, "-c", SERVICE, "serve", "--dir", folder],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    atexit.register(child.terminate)
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if found := [entry.path for entry in os.scandir(f"{RUNTIME}/graphmem") if entry.name.endswith(".sock")]:
            return found[0]
        time.sleep(0.05)
    raise RuntimeError("the service did not start")


os.makedirs(f"{RUNTIME}/graphmem", mode=0o700)
SOCKET = socket_of_service()


def printed(answer: dict[str, object]) -> int:
    """Print to the streams that pytest captures."""
    written, status = answer["written"], answer["status"]
    assert isinstance(written, list) and isinstance(status, int)
    for number, piece in written:
        (sys.stdout if number == 1 else sys.stderr).write(piece)
    return status


def run(arguments: Sequence[str], invocation: Invocation | None = None) -> int:
    """Have the service run a command line; in this process where it must be."""
    pass_input_on()
    _, status = caller.served(list(arguments), os.urandom(16).hex())
    counts["served"] += status is not None
    counts["here"] += status is None and caller.HERE.isdisjoint(arguments)
    return run_in_process(arguments, invocation) if status is None else status


def pass_input_on() -> None:
    """Make standard input that a test replaced that of the process, which is what a service gets."""
    given = getattr(sys.stdin, "buffer", None)
    if not isinstance(given, io.BytesIO | io.BufferedReader) or given.closed:
        return
    with tempfile.TemporaryFile() as file:
        file.write(given.read())
        file.seek(0)
        os.dup2(file.fileno(), 0)


caller.printed = printed
vars(caller)["is_terminal"] = lambda: terminal.is_terminal()  # noqa: PLW0108 - tests replace it
vars(caller)["path_of"] = lambda project, ending: SOCKET
app.run = run


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that replace something in this process."""
    for item in items:
        if item.get_closest_marker("in_this_process"):
            item.add_marker(pytest.mark.skip(reason="replaces something in this process"))


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail where most command lines ran in this process: then little was tested."""
    if counts["served"] <= counts["here"]:
        session.exitstatus = 1


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Say how many command lines were answered by the service."""
    terminalreporter.write_line(f"answered by the service: {counts['served']}, in this process: {counts['here']}")
