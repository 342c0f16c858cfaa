"""
Processes that are forked from one that has loaded the code once: of tests, and of the graph engine.

To start a Python and to load the code takes most of the time of a test that asks a small graph. The engine's children
are processes as in use, with all limits that they set themselves. A test of how they are started is marked as
``process``: there ``graphmem.features.cypher.worker.start_worker`` starts them.
"""

import importlib
import os
import subprocess
import sys
from multiprocessing import get_context
from multiprocessing.connection import Connection

from graphmem.features.cypher.worker import KEPT, SET

processes = get_context("forkserver")  # a process begins in milliseconds, with what it needs loaded
KUZU = "graphmem.features.cypher.engines.kuzu"
processes.set_forkserver_preload(
    [f"{KUZU}.sandbox", f"{KUZU}.writer", "kuzu", "tests.faults.test_kill", "tests.test_processes"]
)


class ForkedWorker:
    """What ``start_worker`` returns, as far as it is used: the pipes, the end and the status of a child."""

    def __init__(self, module: str) -> None:
        reads, stdin = processes.Pipe(duplex=False)
        stdout, writes = processes.Pipe(duplex=False)
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.process = processes.Process(target=run, args=(module, reads, writes, {**kept, **SET}), daemon=True)
        self.process.start()
        self.stdin, self.stdout = os.fdopen(os.dup(stdin.fileno()), "wb"), os.fdopen(os.dup(stdout.fileno()), "rb")
        for end in (reads, writes, stdin, stdout):
            end.close()

    def __enter__(self) -> "ForkedWorker":
        return self

    def __exit__(self, *_: object) -> None:
        self.stdin.close()
        self.stdout.close()
        self.wait()

    @property
    def pid(self) -> int | None:
        return self.process.pid

    def poll(self) -> int | None:
        return self.process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self.process.join(timeout)
        if self.process.exitcode is None:
            raise subprocess.TimeoutExpired("graph engine", timeout or 0.0)
        return self.process.exitcode

    def kill(self) -> None:
        self.process.kill()


def run(module: str, reads: Connection, writes: Connection, environment: dict[str, str]) -> None:
    """Be the child: read from one pipe, write to the other, and have nothing else of the process of the test."""
    os.dup2(reads.fileno(), 0)
    os.dup2(writes.fileno(), 1)
    os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
    os.chdir("/")
    os.environ.clear()
    os.environ.update(environment)
    sys.stdin = os.fdopen(0, closefd=False)
    sys.argv = ["-c", str(os.getppid()), "-"]
    importlib.import_module(f"graphmem.features.cypher.{module}").main()
