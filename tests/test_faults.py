"""Faults of the machine under the store: a full disk, a clock that jumps back, names that hope to be something else."""

import contextlib
import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import Refused, Unavailable
from tests.sample import Clock, contents, open_memory

NAMES = [
    "../x", "..", "a/b", 'a "quote"', "emoji 🚀", "ünïcode", "-o", "$(touch trapped)", "%s %n", "<<<<<<< HEAD", " a",
    "a\\",
]  # fmt: skip


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB, really full when it is full."""
    folder = tmp_path / "small"
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def fill(folder: Path) -> Path:
    """Fill the file system up; return the file that does."""
    ballast = folder / "ballast"
    handle = os.open(ballast, os.O_WRONLY | os.O_CREAT)
    with contextlib.suppress(OSError):
        while True:
            os.write(handle, b"x" * 4096)
    os.close(handle)
    return ballast


def test_a_full_disk_fails_the_command_and_loses_nothing(small_disk: Path) -> None:
    with open_memory(small_disk) as memory:
        for number in range(5):
            memory.failures.add(f"error number {number}", name=f"f{number}")
        memory.stats()
        ballast, before = fill(small_disk), contents(small_disk)
        assert memory.list("failure").total == 5 and memory.get("f1").record.name == "f1"
        rows = [{"kind": "failure", "name": f"new-{n}", "trigger": "x" * 900} for n in range(50)]
        with pytest.raises(Refused, match="No space left"):
            memory.add_rows([orjson.dumps(row) for row in rows])
    with contextlib.suppress(Unavailable), open_memory(small_disk) as memory:  # the catalog may need room to open
        assert memory.list("failure").total == 5
    assert {name: data for name, data in contents(small_disk).items() if name.startswith("data/")} == {
        name: data for name, data in before.items() if name.startswith("data/")
    }
    ballast.unlink()
    with open_memory(small_disk) as memory:
        assert memory.list("failure").total == 5
        memory.failures.add("there is room again", name="after")
        assert memory.store.validate().ok


def test_a_limit_on_the_size_of_files_fails_the_command_in_one_line(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        memory.failures.add("the first error", name="first")
    before = contents(tmp_path)
    given = [{"kind": "failure", "name": f"f{n}", "trigger": "x" * 5_000} for n in range(400)]
    rows = b"".join(orjson.dumps(row) + b"\n" for row in given)
    done = subprocess.run(
        [sys.executable, "-m", "graphmem", "add", "--ndjson", "-"], cwd=tmp_path, input=rows, capture_output=True,
        check=False, preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (500_000, 500_000)),
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[1]), "GRAPHMEM_EMBEDDING_MODEL": "none"},
    )  # fmt: skip
    assert done.returncode in (3, 4, 5), done.stderr
    assert b"Traceback" not in done.stderr and b"error: " in done.stderr
    assert b"None" not in done.stderr  # it names the file
    data = {name: found for name, found in contents(tmp_path).items() if name.startswith("data/")}
    assert data == {name: found for name, found in before.items() if name.startswith("data/")}
    with open_memory(tmp_path) as memory:
        assert memory.store.validate().ok
        memory.failures.add("the next error", name="next")


def test_a_clock_that_jumps_back_takes_no_edit_back(tmp_path: Path) -> None:
    clock = Clock()
    with open_memory(tmp_path, clock=clock) as memory:
        memory.failures.add("an error", name="a")
        memory.edit("a", {"fix": "first"})
        before = memory.get("a").record.updated_at
        clock.back(timedelta(days=400))
        memory.edit("a", {"fix": "second"})
        after = memory.get("a").record
        assert after.model_dump()["fix"] == "second" and after.updated_at > before
        memory.failures.add("an error of long ago", name="b")
        assert memory.store.validate().ok


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.slow
def test_a_name_is_a_name_whatever_else_it_could_be(tmp_path: Path, name: str) -> None:
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("part")
        memory.entities.add("part", name, value="a value")
        memory.failures.add("an error", name="a")
        memory.relations.link(f"part/{name}", "causes", "failure/a")
        memory.store.export()
        memory.store.rebuild()
        assert memory.get(f"part/{name}").record.name == name
        assert [hit.record.name for hit in memory.related("failure/a").results] == [name]
        assert memory.store.validate().ok and memory.store.export_check().ok
    assert {path.name for path in tmp_path.iterdir()} == {".graphmem"}


@pytest.mark.parametrize("name", ["", "  ", "a\nb", "a\x1b[2J", "a\u2028b", "x" * 300])
def test_a_name_that_nobody_could_type_is_refused(memory: Memory, name: str) -> None:
    memory.types.add_entity("part")
    with pytest.raises(Exception, match="name") as caught:
        memory.entities.add("part", name)
    assert "\x1b" not in str(caught.value)
    assert memory.list("part").total == 0
