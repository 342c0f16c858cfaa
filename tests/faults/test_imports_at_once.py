"""Imports of candidates in several processes at once."""

from multiprocessing import get_context
from multiprocessing.synchronize import Barrier
from pathlib import Path

import orjson
import pytest

from tests.faults.test_kill import transcript
from tests.sample import open_memory

pytestmark = pytest.mark.process
SESSIONS, PROCESSES = 60, 3


def read_all(folder: Path, start: Barrier) -> None:
    """Import the sessions and the notes, at the same moment as the others."""
    with open_memory(folder) as memory:
        start.wait(60)
        memory.imports.sessions(paths=[folder / "sessions"], any_project=True)
        memory.imports.notes(paths=[folder / "AGENTS.md"])


def queue(folder: Path) -> list[tuple[str, int]]:
    """Return the candidates of a project, each with the number of its occasions."""
    found = orjson.loads((folder / ".graphmem/state/candidates.json").read_bytes())["candidates"]
    return sorted((name, len(one["marks"])) for name, one in found.items())


def filled(folder: Path) -> Path:
    (folder / "sessions").mkdir(parents=True)
    for number in range(SESSIONS):
        (folder / f"sessions/s{number}.jsonl").write_bytes(transcript(number))
    rules = "".join(f"- Never use the function f{number} in tests, it is slow\n" for number in range(SESSIONS))
    (folder / "AGENTS.md").write_text(rules)
    with open_memory(folder):
        return folder


def test_two_imports_at_once_leave_what_one_leaves(tmp_path: Path) -> None:
    processes = get_context("spawn")
    alone, shared = filled(tmp_path / "alone"), filled(tmp_path / "shared")
    read_all(alone, processes.Barrier(1))
    start = processes.Barrier(PROCESSES)
    started = [processes.Process(target=read_all, args=(shared, start)) for _ in range(PROCESSES)]
    for one in started:
        one.start()
    for one in started:
        one.join(120)
        assert one.exitcode == 0
    assert len(queue(alone)) == 2 * SESSIONS
    assert queue(shared) == queue(alone)
