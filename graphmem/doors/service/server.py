"""
The service of a project: answers command lines of this user's processes, each in a thread.

It is never needed: a command runs by itself where no service answers. So whatever is unusual ends the service, and its
callers go on without it.
Source: docs/decisions/0026-service.md.
"""

import contextlib
import fcntl
import gc
import io
import logging
import os
import socket
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import Any, BinaryIO

from graphmem.api import Memory
from graphmem.constants import SERVICE_CALLERS, SERVICE_DRAIN_S, SERVICE_IDLE_S
from graphmem.doors.service.caller import content_of, runs_here
from graphmem.doors.service.manage import refuse_no_folder
from graphmem.doors.service.place import path_of, project_of, stamp
from graphmem.doors.service.streams import Streams, of_caller, separate_streams
from graphmem.doors.service.wire import peer_of, receive, send
from graphmem.errors import Unavailable
from graphmem.kernel.embed.shared import Models
from graphmem.kernel.ledger.files.layout import Layout, located
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.settings.config import load_settings
from graphmem.kernel.system.surroundings import Surroundings, called_from
from graphmem.kernel.system.user import callers_own, own_store
from graphmem.kernel.telemetry import DONE, observed

CHOOSE = ("GRAPHMEM_STORES_ORGANISATION", "XDG_CONFIG_HOME")  # variables by which another store may be asked
LOOK_S = 0.5  # seconds between two looks at the files, the project and the clock
LOOKS = 40  # after which the store is opened although no file of it changed
UNSEEN = frozenset(("local", "state"))  # folders of a store that do not come from others
HANDSHAKE_S = 1.0  # seconds that a caller may take to send its request: it has it before it connects
FULL_S = 0.1  # seconds until the next try to accept a caller where the process has no file left
log = logging.getLogger("graphmem.doors.service")

# Takes arguments, the id of the request and the models; returns the exit status, and the command without its texts.
Run = Callable[[Sequence[str], str, Models], tuple[int, str]]


@dataclass(eq=False)
class Service:
    """
    The service of one project.

    Args:
        project: the folder that holds ``.graphmem``.
        run: runs a command line in this thread and returns its exit status.
        http: where it answers HTTP, if it does; ``token_file`` and ``read_token_file`` hold the tokens for that.
    """

    project: Path
    run: Run
    idle_s: float = SERVICE_IDLE_S
    http: str | None = None
    token_file: str | None = None
    read_token_file: str | None = None
    scope_token_files: dict[str, str] | None = None
    models: Models = field(default_factory=Models)
    requests: int = 0
    connected: int = 0  # callers, from when they are accepted until they have their answer
    running: int = 0
    is_left: bool = False  # its end did not wait for what still runs, whose answer is not to be relied on

    def __post_init__(self) -> None:
        self.began, self.last_request = time.time(), time.monotonic()
        self.stamp = stamp()
        self.lock = threading.Lock()
        self.ended = threading.Event()
        refuse_no_folder(self.project)
        self.store = located(Layout(self.project)).store
        self.inode = os.stat(self.store).st_ino
        self.path = str(path_of(str(self.project), "sock"))

    def serve(
        self,
        on_ready: Callable[[], None] = lambda: None,
        beside: Callable[[], contextlib.AbstractContextManager[None]] = contextlib.nullcontext,
    ) -> None:
        """
        Answer until the service is stopped or idle for ``idle_s`` seconds, or the project is gone.

        Args:
            beside: what runs for as long, such as HTTP.

        Raises:
            Unavailable: another process is the service of this project, or the socket cannot be made.
        """
        with self.alone(), beside(), self.listening() as listener, self.tidied():
            callers = ThreadPoolExecutor(SERVICE_CALLERS, thread_name_prefix="caller")
            log.info("began", extra={"project": str(self.project), "pid": os.getpid()})
            on_ready()
            gc.freeze()  # what is loaded stays: the collector need not look at it again
            gc.set_threshold(20_000, 20, 20)
            with separate_streams():
                threading.Thread(target=self.watch, daemon=True).start()
                while not self.ended.is_set():
                    if (connection := self.accepted(listener)) is not None:
                        callers.submit(self.answer, connection)
                with contextlib.suppress(OSError):
                    os.unlink(self.path)
                listener.close()
                self.drain()
            callers.shutdown(wait=False, cancel_futures=True)
        log.info("ended", extra={"requests": self.requests})

    def accepted(self, listener: socket.socket) -> socket.socket | None:
        """Return the connection of the next caller, counted, or None if no caller waits."""
        try:
            connection, _ = listener.accept()
        except TimeoutError:
            return None
        except OSError as error:  # the process has too many files open: those of other connections close again
            log.warning("no caller is accepted", extra={"error": error.strerror})
            self.ended.wait(FULL_S)
            return None
        with self.lock:
            self.connected += 1
        return connection

    def stop(self, number: int = 0, frame: FrameType | None = None) -> None:
        """End after the requests that are running."""
        self.ended.set()

    def drain(self) -> None:
        """Wait for the callers that were accepted and what runs; what takes too long is left behind, unanswered."""
        end = time.monotonic() + SERVICE_DRAIN_S
        while (self.running or self.connected) and time.monotonic() < end:
            time.sleep(0.01)
        self.is_left = True

    # --- alone ----------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def alone(self) -> Any:
        """Be the only service of the project while the block runs; the operating system ends that with the process."""
        handle = os.open(f"{self.path.removesuffix('sock')}lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise Unavailable("the service is running", hint="graphmem serve --status") from None
            os.ftruncate(handle, 0)
            os.write(handle, b"%d\n%b" % (os.getpid(), os.fsencode(self.project)))  # for people, and who tidies up
            yield
        except BaseException:
            os.close(handle)
            raise
        # else it stays open until the process ends, which is what somebody waits for who stops the service

    @contextlib.contextmanager
    def listening(self) -> Any:
        """Yield a socket that only this user can connect to; what a service left behind that was killed goes first."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listener:
            listener.bind(self.path)
            os.chmod(self.path, 0o600)  # before it listens: nobody can have connected
            listener.listen(128)
            listener.settimeout(LOOK_S)
            self.made = os.lstat(self.path).st_ino
            yield listener

    @contextlib.contextmanager
    def tidied(self) -> Iterator[None]:
        """Remove what is kept for people, logs and lock files, of projects that are gone; of this one at the end."""
        for lock in Path(self.path).parent.glob("*.lock"):
            with contextlib.suppress(OSError), lock.open("rb") as file:
                project = os.fsdecode(file.read().partition(b"\n")[2])
                if project and not located(Layout(Path(project))).store.is_dir():
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)  # no service has it
                    _remove_files(lock)
        yield
        if not located(Layout(self.project)).store.is_dir():
            _remove_files(Path(self.path))

    # --- watching -------------------------------------------------------------------------------------------------

    def watch(self) -> None:
        """Take in what changes on disk, and end the service where it is not needed any more."""
        seen, looks = None, 0
        while not self.ended.wait(LOOK_S):
            reason = self.reason_to_end()
            if reason:
                log.info("ending", extra={"reason": reason})
                self.stop()
            elif (found := _stamps(self.store)) != seen or not looks % LOOKS:
                self.take_in()
                seen = found
            looks += 1

    def reason_to_end(self) -> str | None:
        """Return why the service is no longer needed, or None."""
        try:  # what still runs when a folder goes may make one of its name again
            if os.stat(self.store).st_ino != self.inode or located(Layout(self.project)).store != self.store:
                return "the project is gone"
        except OSError:
            return "the project is gone"
        try:
            if os.lstat(self.path).st_ino != self.made:
                return "another service took its place"
        except OSError:
            return "its socket is gone"
        is_idle = not self.running and time.monotonic() - self.last_request > self.idle_s
        return "idle" if is_idle else None

    def take_in(self) -> None:
        """Take in the files that changed; what is wrong with them is reported to the next caller."""
        try:
            with Memory(self.project, models=self.models, scope="") as memory:
                memory.store.client.sync()
                _ = memory.store.client.embedder  # loaded before it is needed
        except Exception as error:  # the watcher goes on, for it also ends the service
            log.debug("files were not taken in", extra={"error": type(error).__name__})

    # --- answering ------------------------------------------------------------------------------------------------

    def answer(self, connection: socket.socket) -> None:
        """Answer one caller; whatever goes wrong ends only the connection, and the caller runs the command itself."""
        files: list[int] = []
        try:
            with connection:
                connection.settimeout(HANDSHAKE_S)
                if peer_of(connection) not in (os.getuid(), None):
                    return
                request, files = receive(connection)
                if request is None:
                    return
                if "manage" in request:
                    self.manage(connection, str(request["manage"]))
                elif request.get("stamp") != self.stamp:
                    if str(request.get("stamp")).splitlines()[:4] != self.stamp.splitlines()[:4]:
                        log.info("ending", extra={"reason": "a caller has another version"})
                        self.stop()
                elif self.may_run(request) and self.is_confirmed(connection):
                    self.run_for(connection, request, files)
        except Exception:
            log.exception("a request failed")
        finally:
            with self.lock:
                self.connected -= 1
            for file in files:
                with contextlib.suppress(OSError):
                    os.close(file)

    def may_run(self, request: dict[str, Any]) -> bool:
        """
        Return whether a command line is one for this service; the caller of any other runs it by itself.

        A caller may be in a sandbox that lets it reach this socket and little else: what runs where it is typed, and
        what is about another project, would be done outside of it.
        """
        arguments = [str(word) for word in request["arguments"]]
        if runs_here(arguments):
            return False
        variables = dict(request["variables"])
        project = project_of(arguments, str(request["folder"]), variables)
        if own_store(variables) not in (None, own_store(os.environ)):  # another folder than this service may ask
            return False
        if any(variables.get(name) != os.environ.get(name) for name in CHOOSE):
            with called_from(Surroundings(str(request["folder"]), variables)):
                named = load_settings().stores.organisation
            if named not in ("", load_settings().stores.organisation):
                return False
        if any(_is_elsewhere(word, str(request["folder"]), self.project) for word in arguments):
            return False
        return project is not None and os.path.realpath(project) == os.path.realpath(self.project)

    def is_confirmed(self, connection: socket.socket) -> bool:
        """Return whether the caller still waits: one that did not runs the command itself, also where this one ends."""
        if self.ended.is_set():
            return False
        try:
            connection.sendall(b"+")
            return connection.recv(1) == b"+"
        except OSError:
            return False

    def run_for(self, connection: socket.socket, request: dict[str, Any], files: list[int]) -> None:
        """Run the command line of a caller, and send what it would print and its exit status."""
        arguments = [str(word) for word in request["arguments"]]
        with self.counted():
            with observed("command", "unknown") as seen, _opened(files, request.get("input")) as given:
                streams = Streams(given, bool(request["is_terminal"]))
                token = of_caller.set(streams)
                try:
                    with (
                        called_from(
                            Surroundings(
                                str(request["folder"]), callers_own(request["variables"]), bool(request.get("is_typed"))
                            )
                        ),
                        _once(str(request["id"]), arguments) as asked,
                    ):
                        status, command = self.run(arguments, str(request["id"]), self.models)
                        if asked is not None:
                            asked.keep({"status": status, "written": [list(piece) for piece in streams.written]})
                finally:
                    of_caller.reset(token)
                seen.name, seen.outcome = command or seen.name, f"exit {status}" if status else DONE
            if self.is_left:
                return
            connection.settimeout(None)
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                send(connection, {"status": status, "written": streams.written}, [])
            log.info("answered", extra={"command": command, "status": status, "ms": round(seen.seconds * 1000, 1)})

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Count the block as a request that runs: the service is not idle, and ends after it."""
        with self.lock:
            self.requests, self.running, self.last_request = self.requests + 1, self.running + 1, time.monotonic()
        try:
            yield
        finally:
            with self.lock:
                self.running -= 1
                self.last_request = time.monotonic()

    def manage(self, connection: socket.socket, order: str) -> None:
        """Report how the service is, or end it."""
        if order == "stop":
            self.stop()
        send(connection, self.state(), [])

    def state(self) -> dict[str, Any]:
        """Return how the service is, as ``manage`` reads it."""
        return {
            "version": self.stamp.partition("\n")[0],
            "pid": os.getpid(),
            "since": self.began,
            "requests": self.requests,
            "clients": self.running,
            "model": next((found.embedder.name for found in self.models.embedders.values() if found.embedder), None),
            "http": self.http,
            "token_file": self.token_file,
            "read_token_file": self.read_token_file,
            "scope_token_files": self.scope_token_files,
        }


def _stamps(store: Path) -> list[tuple[str, int, int, int]]:
    """Return what tells the files of a store from what they were, at the cost of a look at their folders."""
    found = []
    for folder, folders, files in os.walk(store):
        folders[:] = [name for name in folders if name not in UNSEEN]
        for path in (os.path.join(folder, name) for name in files):
            with contextlib.suppress(OSError):
                one = os.lstat(path)
                found.append((path, one.st_mtime_ns, one.st_size, one.st_ino))
    return found


def _is_elsewhere(word: str, folder: str, project: Path) -> bool:
    """Return whether a word of a command line names a file that is there and not in the project."""
    named = [part for part in {word, *word.split("=", 1)[1:]} if os.path.exists(os.path.join(folder, part))]
    root = os.path.realpath(project)
    return any(os.path.commonpath([os.path.realpath(os.path.join(folder, part)), root]) != root for part in named)


def _once(request_id: str, arguments: list[str]) -> contextlib.AbstractContextManager[RequestUnderWay | None]:
    """Return what lets a block carry out a command line once; an event of a client is not sent a second time."""
    is_event = arguments[:1] == ["hook"]
    return contextlib.nullcontext() if is_event else carried_out(RequestUnderWay(request_id, content_of(arguments)))


@contextlib.contextmanager
def _opened(files: list[int], text: object = None) -> Any:
    """Yield the standard input of a caller, if it passed one on: a file, or what was in it."""
    if not files:
        yield io.BytesIO(text.encode("utf-8", "replace")) if isinstance(text, str) else None
        return
    stream: BinaryIO = open(files.pop(0), "rb")  # noqa: SIM115 - closed below
    with stream:
        yield stream


def _remove_files(path: Path) -> None:
    """Remove the logs and the lock file of a service, by any of its files."""
    for ending in (".log", ".log.1", ".lock"):
        with contextlib.suppress(OSError):
            path.with_suffix(ending).unlink(missing_ok=True)
