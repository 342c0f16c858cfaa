"""Exploration sessions of this machine: a folder each in ``state/``, with a file for each report."""

import contextlib
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from pydantic import BaseModel, ConfigDict

from graphmem.kernel.machine.state_file import read_state
from graphmem.kernel.machine.traces import Traces
from graphmem.kernel.model.exploration import ExplorationMode
from graphmem.kernel.model.field import Time
from graphmem.kernel.store.purging import PurgedStore
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.lock import locked


class ExplorationSession(BaseModel):
    """When a session began, and when its wait ended: what is reported after that is late."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    started_at: Time
    ended_at: Time | None = None


class Report(BaseModel):
    """What was reported for one mode."""

    model_config = ConfigDict(frozen=True, extra="forbid", defer_build=True)

    at: Time
    text: str
    late: bool = False


def read(folder: Path, session: str) -> ExplorationSession | None:
    """Return a session; None if it does not exist or its file is damaged."""
    return read_state(folder / session / "session.json", ExplorationSession.model_validate_json)


def reports(folder: Path, session: str, modes: tuple[ExplorationMode, ...]) -> dict[ExplorationMode, Report]:
    """Return the reports of a session by mode."""
    found = {mode: read_state(folder / session / f"{mode}.json", Report.model_validate_json) for mode in modes}
    return {mode: report for mode, report in found.items() if report is not None}


@contextlib.contextmanager
def alone(lock: Path, timeout_s: float) -> Iterator[None]:
    """Be alone with the sessions while the block runs."""
    with locked(lock, timeout_s=timeout_s):
        yield


def write(folder: Path, session: str, name: str, value: ExplorationSession | Report) -> None:
    """Write a file of a session, all or nothing."""
    safe_files.put(folder / session / f"{name}.json", value.model_dump_json().encode(), is_flushed=True)


def end(folder: Path, session: str, now: datetime) -> None:
    """Note that the wait for reports has ended."""
    found = read(folder, session)
    if found is not None and found.ended_at is None:
        write(folder, session, "session", found.model_copy(update={"ended_at": now}))


def clear_purged(store: PurgedStore, traces: Traces) -> None:
    """Remove the sessions in which something purged was reported."""
    with alone(store.local / "explorations.lock", store.lock_timeout_s):
        for folder in safe_files.folders(store.layout.explorations):
            if any(map(traces.is_file_told, safe_files.files(folder))):
                safe_files.remove_folder(folder)
