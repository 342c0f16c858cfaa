"""Who may call: the token, the host, the origin and the size of each request, before anything else reads it."""

import contextlib
import hmac
import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from starlette.exceptions import HTTPException
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from graphmem.doors.http.metrics import Metrics
from graphmem.doors.http.problems import problem
from graphmem.doors.service.server import Service
from graphmem.kernel.dispatch import OWNER, Caller
from graphmem.kernel.registry import READ

HEALTH = "/healthz"
METRICS = "/metrics"
DOCS = "/docs"
VIEW = "/view"
OPEN = (HEALTH, DOCS, VIEW)  # without a token: they show nothing of the memory
ROWS = "/v1/rows"
EVENTS = "/v1/events"
MCP = "/mcp"  # where the Model Context Protocol is spoken
STREAM = "/stream"  # end of the paths that take lines
MOST_JSON = 8 * 2**20  # bytes of a body
MOST_LINES = 64 * 2**20  # bytes of a body of lines
TYPES = {False: ("application/json",), True: ("application/x-ndjson", "text/plain")}  # by whether it takes lines
MAY = b"graphmem-may"  # header: what the token allows, read or write
ADDED = {b"cache-control": b"no-store", b"x-content-type-options": b"nosniff"}  # unless an answer has its own


@dataclass(frozen=True)
class Access:
    """
    The tokens, and where the server listens.

    Args:
        scopes: the token of each scope, by its name.
        host: as it was given.
    """

    token: str
    read_token: str
    scopes: Mapping[str, str]
    host: str
    port: int

    def caller(self, header: str) -> Caller | None:
        """Return the caller by its header; None for one without a right token."""
        scheme, _, given = header.partition(" ")
        sent = given.strip().encode("utf-8", "replace")
        is_all = hmac.compare_digest(sent, self.token.encode())
        is_read = hmac.compare_digest(sent, self.read_token.encode())
        of_scope = [name for name, token in self.scopes.items() if hmac.compare_digest(sent, token.encode())]
        if scheme.lower() != "bearer":
            return None
        if is_all or is_read:
            return OWNER if is_all else Caller(may=READ)
        return Caller(scope=of_scope[0], by=of_scope[0]) if of_scope else None

    def is_host(self, header: str, reached: str) -> bool:
        """Return whether a caller names this server; ``reached`` is the address that it connected to."""
        name, port = split_host(header)
        names = {self.host.lower(), reached}
        if is_loopback(reached):
            names |= {"localhost", "127.0.0.1", "::1"}
        return name.lower() in names and (port or 80) == self.port


class Guard:
    """Refuses what may not call, counts the rest as requests of the service, and closes caches."""

    def __init__(self, app: ASGIApp, access: Access, service: Service, metrics: Metrics) -> None:
        self.app, self.access, self.service, self.metrics = app, access, service, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def sends(message: Message) -> None:
            if message["type"] == "http.response.start":
                added = ADDED | ({MAY: caller.may.encode()} if (caller := scope.get("caller")) else {})
                message["headers"] = list({**added, **dict(message.get("headers", []))}.items())
                self.metrics.answered(scope, message["status"])
            await send(message)

        headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self.refusal(scope, headers)
        with self.metrics.connected.track_inprogress():
            if refusal is not None:
                await refusal(scope, receive, sends)
            elif scope["method"] != "POST" and scope["path"] != ROWS:  # it runs no operation, and may wait for long
                await self.app(scope, receive, sends)
            else:
                with contextlib.ExitStack() as stack:
                    given = _limited(receive, _most_of(scope["path"]))
                    await self.app(scope, counted(given, lambda: stack.enter_context(self.service.counted())), sends)

    def refusal(self, scope: Scope, headers: dict[str, str]) -> Response | None:
        """Return the answer to a caller that may not call, None for one that may; note in the scope what it may do."""
        host, origin = headers.get("host", ""), headers.get("origin")
        if not self.access.is_host(host, scope["server"][0]):
            hint = f"call it by the address that it listens on, port {self.access.port}"
            return problem(421, "wrong_host", f"the header Host is {host[:80]!r}", hint=hint)
        if origin is not None and origin.lower() != f"http://{host.lower()}":
            return problem(403, "wrong_origin", f"the header Origin is {origin[:80]!r}", hint="leave it out")
        caller = scope["caller"] = self.access.caller(headers.get("authorization", ""))
        if caller is None and scope["path"] not in OPEN:
            hint = "send the header: Authorization: Bearer TOKEN"
            answer = {"WWW-Authenticate": 'Bearer realm="graphmem"'}
            return problem(401, "unauthorized", "the token is missing or wrong", hint=hint, headers=answer)
        if scope["path"] == MCP and (caller is None or caller.may == READ):
            return problem(403, "read_only", "the token is for reading", hint="MCP has tools that write")
        if self.service.ended.is_set():
            again = {"Retry-After": "1"}
            return problem(503, "unavailable", "the service is ending", hint="try again later", headers=again)
        return _refused_body(scope["path"], headers)


def _refused_body(path: str, headers: dict[str, str]) -> Response | None:
    """Return the answer to a request whose body is too large or of another type."""
    length, most = headers.get("content-length", "0"), _most_of(path)
    if length.isdecimal() and int(length[:20]) > most:
        return problem(413, "too_large", f"the body has {length[:20]} bytes", hint=f"at most {most:,}")
    media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
    known = TYPES[path.endswith(STREAM)]
    if (length != "0" or "transfer-encoding" in headers) and media_type not in known:
        return problem(415, "wrong_type", f"the header Content-Type is {media_type[:80]!r}", hint=" or ".join(known))
    return None


def _most_of(path: str) -> int:
    """Return the most bytes of a body."""
    return MOST_LINES if path.endswith(STREAM) else MOST_JSON


def _limited(receive: Receive, most: int) -> Receive:
    """Return what receives a body and ends it where it is too large."""
    size = 0

    async def receives() -> Message:
        nonlocal size
        message = await receive()
        size += len(message.get("body", b""))
        if size > most:
            raise HTTPException(413)
        return message

    return receives


def counted(receive: Receive, count: Callable[[], object]) -> Receive:
    """Return what receives a body, and counts its request once all of it is there: nothing runs before that."""

    async def receives() -> Message:
        nonlocal count
        message = await receive()
        if message["type"] == "http.request" and not message.get("more_body"):
            count()
            count = int  # once: what is asked for after the body is whether the caller is still there
        return message

    return receives


def is_loopback(host: str) -> bool:
    """Return whether an address is reached from this machine alone."""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def split_host(text: str) -> tuple[str, int | None]:
    """Return name and port of ``NAME:PORT``, ``[ADDRESS]:PORT`` or a name alone."""
    if text.startswith("["):
        name, _, rest = text[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        name, _, port = text.partition(":")
    return name, int(port) if port.isascii() and port.isdecimal() and len(port) < 6 else None
