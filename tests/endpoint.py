"""A server of embeddings for tests: real HTTP on this machine, an answer that is as asked or as bad as a test wants."""

import json
import threading
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Bad = Callable[["Handler"], object]
DIMENSIONS = 8


def vector_of(text: str) -> list[float]:
    """Return a vector in which each word of a text counts."""
    found = [0.1] * DIMENSIONS
    for word in text.lower().split():
        found[zlib.crc32(word.encode()) % DIMENSIONS] += 1.0
    return found


class Handler(BaseHTTPRequestHandler):
    """Answers one request: the server's next bad answer, or as an endpoint does."""

    server: "Endpoint"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.texts: list[str] = body["input"]
        self.server.asked.append({"path": self.path, "body": body, "key": self.headers.get("Authorization")})
        if self.server.bad:
            self.server.bad.pop(0)(self)
        else:
            self.give([vector_of(text) for text in self.texts])

    def give(self, vectors: list[Any], **other: Any) -> None:
        """Answer with vectors, in another order than the texts."""
        rows = [{"object": "embedding", "index": n, "embedding": one} for n, one in enumerate(vectors)]
        self.send(json.dumps({"object": "list", "data": rows[::-1], **other}).encode())

    def send(
        self, data: bytes, status: int = 200, *, kind: str = "application/json", cut: int = 0, **headers: str
    ) -> None:
        """Answer with some bytes, of which the last ``cut`` do not come."""
        self.send_response(status)
        sent = {"Content-Type": kind, "Content-Length": str(len(data)), **headers}
        for name, value in sent.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(data[: len(data) - cut])

    def log_message(self, *_: object) -> None:
        """Say nothing."""


class Endpoint(ThreadingHTTPServer):
    """The server; ``bad`` are its next answers, ``asked`` what it was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.bad: list[Bad] = []
        self.asked: list[dict[str, Any]] = []

    def handle_error(self, *_: object) -> None:
        """Say nothing: a caller that has gone away is what some tests want."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


@contextmanager
def serving() -> Iterator[Endpoint]:
    """Yield a server that answers until the block ends."""
    with Endpoint() as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join()
