"""Several processes at one store at once, and processes that are killed in the middle of their work."""

import os
import random
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import Locked
from graphmem.kernel.model import Failure
from graphmem.kernel.system.lock import locked
from tests.forked import processes
from tests.pace import patience
from tests.sample import open_memory

WRITERS, EACH, READERS = (int(part) for part in os.environ.get("GRAPHMEM_TEST_WRITERS", "5 10 3").split())
KILLS = int(os.environ.get("GRAPHMEM_TEST_KILLS", "30"))


def opened(folder: Path) -> Memory:
    with pytest.MonkeyPatch.context() as patch:  # it is called in the process of the tests too
        patch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
        return Memory(folder)


# --- at the same time ---------------------------------------------------------------------------------------------


def write(folder: Path, number: int, each: int) -> None:
    with opened(folder) as memory:
        for place in range(each):
            memory.failures.add(f"worker {number} saw case {place}", name=f"w{number}-{place}", dedup=False)


def read(folder: Path, what: str, stop: Any, answers: Any) -> None:
    """Ask again and again; report how often, or what was wrong."""
    asked, last = 0, 0
    try:
        with opened(folder) as memory:
            while not stop.is_set():
                found = READS[what](memory)
                assert found >= last, f"{what}: {found} after {last}"
                asked, last = asked + 1, found
                time.sleep(0.01)  # a reader that thinks about its answer
    except BaseException as error:
        answers.put(f"{what}: {error!r}")
        raise
    answers.put(asked)


def validated(memory: Memory) -> int:
    checked = memory.store.validate()
    assert checked.ok, checked.findings
    return memory.list("failure").total


READS: dict[str, Callable[[Memory], int]] = {
    "cypher": lambda memory: int(str(memory.cypher("MATCH (f:Failure) RETURN count(f)").rows[0][0])),
    "list": lambda memory: memory.list("failure").total,
    "stats": lambda memory: memory.stats().records["failure"],
    "query": lambda memory: len(memory.query("worker saw case", limit=10_000).results) and memory.list("failure").total,
    "validate": validated,
}


@pytest.mark.long
def test_writers_take_turns_and_readers_are_answered_beside_them(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    stop, answers = processes.Event(), processes.Queue()
    readers = [processes.Process(target=read, args=(tmp_path, what, stop, answers)) for what in list(READS)[:READERS]]
    writers = [processes.Process(target=write, args=(tmp_path, number, EACH)) for number in range(WRITERS)]
    for process in (*readers, *writers):
        process.start()
    for process in writers:
        process.join(120)
    stop.set()
    asked = [answers.get(timeout=60) for _ in readers]
    assert [process.exitcode for process in writers] == [0] * WRITERS
    assert all(isinstance(answer, int) and answer > 0 for answer in asked), asked
    with opened(tmp_path) as memory:
        names = [hit.record.name for hit in memory.list("failure", limit=100_000).results]
        assert sorted(names) == sorted(f"w{a}-{b}" for a in range(WRITERS) for b in range(EACH))
        assert memory.store.validate().ok


def report(folder: Path, number: int) -> None:
    with opened(folder) as memory:
        for task in (None, "task/shared", f"task/own-{number}"):
            memory.feedback("failure/first", helped=number % 2 == 0 or task == "task/shared", task=task)


@pytest.mark.long
def test_ten_processes_that_report_on_one_record_are_all_counted_and_one_task_once(tmp_path: Path) -> None:
    Memory.init(tmp_path)
    with opened(tmp_path) as memory:
        memory.failures.add("it broke", name="first")
    reporters = [processes.Process(target=report, args=(tmp_path, number)) for number in range(10)]
    for process in reporters:
        process.start()
    for process in reporters:
        process.join(120)
    assert [process.exitcode for process in reporters] == [0] * 10
    with opened(tmp_path) as memory:
        record = memory.get("failure/first").record
        assert isinstance(record, Failure)
        assert (record.helped, record.failed) == (5 + 5 + 1, 5 + 5)
        assert memory.store.validate().ok


def hold(path: Path, ready: Any, seconds: float) -> None:
    with locked(path, timeout_s=5):
        ready.set()
        time.sleep(seconds)


def test_a_live_holder_is_named_and_a_dead_one_blocks_nobody(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        lock, ready = memory.store.client.ledger.files.lock, processes.Event()
        holder = processes.Process(target=hold, args=(lock, ready, 60))
        holder.start()
        ready.wait(10)
        memory.store.client.ledger.place.lock_timeout_s = 0.1
        with pytest.raises(Locked, match=rf"in use by pid {holder.pid}, .*, since 20\d\d-"):
            memory.failures.add("an error while somebody writes")
        assert memory.list("failure").total == 0  # a reader is answered all the same
        os.kill(holder.pid or 0, signal.SIGKILL)
        holder.join()
        memory.failures.add("an error afterwards")


def share(path: Path, stop: Any) -> None:
    while not stop.is_set():
        with locked(path, shared=True, timeout_s=10):
            time.sleep(0.02)


@pytest.mark.long
def test_readers_that_never_pause_do_not_keep_a_writer_waiting(tmp_path: Path) -> None:
    lock, stop = tmp_path / "lock", processes.Event()
    readers = [processes.Process(target=share, args=(lock, stop)) for _ in range(4)]
    for reader in readers:
        reader.start()
    time.sleep(0.5)
    waits = []
    for _ in range(10):
        begin = time.monotonic()
        with locked(lock, timeout_s=10):
            waits.append(time.monotonic() - begin)
    stop.set()
    for reader in readers:
        reader.join(20)
        assert reader.exitcode == 0
    # Plain flock waits for a moment in which no reader holds it, which may never come.
    assert max(waits) < 2 * patience(), waits


# --- killed -------------------------------------------------------------------------------------------------------


def live(folder: Path, seed: int, log: Path) -> None:
    """Do one piece of work after the other; say each in a file before and after."""
    rng, said = random.Random(seed), os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    with opened(folder) as memory:
        for number in range(10_000):
            what = rng.choice(list(WORK))
            name = f"{what}-{seed}-{number}"
            os.write(said, f"begin {name}\n".encode())
            WORK[what](memory, name)
            os.write(said, f"end {name}\n".encode())


def bulk(memory: Memory, name: str) -> object:
    rows = [
        {"kind": "failure", "name": name, "trigger": name},
        {"kind": "pattern", "name": name, "trigger": name, "insight": "do it"},
        {"kind": "relation", "from": f"pattern/{name}", "type": "solves", "to": f"failure/{name}"},
    ]
    return memory.add_rows([orjson.dumps(row) for row in rows])


def plan(memory: Memory, name: str) -> object:
    memory.campaigns.create(f"work on {name}", name=name)
    tasks = [{"seq": 1, "slug": "a", "objective": "a"}, {"seq": 2, "slug": "b", "objective": "b", "depends": [1]}]
    return memory.campaigns.add_tasks(name, tasks)


WORK: dict[str, Callable[[Memory, str], object]] = {
    "add": lambda memory, name: memory.failures.add(name, name=name, dedup=False),
    "bulk": bulk,
    "edit": lambda memory, name: memory.edit("failure/first", {"fix": name}),
    "report": lambda memory, name: memory.feedback("failure/first", helped=True, task=f"task/{name}"),
    "plan": plan,
    "type": lambda memory, name: memory.types.add_entity(name.replace("-", "x")),
    "cypher": lambda memory, name: memory.stats(),
    "export": lambda memory, name: memory.store.export(),
}


@pytest.mark.long
def test_whatever_is_killed_what_was_acknowledged_is_there(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the first error", name="first")
    rng = random.Random(5)
    acknowledged: list[str] = []
    for seed in range(KILLS):
        log = tmp_path / f"log-{seed}"
        log.touch()
        child = processes.Process(target=live, args=(tmp_path, seed, log))
        child.start()
        pieces = rng.randrange(3)  # that are done before the one that it dies in, however slow the machine is
        while log.read_bytes().count(b"begin") <= pieces:
            time.sleep(0.002)
        time.sleep(rng.random() * 0.1)
        os.kill(child.pid or 0, signal.SIGKILL)
        child.join()
        said = [line.split() for line in log.read_text().splitlines()]
        ended = [name for what, name in said if what == "end"]
        acknowledged += ended
        with opened(tmp_path) as memory:
            check(memory, acknowledged, {name for _, name in said} - set(ended))
    assert len(acknowledged) >= KILLS // 2  # the processes did work before they were killed


CUT_OFF: set[str] = set()  # what was under way at a kill: it may have been done


def check(memory: Memory, acknowledged: list[str], open_ones: set[str]) -> None:
    """Check that everything acknowledged is there, what was under way whole or not at all, and that all is well."""
    checked = memory.store.validate()
    assert checked.ok, checked.findings
    assert memory.store.export_check().ok
    failures = {hit.record.name for hit in memory.list("failure", limit=100_000).results}
    patterns = {hit.record.name for hit in memory.list("pattern", limit=100_000).results}
    campaigns = {hit.record.name for hit in memory.list("campaign", limit=100_000).results}
    tasks = {hit.record.name for hit in memory.list("task", limit=100_000).results}
    of = {kind: {name for name in acknowledged if name.startswith(f"{kind}-")} for kind in WORK}
    assert of["add"] | of["bulk"] <= failures
    assert {name for name in failures if name.startswith("bulk-")} == patterns
    assert of["plan"] <= campaigns
    planned = {name for name in campaigns if f"{name}/001-a" in tasks}
    assert of["plan"] <= planned and tasks == {f"{name}/{task}" for name in planned for task in ("001-a", "002-b")}
    assert {name.replace("-", "x") for name in of["type"]} <= {found.type for found in memory.types.list().entities}
    first = memory.get("failure/first").record.model_dump()
    last = next((name for name in reversed(acknowledged) if name.startswith("edit-")), None)
    assert first["fix"] in {last, *open_ones, *CUT_OFF}
    CUT_OFF.update(open_ones)
    reported = len(of["report"])
    assert reported <= first["helped"] <= reported + len(CUT_OFF)
