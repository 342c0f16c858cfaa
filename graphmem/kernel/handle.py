"""What ``Memory`` is besides its operations: it opens a store, gives each thread a client, and closes all of them."""

from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from graphmem.kernel import dispatch
from graphmem.kernel.dispatch import OWNER, Caller, Log
from graphmem.kernel.embed.shared import Models
from graphmem.kernel.settings.folders import named_scope
from graphmem.kernel.store import git_setup
from graphmem.kernel.store.runtime import (
    Client,
    MessageHandler,
    Progress,
    Runtime,
    find_store,
    fresh_id,
    no_progress,
    system_clock,
)


class Operations:
    """What has operations as methods."""

    def __init__(self, runtime: Runtime, caller: Caller = OWNER) -> None:
        self.runtime = runtime
        self.caller = caller

    @property
    def client(self) -> Client:
        """The client of this thread."""
        return self.caller.with_rights(self.runtime).client(self.runtime)

    def call(self, name: str, stream: Log | None = None, /, **given: object) -> Any:
        """Call an operation by its name with parameters that are not checked yet, and return its answer."""
        return dispatch.call(self.runtime, self.caller, name, given, stream)


def call_without_store(name: str, /, **given: object) -> Any:
    """Call an operation that needs no open store."""
    return dispatch.call(None, OWNER, name, given)


class Handle(Operations):
    """
    An open store.

    Args:
        folder: the folder that holds ``.graphmem``; None looks at ``GRAPHMEM_DIR``, then from here upwards.
        lock_timeout_s: seconds to wait for another writer; None for what the settings say.
        now: the clock.
        new_id: makes the ids of reports.
        on_message: takes a line for people, such as a bad line of a file; each reported once.
        progress: shows long work.
        at: a commit, or a date that means the last commit before it: the memory as it was then, only to be read.
        command: what ``undo --list`` is to call the writes.
        models: those of another memory, ``other.runtime.models``: each is loaded once for both.
        scope: the scope of the project that says what may be read and written; None looks at ``GRAPHMEM_SCOPE``, an
            empty text is for all.

    Raises:
        Unavailable: there is no store; make one with ``Memory.init``.
        NotFound: ``at`` names no commit with a store, or there is no such scope.
    """

    def __init__(
        self,
        folder: Path | str | None = None,
        *,
        lock_timeout_s: float | None = None,
        now: Callable[[], datetime] = system_clock,
        new_id: Callable[[], str] = fresh_id,
        on_message: MessageHandler = lambda text: None,
        progress: Progress = no_progress,
        at: str | None = None,
        command: str = "python",
        models: Models | None = None,
        scope: str | None = None,
    ) -> None:
        is_fresh = not find_store(folder).local.exists()
        scope = (named_scope() if scope is None else scope) or None
        options = {} if lock_timeout_s is None else {"store": {"lock_timeout": lock_timeout_s}}
        super().__init__(
            Runtime(
                folder,
                at,
                now,
                new_id,
                on_message,
                progress,
                command,
                options,
                models=models or Models(),
                tells_subjects=scope is None,
            ),
            Caller(scope=scope),
        )
        client = self.client  # opened now, so that what is wrong with it is raised here
        if is_fresh and git_setup.unregistered(client.layout):
            client.notify_once(
                "git does not know yet how to merge this memory's files; run once in this clone: graphmem init"
            )

    def close(self) -> None:
        """Let go of the store's files."""
        self.runtime.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()
