"""Git and editors replace files while commands read and write: every answer is of one state, and no work is lost."""

import os
import random
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from graphmem import BadInput, Conflict, Locked
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.ledger.types import NO_TYPES, Types
from graphmem.kernel.model import Failure, Record
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.system import safe_files
from tests.pace import within
from tests.repository import Repository
from tests.sample import data, failure, open_memory, pattern

pytestmark = pytest.mark.process
SECONDS = float(os.environ.get("GRAPHMEM_TEST_BESIDE_GIT_S", "3"))  # of each loop


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A repository with branches one and two, which have all records in other words, and some of their own."""
    repository = Repository(tmp_path / "project")
    with open_memory(repository.folder) as memory:
        memory.add_rows([failure(f"f{n}", fix="of one") for n in range(400)])
        memory.add_rows([pattern(f"p{n}", saved=1) for n in range(200)])
    repository.commit("one")
    repository("branch", "one")
    write = data(repository.folder, "failure")
    write.write_bytes(b"")
    data(repository.folder, "pattern").write_bytes(b"")
    with open_memory(repository.folder) as memory:
        memory.add_rows([failure(f"f{n}", fix="of two") for n in range(440)])
        memory.add_rows([pattern(f"p{n}", saved=2) for n in range(230)])
    repository.commit("two")
    repository("branch", "two")
    return repository.folder


def fix_of(record: Record) -> str | None:
    assert isinstance(record, Failure)
    return record.fix


@contextmanager
def checking_out(folder: Path) -> Iterator[None]:
    """Switch between the branches again and again while the block runs."""
    end = threading.Event()

    def work() -> None:
        while not end.is_set():
            for branch in ("one", "two"):
                # Where both replace a file within a tenth of a millisecond, git says so and goes on.
                subprocess.run(["git", "checkout", "-q", "-f", branch], cwd=folder, check=False)
                time.sleep(chance.uniform(0, 0.2))

    chance = random.Random(7)
    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        end.set()
        thread.join()


@pytest.mark.long
def test_every_answer_beside_a_checkout_is_of_one_branch(project: Path) -> None:
    asked = 0
    with open_memory(project) as memory, checking_out(project):
        end = time.monotonic() + SECONDS
        while time.monotonic() < end or asked <= 50:
            assert memory.list("failure", limit=1).total in (400, 440)
            assert memory.list("pattern", limit=1).total in (200, 230)
            assert fix_of(memory.get("failure/f3").record) in ("of one", "of two")
            asked += 3
    with open_memory(project) as memory:
        assert memory.store.validate().ok


def test_what_was_read_while_git_changed_files_is_read_again(project: Path) -> None:
    """Between two files of one reading git switches the branch: both are of one branch all the same."""
    with open_memory(project) as memory:
        assert memory.list("pattern", limit=1).total == 230
    subprocess.run(["git", "checkout", "-q", "-f", "one"], cwd=project, check=True)
    with open_memory(project) as memory:
        original, branches = memory.store.client.ledger.files.read, ["two"]

        def slowly(file: str, *, is_every_line: bool) -> Iterator[Batch]:
            yield from original(file, is_every_line=is_every_line)
            if branches:
                subprocess.run(["git", "checkout", "-q", "-f", branches.pop()], cwd=project, check=True)

        memory.store.client.ledger.files.read = slowly  # type: ignore[method-assign]
        with memory.store.client.reading() as snapshot:
            count = "SELECT count(*) FROM record WHERE record_type = ?"
            totals = [
                snapshot.catalog.connection.execute(count, (kind,)).fetchone()[0] for kind in ("failure", "pattern")
            ]
        assert totals == [440, 230]


@pytest.mark.long
def test_what_is_written_beside_a_checkout_mixes_no_branches(project: Path) -> None:
    """A write goes into the branch that is there: what it did not touch is that branch's, all of it."""
    written = 0
    with open_memory(project) as memory:
        with checking_out(project):
            end = time.monotonic() + SECONDS
            while time.monotonic() < end or written < 6:  # on a slow machine git has its lock nearly always
                try:
                    memory.edit("failure/f3", {"tags": [f"t{written}"]})
                    written += 1
                except (Conflict, Locked):
                    assert within(time.monotonic() - end, 30), f"{written} writes went through"
        for branch, total in (("one", 400), ("two", 440)):
            subprocess.run(["git", "checkout", "-q", "-f", branch], cwd=project, check=True)
            memory.edit("failure/f3", {"tags": ["last"]})
            found = memory.list("failure").results
            assert {fix_of(one.record) for one in found} == {f"of {branch}"}
            assert len(found) == total
            assert memory.store.validate().ok
            lines = data(project, "failure").read_bytes().splitlines()
            assert len([line for line in lines if f"of {branch}".encode() in line]) == total


def test_a_file_that_an_editor_writes_in_place_is_read_when_it_is_whole(tmp_path: Path) -> None:
    rows = [failure(f"f{n}", fix="x" * 100) for n in range(50)]
    path = data(tmp_path, "failure")
    with open_memory(tmp_path) as memory:
        memory.add_rows(rows)
        text = path.read_bytes()

        def save() -> None:
            with path.open("wb") as file:
                for at in range(0, len(text), 2_000):
                    file.write(text[at : at + 2_000])
                    file.flush()
                    time.sleep(0.02)

        thread = threading.Thread(target=save)
        thread.start()
        time.sleep(0.03)
        assert memory.list("failure", limit=1).total == 50
        thread.join()
        assert memory.store.validate().ok


@pytest.mark.long
def test_while_git_holds_its_lock_a_reader_answers_from_what_it_read_and_a_writer_waits(project: Path) -> None:
    lock, path = project / ".git/index.lock", data(project, "failure")
    with open_memory(project) as memory:
        memory.store.client.ledger.place.lock_timeout_s = 1.0
        lock.touch()
        path.write_bytes(path.read_bytes() + failure("by-hand"))
        assert memory.list("failure", limit=1).total == 440
        with pytest.raises(Locked, match="git changes the files") as refusal:
            memory.failures.add("new", name="new")
        assert str(lock) in str(refusal.value.hint)
        with pytest.raises(Locked):
            memory.forget("failure/f1")
        assert memory.list("failure", limit=1).total == 440  # what was refused is not in the catalog
        assert memory.store.undoable().writes[0].command != "forget"
        with pytest.raises(Locked):
            memory.store.validate()
        os.utime(lock, (time.time() - 61,) * 2)  # as one that a dead process left
        memory.failures.add("new", name="new")
        assert memory.list("failure", limit=1).total == 442
        assert memory.store.validate().ok


@pytest.mark.parametrize("seconds", [-61, 61, 10**7])
def test_a_lock_of_git_of_another_time_is_of_a_dead_process(project: Path, seconds: int) -> None:
    """A clock that went back leaves one in the future; it stopped every write."""
    lock = project / ".git/index.lock"
    lock.touch()
    os.utime(lock, (time.time() + seconds,) * 2)
    with open_memory(project) as memory:
        memory.failures.add("new", name="new")


def test_a_hook_of_git_waits_for_no_lock(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (project / ".git/index.lock").touch()
    monkeypatch.setenv("GIT_INDEX_FILE", str(project / ".git/index.lock"))
    path = data(project, "failure")
    path.write_bytes(path.read_bytes() + failure("by-hand"))
    with open_memory(project) as memory:
        assert memory.list("failure", limit=1).total == 441
        memory.store.export()


def test_an_index_that_changes_all_the_time_does_not_keep_a_store_from_being_read(project: Path) -> None:
    """Nothing of the store changes: what was read once is not read again."""
    shutil.rmtree(project / ".graphmem/local")
    end = threading.Event()

    def stage() -> None:
        while not end.is_set():
            (project / "other.txt").write_text(str(time.time()))
            subprocess.run(["git", "add", "other.txt"], cwd=project, check=False)

    thread = threading.Thread(target=stage)
    thread.start()
    try:
        with open_memory(project) as memory:
            assert memory.list("failure", limit=1).total == 440
            memory.failures.add("new", name="new")
    finally:
        end.set()
        thread.join()


def test_a_purge_that_is_refused_leaves_the_undo_notes(tmp_path: Path) -> None:
    path = data(tmp_path, "failure")
    with open_memory(tmp_path) as memory:
        memory.failures.add("one", name="one")
        path.write_bytes(path.read_bytes() + b"{bad line\n")
        with pytest.raises(BadInput):
            memory.store.purge(["one"], yes=True)
        assert len(memory.store.undoable().writes) == 1
        path.write_bytes(path.read_bytes().replace(b"{bad line\n", b""))
        memory.store.purge(["one"], yes=True)
        assert memory.store.undoable().writes == []


@pytest.mark.long
def test_resolve_and_export_do_not_overwrite_a_file_that_git_replaced(project: Path) -> None:
    path = data(project, "failure")
    with open_memory(project) as memory:
        path.write_bytes(path.read_bytes() + failure("by-hand"))  # not in its place: export moves it
        original = memory.store.client.ledger.files.stale_vocabulary_file
        theirs = [path.read_bytes().replace(b"of two", b"of git")]

        def while_git_writes(types: Types = NO_TYPES) -> dict[Path, bytes]:
            if theirs:
                path.write_bytes(theirs.pop())
            return original(types)

        memory.store.client.ledger.files.stale_vocabulary_file = while_git_writes  # type: ignore[method-assign]
        memory.store.export()
        assert path.read_bytes().count(b"of git") == 440


def test_a_file_that_goes_between_two_looks_is_a_conflict_and_no_fault(
    project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Git removes a file before it writes the other branch's."""
    path = project / ".graphmem/data/failure.ndjson"
    with open_memory(project) as memory:
        real = safe_files.read

        def removed(place: Path | str, *, most: int = -1) -> bytes:
            if Path(place) == path:
                path.unlink(missing_ok=True)
            return real(place, most=most)

        with memory.store.client.writing() as snapshot:
            record = snapshot.catalog.stored(snapshot.resolve("failure/f3"))
            monkeypatch.setattr(safe_files, "read", removed)
            with pytest.raises(Conflict, match="was replaced by another program"):
                memory.store.client.ledger.commit([entry(record.model_copy(update={"tags": ("t",)}), ())])
    assert not path.exists()
