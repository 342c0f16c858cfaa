"""How long writers and readers wait when many work at once: ``pytest -m bench -s tests/bench/timed/test_load.py``."""

import statistics
import time
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from tests.forked import processes
from tests.test_processes import READS, opened

pytestmark = pytest.mark.bench

WRITERS, EACH = 20, 50


def write(folder: Path, number: int, answers: Any) -> None:
    waits = []
    with opened(folder) as memory:
        for place in range(EACH):
            begin = time.monotonic()
            memory.failures.add(f"worker {number} saw case {place}", name=f"w{number}-{place}", dedup=False)
            waits.append(time.monotonic() - begin)
    answers.put(("add", waits))


def read(folder: Path, what: str, stop: Any, answers: Any) -> None:
    waits = []
    with opened(folder) as memory:
        while not stop.is_set():
            begin = time.monotonic()
            READS[what](memory)
            waits.append(time.monotonic() - begin)
            time.sleep(0.01)
    answers.put((what, waits))


def test_latency_of_twenty_writers_and_five_readers(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    stop, answers = processes.Event(), processes.Queue()
    writers = [processes.Process(target=write, args=(tmp_path, number, answers)) for number in range(WRITERS)]
    readers = [processes.Process(target=read, args=(tmp_path, what, stop, answers)) for what in READS]
    begin = time.monotonic()
    for process in (*readers, *writers):
        process.start()
    waits: dict[str, list[float]] = {}
    for _ in writers:
        what, found = answers.get(timeout=300)
        waits.setdefault(what, []).extend(found)
    seconds = time.monotonic() - begin
    stop.set()
    for _ in readers:
        what, found = answers.get(timeout=60)
        waits[what] = found
    print(f"\n{WRITERS * EACH:,} records by {WRITERS} processes in {seconds:.1f} s, {len(READS)} readers beside them")
    print("\n| what | answers | mean | largest |\n| --- | --- | --- | --- |")
    for what, found in waits.items():
        print(f"| {what} | {len(found):,} | {statistics.mean(found):.2f} s | {max(found):.2f} s |")
    with opened(tmp_path) as memory:
        assert memory.list("failure").total == WRITERS * EACH and memory.store.validate().ok
