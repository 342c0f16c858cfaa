"""A program that speaks MCP over its standard streams, as a client sees it."""

import os
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import count
from typing import Any

import orjson

from graphmem.errors import Unavailable

PROTOCOL = "2025-06-18"
CLIENT = {"name": "graphmem", "version": "0"}


class Server:
    """A running server; made by ``server``."""

    def __init__(self, process: subprocess.Popen[bytes], name: str) -> None:
        self.process, self.name, self.numbers = process, name, count()

    def call(self, tool: str, **arguments: object) -> dict[str, Any]:
        """Return what a tool answers, as an object."""
        answer = self.ask("tools/call", name=tool, arguments=arguments)
        if answer.get("isError"):
            raise Unavailable(f"{tool} of {self.name} failed: {answer['content']!r}")
        content: dict[str, Any] = answer["structuredContent"]
        return content

    def ask(self, method: str, **params: object) -> dict[str, Any]:
        """Return the result of a request; what else the server says meanwhile is passed over."""
        self.tell(id=next(self.numbers), method=method, params=params)
        assert self.process.stdout is not None
        for line in self.process.stdout:
            answer: dict[str, Any] = orjson.loads(line)
            if "method" not in answer:  # nothing else was asked
                if "error" in answer:
                    raise Unavailable(f"{self.name} refuses {method}: {answer['error']!r}")
                result: dict[str, Any] = answer["result"]
                return result
        raise Unavailable(f"{self.name} ended before it answered {method}")

    def tell(self, **message: object) -> None:
        """Send a message; one that has ended is found out by the answer that does not come."""
        assert self.process.stdin is not None
        with suppress(BrokenPipeError):
            self.process.stdin.write(orjson.dumps({"jsonrpc": "2.0", **message}) + b"\n")
            self.process.stdin.flush()


@contextmanager
def server(command: Sequence[str], variables: Mapping[str, str]) -> Iterator[Server]:
    """Yield the server that a command starts; the end of its input asks it to end."""
    pipe, env = subprocess.PIPE, os.environ | variables
    with subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL, env=env) as process:
        assert process.stdin is not None
        try:
            made = Server(process, command[0])
            made.ask("initialize", protocolVersion=PROTOCOL, capabilities={}, clientInfo=CLIENT)
            made.tell(method="notifications/initialized")
            yield made
        finally:
            with suppress(BrokenPipeError):
                process.stdin.close()
