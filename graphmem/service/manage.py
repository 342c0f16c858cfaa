"""Start and end the service of a project, and ask how it is."""

import fcntl
import os
import socket
import time
from pathlib import Path
from typing import Any

from graphmem.constants import SERVICE_DRAIN_S, SERVICE_START_S
from graphmem.contract.service import ServiceStatus
from graphmem.errors import Unavailable
from graphmem.model.field import parse_time
from graphmem.service.launch import launch
from graphmem.service.place import path_of
from graphmem.service.wire import receive, send

POLL_S = 0.02
ANSWER_S = 5.0  # seconds that a service may take to say how it is


def status(project: Path) -> ServiceStatus:
    """
    Return how the service of a project is.

    Raises:
        Unavailable: a process is the service, and does not answer.
    """
    return asked(project, "status")


def asked(project: Path, order: str) -> ServiceStatus:
    """Return what the service answers to an order; where there is none, that."""
    path, store = path_of(str(project), "sock"), str(project)
    if path is None:
        return ServiceStatus(ok=False, store=store)
    try:
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(ANSWER_S)
            connection.connect(path)
            send(connection, {"manage": order}, [])
            found, _ = receive(connection)
    except OSError:
        found = None
    if found is None and is_stuck(project):
        number = holder(project)
        raise Unavailable(f"the service, process {number}, does not answer", hint=f"end it: kill -9 {number}")
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
    found = asked(project, "stop")
    end = time.monotonic() + SERVICE_DRAIN_S + 1
    while found.ok and is_held(project):
        if time.monotonic() > end:
            raise Unavailable(f"the service, process {found.pid}, still runs a command", hint="try again later")
        time.sleep(POLL_S)
    return ServiceStatus(ok=False, store=str(project))


def refuse_no_folder(project: Path) -> None:
    """Raise ``Unavailable`` where there is no folder for the socket of a service."""
    if path_of(str(project), "sock") is None:
        message = "there is no folder that only this user can write, for the socket of the service"
        raise Unavailable(message, hint="set XDG_RUNTIME_DIR to a folder of yours with mode 0700")


def is_stuck(project: Path) -> bool:
    """Return whether a process is the service and listens, though it does not answer; one that begins does not yet."""
    return is_held(project) and os.path.exists(str(path_of(str(project), "sock")))


def holder(project: Path) -> str:
    """Return the number of the process that is the service, as its lock file says."""
    try:
        with open(str(path_of(str(project), "lock")), encoding="ascii") as file:
            return file.read(20)
    except OSError:
        return "?"


def is_over(child: int) -> bool:
    """Return whether a child has ended, but because another service was faster."""
    try:
        ended, status = os.waitpid(child, os.WNOHANG)
    except ChildProcessError:  # it was asked for before
        return False
    return bool(ended) and os.waitstatus_to_exitcode(status) != Unavailable.exit_status


def is_held(project: Path) -> bool:
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


def start(project: Path, log_format: str = "text") -> ServiceStatus:
    """
    Start the service of a project in the background, and wait until it answers; one that runs already is it.

    Raises:
        Unavailable: it does not answer in time.
    """
    refuse_no_folder(project)
    found = status(project)
    if found.ok:
        return found
    child = launch(str(project), "--log-format", log_format)
    end = time.monotonic() + SERVICE_START_S
    while not (found := status(project)).ok:
        if time.monotonic() > end:
            raise Unavailable("the service does not answer", hint="see: graphmem serve --logs")
        if is_over(child):
            raise Unavailable("the service ended when it started", hint="run it in the foreground: graphmem serve")
        time.sleep(POLL_S)
    return found
