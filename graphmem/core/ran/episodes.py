"""
Which commands failed on this machine and have not passed since, and what was shown: in ``state/``, never committed.

Source: docs/guides/running-tests.md.
"""

from datetime import datetime, timedelta

from pydantic import BaseModel, ConfigDict

from graphmem.constants import RUN_DAYS
from graphmem.kernel.machine.state import State
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.field import Time

GONE = "purged"  # in the place of a purged failure among those that a run showed: it means no record


class Tree(BaseModel):
    """The files of a project at a moment: those that differ from a commit, or all of a few, each with its stamp."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    base: str = ""  # the commit; empty outside of git
    stamps: dict[str, str] = {}


Check = tuple[
    str, tuple[str, ...], tuple[str, ...], tuple[str, ...], str
]  # the values of a ``logs.check.CheckCommand``


class Episode(BaseModel):
    """
    The failing runs of one command in one session since it last passed.

    ``shown`` holds the known failures, each with what was shown that may fix it; all by key, so that a rename is no
    matter. ``lines`` holds the line of the log that reported each, ``unknown`` unknown errors, as triggers.
    ``tree`` is how the project was after the last of them, ``ran`` how many tests ran at most, and ``failed`` which
    of them failed in the last. ``session`` is a hash of the session, and ``checks`` is what the command checks, with
    paths below the project: a pass of another command of that session may settle it too.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    id: str
    at: Time  # of the last of them
    since: Time | None = None  # of the first of them
    shown: dict[str, list[str]] = {}
    lines: dict[str, str] = {}
    unknown: list[str] = []
    tree: Tree = Tree()
    ran: int = 0
    failed: list[str] = []
    session: str = ""
    checks: tuple[Check, ...] = ()


Episodes = dict[str, Episode]  # by a key of session and command


def read(state: State, now: datetime) -> Episodes:
    """Return what failed lately."""
    found = state.read_all("ran", Episode.model_validate_json)
    return {key: one for key, one in found.items() if is_recent(one, now)}


def is_recent(one: Episode, now: datetime) -> bool:
    """Return whether a session of today may be at it."""
    return now - one.at <= timedelta(days=RUN_DAYS)


def clear_purged(state: State, traces: Traces) -> None:
    """Take purged records out of what failing runs showed."""
    with state.changing() as kept:
        for key, episode in kept.read_all("ran", Episode.model_validate_json).items():
            shown: dict[str, list[str]] = {}
            for ref, others in episode.shown.items():  # what was shown for a purged failure may still have helped
                rest = shown.setdefault(GONE if traces.is_called(ref) else ref, [])
                rest += [other for other in others if not traces.is_called(other)]
            unknown = [text for text in episode.unknown if not traces.is_told(text)]
            said = {ref: text for ref, text in episode.lines.items() if ref in shown and not traces.is_told(text)}
            made = episode.model_copy(update={"shown": shown, "lines": said, "unknown": unknown})
            kept.put("ran", key, made.model_dump_json().encode())
