"""The graph engine where the disk is full or memory is short: its process ends, ours does not."""

import contextlib
import json
import os
import resource
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.constants import CYPHER_AT_ONCE
from graphmem.errors import Unavailable
from graphmem.features.cypher.engines.kuzu import sandbox
from graphmem.features.cypher.worker import crash_error, run_worker
from graphmem.kernel.system.lock import locked
from tests.sample import mirror_of, open_memory

pytestmark = pytest.mark.process
MIB = 2**20


@contextlib.contextmanager
def limited(which: int, most: int) -> Iterator[None]:
    """Limit what this process and its children may have."""
    before = resource.getrlimit(which)
    resource.setrlimit(which, (most, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(which, before)


def filled(folder: Path, number: int = 3_000) -> None:
    """Write a file of failures as git would bring it."""
    Memory.init(folder)
    rows = (
        {
            "created_at": "2026-11-01T09:30:00.000Z",
            "kind": "failure",
            "name": f"f{n}",
            "trigger": f"error {n} " * 9,
        }
        for n in range(number)
    )
    lines = "".join(json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n" for row in rows)
    (folder / ".graphmem/data/failure.ndjson").write_text(lines)


def count(memory: Memory) -> object:
    return memory.cypher("MATCH (n:Failure) RETURN count(*)").rows


@pytest.mark.parametrize(
    "room_kib", [100, 600, *(pytest.param(room, marks=pytest.mark.long) for room in (40, 400, 1_200))]
)
@pytest.mark.long
def test_a_disk_that_fills_up_while_the_graph_is_written_ends_no_program(tmp_path: Path, room_kib: int) -> None:
    """The engine ends its process by signal 6 there; a limit on the size of files has the effect of a full disk."""
    filled(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.list(limit=1)
        with limited(resource.RLIMIT_FSIZE, room_kib * 1024), pytest.raises(Unavailable) as error:
            count(memory)
        assert error.value.hint
        assert "disk" in error.value.hint
        left = {path.name for path in (tmp_path / ".graphmem/local").iterdir()}
        assert {name for name in left if name.startswith("graph.kuzu")} == set()
        assert memory.get("f7").record.name == "f7"
        assert count(memory) == [[3_000]]


@pytest.mark.parametrize("room_kib", [800, *(pytest.param(room, marks=pytest.mark.long) for room in (100, 2_000))])
def test_a_disk_that_is_full_ends_no_program(tmp_path: Path, room_kib: int) -> None:
    command = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", str(tmp_path)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    try:
        filled(tmp_path)
        with open_memory(tmp_path) as memory:
            memory.list(limit=1)
            found = os.statvfs(tmp_path)
            ballast = tmp_path / "ballast"
            ballast.write_bytes(bytes(max(0, found.f_bavail * found.f_frsize - room_kib * 1024)))
            with pytest.raises(Unavailable, match=r"the graph"):
                count(memory)
            ballast.unlink()
            assert count(memory) == [[3_000]]
    finally:
        subprocess.run(["umount", "-l", str(tmp_path)], check=True)


@pytest.mark.long
def test_a_disk_that_fills_up_while_the_graph_follows_ends_no_program(tmp_path: Path) -> None:
    filled(tmp_path)
    with open_memory(tmp_path) as memory:
        assert count(memory) == [[3_000]]
        size = (tmp_path / ".graphmem/local/graph.kuzu").stat().st_size
        for number in range(20):
            memory.failures.add(f"another thing {number} " * 200, name=f"another-{number}", dedup=False)
        with limited(resource.RLIMIT_FSIZE, size // 4), pytest.raises(Unavailable):
            count(memory)
        assert count(memory) == [[3_020]]


def run(folder: Path, line: list[str], address_mib: int) -> subprocess.CompletedProcess[str]:
    """Run the command line under a limit on virtual memory."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (address_mib * MIB, address_mib * MIB))

    environment = {**os.environ, "GRAPHMEM_EMBEDDING_MODEL": "none", "PYTHONPATH": str(Path(__file__).parents[2])}
    return subprocess.run(
        [sys.executable, "-m", "graphmem", *line], cwd=folder, capture_output=True, text=True, env=environment,
        preexec_fn=limit, check=False,
    )  # fmt: skip


COMMANDS = (["get", "f7"], ["stats"], ["validate"], ["solutions", "f7"], ["cypher", "MATCH (n) RETURN count(*)"])


@pytest.mark.skipif(sys.platform == "darwin", reason="it does not keep this limit")
@pytest.mark.parametrize(
    "address_mib", [1_000, *(pytest.param(most, marks=pytest.mark.long) for most in (2_000, 16_000))]
)
@pytest.mark.long
def test_a_limit_on_virtual_memory_that_leaves_room_changes_nothing(tmp_path: Path, address_mib: int) -> None:
    filled(tmp_path, 50)
    for line in (*COMMANDS, ["rebuild", "--no-embed"]):
        done = run(tmp_path, line, address_mib)
        assert done.returncode == 0, (line, done.stderr)


@pytest.mark.skipif(sys.platform == "darwin", reason="it does not keep this limit")
@pytest.mark.long
def test_too_low_a_limit_on_virtual_memory_is_said_with_what_is_needed(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    assert run(tmp_path, ["cypher", "RETURN 1"], 2_000).returncode == 0
    for line in (["cypher", "RETURN 1"], ["rebuild", "--no-embed"]):
        (tmp_path / ".graphmem/local/graph.json").unlink(missing_ok=True)
        done = run(tmp_path, line, 400)
        assert done.returncode == 4
        needed, allowed = "the graph needs ", " MiB of virtual memory, and a process may have 400 MiB here"
        assert needed in done.stderr
        assert allowed in done.stderr
        assert "hint: raise the limit" in done.stderr
        assert "fault of graphmem" not in done.stderr
    done = run(tmp_path, ["validate"], 400)
    assert done.returncode == 0
    assert "warning: local/graph.kuzu: the graph was not compared: the graph needs" in done.stdout + done.stderr


# --- the processes of the engine -----------------------------------------------------------------------------------


def running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return "Z" not in Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]


@pytest.mark.skipif(sys.platform != "linux", reason="a parent's end is not announced elsewhere")
@pytest.mark.parametrize("number", [pytest.param(signal.SIGTERM, marks=pytest.mark.long), signal.SIGKILL])
def test_a_query_ends_with_the_process_that_asked(tmp_path: Path, number: signal.Signals) -> None:
    filled(tmp_path, 50)
    with open_memory(tmp_path) as memory:
        count(memory)
    query = "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN sum(x * y)"
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}
    with subprocess.Popen(
        [sys.executable, "-m", "graphmem", "cypher", query, "--timeout", "60"], cwd=tmp_path, env=environment
    ) as parent:
        children: list[int] = []
        end = time.monotonic() + 20
        while time.monotonic() < end and not any(map(busy, children)):
            text = Path(f"/proc/{parent.pid}/task/{parent.pid}/children").read_text()
            children = [int(pid) for pid in text.split()]
            time.sleep(0.05)
        assert children
        parent.send_signal(number)
        parent.wait()
    end = time.monotonic() + 5
    while any(running(pid) for pid in children) and time.monotonic() < end:
        time.sleep(0.05)
    assert not any(running(pid) for pid in children)


def busy(pid: int) -> bool:
    """Return whether a process has used a second of the processor: it runs its query."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return int(fields[11]) > os.sysconf("SC_CLK_TCK")


def test_the_engine_gets_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "hidden")
    monkeypatch.setenv("PYTHONSTARTUP", "/nowhere")
    monkeypatch.setenv("LC_ALL", "tr_TR.UTF-8")
    started: list[dict[str, str]] = []
    popen = subprocess.Popen

    def noted(*given: object, **options: object) -> object:
        if "graphmem.features.cypher" in str(given):
            started.append(dict(options["env"]))  # type: ignore[call-overload]
        return popen(*given, **options)  # type: ignore[call-overload]

    monkeypatch.setattr(subprocess, "Popen", noted)
    filled(tmp_path, 3)
    with open_memory(tmp_path) as memory:
        assert count(memory) == [[3]]
    assert len(started) == 2  # what writes, and what reads
    for environment in started:
        assert environment.keys() <= {"HOME", "OMP_NUM_THREADS", "TMPDIR", "LC_ALL", "LD_LIBRARY_PATH"}
        assert environment["LC_ALL"] == "C.UTF-8"  # in Turkish the engine would not know its own keywords


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems keep names as UTF-8")
def test_a_graph_is_made_in_a_folder_whose_name_is_not_utf_8(tmp_path: Path) -> None:
    folder = Path(os.fsdecode(os.fsencode(tmp_path) + b"/pr-\xe9"))
    folder.mkdir()
    filled(folder, 3)
    with open_memory(folder) as memory:
        assert count(memory) == [[3]]
        memory.failures.add("another one broke", name="another")
        assert count(memory) == [[4]]
        assert memory.store.rebuild().records == 4
    assert not list(Path("/").glob("graph*"))


def test_no_more_queries_run_at_once_than_there_are_places(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever process asks: the places are locks in a folder of the user."""
    inside, most = 0, 0
    guard = threading.Lock()

    def hold() -> None:
        nonlocal inside, most
        with sandbox.place(10.0):
            with guard:
                inside += 1
                most = max(most, inside)
            time.sleep(0.05)
            with guard:
                inside -= 1

    threads = [threading.Thread(target=hold) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == CYPHER_AT_ONCE
    with contextlib.ExitStack() as places:
        for _ in range(CYPHER_AT_ONCE):
            places.enter_context(sandbox.place(1.0))
        with pytest.raises(Unavailable, match="2 other queries are running"):
            places.enter_context(sandbox.place(0.1))


@pytest.mark.long
def test_a_query_has_a_bound_of_memory_beyond_what_the_engine_reserves(tmp_path: Path) -> None:
    filled(tmp_path, 50)
    with open_memory(tmp_path) as memory:
        count(memory)
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        with pytest.raises(Unavailable, match="more memory"):
            memory.cypher("UNWIND range(1, 300000) AS x RETURN collect(repeat('ab', 100000 + x))")
    grown = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    assert grown <= max(before, 1_300 * 1024)  # of all children so far, those of other tests too


@pytest.mark.long
def test_a_long_lived_program_does_not_grow_by_its_cypher_queries(tmp_path: Path) -> None:
    """The engine keeps the memory that it took; it is not in our process."""
    filled(tmp_path, 5_000)
    with open_memory(tmp_path) as memory:
        memory.list(limit=1)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        for _ in range(2):
            count(memory)
            (tmp_path / ".graphmem/local/graph.kuzu").unlink()
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024


def test_a_child_that_ends_without_an_answer_is_an_error_that_says_how(tmp_path: Path) -> None:
    result = run_worker("kuzu.sandbox", {"path": 1, "engine": "kuzu"}, timeout_s=10.0, most_bytes=MIB)
    assert (result.status, result.output, result.is_timed_out) == (1, b"", False)
    assert "exit status 1" in crash_error(result, tmp_path, "wrote the graph").message


@pytest.mark.long
def test_an_engine_that_does_not_end_on_a_full_disk_is_stopped(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has tried for ever to write what there was no room for; here it waits for a lock."""
    memory.failures.add("it broke", name="one")
    monkeypatch.setattr("graphmem.features.cypher.engines.kuzu.mirror.free_bytes", lambda folder: 0)
    mirror = mirror_of(memory)
    monkeypatch.setattr(mirror, "forget", lambda: None)  # it would wait for the lock as long again
    with locked(mirror.lock, timeout_s=1), pytest.raises(Unavailable, match="it did not end"):
        mirror.lock_timeout_s = 9.0
        mirror.catch_up()
