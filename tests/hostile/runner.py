"""Runs command lines of graphmem in this process, one after the other: reads JSON lists, prints a JSON object each."""

import contextlib
import io
import json
import sys
import time
from typing import Any

from graphmem.cli.app import run


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


if __name__ == "__main__":
    sys.set_int_max_str_digits(4300)  # as Python has it
    for line in sys.stdin:
        arguments, given = json.loads(line)
        print(json.dumps(ran(arguments, given)), flush=True)
