"""
HTTP beside the Python API, in one run, in turns: calls a second and latency; and the stream of all rows.

    python -m tests.bench.http [--calls 300] [--at-once 1 8] [--rows 200000]
"""

import argparse
import http.client
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from operator import attrgetter
from pathlib import Path

from graphmem import Memory
from tests.bench.service import PROGRAM, environment, filled
from tests.doors.service.project import Project, new_project, stopped
from tests.operations import METHODS

ROUNDS = 5  # of each way of calling, in turns
Call = Callable[[str, dict[str, object]], None]


@dataclass
class OverHttp:
    """A caller over HTTP; each thread keeps its connection."""

    port: int
    token: str
    of_thread: threading.local = field(default_factory=threading.local)

    def get(self, path: str, headers: dict[str, str]) -> http.client.HTTPResponse:
        """Send a GET request on a connection of its own."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port)
        connection.request("GET", path, headers={"Authorization": f"Bearer {self.token}", **headers})
        return connection.getresponse()

    def __call__(self, name: str, parameters: dict[str, object]) -> None:
        connection = getattr(self.of_thread, "connection", None)
        if connection is None:
            connection = self.of_thread.connection = http.client.HTTPConnection("127.0.0.1", self.port)
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection.request("POST", f"/v1/{name.replace('.', '/')}", json.dumps(parameters), headers)
        answer = connection.getresponse()
        text = answer.read()
        assert answer.status == 200, text


@dataclass
class InPython:
    """A caller in this process, which makes the same JSON."""

    memory: Memory

    def __call__(self, name: str, parameters: dict[str, object]) -> None:
        attrgetter(METHODS[name])(self.memory)(**parameters).model_dump_json(by_alias=True)


@contextmanager
def served(project: Project) -> Iterator[OverHttp]:
    """Yield a caller of the service of a project, which runs in the background with HTTP."""
    command = [sys.executable, "-c", PROGRAM, "serve", "--detach", "--http", "127.0.0.1:0", "--json"]
    variables = environment(project, is_served=True)
    done = subprocess.run(command, cwd=project.root, env=variables, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    yield OverHttp(int(found["http"].rpartition(":")[2]), Path(found["token_file"]).read_text().strip())


def parameters_of(name: str, way: str, number: int) -> dict[str, object]:
    """Return the parameters of a call; no two writes are of the same text."""
    if name == "failures.add":
        return {"trigger": f"{way} {number} broke in step {number % 89}", "name": f"{way}-{number}", "dedup": False}
    return {"ref": f"failure/n{number % 1000}"} if name == "get" else {"text": f"case {number % 97} failed"}


def walls(call: Call, name: str, way: str, numbers: range, at_once: int) -> tuple[list[float], float]:
    """Return the seconds of each call, and of all."""

    def one(number: int) -> float:
        began = time.perf_counter()
        call(name, parameters_of(name, way, number))
        return time.perf_counter() - began

    began = time.perf_counter()
    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(one, numbers))
    return found, time.perf_counter() - began


def compare(ways: dict[str, Call], name: str, calls: int, at_once: int) -> None:
    """Print calls a second and latency of an operation by each way, and the first beside the second as ratio."""
    each = calls // ROUNDS
    seconds: dict[str, list[float]] = {way: [] for way in ways}
    rates: dict[str, list[float]] = {way: [] for way in ways}
    for turn in range(ROUNDS + 1):  # the first one is to warm up
        for way, call in ways.items():
            numbers = range(turn * each, (turn + 1) * each)
            found, total = walls(call, name, f"{way}-{at_once}", numbers, at_once)
            if turn:
                seconds[way] += found
                rates[way].append(each / total)
    rate = {way: statistics.median(found) for way, found in rates.items()}
    median = {way: statistics.median(found) * 1000 for way, found in seconds.items()}
    most = {way: sorted(found)[int(len(found) * 0.99)] * 1000 for way, found in seconds.items()}
    first, second = ways
    print(
        f"{name:13} {at_once:2} at once  "
        + "  ".join(f"{way}: {rate[way]:6.0f}/s, {median[way]:6.2f} ms, 99 % {most[way]:6.1f} ms" for way in ways)
        + f"  ratio of calls a second {rate[first] / rate[second]:.2f}, of medians {median[first] / median[second]:.2f}"
    )


def resident(caller: OverHttp) -> float:
    """Return the memory of the service in MB, as its metrics say."""
    for line in caller.get("/metrics", {}).read().decode().splitlines():
        if line.startswith("process_resident_memory_bytes "):
            return float(line.split()[1]) / 1e6
    raise AssertionError("the service does not say how large it is")


def stream(records: int) -> None:
    """Print how long the stream of all rows of a store without a model takes, and what it costs the service."""
    rows = (
        json.dumps({"kind": "failure", "name": f"n{n}", "trigger": f"case {n} of {n % 97} broke"}) + "\n"
        for n in range(records)
    )
    os.environ["GRAPHMEM_EMBEDDING_MODEL"] = "none"
    with tempfile.TemporaryDirectory() as folder:
        project = new_project(Path(folder))
        with Memory(project.root) as memory:
            memory.add_rows(row.encode() for row in rows)
        with served(project) as caller:
            warm = caller.get("/v1/rows", {})
            tag, size = warm.headers["ETag"], len(warm.read())
            held, began = resident(caller), time.perf_counter()
            answer = caller.get("/v1/rows", {})
            first = time.perf_counter() - began
            while answer.read(2**20):
                pass
            whole, after, began = time.perf_counter() - began, resident(caller), time.perf_counter()
            assert caller.get("/v1/rows", {"If-None-Match": tag}).status == 304
            print(
                f"rows: {size / 1e6:.0f} MB in {whole:.1f} s, the first byte after {first:.1f} s; memory of the"
                f" service {held:.0f} MB, {after:.0f} MB after it; 304 in {(time.perf_counter() - began) * 1000:.0f} ms"
            )
        stopped(project)


def main() -> None:
    """Measure on one project of 1,000 records, with the default model."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--calls", type=int, default=300)
    parser.add_argument("--at-once", type=int, nargs="+", default=[1, 8])
    parser.add_argument("--rows", type=int, default=200_000)
    options = parser.parse_args()
    os.environ["GRAPHMEM_SERVICE"] = "off"
    with filled(1_000) as project, served(project) as over_http, Memory(project.root) as memory:
        over_http("query", {"text": "warm"})
        ways: dict[str, Call] = {"http": over_http, "python": InPython(memory)}
        for at_once in options.at_once:
            for name in ("get", "query", "failures.add"):
                compare(ways, name, options.calls, at_once)
    stream(options.rows)


if __name__ == "__main__":
    main()
