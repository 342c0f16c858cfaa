"""What the hooks gave to each session of a coding agent: in ``state/``, never committed (docs/guides/agents.md)."""

import contextlib
import hashlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from graphmem.constants import RUN_DAYS
from graphmem.errors import Unavailable
from graphmem.kernel.machine import impact
from graphmem.kernel.machine.impact import HookCounts, SessionImpact
from graphmem.kernel.machine.state import State
from graphmem.kernel.model.field import Time
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


DECODE = HookSession.model_validate_json


@dataclass(frozen=True)
class HookSessions:
    """The sessions of the clients, which are forgotten after some days but for what was done in them."""

    state: State

    def of(self, session: str) -> HookSession | None:
        """Return what is kept of a session."""
        return self.state.read("hook", session, DECODE)

    def every(self) -> dict[str, HookSession]:
        """Return the sessions that have not ended."""
        return self.state.read_all("hook", DECODE)

    @contextlib.contextmanager
    def changing(self, session: str, now: datetime) -> Iterator[HookSession]:
        """
        Yield a session, alone with it; what the block changes is written at its end.

        Raises:
            Unavailable: it cannot be written.
        """
        with self.state.changing() as kept:
            before = kept.read("hook", session, DECODE)
            found = before.model_copy(deep=True) if before else HookSession(at=now, since=now)
            yield found
            if found != before:
                found.at = now
                kept.put("hook", session, found.model_dump_json().encode())

    def forget(self, session: str, now: datetime) -> None:
        """Remove a session that ended, and those of which nothing was heard for days; none of which something waits."""
        with contextlib.suppress(Unavailable), self.state.changing() as kept:
            ended = {
                name: found.impact(name)
                for name, found in kept.read_all("hook", DECODE).items()
                if not found.waiting and (name == session or now - found.at > timedelta(days=RUN_DAYS))
            }
            if ended:
                impact.keep(kept, ended.values())
                kept.drop("hook", ended)

    def drop(self, is_told: Callable[[str], bool]) -> None:
        """
        Remove the references that hold something from every session.

        Raises:
            Unavailable: it cannot be written.
        """
        with self.state.changing() as kept:
            for name, found in kept.read_all("hook", DECODE).items():
                lists = {name: getattr(found, name) for name in ("shown", "used", "late")}
                left = {name: [ref for ref in refs if not is_told(ref)] for name, refs in lists.items()}
                left["waiting"] = [told for credit in found.waiting if (told := _without(credit, is_told)).shown]
                kept.put("hook", name, found.model_copy(update=left).model_dump_json().encode())


def _without(credit: Credit, is_told: Callable[[str], bool]) -> Credit:
    """Return a credit without the references and texts that hold something."""
    kept = {ref: None if line and is_told(line) else line for ref, line in credit.shown.items() if not is_told(ref)}
    return credit.model_copy(update={"shown": kept})


def name_of(client: str, session: str) -> str:
    """Return the name of a session of a client: a slug, whatever its id is."""
    return f"{client}-{hashlib.sha256(session.encode()).hexdigest()[:ID_LENGTH]}"
