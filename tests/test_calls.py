"""What one call costs: how many files and folders it opens, and that it leaves none open."""

import builtins
import cProfile
import os
import pstats
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Conflict, Memory
from graphmem.kernel.ledger.files import watch
from graphmem.kernel.system import safe_files
from tests.sample import edge, failure, open_memory

Opened = list[str]


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> Opened:
    """The paths that are opened, files and folders; what is opened by its descriptor was counted before."""
    paths: Opened = []

    def counted(act: Callable[..., Any]) -> Callable[..., Any]:
        def run(path: Any, *args: Any, **named: Any) -> Any:
            if not isinstance(path, int):
                paths.append(str(path))
            return act(path, *args, **named)

        return run

    monkeypatch.setattr(os, "open", counted(os.open))
    monkeypatch.setattr(builtins, "open", counted(builtins.open))
    return paths


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A store of a thousand failures, with every file there that a call makes when it is the first."""
    with open_memory(tmp_path) as memory:
        memory.add_rows([failure(f"f{n}", f"error number {n} of the shop") for n in range(1_000)])
        memory.query("error")
        memory.failures.add("the first thing went wrong", name="first")
        memory.relations.link("failure/first", "causes", "failure/f1")
        yield memory


def test_a_write_opens_at_most_25_files_and_folders_and_a_query_10(
    memory: Memory, opened: Opened, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a store that was not written in the last two seconds: each file that was is opened once more, for its hash."""
    monkeypatch.setattr(watch, "RACY_NS", 0)
    calls: dict[Callable[[], object], int] = {
        lambda: memory.failures.add("the widget fell off its hinge", name="hinge"): 25,
        lambda: memory.relations.link("failure/first", "causes", "failure/f2"): 25,
        lambda: memory.query("error of the hinge"): 10,
        lambda: memory.related("failure/first"): 10,
    }
    for call, most in calls.items():
        opened.clear()
        call()
        assert len(opened) <= most, opened


@pytest.mark.parametrize(
    ("name", "statements", "calls"),
    [("add", 40, 4_600), ("link", 36, 2_800), ("query", 44, 13_200), ("related", 21, 1_200)],
)
def test_a_call_runs_a_bounded_number_of_statements_and_functions(
    memory: Memory, name: str, statements: int, calls: int
) -> None:
    """Of a store of a thousand records, without a model; versions of Python differ by some functions."""
    made: dict[str, Callable[[int], object]] = {
        "add": lambda number: memory.failures.add(f"the widget fell off its hinge number {number}", fix="oil it"),
        "link": lambda number: memory.relations.link("failure/first", "causes", f"failure/f{number}"),
        "query": lambda number: memory.query(f"error of the hinge {number}"),
        "related": lambda number: memory.related("failure/first"),
    }
    act = made[name]
    act(2)  # the first one imports what it needs
    asked: list[str] = []
    memory.store.client.catalog.connection.set_trace_callback(asked.append)
    act(3)
    memory.store.client.catalog.connection.set_trace_callback(None)
    own = [sql for sql in asked if not sql.startswith("--")]  # the others are of the index of words
    assert len(own) <= statements, "\n".join(own)
    with cProfile.Profile() as profile:
        act(4)
    ran = pstats.Stats(profile).total_calls  # type: ignore[attr-defined]
    assert ran <= calls, ran


@pytest.mark.parametrize("step_ns", [1, 2 * 10**9], ids=["fine", "coarse"])
def test_a_file_that_is_changed_in_place_in_the_moment_of_its_writing_is_read_again(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step_ns: int
) -> None:
    """Also where its size stays, and the system gives both changes one time; where times are coarse, by its hash."""
    path = tmp_path / ".graphmem/data/failure.ndjson"
    set_time, times = os.utime, list[int]()

    def rounded(file: Path, *, ns: tuple[int, int], follow_symlinks: bool = True) -> None:
        times.append(file.lstat().st_mtime_ns)  # what the system gives to all changes of this moment
        set_time(file, ns=(ns[0], ns[1] - ns[1] % step_ns), follow_symlinks=follow_symlinks)

    monkeypatch.setattr(os, "utime", rounded)
    memory.failures.add("the widget fell off its hinge", name="hinge", fix="glue it on")
    before = path.stat()
    with path.open("r+b") as file:
        data = file.read()
        file.seek(data.index(b"glue it on"))
        file.write(b"oil it now")
    moment = times[-1] if times and step_ns == 1 else before.st_mtime_ns
    set_time(path, ns=(moment, moment))
    assert (path.stat().st_size, path.stat().st_ino) == (before.st_size, before.st_ino)
    found = memory.get("failure/hinge")
    assert getattr(found.record, "fix", None) == "oil it now"


def test_a_write_flushes_the_new_files_their_folders_and_the_journal_of_several(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What a power cut could take is what the answer said; all else is made again, or can be done without."""
    flushed: list[str] = []
    fsync = os.fsync

    def counted(handle: int) -> None:
        found = os.fstat(handle)
        flushed.extend(
            str(path.relative_to(tmp_path / ".graphmem"))
            for path in [tmp_path / ".graphmem", *(tmp_path / ".graphmem").rglob("*")]
            if os.path.samestat(path.stat(), found)
        )
        fsync(handle)

    monkeypatch.setattr(os, "fsync", counted)
    fresh = f".{{}}.{os.getpid()}.tmp".format
    memory.failures.add("the widget fell off its hinge", name="hinge")
    assert flushed == [f"data/{fresh('failure.ndjson')}", "data"]
    flushed.clear()
    memory.add_rows([failure("latch"), b'{"kind":"lesson","name":"oil","description":"oil the latch"}'])
    assert flushed == [
        f"data/{fresh('failure.ndjson')}",
        f"data/{fresh('lesson.ndjson')}",
        "data",
        f"state/{fresh('journal.json')}",
        "state",
        "data",
    ]


@pytest.mark.parametrize("call", ["get", "link", "feedback"])
def test_what_a_call_reads_of_the_catalog_does_not_grow_with_the_store(tmp_path: Path, call: str) -> None:
    """By the instructions of SQLite's machine: a call on named records looks them up."""
    calls: dict[str, Callable[[Memory], object]] = {
        "get": lambda memory: memory.get("failure/f7"),
        "link": lambda memory: memory.relations.link("failure/f7", "causes", "failure/f8"),
        "feedback": lambda memory: memory.feedback("failure/f7", helped=True),
    }
    ticks: dict[int, int] = {}
    for size in (50, 2_000):
        (tmp_path / str(size)).mkdir()
        with open_memory(tmp_path / str(size)) as memory:
            memory.add_rows([failure(f"f{n}", f"error number {n} of the shop") for n in range(size)])
            memory.add_rows([edge(f"failure/f{n}", "causes", f"failure/f{n + 2}") for n in range(size - 2)])
            calls["get"](memory)
            ticks[size] = 0

            def tick(size: int = size) -> None:
                ticks[size] += 1

            memory.store.client.catalog.connection.set_progress_handler(tick, 10)
            calls[call](memory)
    assert ticks[2_000] <= 1.5 * ticks[50], ticks


def test_a_call_leaves_no_descriptor_open_whether_it_ends_well_or_not(memory: Memory) -> None:
    before = len(os.listdir("/dev/fd"))
    for number in range(5):
        memory.failures.add(f"the widget {number} fell off", name=f"w{number}")
        with pytest.raises(Conflict):
            memory.failures.add("quite another thing is under the name", name="first")
        memory.query("widget")
    assert len(os.listdir("/dev/fd")) == before


def test_a_call_keeps_a_bounded_number_of_folders_open(tmp_path: Path) -> None:
    """However many folders a branch brings."""
    store = tmp_path / ".graphmem"
    for number in range(3 * safe_files.MOST_HELD):
        safe_files.put(store / f"data/d{number}/x", b"x")
    before = len(os.listdir("/dev/fd"))
    with safe_files.holding_folders():
        found = [path for folder in safe_files.walk(store) for path in safe_files.files(folder)]
        assert len(os.listdir("/dev/fd")) <= before + safe_files.MOST_HELD
        assert [safe_files.read(path) for path in found] == [b"x"] * 3 * safe_files.MOST_HELD
    assert len(os.listdir("/dev/fd")) == before


def test_a_folder_that_a_link_or_another_folder_replaces_during_a_call_is_not_used_further(tmp_path: Path) -> None:
    store, elsewhere = tmp_path / ".graphmem", tmp_path / "elsewhere"
    path = store / "data/failure.ndjson"
    safe_files.put(path, b"mine")
    elsewhere.mkdir()
    (elsewhere / path.name).write_bytes(b"secret")
    with safe_files.holding_folders():
        assert safe_files.read(path) == b"mine"
        path.parent.rename(tmp_path / "aside")
        for goal in (elsewhere, tmp_path / "aside"):
            path.parent.symlink_to(goal)
            with pytest.raises(FileNotFoundError):
                safe_files.read(path)
            with pytest.raises(FileNotFoundError):
                safe_files.write(path, b"x")
            assert safe_files.files(path.parent) == []
            path.parent.unlink()
        safe_files.put(path, b"of another branch")
        assert safe_files.read(path) == b"of another branch"
    assert (elsewhere / path.name).read_bytes() == b"secret"
    assert (tmp_path / "aside" / path.name).read_bytes() == b"mine"
