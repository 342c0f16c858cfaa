"""
The service beside commands that work by themselves, in one run: CPU, wall, hooks, writers with readers, a soak.

    python -m tests.bench.service [--soak 100000]
"""

import argparse
import contextlib
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from graphmem import Memory
from graphmem.doors.service.caller import request_of
from graphmem.doors.service.wire import receive, send
from tests.doors.service.project import Project, new_project, stopped

EVENT = {
    "hook_event_name": "PostToolUseFailure", "tool_name": "Bash", "tool_input": {"command": "pytest -q"},
    "error": "Exit code 1\nE   ModuleNotFoundError: No module named 'yaml'",
}  # fmt: skip
PROGRAM = "import sys; sys.argv[0] = 'graphmem'; from graphmem.__main__ import main; main()"


@contextlib.contextmanager
def filled(records: int) -> Iterator[Project]:
    """Yield a project with failures, and the default model."""
    with tempfile.TemporaryDirectory() as folder:
        project = new_project(Path(folder))
        with Memory(project.root) as memory:
            rows = [
                json.dumps(
                    {"kind": "failure", "name": f"n{n}", "trigger": f"case {n} of module {n % 97} failed"}
                ).encode()
                for n in range(records)
            ]
            memory.add_rows(rows)
            memory.failures.add("ModuleNotFoundError: No module named 'yaml'", name="yaml", fix="pip install pyyaml")
            memory.query("warm")
        yield project
        stopped(project)


def environment(project: Project, *, is_served: bool) -> dict[str, str]:
    """Return the environment of a command: with its model, with the service or without."""
    kept = {name: value for name, value in project.environment.items() if name != "GRAPHMEM_EMBEDDING_MODEL"}
    return {**kept, "GRAPHMEM_HOOK_LIMIT": "0.3"} | ({} if is_served else {"GRAPHMEM_SERVICE": "off"})


def once(project: Project, arguments: Sequence[str], *, is_served: bool, text: str = "") -> tuple[float, float, str]:
    """Run a command; return its CPU and wall time in seconds, and what it printed."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, *arguments],
        cwd=project.root, env=environment(project, is_served=is_served), input=text, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    wall, after = time.perf_counter() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return cpu, wall, done.stdout


def compare(project: Project, times: int) -> None:
    """Print what commands cost their caller, with the service and without, in turns."""
    print("command                     CPU ms with   without    wall ms with   without")
    bare = [cpu for cpu, *_ in (bare_python() for _ in range(times))]
    print(f"python -c pass              {statistics.median(bare) * 1000:11.1f}")
    lines = (["get", "yaml"], ["query", "case 5 of module 5"], ["related", "yaml"], ["stats"],
             ["feedback", "yaml", "--helped"])  # fmt: skip
    for line in lines:
        found: dict[bool, list[tuple[float, float, str]]] = {True: [], False: []}
        for _ in range(times):
            for is_served in (True, False):
                found[is_served].append(once(project, line, is_served=is_served))
        cpu = {key: statistics.median(one[0] for one in found[key]) for key in found}
        wall = {key: statistics.median(one[1] for one in found[key]) for key in found}
        values = (cpu[True], cpu[False], wall[True], wall[False])
        print(f"{' '.join(line)[:26]:26}  " + "  ".join(f"{value * 1000:11.1f}" for value in values))


def bare_python() -> tuple[float]:
    """Return the CPU of an interpreter that does nothing."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([sys.executable, "-c", "pass"], check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,)


def hooks(project: Project, at_once: int, each: int) -> None:
    """Print how long hooks take as processes, so many at once, and how many were answered."""

    def call(number: int) -> tuple[float, bool]:
        event = json.dumps({**EVENT, "session_id": f"{at_once}-{number}"})
        _, wall, out = once(project, ["hook", "claude-code"], is_served=True, text=event)
        return wall, "pip install pyyaml" in out

    with ThreadPoolExecutor(at_once) as pool:
        found = list(pool.map(call, range(at_once * each)))
    walls = sorted(wall for wall, _ in found)
    answered = sum(is_answered for _, is_answered in found)
    print(
        f"hooks, {at_once:2} at once: median {statistics.median(walls) * 1000:.0f} ms, 99 %"
        f" {walls[int(len(walls) * 0.99)] * 1000:.0f} ms, most {walls[-1] * 1000:.0f} ms;"
        f" answered {answered} of {len(found)}"
    )


def writers(project: Project, number: int, each: int) -> None:
    """Print what a read takes beside so many writing processes, and whether every write is there."""
    walls, stop = [], threading.Event()

    def read() -> None:
        while not stop.is_set():
            walls.append(once(project, ["get", "yaml"], is_served=True)[1])

    def write(writer: int) -> int:
        lines = ([["add", "failure", "--trigger", f"w{writer} {n}", "--name", f"w{writer}-{n}", "--no-dedup"]
                  for n in range(each)])  # fmt: skip
        return sum(f"w{writer}-" in once(project, line, is_served=True)[2] for line in lines)

    readers = [threading.Thread(target=read) for _ in range(2)]
    for reader in readers:
        reader.start()
    began = time.perf_counter()
    with ThreadPoolExecutor(number) as pool:
        acknowledged = sum(pool.map(write, range(number)))
    seconds = time.perf_counter() - began
    stop.set()
    for reader in readers:
        reader.join()
    with Memory(project.root) as memory:
        there = sum(found.ref.startswith("failure/w") for found in memory.list("failure").results)
    walls.sort()
    print(
        f"{number} writers of {each}: acknowledged {acknowledged}, there {there}, {seconds:.1f} s;"
        f" reads beside them: {len(walls)}, median {statistics.median(walls) * 1000:.0f} ms,"
        f" 99 % {walls[int(len(walls) * 0.99)] * 1000:.0f} ms"
    )


def soak(project: Project, calls: int) -> None:
    """Print the memory and the open files of the service before and after so many mixed calls."""
    path = str(project.socket)
    pid = int(str((project.ask({"manage": "status"}) or {})["pid"]))
    lines = (["get", "yaml"], ["query", "case 7 failed"], ["related", "yaml"], ["list", "--limit", "3"],
             ["feedback", "yaml", "--helped", "--task", "t"], ["hook", "claude-code"], ["get", "nothing"])  # fmt: skip
    os.environ.pop("GRAPHMEM_EMBEDDING_MODEL", None)
    event = json.dumps({**EVENT, "session_id": "soak"})

    def call(number: int) -> None:
        import socket

        line = lines[number % len(lines)]
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(path)
            send(connection, {**request_of(line, str(project.root), f"{number}"), "input": event}, [])
            assert connection.recv(1) == b"+"
            connection.sendall(b"+")
            assert receive(connection)[0] is not None

    def state() -> tuple[float, int]:
        with open(f"/proc/{pid}/status", encoding="ascii") as file:
            resident = next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))
        return resident / 1024, len(os.listdir(f"/proc/{pid}/fd"))

    for share in (0.1, 0.3, 0.6):
        began = time.perf_counter()
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(call, range(int(calls * share))))
        resident, files = state()
        rate = calls * share / (time.perf_counter() - began)
        print(f"soak: {int(calls * share):,} more calls, {rate:.0f} a second: {resident:.0f} MB, {files} open files")


def measured(name: str, call: Callable[[], None]) -> None:
    """Run a part and print its name before it."""
    print(f"\n== {name}")
    call()


def main() -> None:
    """Measure everything on one project of 1,000 records."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", type=int, default=100_000, metavar="CALLS")
    parser.add_argument("--times", type=int, default=15)
    options = parser.parse_args()
    os.environ["GRAPHMEM_SERVICE"] = "on"
    with filled(1_000) as project:
        done = subprocess.run(
            [sys.executable, "-c", PROGRAM, "serve", "--detach"],
            cwd=project.root, env=environment(project, is_served=True), capture_output=True, text=True, check=False,
        )  # fmt: skip
        print(done.stdout or done.stderr)
        time.sleep(2)  # it loads the model
        measured("one command", lambda: compare(project, options.times))
        for at_once, each in ((1, 60), (8, 20), (32, 10)):
            hooks(project, at_once, each)
        measured("writers", lambda: writers(project, 32, 100))
        measured("soak", lambda: soak(project, options.soak))


if __name__ == "__main__":
    main()
