"""What one run of the command line knows: its options, its memory, and how it speaks."""

import contextlib
import hashlib
import itertools
import json
import os
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from pydantic import BaseModel

import graphmem
from graphmem.doors.service.caller import SILENT_S
from graphmem.doors.service.place import path_of
from graphmem.errors import AlreadyDone, Unavailable, Usage
from graphmem.kernel.ledger import undo
from graphmem.kernel.machine import requests
from graphmem.kernel.machine.service_state import Done
from graphmem.kernel.machine.state import State
from graphmem.kernel.settings.config import load_settings
from graphmem.kernel.settings.folders import user_store
from graphmem.kernel.system.surroundings import variables
from graphmem.kernel.system.user import STORES, coding_agent
from graphmem.kernel.terminal import fitted
from graphmem.names import for_user, inert, visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

    from graphmem.api import Memory
    from graphmem.kernel.embed.shared import Models
    from graphmem.kernel.ledger.files.layout import Layout


ONCE = frozenset({"undo"})  # commands that do something else when they run a second time


@dataclass
class Invocation:
    """The options that every verb takes, and what they lead to."""

    folder: str | None = None
    is_json: bool = False
    is_quiet: bool = False
    lock_timeout_s: float | None = None
    at: str | None = None
    scope: str | None = None
    is_user: bool = False  # the folder is that of the user's own store
    is_talk_off: bool = False  # what the store reports is in the answer of this command
    command: str = ""  # the verb and its noun, such as "add failure"
    via: str | None = None  # through what its rows are written, where the command says so
    opened: "Memory | None" = None
    bar: Any = None
    tasks: dict[str, Any] = field(default_factory=dict)
    showing: Any = field(default_factory=threading.RLock)  # held by the thread that changes the display
    notes: list[str] = field(default_factory=list)  # with --json they come at the end, or in the error
    new_id: Callable[[], str] = field(default_factory=lambda: ids_of(os.urandom(16).hex()))  # makes the ids of reports
    models: "Models | None" = None  # those that a service has loaded
    before_error: Callable[[], object] = lambda: None  # called when the command has failed and only says so

    def use_store(self, store: str) -> None:
        """
        Work on the user's own store, or on the organisation's.

        Raises:
            Usage: it is turned off, or another store is named as well.
        """
        name = STORES[store]
        if store == "user":
            found, hint = str(user_store() or ""), "GRAPHMEM_USER_STORE names its folder, an absolute path"
        else:
            found, hint = load_settings().stores.organisation, "stores.organisation in your own config file names it"
        if not found:
            raise Usage(f"{name} is turned off", hint=hint)
        if self.folder is not None and Path(self.folder) != Path(found):
            raise Usage(f"--dir and {name} are two stores", hint="name one of them")
        self.folder, self.is_user = found, store == "user"

    @property
    def is_debug(self) -> bool:
        """Return whether the developer wants the traceback of a bug."""
        return bool(os.environ.get("GRAPHMEM_DEBUG_TRACEBACK"))

    @property
    def memory(self) -> "Memory":
        """The memory that this run works on."""
        if self.opened is None:
            self.opened = graphmem.Memory(
                self.folder,
                lock_timeout_s=self.lock_timeout_s,
                on_message=self.say,
                progress=self.progress,
                at=self.at,
                new_id=self.new_id,
                command=self.command,
                via=self.via or coding_agent(variables()) or "cli",
                models=self.models,
                scope=self.scope,
            )
            self.refuse_done(self.opened.store.client.layout, self.opened.store.caller.scope)
        return self.opened

    def refuse_done(self, layout: "Layout", scope: str | None) -> None:
        """
        Let the command begin, unless it is a repeat of one that was carried out.

        Raises:
            AlreadyDone: it was; the error has what it printed.
            Unavailable: it may have been, and does something else when it runs again.
        """
        request = requests.current()
        if request is None:
            return
        request.scope = scope
        request.refuse_done(State(layout.state_file), partial(undo.has_happened, layout))
        if request.is_repeat and self.command in ONCE:
            hint = "look before you repeat it, such as with: graphmem undo --list"
            raise Unavailable("the service ended while it ran the command; it may be done", hint=hint)

    @property
    def wants_service(self) -> bool:
        """Return whether the settings ask for a service and none was started yet."""
        if self.opened is None or os.environ.get("GRAPHMEM_SERVICE") == "off":
            return False
        client = self.opened.store.client
        path = path_of(str(client.layout.root), "sock") if client.settings.service.autostart else None
        return path is not None and not os.path.exists(path)

    def close(self) -> None:
        """End progress, say what was kept back, and let go of the store."""
        self.end_progress()
        for note in self.notes:
            print(note, file=sys.stderr)
        if self.opened is not None:
            self.opened.close()

    def repeat(self, error: AlreadyDone) -> int:
        """Print what the command printed when it was carried out; return its exit status."""
        answer = error.answer
        if not isinstance(answer, dict):  # it was lost between the write and its answer
            self.answer(Done(), f"{error.message}; see: graphmem undo --list")
            return 0
        for number, text in answer["written"]:
            print(text, end="", file=sys.stdout if number == 1 else sys.stderr)
        return int(answer["status"])

    # --- speaking -----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Say something to the person on standard error."""
        if self.is_quiet or self.is_talk_off:
            return
        line = visible(f"graphmem: {for_user(text) if self.is_user else text}")
        if self.is_json:
            self.notes.append(line)  # an error has to be one document
        else:
            print(fitted(line) if sys.stderr.isatty() else line, file=sys.stderr)

    def fail(self, code: str, message: str, hint: str | None, details: Mapping[str, object]) -> None:
        """Report what went wrong: for people in two lines, with ``--json`` as one document."""
        self.before_error()
        self.end_progress()
        hint = for_user(hint) if hint and self.is_user else hint
        if self.is_json:
            notes = {"notes": self.notes} if self.notes else {}
            error = {"code": code, "message": message, "hint": hint, "details": {**details, **notes}}
            print(
                inert(json.dumps({"error": error}, default=str, ensure_ascii=False, separators=(",", ":"))),
                file=sys.stderr,
            )
            self.notes = []
            return
        print(visible(f"error: {message}"), file=sys.stderr)
        if hint:
            print(visible(f"hint: {hint}"), file=sys.stderr)

    @property
    def shows_progress(self) -> bool:
        """Whether a person watches standard error, and wants to."""
        return not self.is_quiet and sys.stderr.isatty()

    def progress(self, what: str, done: int, total: int) -> None:
        """Show long work on standard error, on a terminal."""
        if not self.shows_progress:
            return
        with self.showing:
            if self.bar is None:
                self.bar = _new_bar()
                self.bar.start()
            if what not in self.tasks:
                self.tasks[what] = self.bar.add_task(what, total=total or None)
            self.bar.update(self.tasks[what], completed=done, total=total or None)
            if 0 < total <= done:
                self.end_progress()

    @contextlib.contextmanager
    def at_work(self) -> Iterator[None]:
        """Show on a terminal that the command is at work, where the block takes longer than a moment."""
        if not self.shows_progress:
            yield
            return
        timer = threading.Timer(SILENT_S, self.progress, (self.command, 0, 0))
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()
            timer.join()
            self.end_progress()

    def end_progress(self) -> None:
        """Take the progress display away: what follows may print."""
        with self.showing:
            if self.bar is not None:
                self.bar.stop()
            self.bar, self.tasks = None, {}

    def answer(self, answer: BaseModel, text: str, *, is_dim: bool = False, is_file: bool = False) -> None:
        """
        Print an answer: its JSON, or the text for people, on a terminal as wide as that is.

        Args:
            is_dim: on a terminal it is dimmed.
            is_file: the text is for another program, and stays as it is.
        """
        if self.is_json:
            self.write(inert(answer.model_dump_json(by_alias=True)))
        elif text and not is_file and sys.stdout.isatty():
            self.write(fitted(visible(text)), is_dim=is_dim)
        elif text:
            self.write(text)

    def write(self, text: str, *, is_dim: bool = False) -> None:
        """Print to standard output, hidden characters escaped; a reader that is gone is not an error."""
        self.end_progress()
        shown = visible(text)
        try:
            print(typer.style(shown, dim=True) if is_dim else shown, flush=True)
        except BrokenPipeError:
            sys.stdout = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115 - the end of the process closes it
            raise typer.Exit from None


def ids_of(request_id: str) -> Callable[[], str]:
    """Return what makes the ids of one command; run again for the same request it makes the same ids."""
    numbers = itertools.count()
    return lambda: hashlib.sha256(f"{request_id}/{next(numbers)}".encode()).hexdigest()[:32]


def _new_bar() -> "Bar":
    """Return a progress display on standard error."""
    from rich.console import Console  # noqa: PLC0415 - rich costs 40 ms, and most commands are done before that
    from rich.progress import Progress  # noqa: PLC0415

    return Progress(console=Console(stderr=True), transient=True, refresh_per_second=4)


def invocation_of(ctx: typer.Context) -> Invocation:
    """Return the invocation of this run."""
    invocation = ctx.find_root().obj
    assert isinstance(invocation, Invocation)
    invocation.command = ctx.command_path.partition(" ")[2]
    return invocation
