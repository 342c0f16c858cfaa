"""Start and end the service of a project, and ask how it is."""

import fcntl
import json
import os
import socket
import tempfile
import time
from pathlib import Path
from typing import Any, BinaryIO

from graphmem.constants import SERVICE_DRAIN_S, SERVICE_START_S
from graphmem.doors.service.launch import launch
from graphmem.doors.service.place import path_of
from graphmem.doors.service.wire import receive, send
from graphmem.errors import Damaged, GraphmemError, Locked, Refused, Unavailable, Usage
from graphmem.kernel.machine.service_state import ServiceStatus
from graphmem.kernel.model.field import parse_time

POLL_S = 0.02
ANSWER_S = 5.0  # seconds that a service may take to say how it is


def status(project: Path) -> ServiceStatus:
    """
    Return how the service of a project is.

    Raises:
        Unavailable: a process is the service, and does not answer.
    """
    return _asked(project, "status")


def _asked(project: Path, order: str) -> ServiceStatus:
    """Return the answer of the service to an order; an error if no service runs."""
    path, store = path_of(str(project), "sock"), str(project)
    if path is None:
        return ServiceStatus(ok=False, store=store)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(path)
            send(connection, {"manage": order}, [])
            found, _ = receive(connection)
    except (FileNotFoundError, ConnectionRefusedError):  # none, one that begins, or the socket of one that was killed
        return ServiceStatus(ok=False, store=store)
    except OSError:
        found = None
    if found is None and _is_held(project):
        number = _holder(project)
        message = f"the service, process {number}, did not answer in {ANSWER_S:.0f} s"
        raise Unavailable(message, hint=f"try again; if it stays so, end it: kill -9 {number}")
    if found is None:
        return ServiceStatus(ok=False, store=store)
    return status_of(project, found)


def status_of(project: Path, state: dict[str, Any]) -> ServiceStatus:
    """Return how a service is, from what it says."""
    store, since = str(project), time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(state["since"]))
    return ServiceStatus(
        **{**state, "ok": True, "store": store, "since": parse_time(since), "log": path_of(store, "log")}
    )


def stop(project: Path) -> ServiceStatus:
    """
    End the service of a project, and wait until it has ended.

    Raises:
        Unavailable: it still runs a command after half a minute.
    """
    found = _asked(project, "stop")
    end = time.monotonic() + SERVICE_DRAIN_S + 1
    while found.ok and _is_held(project):
        if time.monotonic() > end:
            raise Unavailable(f"the service, process {found.pid}, still runs a command", hint="try again later")
        time.sleep(POLL_S)
    return ServiceStatus(ok=False, store=str(project))


def refuse_no_folder(project: Path) -> None:
    """Raise ``Unavailable`` where there is no folder for the socket of a service."""
    if path_of(str(project), "sock") is None:
        message = "there is no folder that only this user can write, for the socket of the service"
        raise Unavailable(message, hint="set XDG_RUNTIME_DIR to a folder of yours with mode 0700")


def _holder(project: Path) -> str:
    """Return the number of the process that is the service, as its lock file says."""
    try:
        with open(str(path_of(str(project), "lock")), "rb") as file:
            return file.readline().decode("ascii", "replace").strip()
    except OSError:
        return "?"


def _is_over(child: int) -> bool:
    """Return whether a child has ended."""
    try:
        return os.waitpid(child, os.WNOHANG)[0] != 0
    except ChildProcessError:  # it was asked for before
        return True


def _error_of(said: BinaryIO) -> GraphmemError:
    """Return the error that a service reported when it could not start."""
    said.seek(0)
    try:
        found = json.loads(said.read().splitlines()[-1])["error"]
        kind = next(kind for kind in (Usage, Refused, Locked, Damaged, Unavailable) if kind.code == found["code"])
        return kind(found["message"], hint=found["hint"], details=found["details"])
    except (ValueError, LookupError, TypeError, StopIteration):
        message = "the service ended when it started"
        return Unavailable(message, hint="run it in the foreground: graphmem serve")


def _is_held(project: Path) -> bool:
    """Return whether a process is the service of a project: it holds the lock until it ends."""
    try:
        handle = os.open(str(path_of(str(project), "lock")), os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(handle)
    return False


def start(project: Path, log_format: str = "text", http: str | None = None) -> ServiceStatus:
    """
    Start the service of a project in the background, and wait until it answers; one that runs already is it.

    Args:
        http: the address at which it is to answer HTTP; then a service that does not is ended first.

    Raises:
        Unavailable: it does not answer in time, or answers HTTP at another address.
        GraphmemError: what it says when it cannot start.
    """
    refuse_no_folder(project)
    found = status(project)
    if _is_wanted(found, http):
        return found
    options = ["--log-format", log_format, "--json", *(["--http", http] if http else [])]
    end = time.monotonic() + SERVICE_START_S + (SERVICE_DRAIN_S if found.ok else 0)
    with tempfile.TemporaryFile() as said:
        child = launch(str(project), *options, errors=said.fileno())
        while not _is_wanted(found := status(project), http):
            if time.monotonic() > end:
                raise Unavailable("the service does not answer", hint="see: graphmem serve --logs")
            if _is_over(child) and not (http is None and _is_held(project)):  # another one may have been faster
                raise _error_of(said)
            time.sleep(POLL_S)
    return found


def _is_wanted(found: ServiceStatus, http: str | None) -> bool:
    """Return whether a service answers, and over HTTP at an address if one is given; port 0 is any."""
    if not found.ok or http is None or found.http is None:
        return found.ok and http is None
    address = found.http.removeprefix("http://")
    return http in (address, f"{address.rpartition(':')[0]}:0")


def make_room(project: Path) -> None:
    """
    End the service of a project, for one with HTTP to take its place; its callers go on with that one.

    Raises:
        Unavailable: it answers HTTP already.
    """
    found = status(project)
    if found.http:
        message = f"the service of this project answers HTTP already, at {found.http}"
        raise Unavailable(message, hint="end it first: graphmem serve --stop")
    if found.ok:
        stop(project)
