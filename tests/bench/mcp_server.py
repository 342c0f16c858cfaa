"""
`graphmem mcp` beside the reference memory server (npm), in one run: definitions, first answer, CPU and size of answers.

Both hold the memories of the demo, and are asked for the same words.

usage: python -m tests.bench.mcp_server [--reference COMMAND]
"""

import argparse
import os
import select
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import orjson

from graphmem import Memory
from graphmem.core.search.budget import tokens
from tests.bench.mcp import CLIENT, PROTOCOL, Server, server

ROWS = Path(__file__).parents[2] / "graphmem" / "demo" / "rows.ndjson"
STARTS = 7  # of which the median counts
ASKED = ("assert", "injection", "timeout", "mutable default", "unused import", "deadlock", "regex", "encoding",
         "overflow", "subprocess")  # fmt: skip
ROUNDS = 5
HALF_S = 0.005  # that a process runs, and is stopped, in turn
TICKS = os.sysconf("SC_CLK_TCK")


def main() -> None:
    """Print the figures as a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--reference", default="mcp-server-memory", help="the command of the reference server")
    reference = parser.parse_args().reference
    with tempfile.TemporaryDirectory() as folder:
        ours, theirs = graphmem_in(Path(folder)), {"MEMORY_FILE_PATH": str(Path(folder) / "memory.jsonl")}
        fill(reference, theirs)
        recall: Mapping[str, Any] = {"tool": "recall", "key": "text"}
        columns = [figures(ours, {}, **recall), figures([reference], theirs, tool="search_nodes", key="query")]
    print("| figure | graphmem | reference server |\n| --- | --- | --- |")
    for name in columns[0]:
        print(f"| {name} | {columns[0][name]} | {columns[1][name]} |")


def graphmem_in(folder: Path) -> list[str]:
    """Make a store of the demo's memories, and return the command of its server."""
    Memory.init(folder)
    with Memory(folder) as memory:
        memory.add_rows([line for line in ROWS.read_bytes().splitlines(keepends=True) if b'"kind":"failure"' in line])
        memory.store.rebuild()  # with all vectors, which else the first searches make
    return [sys.executable, "-m", "graphmem", "mcp", "--dir", str(folder)]


def fill(command: str, variables: Mapping[str, str]) -> None:
    """Put the same memories into the reference server: an entity each, with trigger and fix."""
    rows = [row for row in map(orjson.loads, ROWS.read_bytes().splitlines()) if row["kind"] == "failure"]
    entities = [
        {"name": row["name"], "entityType": "failure",
         "observations": [text for text in (row["trigger"], row.get("fix")) if text]}
        for row in rows
    ]  # fmt: skip
    with server([command], variables) as memory:
        memory.call("create_entities", entities=entities)


def figures(command: Sequence[str], variables: Mapping[str, str], *, tool: str, key: str) -> dict[str, str]:
    """Return what is measured of one server."""
    starts = [first_answer(command, variables) for _ in range(STARTS)]
    halves = [first_answer(command, variables, is_halved=True)[0] for _ in range(STARTS)]
    with server(command, variables) as found:
        definitions = orjson.dumps({"tools": found.ask("tools/list")["tools"]})
        began = time.monotonic()
        found.ask("tools/call", name=tool, arguments={key: "warm up"})
        first = time.monotonic() - began
        before, walls, sizes = cpu_s(found), list[float](), list[int]()
        for text in ASKED * ROUNDS:
            began = time.monotonic()
            answer = found.ask("tools/call", name=tool, arguments={key: text})
            walls.append(time.monotonic() - began)
            sizes.append(tokens("".join(part["text"] for part in answer["content"])))
        cpu = (cpu_s(found) - before) / len(walls)
    return {
        "definitions of the tools, bytes": f"{len(definitions):,}",
        "process start to first answer, CPU": f"{statistics.median(cpu for _, cpu in starts) * 1000:.0f} ms",
        "process start to first answer, wall": f"{statistics.median(wall for wall, _ in starts) * 1000:.0f} ms",
        "the same at half a core, wall": f"{statistics.median(halves) * 1000:.0f} ms",
        "first search after the list of tools, wall": f"{first * 1000:.0f} ms",
        "one search, CPU": f"{cpu * 1000:.1f} ms",
        "one search, wall": f"{statistics.median(walls) * 1000:.1f} ms",
        "tokens of an answer, median": f"{statistics.median(sizes):,.0f}",
        "tokens of an answer, most": f"{max(sizes):,}",
    }


def first_answer(
    command: Sequence[str], variables: Mapping[str, str], *, is_halved: bool = False
) -> tuple[float, float]:
    """Return the wall and the CPU time from the start of a process to its answer to the handshake."""
    params = {"protocolVersion": PROTOCOL, "capabilities": {}, "clientInfo": CLIENT}
    line = orjson.dumps({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}) + b"\n"
    pipe, began = subprocess.PIPE, time.monotonic()
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=os.environ | variables)
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(line)
    process.stdin.flush()
    step: Callable[[], object] = (lambda: pause(process)) if is_halved else (lambda: None)
    while not select.select([process.stdout], [], [], HALF_S)[0]:
        step()
    wall = time.monotonic() - began
    process.kill()
    used = os.wait4(process.pid, 0)[2]
    process.returncode = -signal.SIGKILL
    for stream in (process.stdin, process.stdout):
        stream.close()
    return wall, used.ru_utime + used.ru_stime


def pause(process: "subprocess.Popen[bytes]") -> None:
    """Stop a process for as long as it ran."""
    process.send_signal(signal.SIGSTOP)
    time.sleep(HALF_S)
    process.send_signal(signal.SIGCONT)


def cpu_s(found: Server) -> float:
    """Return the CPU time that a server has used."""
    fields = Path(f"/proc/{found.process.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


if __name__ == "__main__":
    main()
