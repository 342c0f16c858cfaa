"""What one run of the command line knows: its options, its memory, and how it speaks."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson
import typer
from pydantic import BaseModel

from graphmem.memory import Memory
from graphmem.names import visible

if TYPE_CHECKING:
    from rich.progress import Progress as Bar


@dataclass
class Session:
    """The options that every verb takes, and what they lead to."""

    folder: str | None = None
    is_json: bool = False
    is_quiet: bool = False
    lock_timeout_s: float | None = None
    opened: Memory | None = None
    bar: Any = None
    tasks: dict[str, Any] = field(default_factory=dict)

    @property
    def is_debug(self) -> bool:
        """Tell whether the developer wants the traceback of a bug."""
        return bool(os.environ.get("GRAPHMEM_DEBUG_TRACEBACK"))

    @property
    def memory(self) -> Memory:
        """The memory that this run works on."""
        if self.opened is None:
            self.opened = Memory(self.folder, lock_timeout_s=self.lock_timeout_s, say=self.say, progress=self.progress)
        return self.opened

    def close(self) -> None:
        """End progress and let go of the store."""
        if self.bar is not None:
            self.bar.stop()
        if self.opened is not None:
            self.opened.close()

    # --- speaking -----------------------------------------------------------------------------------------------

    def say(self, text: str) -> None:
        """Say something to the person on standard error."""
        if not self.is_quiet:
            print(visible(f"graphmem: {text}"), file=sys.stderr)

    def fail(self, code: str, message: str, hint: str | None, details: Mapping[str, object]) -> None:
        """Say what went wrong: for people in two lines, with ``--json`` as one document."""
        if self.is_json:
            error = {"code": code, "message": message, "hint": hint, "details": details}
            print(orjson.dumps({"error": error}, default=str).decode(), file=sys.stderr)
            return
        print(visible(f"error: {message}"), file=sys.stderr)
        if hint:
            print(visible(f"hint: {hint}"), file=sys.stderr)

    def progress(self, what: str, done: int, total: int) -> None:
        """Show long work on standard error, when somebody is there to see it."""
        if self.is_quiet or not sys.stderr.isatty():
            return
        if self.bar is None:
            self.bar = new_bar()
            self.bar.start()
        if what not in self.tasks:
            self.tasks[what] = self.bar.add_task(what, total=total or None)
        self.bar.update(self.tasks[what], completed=done, total=total or None)

    def answer(self, answer: BaseModel, text: str) -> None:
        """Print an answer: its JSON, or the text for people."""
        if self.is_json:
            print(answer.model_dump_json(by_alias=True))
        elif text:
            print(visible(text))


def new_bar() -> "Bar":
    """Return a progress display on standard error."""
    from rich.console import Console  # noqa: PLC0415 - rich costs 40 ms, and most commands are done before that
    from rich.progress import Progress  # noqa: PLC0415

    return Progress(console=Console(stderr=True), transient=True)


def session_of(ctx: typer.Context) -> Session:
    """Return the session of this run."""
    session = ctx.find_root().obj
    assert isinstance(session, Session)
    return session


def complete_ref(incomplete: str) -> list[str]:
    """Return references for the shell to complete."""
    try:
        with Memory() as memory:
            return memory.names(incomplete)
    except Exception:  # the shell's boundary: no completion is better than a traceback in the prompt
        return []


def complete_type(incomplete: str) -> list[str]:
    """Return relation types for the shell to complete."""
    return completions(incomplete, lambda memory: [made.type for made in memory.types.list().relations])


def complete_kind(incomplete: str) -> list[str]:
    """Return kinds and entity types for the shell to complete."""
    return completions(incomplete, lambda memory: list(memory.store.catalog.vocabulary.scopes))


def completions(incomplete: str, names: Any) -> list[str]:
    """Return those names that begin with what was typed."""
    try:
        with Memory() as memory:
            return [name for name in names(memory) if name.startswith(incomplete)]
    except Exception:  # the shell's boundary, as above
        return []
