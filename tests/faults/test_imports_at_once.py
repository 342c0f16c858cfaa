"""Imports of candidates in several processes at once."""

from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest

from graphmem.kernel.machine.candidates import CandidateQueue
from tests.faults.test_kill import transcript
from tests.sample import open_memory, state_of

pytestmark = pytest.mark.process
SESSIONS, PROCESSES = 60, 3


def read_some(folder: Path, start: Barrier, first: int, step: int) -> None:
    """Import some of the sessions one by one, beginning at the same moment as the others."""
    with open_memory(folder) as memory:
        start.wait(60)
        for number in range(first, SESSIONS, step):
            memory.imports.sessions(paths=[folder / f"sessions/s{number}.jsonl"], any_project=True)


def queue(folder: Path) -> list[tuple[str, int]]:
    """Return the candidates of a project, each with the number of its occasions."""
    found = CandidateQueue(state_of(folder)).read().candidates
    return sorted((name, len(one.marks)) for name, one in found.items())


def filled(folder: Path) -> Path:
    (folder / "sessions").mkdir(parents=True)
    for number in range(SESSIONS):
        (folder / f"sessions/s{number}.jsonl").write_bytes(transcript(number))
    with open_memory(folder):
        return folder


@pytest.mark.long
def test_imports_at_once_lose_nothing(tmp_path: Path) -> None:
    processes = get_context("spawn")
    alone, shared = filled(tmp_path / "alone"), filled(tmp_path / "shared")
    read_some(alone, processes.Barrier(1), 0, 1)
    start = processes.Barrier(PROCESSES)
    started = [
        processes.Process(target=read_some, args=(shared, start, number, PROCESSES)) for number in range(PROCESSES)
    ]
    for one in started:
        one.start()
    for one in started:
        one.join(120)
        assert one.exitcode == 0
    assert len(queue(alone)) == SESSIONS
    assert queue(shared) == queue(alone)
