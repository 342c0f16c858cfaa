"""
The first answers to a client, given before the SDK is imported: that takes longer than some clients wait.

What is answered here was written down from the SDK's own server (``answers.json``). A message is answered only where
its shape shows that the SDK would give this answer; the first other one goes to the SDK, with all that follow. So the
SDK alone decides on malformed lines, unknown versions and methods, errors and cancellation, and runs every tool.
Only the standard library is imported.
"""

import fcntl
import json
import os
from importlib import import_module
from threading import Event, Thread

from graphmem.patterns import lazy_re

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any, TextIO

ANSWERS = os.path.join(os.path.dirname(__file__), "answers.json")
RESERVED = "io.modelcontextprotocol/"  # how the protocol's own keys of ``_meta`` begin
# Any escape of JSON: a pair of halves is one character, and what is caught is half of one.
ESCAPE = lazy_re(r"\\(?:u[dD][89abAB][\da-fA-F]{2}\\u[dD][c-fC-F][\da-fA-F]{2}|(u[dD][89a-fA-F][\da-fA-F]{2})|.)")
VERSION, INFO, CAPABILITIES = (f"{RESERVED}{name}" for name in ("protocolVersion", "clientInfo", "clientCapabilities"))


class Front:
    """
    What is between a client and the SDK's server: first it answers by itself, then it is the SDK's text file.

    The SDK first reads the request that opened the conversation, and what it answers to that is not written: the client
    has the answer.
    """

    def __init__(self, reader: "TextIO", writer: "TextIO", answers: "dict[str, Any]") -> None:
        self.reader, self.writer, self.answers = reader, writer, answers
        self.is_legacy = False  # the conversation began with a handshake
        self.opening = ""  # the request that opened the conversation
        self.kept: list[str] = []  # what came since and the SDK has to see
        self.is_open = Event()  # the SDK has answered the opening
        self.is_warming = False
        self.when_sent: dict[str, Callable[[], None]] = {}  # by the id of a request, as JSON: called after its answer

    # --- before the SDK -----------------------------------------------------------------------------------------

    def run(self) -> bool:
        """Answer until a message is the SDK's; return whether there was one before the input ended."""
        for line in iter(self.reader.readline, ""):
            message = _parsed(line)
            result = self.result(message) if message and "id" in message else None
            if message and result is not None:
                self.opening = self.opening or line
                identifier, text = json.dumps(message["id"]), json.dumps(result, separators=(",", ":"))
                self.send(f'{{"jsonrpc":"2.0","id":{identifier},"result":{text}}}\n')
                if message["method"] == "tools/list" and not self.is_warming:
                    self.is_warming = True
                    Thread(target=import_module, args=("graphmem.doors.mcp.server",), daemon=True).start()
                continue
            self.kept.append(line)
            if not (message and "id" not in message and self.opening):  # a notification: no request is under way
                if not self.opening:
                    self.is_open.set()
                return True
        return False

    def result(self, message: "dict[str, Any]") -> "dict[str, Any] | None":
        """Return the result of a request; None where the SDK has to see it."""
        method, params = message["method"], message.get("params", {})
        if method == "initialize":
            return None if self.opening else self.initialized(params)
        meta = params.get("_meta", {})
        if params.keys() - {"_meta"}:
            return None
        if self.is_legacy:
            results = self.answers["legacy"] if _is_meta(meta) else {}
        else:
            results = self.answers["modern"].get(str(meta.get(VERSION)), {}) if _is_envelope(meta) else {}
        found: dict[str, Any] | None = results.get(method)
        return found

    def initialized(self, params: "dict[str, Any]") -> "dict[str, Any] | None":
        """Return the result of the handshake, with the version that was asked for where the SDK has it."""
        version = params.get("protocolVersion")
        is_sound = _is_meta(params.get("_meta", {})) and _is_client(params.get("clientInfo"))
        if not (is_sound and _is_able(params.get("capabilities")) and isinstance(version, str)):
            return None
        self.is_legacy = True
        result: dict[str, Any] = self.answers["legacy"]["initialize"]
        return {**result, "protocolVersion": version} if version in self.answers["handshake"] else result

    # --- the SDK's file -----------------------------------------------------------------------------------------

    def readline(self) -> str:
        """Return the next line for the SDK, the others after it has answered the opening."""
        if self.opening:
            line, self.opening = self.opening, ""
            return whole(line)
        self.is_open.wait()
        return whole(self.kept.pop(0) if self.kept else self.reader.readline())

    def write(self, text: str) -> None:
        """Write a line of the SDK, but for its answer to the opening."""
        if self.is_open.is_set():
            self.send(text)
            if self.when_sent and (done := self.when_sent.pop(json.dumps(json.loads(text).get("id")), None)):
                done()
        self.is_open.set()

    def flush(self) -> None:
        """Do nothing: every line is flushed when it is written."""

    def send(self, text: str) -> None:
        """Write a line; where the client does not listen any more, the process ends."""
        try:
            self.writer.write(text)
            self.writer.flush()
        except BrokenPipeError:
            os._exit(0)


def whole(line: str) -> str:
    """
    Return a line of JSON with U+FFFD in the place of each half of a character that is written as an escape.

    The SDK takes no such line, and drops it: the client would wait for its answer.
    """
    return ESCAPE.sub(lambda found: "\\ufffd" if found[1] else found[0], line) if "\\u" in line else line


def _parsed(line: str) -> "dict[str, Any] | None":
    """Return a request or notification whose frame is beyond doubt; None for any other line."""
    try:  # half a character may be among escapes
        message = None if "\\u" in line else json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(message, dict) or message.keys() - {"jsonrpc", "id", "method", "params"}:
        return None
    is_named = isinstance(message.get("id", ""), str) or type(message.get("id")) is int
    params = message.get("params", {})
    has_meta = isinstance(params, dict) and isinstance(params.get("_meta", {}), dict)
    is_framed = message.get("jsonrpc") == "2.0" and isinstance(message.get("method"), str)
    return message if is_named and has_meta and is_framed else None


def _is_meta(meta: "dict[str, Any]", own: frozenset[str] = frozenset()) -> bool:
    """Return whether ``_meta`` is sound: no key of the protocol but its ``own``, and a token for progress at most."""
    is_free = not any(key.startswith(RESERVED) and key not in own for key in meta)
    return is_free and isinstance(meta.get("progressToken", ""), str | int)


def _is_envelope(meta: "dict[str, Any]") -> bool:
    """Return whether ``_meta`` is a sound envelope of a request without a handshake."""
    is_whole = _is_able(meta.get(CAPABILITIES)) and _is_client(meta.get(INFO, {"name": "", "version": ""}))
    return is_whole and _is_meta(meta, frozenset((VERSION, INFO, CAPABILITIES)))


def _is_client(info: "Any") -> bool:
    """Return whether a client says in texts what it is."""
    is_whole = isinstance(info, dict) and {"name", "version"} <= info.keys()
    return bool(is_whole) and all(isinstance(value, str) for value in info.values())


def _is_able(capabilities: "Any") -> bool:
    """Return whether a client says in a sound way what it can do."""
    if not isinstance(capabilities, dict) or "tasks" in capabilities:
        return False
    return all(
        isinstance(one, dict) and all(isinstance(value, bool if name == "roots" else dict) for value in one.values())
        for name, one in capabilities.items()
    )


def _claimed() -> "tuple[TextIO, TextIO]":
    """Return the client's line as two files; from here on, standard input is empty and prints go to standard error."""
    reader, writer = (fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 3) for fd in (0, 1))
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    try:
        os.dup2(2, 1)
    except OSError:  # standard error is closed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    return (
        open(reader, encoding="utf-8", errors="replace", closefd=False),
        open(writer, "w", encoding="utf-8", errors="backslashreplace", closefd=False),
    )


def serve(folder: str | None, lock_timeout_s: float | None = None, scope: str | None = None) -> int:
    """Speak with the client at the standard streams until its input ends; return the exit status."""
    try:
        reader, writer = _claimed()
    except OSError:  # a stream is closed: there is no client
        return 0
    with open(ANSWERS, encoding="utf-8") as file:
        front = Front(reader, writer, json.load(file))
    if front.run():
        import_module("graphmem.doors.mcp.server").run(front, folder, lock_timeout_s, scope)
    return 0
