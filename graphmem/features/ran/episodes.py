"""
Which commands failed on this machine and have not passed since, and what was shown: in ``state/``, never committed.

Source: docs/guides/running-tests.md.
"""

import contextlib
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

from pydantic import BaseModel, ConfigDict, TypeAdapter

from graphmem.constants import KEPT_RUNS, RUN_DAYS, RUNS_BYTES
from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.field import Time
from graphmem.kernel.store.purging import PurgedStore
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked

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
FILE: TypeAdapter[Episodes] = TypeAdapter(Episodes)


def read(path: Path, now: datetime | None, on_message: Callable[[str], None]) -> Episodes:
    """Return what failed lately, or ever for no time; nothing, which is reported, where the file is not one."""
    found = read_state(path, FILE.validate_json, on_message, RUNS_BYTES) or {}
    return {key: one for key, one in found.items() if now is None or now - one.at <= timedelta(days=RUN_DAYS)}


@contextlib.contextmanager
def changing(
    path: Path, lock: Path, timeout_s: float, now: datetime | None, on_message: Callable[[str], None]
) -> Iterator[Episodes]:
    """
    Yield what failed lately, alone with it; what the block changes is written at its end, all or nothing.

    Raises:
        Locked: another process is at it all the time.
        OSError: it cannot be written.
    """
    with locked(lock, timeout_s=timeout_s):
        episodes = read(path, now, on_message)
        before = dict(episodes)
        yield episodes
        if episodes != before and not safe_files.is_linked(path):
            latest = sorted(episodes.items(), key=lambda item: item[1].at)[-KEPT_RUNS:]
            safe_files.put(path, FILE.dump_json(dict(latest)), is_flushed=True)


def clear_purged(store: PurgedStore, traces: Traces) -> None:
    """Take purged records out of what failing runs showed."""
    layout = store.layout
    with changing(layout.runs, store.local / "runs.lock", store.lock_timeout_s, None, lambda text: None) as episodes:
        for key, episode in list(episodes.items()):
            shown: dict[str, list[str]] = {}
            for ref, others in episode.shown.items():  # what was shown for a purged failure may still have helped
                kept = shown.setdefault(GONE if traces.is_called(ref) else ref, [])
                kept += [other for other in others if not traces.is_called(other)]
            unknown = [text for text in episode.unknown if not traces.is_told(text)]
            said = {ref: text for ref, text in episode.lines.items() if ref in shown and not traces.is_told(text)}
            episodes[key] = episode.model_copy(update={"shown": shown, "lines": said, "unknown": unknown})
