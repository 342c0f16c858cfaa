"""
Runs command lines of graphmem in this process, one after the other: reads JSON lists, prints a JSON object each.

With ``--forks`` a line is a batch of command lines instead: its folder, its environment and the command lines, as JSON.
Each batch gets a fork of this process, in which the code of all commands is loaded; an empty line ends its answers.
"""

import contextlib
import importlib
import io
import json
import os
import pkgutil
import sys
import time
from typing import Any

import graphmem
from graphmem.doors.cli.app import run

NOT_OF_COMMANDS = ("graphmem.__main__", "graphmem.doors.http", "graphmem.doors.mcp", "graphmem.doors.service")


def ran(arguments: list[str], given: str) -> dict[str, Any]:
    """Run one command line; return its exit status, what it printed, and how long it took, in seconds."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8") for _ in range(2))
    sys.stdin = io.TextIOWrapper(io.BytesIO(given.encode()), encoding="utf-8")
    start = time.monotonic()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = run(arguments)
        sys.stderr.flush()
        found = [stream.buffer.getvalue().decode() for stream in (sys.stdout, sys.stderr)]  # type: ignore[union-attr]
    return {"status": status, "out": found[0], "err": found[1], "seconds": time.monotonic() - start}


def load_code() -> None:
    """Load the code of all commands, which each loads when it needs it."""
    for found in pkgutil.walk_packages(graphmem.__path__, "graphmem."):
        if not found.name.startswith(NOT_OF_COMMANDS):
            importlib.import_module(found.name)


def fork(folder: str, environment: dict[str, str], lines: list[tuple[list[str], str]]) -> None:
    """Run command lines in a folder, in a fork of this process; print what each came to, then an empty line."""
    child = os.fork()
    if child == 0:
        os.chdir(folder)
        os.environ.clear()
        os.environ.update(environment)
        for arguments, given in lines:
            print(json.dumps(ran(arguments, given)), flush=True)
        os._exit(0)
    os.waitpid(child, 0)
    print(flush=True)


if __name__ == "__main__":
    sys.set_int_max_str_digits(4300)  # as Python has it
    if "--forks" in sys.argv:
        load_code()
    for line in sys.stdin.buffer:
        if "--forks" in sys.argv:
            fork(*json.loads(line))
        else:
            arguments, given = json.loads(line)
            print(json.dumps(ran(arguments, given)), flush=True)
