"""HTTP beside a service: the address, the socket, and uvicorn in a thread that ends with the service."""

import asyncio
import contextlib
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator

import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from graphmem.api import Memory
from graphmem.doors.http.app import make_app
from graphmem.doors.http.guard import Access, Guard, is_loopback, split_host
from graphmem.doors.http.metrics import Metrics
from graphmem.doors.http.tokens import ALL, READ, tokens, variable_of
from graphmem.doors.service.manage import status_of
from graphmem.doors.service.server import Service
from graphmem.errors import Unavailable, Usage
from graphmem.kernel.ledger.scopes import names_of
from graphmem.kernel.store.runtime import find_store
from graphmem.kernel.telemetry import watched

WAITING = 128  # connections that were not accepted yet
MOST_CONNECTIONS = 256  # at the same time, with and without a token
IDLE_S = 10.0  # seconds within which a connection has to bring the head of a request
START_S = 10.0  # seconds that the thread may take until it answers
END_S = 5.0  # seconds that it may take to end


class Bounded(H11Protocol):
    """
    A connection, closed where there are too many, or where it brings no request for some seconds.

    Anybody on this machine can connect, and what is refused without a token is refused only once its head is there.
    """

    seen: object = None  # the last request that the clock saw

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin a connection."""
        super().connection_made(transport)
        if len(self.connections) > MOST_CONNECTIONS:
            transport.abort()
        else:
            self.loop.call_later(IDLE_S, self.look)

    def look(self) -> None:
        """End the connection if it brought no request since the last look, and none is answered."""
        if self.transport.is_closing():
            return
        if self.cycle is self.seen and (self.cycle is None or self.cycle.response_complete):
            self.transport.abort()
            return
        self.seen = self.cycle
        self.loop.call_later(IDLE_S, self.look)


@contextlib.contextmanager
def http_beside(service: Service, address: str, say: Callable[[str], None]) -> Iterator[None]:
    """
    Answer HTTP while the block runs.

    Args:
        address: as ``HOST:PORT``; port 0 takes a free one.
        say: takes a line for the person who started it.

    Raises:
        Usage: no such address, or a token that cannot be used.
        Unavailable: the port is taken.
    """
    host, port = parse_address(address)
    scopes = names_of(find_store(service.project))
    with tokens(service.project, scopes) as (found, files), bound(host, port) as listener:
        of_scopes = {scope: found[variable_of(scope)] for scope in scopes}
        access = Access(found[ALL], found[READ], of_scopes, host, listener.getsockname()[1])
        service.http = f"http://{f'[{host}]' if ':' in host else host}:{access.port}"
        service.token_file, service.read_token_file = files.get(ALL), files.get(READ)
        service.scope_token_files = {
            scope: files[variable_of(scope)] for scope in scopes if variable_of(scope) in files
        }
        with Memory(service.project, models=service.models, command="http", via="http", scope="") as memory:
            metrics = Metrics(service)
            app = make_app(memory, lambda: status_of(service.project, service.state()), metrics, service.ended)
            with watched(metrics.add), running(Guard(app, access, service, metrics), listener):
                say(f"HTTP at {service.http}")
                for name, path in files.items():
                    of_scope = next((f"of the scope {scope}" for scope in scopes if name == variable_of(scope)), None)
                    say(f"the token {of_scope or ('to read' if name == READ else 'for everything')} is in {path}")
                yield


def parse_address(address: str) -> tuple[str, int]:
    """Return host and port of an address."""
    host, port = split_host(address)
    if not host or port is None or port > 65535:
        raise Usage(f"--http is {address[:80]!r}", hint="HOST:PORT, such as 127.0.0.1:8321; port 0 takes a free one")
    if not is_loopback(host) and not os.environ.get(ALL):
        message = f"{host} is reached by other machines, and there is no token"
        raise Usage(message, hint=f"set {ALL} to a token of your own, or take 127.0.0.1")
    return host, port


@contextlib.contextmanager
def bound(host: str, port: int) -> Iterator[socket.socket]:
    """Yield a socket that listens."""
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listener = socket.socket(family, kind, protocol)
    except OSError as error:
        raise Usage(f"--http names no address: {host}", hint=error.strerror) from None
    with listener:
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(place)
            listener.listen(WAITING)
        except OSError as error:
            message = f"nothing can listen at {host}, port {port}: {error.strerror}"
            raise Unavailable(message, hint="take another port; 0 takes a free one") from None
        yield listener


@contextlib.contextmanager
def running(app: Guard, listener: socket.socket) -> Iterator[None]:
    """Run uvicorn in a thread while the block runs."""
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_config=None,
            access_log=False,
            lifespan="on",
            ws="none",
            loop="asyncio",
            http=Bounded,
            server_header=False,
            proxy_headers=False,
            timeout_graceful_shutdown=int(END_S),
        )
    )
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]}, name="http", daemon=True)
    thread.start()
    end = time.monotonic() + START_S
    while not server.started:
        if not thread.is_alive() or time.monotonic() > end:
            raise Unavailable("HTTP does not start", hint="see: graphmem serve --logs")
        time.sleep(0.01)
    try:
        yield
    finally:
        server.should_exit = True
        thread.join(END_S + 1)
