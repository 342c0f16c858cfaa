"""
The process that a coding agent starts at each of its events: it hands the event to the service, and ends in time.

It imports little, never fails and never waits long: where the service does not answer in time, the agent goes on
without an answer. Where there is none it is started. It gets the event as soon as it can: what it knows of a failure or
a prompt the agent is told with the next event.
"""

import os
import select
import time

from graphmem.doors.service import caller
from graphmem.doors.service.launch import launch
from graphmem.doors.service.place import is_foreign, path_of, project_of, store_above, store_of
from graphmem.patterns import lazy_re

LIMIT_S = 0.3  # seconds that an agent waits, unless GRAPHMEM_HOOK_LIMIT says otherwise
FAILED_LIMIT_S = 1.0  # the same after a tool that failed: the answer is worth most then, and the model takes longer
FAILED = lazy_re(r"\"hook_event_name\"\s*:\s*\"PostToolUseFailure\"")  # within a text its quotes are escaped
FIRST_BYTES, LAST_BYTES = 2 * 2**20, 5 * 2**20  # of an event that are kept: its middle is output that nobody reads
PARTIAL = lazy_re(rb"(?<!\\)(?:\\\\)*(\\(?:u[0-9a-fA-F]{0,3})?)$")  # an escape in JSON that is cut off
WHOLE = lazy_re(rb"[^\\\"][^\\\"]")  # the second character ends no escape
FOLDERS = ("CLAUDE_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CURSOR_PROJECT_DIR")  # variables of clients: the project
POLL_S = 0.01
START_S = 20.0  # seconds in which a service has started


def main(arguments: list[str]) -> None:
    """Answer an event of a client, ``arguments`` its name."""
    try:
        began, end = time.monotonic(), time.monotonic() + limit_of("")
        if os.environ.get("GRAPHMEM_HOOKS") == "off" or os.environ.get("GRAPHMEM_SERVICE") == "off":
            return
        folder = next((path for name in FOLDERS if (path := os.environ.get(name))), None) or os.getcwd()
        project = project_of([], folder, os.environ)
        if project is None:
            return _say_why(arguments, folder, end)
        path = path_of(project, "sock")
        if path is None or (store_of(project) is None and "GRAPHMEM_STORE" not in os.environ):
            return
        event = _event_of(end)
        end = began + limit_of(event)
        os.environ["GRAPHMEM_HOOK_UNTIL"] = str(time.time() + end - time.monotonic())  # a later answer is not noted
        if not os.path.exists(path):
            launch(project)
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(POLL_S)
        request = {**caller.request_of(["hook", *arguments], folder, os.urandom(16).hex()), "input": event}
        if not _is_taken(path, request, max(end - time.monotonic(), POLL_S)):
            _leave(path, request)
    except Exception:  # the boundary: whatever is wrong, the agent goes on
        return


def limit_of(event: str) -> float:
    """Return how many seconds an agent waits for the answer to an event."""
    try:
        return float(os.environ["GRAPHMEM_HOOK_LIMIT"])
    except (KeyError, ValueError):
        return FAILED_LIMIT_S if FAILED.search(event) else LIMIT_S


def _say_why(arguments: list[str], folder: str, end: float) -> None:
    """Tell a session that begins why its memory is silent, where another user made it."""
    above = store_above(folder)
    if above is None or not is_foreign(above) or "sessionstart" not in (event := _event_of(end)).lower():
        return
    from graphmem.kernel.registry import extensions  # noqa: PLC0415 - hardly an event comes here
    from graphmem.kernel.system.shell import command  # noqa: PLC0415 - as above

    trust = command("git", "config", "--global", "--add", "safe.directory", above)
    text = f"graphmem is silent here: {store_of(above)} belongs to another user. If you trust it: {trust}"
    for say in extensions("start"):
        os.write(1, say(arguments[0], event, text).encode())


def _is_taken(path: str, request: dict[str, object], limit_s: float) -> bool:
    """Hand an event to the service and print its answer; return whether it took the event."""
    try:
        return caller.ask(path, request, [], limit_s=limit_s)[0]
    except OSError:
        return False


def _leave(path: str, request: dict[str, object]) -> None:
    """Hand an event to a service that is still starting or busy, in a process of its own, without waiting for it."""
    if os.fork():
        return
    try:
        os.setsid()
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        end = time.monotonic() + START_S
        while not _is_taken(path, request, START_S) and time.monotonic() < end:
            time.sleep(POLL_S)
    finally:
        os._exit(0)


def _event_of(end: float) -> str:
    """Return what the client sends on standard input, as far as it comes in time; of a very long event both ends."""
    first, last = bytearray(), bytearray()
    is_cut = False
    while select.select([0], [], [], max(end - time.monotonic(), 0))[0]:
        if not (part := os.read(0, 2**20)):
            break
        room = max(FIRST_BYTES - len(first), 0)
        first += part[:room]
        last += part[room:]
        if len(last) > 2 * LAST_BYTES:
            del last[:-LAST_BYTES]
            is_cut = True
    is_cut |= len(last) > LAST_BYTES
    return (_joined(first, last[-LAST_BYTES:]) if is_cut else first + last).decode("utf-8", "replace")


def _joined(first: bytearray, last: bytearray) -> bytearray:
    """Return both ends of a long JSON text, without the escapes at the cut: they lie within one very long string."""
    if found := PARTIAL.search(first[-100:]):
        first = first[: len(first) - len(found[1])]
    start = found.end() - 1 if (found := WHOLE.search(last)) else len(last)
    return first + b"\\n" + last[start:]
