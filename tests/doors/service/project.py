"""A project with a store and a runtime folder of its own, in which tests run graphmem as processes."""

import contextlib
import io
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.doors.service.wire import receive, send
from tests.pace import patience


@dataclass
class Project:
    """A project with a store, and a runtime folder of its own."""

    root: Path
    runtime: Path
    started: list["subprocess.Popen[bytes]"] = field(default_factory=list)

    @property
    def environment(self) -> dict[str, str]:
        own = {
            "XDG_RUNTIME_DIR": str(self.runtime),
            "GRAPHMEM_EMBEDDING_MODEL": "none",
            "GRAPHMEM_HOOK_LIMIT": "30",  # a busy machine is no fault of a hook
        }
        return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[3]), **own}

    def run(self, *arguments: str, **more: object) -> "subprocess.CompletedProcess[str]":
        environment = {**self.environment, **dict(more.pop("environment", {}))}  # type: ignore[call-overload]
        given = {"cwd": self.root, "capture_output": True, "text": True, "env": environment, "check": False, **more}
        command = [sys.executable, "-P", "-m", "graphmem", *arguments]
        return subprocess.run(command, **given)  # type: ignore[call-overload,no-any-return] # noqa: PLW1510

    def here(self, *arguments: str) -> "subprocess.CompletedProcess[str]":
        """Run a command line in this process, which asks no service: for what a test needs, and to compare with."""
        out, err = io.StringIO(), io.StringIO()
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            patch.chdir(self.root)
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = run(arguments)
        return subprocess.CompletedProcess(arguments, status, out.getvalue(), err.getvalue())

    def serve(self) -> "subprocess.Popen[bytes]":
        """Start the service in the foreground, and wait until it answers."""
        command = [sys.executable, "-P", "-m", "graphmem", "serve"]
        child = subprocess.Popen(
            command, cwd=self.root, env=self.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        self.started.append(child)
        wait_until(lambda: child.poll() is not None or self.is_answering())
        return child

    def is_answering(self) -> bool:
        return self.socket is not None and self.ask({"manage": "status"}) is not None

    @property
    def socket(self) -> Path | None:
        return next(iter(self.runtime.glob("graphmem/*.sock")), None)

    def ask(self, value: dict[str, object]) -> dict[str, object] | None:
        """Send something to the service; return its answer, None where it closes the connection."""
        try:
            with socket.socket(socket.AF_UNIX) as connection:
                connection.settimeout(20)
                connection.connect(str(self.socket))
                send(connection, value, [])
                return receive(connection)[0]
        except OSError:
            return None

    def requests(self) -> int:
        answer = self.ask({"manage": "status"})
        assert answer is not None
        return int(str(answer["requests"]))


def wait_until(is_so: Callable[[], bool]) -> None:
    end = time.monotonic() + 20 * patience()
    while not is_so():
        assert time.monotonic() < end, "it takes too long"
        time.sleep(0.02)


def new_project(folder: Path) -> Project:
    """Return a new project in a folder; the path of a socket is short, so its runtime folder is elsewhere."""
    made = Project(folder / "project", Path(tempfile.mkdtemp(prefix="gm")))
    made.root.mkdir()
    Memory.init(made.root)
    return made


@contextlib.contextmanager
def shared_project(folders: pytest.TempPathFactory) -> Iterator[Project]:
    """Yield a project for all tests of a module, in the surroundings that `conftest.py` gives to each of them."""
    with pytest.MonkeyPatch.context() as patch:
        for name, folder in (("CONFIG", "no-config"), ("CACHE", "cache"), ("STATE", "state")):
            patch.setenv(f"XDG_{name}_HOME", str(folders.getbasetemp() / folder))
        made = new_project(folders.mktemp("shared"))
        yield made
        stopped(made)


def stopped(project: Project) -> None:
    """End everything that runs in a project; what is started in the background is no child of this process."""
    answer = project.ask({"manage": "status"}) if project.socket else None
    if answer is not None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(int(str(answer["pid"])), signal.SIGKILL)
    for child in project.started:
        child.kill()
        child.wait()
    shutil.rmtree(project.runtime)
