"""What this machine keeps, in one file: all or nothing, bounded, and never the reason that rows are refused."""

import contextlib
import functools
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from graphmem import GraphmemError, Memory
from graphmem.errors import Locked, Unavailable
from graphmem.kernel.machine.requests import RequestUnderWay, carried_out
from graphmem.kernel.machine.state import BOUND_EVERY, KINDS, State
from graphmem.kernel.store.runtime import Client
from graphmem.kernel.store.sync import SyncedLedger
from tests.sample import START, open_memory, put_state, state_of

SAID = "{0} was damaged: it is begun again, and what it held is in state.db.aside"


def everything(state: State) -> dict[tuple[str, str], bytes]:
    return {(kind, key): value for kind in KINDS for key, value in state.read_all(kind, bytes).items()}


def files_of(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


# --- what is kept -----------------------------------------------------------------------------------------------------


def test_a_first_look_makes_no_file(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    assert state.read("run", "", bytes) is None
    assert state.stamps(("run",)) is None
    assert not state.path.parent.exists()


def test_a_value_is_kept_in_the_place_of_the_one_before(tmp_path: Path) -> None:
    for value in (b"1", b"2", b""):
        put_state(tmp_path, "session", "a", value)
        assert state_of(tmp_path).read("session", "a", bytes) == value
    put_state(tmp_path, "session", "b", b"3")
    put_state(tmp_path, "session", "a", b"4")
    assert list(state_of(tmp_path).read_all("session", bytes).items()) == [("b", b"3"), ("a", b"4")]
    assert state_of(tmp_path).read_all("run", bytes) == {}


def test_what_fails_in_a_block_changes_nothing(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    with pytest.raises(ValueError, match="no"), state_of(tmp_path).changing() as kept:
        kept.put("run", "", b"2")
        kept.put("session", "", b"3")
        raise ValueError("no")
    assert everything(state_of(tmp_path)) == {("run", ""): b"1"}


def test_only_what_is_changed_has_another_stamp(tmp_path: Path) -> None:
    kinds = ("run", "event")
    put_state(tmp_path, "run", "", b"1")
    before = state_of(tmp_path).stamps(kinds)
    put_state(tmp_path, "run", "", b"1")
    put_state(tmp_path, "usage", "failure/a", b"[1]")
    assert state_of(tmp_path).stamps(kinds) == before
    put_state(tmp_path, "run", "", b"2")
    assert state_of(tmp_path).stamps(kinds) != before


def test_a_damaged_value_is_reported_and_the_others_are_read(tmp_path: Path) -> None:
    said: list[str] = []
    put_state(tmp_path, "session", "a", b"{")
    put_state(tmp_path, "session", "b", b"[]")
    assert State(state_of(tmp_path).path, said.append).read_all("session", json.loads) == {"b": []}
    assert said == ["session a in state/ is taken as empty: it is damaged"]


def test_it_is_for_this_user_alone(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    assert state_of(tmp_path).path.stat().st_mode & 0o777 == 0o600


# --- how much and how long --------------------------------------------------------------------------------------------


def test_of_more_than_the_bound_the_first_written_goes(tmp_path: Path) -> None:
    most = KINDS["exploration"].most
    with state_of(tmp_path).changing() as kept:
        for number in range(most + 3 * BOUND_EVERY):
            kept.put("exploration", f"{number}", b"{}")
    keys = [int(key) for key in state_of(tmp_path).read_all("exploration", bytes)]
    assert keys == list(range(most + 3 * BOUND_EVERY))[-most:]


def test_together_they_have_no_more_bytes_than_the_bound(tmp_path: Path) -> None:
    size = KINDS["ran"].all_bytes or 0
    with state_of(tmp_path).changing() as kept:
        for number in range(BOUND_EVERY):
            kept.put("ran", f"{number}", b"x" * (size // 4))
    assert len(state_of(tmp_path).read_all("ran", bytes)) == 4


def test_what_is_older_than_the_bound_goes(tmp_path: Path) -> None:
    with state_of(tmp_path).changing() as kept:
        for number in range(BOUND_EVERY):
            kept.put("asked", f"{number}", b"{}", START + timedelta(days=10 * number))
    assert list(state_of(tmp_path).read_all("asked", bytes)) == ["12", "13", "14", "15"]


def test_a_value_that_is_too_large_is_refused_and_nothing_is_lost(tmp_path: Path) -> None:
    put_state(tmp_path, "session", "a", b"1")
    with pytest.raises(Unavailable, match="at most 1,048,576 are kept"):
        put_state(tmp_path, "session", "a", b"x" * (KINDS["session"].value_bytes + 1))
    assert everything(state_of(tmp_path)) == {("session", "a"): b"1"}


# --- several at once --------------------------------------------------------------------------------------------------

WRITER = """
import sys
from pathlib import Path
from typing import Any
from graphmem.kernel.machine.state import State
for number in range(int(sys.argv[3])):
    with State(Path(sys.argv[1])).changing() as kept:
        found = kept.read("run", "", int) or 0
        kept.put("run", "", str(found + 1).encode())
        kept.put("session", f"{sys.argv[2]}-{number}", b"1")
    print(number, flush=True)
"""


def writer(folder: Path, name: str, number: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", WRITER, str(state_of(folder).path), name, str(number)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.long
@pytest.mark.process
def test_nothing_of_32_writers_is_lost(tmp_path: Path) -> None:
    state = state_of(tmp_path)
    with contextlib.ExitStack() as stack:
        writers = [stack.enter_context(writer(tmp_path, f"w{number}", 10)) for number in range(32)]
        assert [one.communicate()[0].count("\n") for one in writers] == [10] * 32
    assert state.read("run", "", int) == 320
    assert len(state.read_all("session", bytes)) == 320


def test_what_threads_write_that_begin_it_at_once_is_kept(tmp_path: Path) -> None:
    def add(number: int) -> None:
        put_state(tmp_path, "ran", f"{number}", b"{}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert everything(state_of(tmp_path)).keys() == {("ran", f"{number}") for number in range(24)}


@pytest.mark.parametrize("number", range(8))
def test_what_is_written_while_another_begins_it_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    """Another writer begins the file before the statement ``number`` of the first one that begins it."""
    real, statements = sqlite3.connect, list[str]()

    class Slow(sqlite3.Connection):
        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            if not self.in_transaction and sql != "COMMIT":
                statements.append(sql)
                if len(statements) == number + 1:
                    monkeypatch.setattr(sqlite3, "connect", real)
                    put_state(tmp_path, "ran", "other", b"{}")
            return super().execute(sql, *values)

    monkeypatch.setattr(sqlite3, "connect", functools.partial(real, factory=Slow))
    put_state(tmp_path, "ran", "first", b"{}")
    monkeypatch.setattr(sqlite3, "connect", real)
    if len(statements) > number:
        assert everything(state_of(tmp_path)).keys() == {("ran", "other"), ("ran", "first")}


@pytest.mark.long
@pytest.mark.process
def test_a_process_that_is_killed_loses_nothing_that_it_kept(tmp_path: Path) -> None:
    for delay in (0.0, 0.01, 0.03, 0.07, 0.15):
        folder = tmp_path / f"{delay}"
        with writer(folder, "w", 10_000) as process:
            assert process.stdout is not None
            lines = [process.stdout.readline()]
            time.sleep(delay)
            os.kill(process.pid, signal.SIGKILL)
            lines += process.stdout.read().splitlines()
        state = state_of(folder)
        number = state.read("run", "", int)
        assert number in (len(lines), len(lines) + 1)
        assert len(state.read_all("session", bytes)) == min(number, KINDS["session"].most)
        put_state(folder, "run", "", b"0")


def test_who_waits_too_long_is_told_and_who_reads_is_answered(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    hasty = State(state_of(tmp_path).path, patience_s=0.01)
    with state_of(tmp_path).changing() as kept:
        kept.put("run", "", b"2")
        assert hasty.read("run", "", bytes) == b"1"
        with pytest.raises(Locked, match=r"state\.db is in use"), hasty.changing():
            pytest.fail("two are at it")


# --- a file that cannot be used ---------------------------------------------------------------------------------------


def foreign(path: Path) -> None:
    path.unlink()
    with contextlib.closing(sqlite3.connect(path)) as made:
        made.execute("CREATE TABLE state (kind TEXT)")
        made.execute("CREATE TRIGGER evil AFTER INSERT ON state BEGIN DELETE FROM state; END")


DAMAGES = {
    "overwritten": lambda path: path.write_bytes(b"not a database" * 500),
    "a cut head": lambda path: path.write_bytes(path.read_bytes()[:50] + b"\xff" * 5_000),
    "broken pages": lambda path: path.write_bytes(path.read_bytes()[:4_096] + b"\xff" * 12_288),
    "of others": foreign,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_file_is_read_as_empty_put_aside_and_begun_again(tmp_path: Path, name: str) -> None:
    said: list[str] = []
    put_state(tmp_path, "run", "", b"x" * 9_000)
    path = state_of(tmp_path).path
    DAMAGES[name](path)
    damaged, state = path.read_bytes(), State(path, said.append)
    assert everything(state) == {}
    assert said and {text.rpartition("; ")[2] for text in said} == {"it is taken as empty"}
    assert path.read_bytes() == damaged
    said.clear()
    with contextlib.suppress(Unavailable), state.changing() as kept:  # broken pages are seen when they are needed
        kept.put("run", "", b"1")
    put_state(tmp_path, "run", "", b"1")
    assert state.read("run", "", bytes) == b"1"
    assert said == [SAID.format(path)]
    assert path.with_name("state.db.aside").read_bytes() == damaged


def test_two_that_find_the_damage_at_once_put_it_aside_once(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    path, said = state_of(tmp_path).path, list[str]()
    path.write_bytes(b"not a database" * 500)

    def add(number: int) -> None:
        with State(path, said.append).changing() as kept:
            kept.put("session", f"{number}", b"{}")

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))
    assert said == [SAID.format(path)]
    assert len(state_of(tmp_path).read_all("session", bytes)) == 24


def test_a_damaged_file_is_not_put_aside_while_another_has_it_open(tmp_path: Path) -> None:
    """SQLite would take the journal of the new file for that of the old one, and undo the wrong file."""
    put_state(tmp_path, "run", "", b"1")
    path = state_of(tmp_path).path
    with state_of(tmp_path).changing():
        path.write_bytes(b"not a database" * 500)
        with pytest.raises(Locked), State(path, patience_s=0.1).changing():
            pass
        assert not path.with_name("state.db.aside").exists()
    with State(path).changing():
        assert path.with_name("state.db.aside").exists()


def test_a_file_that_another_process_has_begun_again_is_not_put_aside(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    assert state_of(tmp_path)._put_aside()
    assert state_of(tmp_path).read("run", "", bytes) == b"1"
    assert files_of(state_of(tmp_path).path.parent) == ["state.db", "state.db-journal"]


def test_what_was_removed_leaves_no_room_on_the_disk(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"x" * 500_000)
    with state_of(tmp_path).changing() as kept:
        kept.drop("run", [""])
    state_of(tmp_path).shrink()
    assert state_of(tmp_path).path.stat().st_size < 50_000


def use_all(memory: Memory, number: int) -> None:
    """Add a row as a caller with an id does, ask for it, and report on it."""
    with carried_out(RequestUnderWay(f"{number}")):
        memory.failures.add(f"error {number}: the disk is full", name=f"f{number}", fix="free some")
    assert memory.context(f"error {number}").refs
    memory.feedback(f"failure/f{number}", helped=True)
    assert memory.get(f"f{number}").record.name == f"f{number}"


def damage(folder: Path) -> None:
    path = state_of(folder).path
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(b"not a database" * 500)


def make_folder(folder: Path) -> None:
    path = state_of(folder).path
    path.unlink(missing_ok=True)
    (path / "inner").mkdir(parents=True)


@contextlib.contextmanager
def held(folder: Path) -> Iterator[None]:
    with state_of(folder).changing() as kept:
        kept.put("run", "", b"{}")
        yield


@pytest.mark.parametrize("trouble", [damage, make_folder, held])
def test_rows_are_written_whatever_is_the_matter_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trouble: object
) -> None:
    assert callable(trouble)
    for one in (Client, SyncedLedger):
        monkeypatch.setattr(one, "state", property(lambda self: State(self.layout.state_file, patience_s=0.01)))
    with open_memory(tmp_path) as memory:
        use_all(memory, 1)
        with trouble(tmp_path) or contextlib.nullcontext():
            use_all(memory, 2)
            if trouble is not damage:  # it is begun again
                with pytest.raises((GraphmemError, OSError)):
                    memory.runs.set({"next_step": "build"})
        use_all(memory, 3)
        assert memory.list("failure").total == 3
        assert memory.store.validate().ok


def full(connection: sqlite3.Connection) -> None:
    """Let a file not grow any more, as on a full disk."""
    connection.execute("PRAGMA max_page_count = 1")


def test_on_a_full_disk_rows_are_written_and_what_was_kept_stays(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = State._connected

    def connected(self: State, *, make: bool) -> sqlite3.Connection:
        connection = real(self, make=make)
        full(connection)
        return connection

    with open_memory(tmp_path) as memory:
        use_all(memory, 1)
        memory.runs.set({"next_step": "plan"})
        before = everything(state_of(tmp_path))
        with monkeypatch.context() as patch:
            patch.setattr(State, "_connected", connected)
            use_all(memory, 2)
            with pytest.raises(GraphmemError, match="full"):
                memory.runs.set({"agent_outputs": {"a": "x" * 100_000}})
        assert everything(state_of(tmp_path)).items() >= {("run", ""): before["run", ""]}.items()
        assert memory.list("failure").total == 2


@pytest.mark.skipif(os.getuid() == 0, reason="root writes everything")
def test_in_a_folder_that_can_only_be_read_what_is_kept_is_read(tmp_path: Path) -> None:
    put_state(tmp_path, "run", "", b"1")
    folder = state_of(tmp_path).path.parent
    folder.chmod(0o500)
    try:
        assert state_of(tmp_path).read("run", "", bytes) == b"1"
        with pytest.raises(Unavailable, match="read"):
            put_state(tmp_path, "run", "", b"2")
    finally:
        folder.chmod(0o700)


def test_several_clones_do_not_share_it(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.runs.set({"next_step": "plan"})
    shutil.copytree(tmp_path / "one", tmp_path / "two", ignore=shutil.ignore_patterns("local", "state"))
    with open_memory(tmp_path / "two") as memory:
        assert memory.runs.show().next_step is None
