"""A fresh clone, a store that can only be read, files that change under a command."""

import os
import shutil
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from graphmem import Conflict, GraphmemError, Memory, Unavailable
from graphmem.kernel.catalog.database import checksum
from graphmem.kernel.ledger.files.journal import replace_files
from graphmem.kernel.ledger.row import entry
from graphmem.kernel.model.entry import Batch
from graphmem.kernel.settings.folders import private_folder
from tests.sample import contents, data, failure, open_memory, write

# Root without the right to pass over the modes of files; another user might not reach the interpreter.
WITHOUT_RIGHTS = ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


# --- every byte ----------------------------------------------------------------------------------------------------


def test_validate_sees_a_change_that_left_size_and_time_as_they_were(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("it broke", name="a", fix="old")
    file = data(tmp_path, "failure")
    past = time.time_ns() - 10**11
    os.utime(file, ns=(past, past))
    memory.list()
    memory.list()
    with open(file, "r+b") as handle:
        content = handle.read().replace(b'"old"', b'"new"')
        handle.seek(0)
        handle.write(content)
    os.utime(file, ns=(past, past))
    assert memory.get("a").record.fix == "old"  # type: ignore[union-attr]  # what reads go by is as it was
    assert memory.store.validate().ok
    assert memory.get("a").record.fix == "new"  # type: ignore[union-attr]


def test_validate_sees_a_catalog_that_holds_other_rows_than_the_files(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("it broke", name="a", fix="old")
    memory.list()
    connection = memory.store.client.catalog.connection
    number, row = connection.execute("SELECT id, line FROM record").fetchone()
    other = row.replace(b"old", b"bad")
    connection.execute("UPDATE record SET line = ?, crc = ?", (other, checksum(number, other)))
    assert {found.code for found in memory.store.validate().findings} == {"catalog_differs"}
    assert {found.code for found in memory.store.doctor(fix=True).mended} == {"catalog_differs"}
    assert memory.get("a").record.fix == "old"  # type: ignore[union-attr]
    assert memory.store.validate().ok


# --- a store that can only be read ---------------------------------------------------------------------------------


@pytest.fixture
def readable(tmp_path: Path) -> Iterator[Path]:
    """A fresh clone that nobody may write to."""
    with open_memory(tmp_path / "store") as memory:
        memory.add_rows([failure(f"f{number}") for number in range(50)])
    for name in ("local", "state"):
        shutil.rmtree(tmp_path / "store/.graphmem" / name)
    subprocess.run(["chmod", "-R", "a-w,a+rX", str(tmp_path / "store")], check=True)
    (tmp_path / "cache").mkdir(mode=0o777)
    (tmp_path / "cache").chmod(0o777)
    for folder in (tmp_path, *tmp_path.parents[:3]):
        folder.chmod(0o755)
    yield tmp_path
    subprocess.run(["chmod", "-R", "u+w", str(tmp_path / "store")], check=True)


@pytest.mark.long
@pytest.mark.skipif(bool(WITHOUT_RIGHTS) and not shutil.which("setpriv"), reason="root may write everywhere")
def test_reads_of_a_store_that_cannot_be_written_are_kept_in_the_users_cache(readable: Path) -> None:
    homes = {f"XDG_{name.upper()}_HOME": str(readable / name) for name in ("cache", "config", "state")}
    environment = {**os.environ, **homes, "GRAPHMEM_EMBEDDING_MODEL": "none",
                   "PYTHONPATH": str(Path(__file__).parents[3])}  # fmt: skip
    said = []
    code = "from graphmem.doors.cli.app import run; raise SystemExit(run(['list']))"
    for _ in range(2):
        done = subprocess.run(
            [*WITHOUT_RIGHTS, sys.executable, "-c", code], cwd=readable / "store", env=environment,
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.count("failure/") == 50
        said.append("built local/ from the files" in done.stderr)
    assert said == [True, False]
    (folder,) = (readable / "cache/graphmem/stores").iterdir()
    assert (folder / "local/catalog.sqlite").exists()
    assert folder.stat().st_mode & 0o077 == 0
    assert not (readable / "store/.graphmem/local").exists()


def test_a_store_has_a_cache_folder_of_its_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    for name in ("one", "two"):
        with open_memory(tmp_path / name) as memory:
            memory.failures.add(f"{name} went wrong", name=name)
        shutil.rmtree(tmp_path / name / ".graphmem/local")
        (tmp_path / name / ".graphmem/local").write_text("no folder")  # as good as one that cannot be written
        with open_memory(tmp_path / name) as memory:
            assert [found.ref for found in memory.list().results] == [f"failure/{name}"]
            with pytest.raises(Unavailable, match="local is not a folder"):  # the lock that writers share is there
                memory.failures.add("another", name="another")
    assert len(list((tmp_path / "cache/graphmem/stores").iterdir())) == 2


def test_a_store_without_a_cache_leaves_one_temporary_folder_not_one_a_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each command left a catalog in a new temporary folder, for ever."""
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/none")
    monkeypatch.setenv("TMPDIR", str(temporary))
    monkeypatch.setattr("tempfile.tempdir", None)
    with open_memory(tmp_path / "store") as memory:
        memory.failures.add("went wrong", name="a")
    shutil.rmtree(tmp_path / "store/.graphmem/local")
    (tmp_path / "store/.graphmem/local").write_text("no folder")
    for _ in range(3):
        with open_memory(tmp_path / "store") as memory:
            assert [found.ref for found in memory.list().results] == ["failure/a"]
    (folder,) = temporary.iterdir()
    assert folder.stat().st_mode & 0o077 == 0
    assert len(list((folder / "stores").iterdir())) == 1


def test_a_temporary_folder_that_another_user_could_write_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "/dev/null/none")
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    place = tmp_path / f"graphmem-{os.getuid()}"
    place.symlink_to(tmp_path)
    with pytest.raises(Unavailable, match="cannot be used for temporary files"):
        private_folder()
    place.unlink()
    place.mkdir()
    place.chmod(0o777)
    with pytest.raises(Unavailable, match="cannot be used for temporary files"):
        private_folder()


# --- other programs ------------------------------------------------------------------------------------------------


def test_a_file_that_git_replaces_while_a_command_writes_is_not_overwritten(memory: Memory, tmp_path: Path) -> None:
    memory.add_rows([failure("a", fix="ours"), failure("b")])
    theirs = failure("a", fix="theirs") + failure("c")
    file = data(tmp_path, "failure")

    with memory.store.client.writing() as snapshot:
        record = snapshot.catalog.stored(snapshot.resolve("b"))
        write(file, theirs)  # while the command decides
        before = contents(tmp_path)
        with pytest.raises(Conflict, match=r"data/failure.ndjson was replaced by another program"):
            memory.store.client.ledger.commit([entry(record.replaced({"fix": "x"}), frozenset())])
    assert contents(tmp_path) == before
    assert [found.ref for found in memory.list().results] == ["failure/a", "failure/c"]
    assert memory.get("a").record.fix == "theirs"  # type: ignore[union-attr]
    memory.edit("a", {"tags": ["x"]})
    assert b"theirs" in file.read_bytes()
    assert memory.store.validate().ok


def test_a_catalog_without_room_fails_the_command_before_any_file_is_replaced(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.failures.add("it broke", name="a")
    before = contents(tmp_path)
    (pages,) = memory.store.client.catalog.connection.execute("PRAGMA page_count").fetchone()
    memory.store.client.catalog.connection.execute(f"PRAGMA max_page_count = {pages}")
    rows = [failure(f"f{number}", fix="x" * 1_000) for number in range(500)]
    with pytest.raises((sqlite3.OperationalError, GraphmemError), match="full"):
        memory.add_rows(rows)
    assert contents(tmp_path) == before
    memory.store.client.catalog.connection.execute("PRAGMA max_page_count = 1000000")
    memory.add_rows(rows)
    assert memory.list(limit=1).total == 501
    assert memory.store.validate().ok


def test_what_a_refused_replacement_wrote_is_gone(tmp_path: Path) -> None:
    def refuse(fresh: object) -> None:
        raise Conflict("no")

    (tmp_path / "a").write_bytes(b"old")
    with pytest.raises(Conflict):
        replace_files({tmp_path / "a": b"new"}, None, refuse)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
    assert (tmp_path / "a").read_bytes() == b"old"


def test_a_command_decides_again_where_git_replaced_the_file_meanwhile(memory: Memory, tmp_path: Path) -> None:
    memory.add_rows([failure("a", fix="ours"), failure("b")])
    file = data(tmp_path, "failure")
    theirs = [failure("a", fix="theirs") + failure("c")]
    original = memory.store.client.ledger.files.contents

    def while_git_checks_out(batch: Batch) -> bytes:
        if theirs:
            write(file, theirs.pop())
        return original(batch)

    memory.store.client.ledger.files.contents = while_git_checks_out  # type: ignore[method-assign]
    added = memory.add_rows(iter([failure("d"), failure("e")]))
    assert added.created == 2
    assert [found.ref for found in memory.list().results] == [f"failure/{name}" for name in "acde"]
    assert memory.get("a").record.fix == "theirs"  # type: ignore[union-attr]
    assert memory.store.validate().ok
