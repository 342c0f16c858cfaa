"""A project with a store and a runtime folder of its own, in which tests run graphmem as processes."""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from graphmem.service.wire import receive, send
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
        return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2]), **own}

    def run(self, *arguments: str, **more: object) -> "subprocess.CompletedProcess[str]":
        environment = {**self.environment, **dict(more.pop("environment", {}))}  # type: ignore[call-overload]
        given = {"cwd": self.root, "capture_output": True, "text": True, "env": environment, "check": False, **more}
        command = [sys.executable, "-P", "-m", "graphmem", *arguments]
        return subprocess.run(command, **given)  # type: ignore[call-overload,no-any-return] # noqa: PLW1510

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
    assert made.run("init").returncode == 0
    return made


def stopped(project: Project) -> None:
    """End everything that runs in a project."""
    if project.root.exists():
        project.run("serve", "--stop")
    for child in project.started:
        child.kill()
        child.wait()
    shutil.rmtree(project.runtime)
