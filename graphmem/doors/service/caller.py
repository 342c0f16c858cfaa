"""
The caller of a service: hands it a command line, and prints what it answers.

A command that a service answers costs its caller the start of Python and this module. Where there is no service, or it
does not take the command, the caller runs it by itself; the answer is the same.
"""

import os
import sys

from graphmem.doors.service.place import path_of, project_of, stamp
from graphmem.kernel.system.user import callers_own, store_of

TYPE_CHECKING = False  # as in ``errors``
if TYPE_CHECKING:
    from collections.abc import Sequence
    from socket import socket

# What runs where it is typed: it starts programs, sets up this machine, writes files, talks to a person, is a service.
HERE = frozenset(
    "adopt benchmark demo doctor dump embed explore export extract import init install uninstall mcp merge-driver next"
    " learn observe promote prove purge"
    " graph ledger ran rebuild serve snapshot stage sync team textconv trust vacuum view work"
    " --follow --plot --projects --prove".split()
)
COMPLETING = "_GRAPHMEM_COMPLETE"  # a variable that a shell sets where it asks for completions
QUIET = frozenset({"-q", "--quiet"})
HELP = frozenset({"-h", "--help", "--version"})
SILENT_S = 1.0  # seconds that a command takes without a word to the person who waits
ACCEPT_S = 2.0  # seconds that a service may take to begin; after that the caller is faster by itself
LOST = 4  # exit status


def served(arguments: list[str], request_id: str) -> tuple[bool, int | None]:
    """
    Have the service of the project run a command line.

    Returns:
        Whether it began, and the exit status; None where there is no answer: the caller runs it, and where it began, it
        runs it as a repeat of this request.
    """
    is_off = os.environ.get("GRAPHMEM_SERVICE") == "off"
    if runs_here(arguments) or is_off or COMPLETING in os.environ:
        return False, None
    verb = next(word for word in arguments if not word.startswith("-"))
    try:
        is_typed = sys.stdin is not None and sys.stdin.isatty()
        if is_typed and (verb == "match" or "-" in arguments):
            return False, None  # a terminal talks to the processes in front alone
        folder = os.getcwd()
        project = project_of(arguments, folder, os.environ)
        path = path_of(project, "sock") if project else None
        if path is None or not os.path.exists(path):
            return False, None
        files = [0] if sys.stdin is not None and not is_typed else []
        return ask(path, request_of(arguments, folder, request_id), files)
    except (OSError, ValueError, UnicodeError):
        return False, None


def content_of(arguments: "Sequence[str]") -> str:
    """Return what a command line asks for, the same where it is sent again."""
    return "\0".join(arguments)


def runs_here(arguments: list[str]) -> bool:
    """Return whether a command line runs in the process that it was typed into; no service takes it."""
    is_a_command = any(not word.startswith("-") for word in arguments)
    is_of_another = any(store_of(word)[0] != "project" for word in arguments)
    names = {word.partition("=")[0] for word in arguments}  # of options too whose value is in the same word
    return not is_a_command or is_of_another or not HERE.isdisjoint(names) or not HELP.isdisjoint(names)


def request_of(arguments: list[str], folder: str, request_id: str) -> dict[str, object]:
    """Return what a service needs to run a command line as this process would."""
    is_needed = is_terminal() and "COLUMNS" not in os.environ
    return {
        "stamp": stamp(),
        "id": request_id,
        "arguments": arguments,
        "folder": folder,
        "variables": callers_own(os.environ) | ({"COLUMNS": str(os.get_terminal_size(1).columns)} if is_needed else {}),
        "is_terminal": is_terminal(),
        "is_typed": sys.stdin is not None and sys.stdin.isatty(),
    }


def is_terminal() -> bool:
    """Return whether a person reads the answer."""
    return sys.stdout is not None and sys.stdout.isatty()


def ask(
    path: str, request: dict[str, object], files: list[int], *, limit_s: float | None = None
) -> tuple[bool, int | None]:
    """
    Send a request and print its answer.

    Args:
        files: that the service may read from.
        limit_s: seconds that the answer may take once the service began; None for as long as the command takes.

    Returns:
        Whether the service began, and the exit status; None where it ended before it answered.
    """
    import socket  # noqa: PLC0415 - 5 ms, as the next; not needed without a service

    from graphmem.doors.service.wire import peer_of, receive, send  # noqa: PLC0415 - json

    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(ACCEPT_S if limit_s is None else limit_s)
        connection.connect(path)
        if peer_of(connection) not in (os.getuid(), None):
            return False, None
        send(connection, request, files)
        if connection.recv(1) != b"+":
            return False, None
        connection.sendall(b"+")  # only now the service begins: a caller that gave up is not answered
        connection.settimeout(limit_s)
        try:
            if limit_s is None and QUIET.isdisjoint(sys.argv):
                wait_for(connection)
            answer = receive(connection)[0]
        except OSError:
            answer = None
    return True, None if answer is None else printed(answer)


def wait_for(connection: "socket") -> None:
    """Wait for an answer; where it takes longer than a moment, a terminal shows that the service is at work."""
    import select  # noqa: PLC0415

    is_terminal = sys.stderr is not None and sys.stderr.isatty()
    if not is_terminal or select.select([connection], [], [], SILENT_S)[0]:
        return
    os.write(2, b"graphmem: the service is at work\r")
    try:
        select.select([connection], [], [])
    finally:
        os.write(2, b"\x1b[K")  # takes the line away


def _complain(code: str, message: str, hint: str | None = None) -> int:
    """Report an error as the command line does; return its exit status."""
    if "--json" in sys.argv:
        import json  # noqa: PLC0415

        found: dict[str, object] = {"code": code, "message": message, "hint": hint, "details": {}}
        text = json.dumps({"error": found}, ensure_ascii=False, separators=(",", ":"))
    else:
        text = f"error: {message}" + (f"\nhint: {hint}" if hint else "")
    os.write(2, f"{text}\n".encode())
    return LOST


def printed(answer: dict[str, object]) -> int:
    """Print an answer as the command would; return its exit status."""
    written: object = answer["written"]
    assert isinstance(written, list)
    for number, text in written:
        data = text.encode("utf-8", "backslashreplace")
        while data:
            try:
                data = data[os.write(number, data) :]
            except BrokenPipeError:  # the reader has read enough
                break
            except OSError as error:
                return _complain("unavailable", (error.strerror or "").lower())
    status = answer["status"]
    assert isinstance(status, int)
    return status
