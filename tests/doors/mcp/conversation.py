"""A conversation with the server, line by line, as a client with a pipe has it; no process is started."""

from collections.abc import Mapping, Sequence
from threading import Condition
from typing import Any, TextIO, cast

import anyio
from mcp_types.jsonrpc import JSONRPCRequest, jsonrpc_message_adapter

from graphmem.api import Memory
from graphmem.doors.mcp.front import Front
from graphmem.doors.mcp.server import make_server, serve
from graphmem.errors import Unavailable


class Pipe:
    """What a client writes and reads: it sends a line when every request before it has its answer."""

    def __init__(self, lines: Sequence[str]) -> None:
        self.lines, self.answers, self.due = list(lines), list[str](), 0
        self.changed = Condition()

    def readline(self) -> str:
        with self.changed:
            assert self.changed.wait_for(lambda: len(self.answers) >= self.due, timeout=30), self.answers
            line = self.lines.pop(0) if self.lines else ""
        self.due += is_request(line)
        return line

    def write(self, text: str) -> None:
        with self.changed:
            self.answers.append(text)
            self.changed.notify_all()

    def flush(self) -> None:
        pass


def is_request(line: str) -> bool:
    """Return whether the SDK answers a line."""
    try:
        return isinstance(jsonrpc_message_adapter.validate_json(line, by_name=False), JSONRPCRequest)
    except ValueError:
        return False


def no_memory() -> Memory:
    """Fail as a folder without a store does."""
    raise Unavailable("no store here", hint="make one with: graphmem init")


def conversation(lines: Sequence[str], answers: Mapping[str, Any] | None = None) -> tuple[list[str], bool]:
    """Return what the client reads, and whether the SDK was needed; without answers the front gives none."""
    pipe = Pipe(lines)
    front = Front(cast(TextIO, pipe), cast(TextIO, pipe), dict(answers or {}))
    if answers is None:
        front.is_open.set()
    is_needed = answers is None or front.run()
    if is_needed:
        anyio.run(serve, make_server(no_memory), front)
    return pipe.answers, is_needed
