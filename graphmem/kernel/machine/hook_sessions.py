"""What the hooks gave to each session of a coding agent: in ``state/``, never committed (docs/guides/agents.md)."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from graphmem.constants import RUN_DAYS
from graphmem.errors import Locked
from graphmem.kernel.machine import impact
from graphmem.kernel.machine.impact import HookCounts, SessionImpact
from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.model.field import Time
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked
from graphmem.names import mark

ID_LENGTH = 16


class Credit(BaseModel):
    """
    What a pass says helped: by reference by key, the line of the log that each was shown for.

    ``task`` is what the report is for, ``since`` when the first of the failing runs was.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    shown: dict[str, str | None]
    task: str
    since: Time


class HookSession(BaseModel):
    """
    One session: whether it was briefed, and the memories shown, used and reported too late, by reference by key.

    A memory is shown once a session; after its context was compacted it may be shown again. ``began`` is when the
    command began that runs now, where it may settle a failure; ``acted`` when the agent last did what may fix one.
    ``waiting`` is what is written at its end, ``counts`` what the hooks put into it.
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)

    at: Time
    since: Time | None = None
    is_briefed: bool = False
    shown: list[str] = []
    used: list[str] = []
    began: float | None = None
    acted: Time | None = None
    counts: HookCounts = HookCounts()
    given: list[list[str]] = []  # of each hint, hashes of the memory and of the pattern that it hands out
    late: list[str] = []  # what is known of events whose answer the agent did not wait for
    waiting: list[Credit] = []

    def impact(self, name: str) -> SessionImpact:
        """Return what the hooks did in the session, in numbers."""
        credited = {mark(ref) for ref in self.used}
        used = sum(not credited.isdisjoint(hint) for hint in self.given)
        given = {"id": name, "at": self.since or self.at, "hints": len(self.given), "used": used}
        return SessionImpact.model_validate(self.counts.model_dump() | given)


@dataclass(frozen=True)
class HookSessions:
    """The sessions of the clients, a file each, which are forgotten after some days but for what was done in them."""

    folder: Path
    past: Path
    lock: Path
    timeout_s: float

    def of(self, session: str) -> HookSession | None:
        """Return what is kept of a session."""
        return read(self.folder / f"{session}.json")

    def under_way(self) -> list[SessionImpact]:
        """Return what the hooks did in the sessions that have not ended."""
        names = [path.stem for path in safe_files.files(self.folder)]
        return [found.impact(name) for name in names if (found := self.of(name)) is not None]

    def waiting(self) -> list[str]:
        """Return the sessions of which something waits to be written."""
        names = [path.stem for path in safe_files.files(self.folder)]
        return [name for name in names if (found := self.of(name)) is not None and found.waiting]

    @contextlib.contextmanager
    def changing(self, session: str, now: datetime) -> Iterator[HookSession]:
        """
        Yield a session, alone with it; what the block changes is written at its end.

        Raises:
            Locked: another process is at it all the time.
            OSError: it cannot be written.
        """
        path = self.folder / f"{session}.json"
        with locked(self.lock, timeout_s=self.timeout_s):
            found = read(path) or HookSession(at=now, since=now)
            before = found.model_copy(deep=True)
            yield found
            if found == before and path.exists():
                return
            found.at = now
            safe_files.put(path, found.model_dump_json().encode())

    def forget(self, session: str, now: datetime) -> None:
        """Remove a session that ended, and those of which nothing was heard for days; none of which something waits."""
        with contextlib.suppress(OSError, Locked), locked(self.lock, timeout_s=self.timeout_s):
            every = [(path, read(path)) for path in safe_files.files(self.folder)]
            ended = {
                path: found.impact(path.stem)
                for path, found in every
                if found is not None
                and not found.waiting
                and (path.stem == session or now - found.at > timedelta(days=RUN_DAYS))
            }
            if ended:
                impact.keep(self.past, ended.values())
            for path in [path for path, found in every if found is None or path in ended]:
                safe_files.remove(path)

    def drop(self, is_told: Callable[[str], bool]) -> None:
        """
        Remove the references that hold something from every session.

        Raises:
            Locked: another process is at it all the time.
            OSError: a file cannot be replaced.
        """
        with locked(self.lock, timeout_s=self.timeout_s):
            for path in safe_files.files(self.folder):
                if (found := read(path)) is None:
                    continue
                lists = {name: getattr(found, name) for name in ("shown", "used", "late")}
                kept = {name: [ref for ref in refs if not is_told(ref)] for name, refs in lists.items()}
                kept["waiting"] = [told for credit in found.waiting if (told := without(credit, is_told)).shown]
                changed = found.model_copy(update=kept)
                if changed != found:
                    safe_files.put(path, changed.model_dump_json().encode())


def without(credit: Credit, is_told: Callable[[str], bool]) -> Credit:
    """Return a credit without the references and texts that hold something."""
    kept = {ref: None if line and is_told(line) else line for ref, line in credit.shown.items() if not is_told(ref)}
    return credit.model_copy(update={"shown": kept})


def read(path: Path) -> HookSession | None:
    """Return a session; None where it is not kept, or its file is damaged."""
    return read_state(path, HookSession.model_validate_json)


def name_of(client: str, session: str) -> str:
    """Return the name of a session of a client: a slug, whatever its id is."""
    return f"{client}-{hashlib.sha256(session.encode()).hexdigest()[:ID_LENGTH]}"
