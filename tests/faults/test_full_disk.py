"""A disk that fills up at any stage: what is reported as failed did not happen, and what happened is not lost."""

import contextlib
import shutil
import sqlite3
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from graphmem import GraphmemError, Memory, NotFound
from tests.sample import contents, edge, failure, open_memory
from tests.test_faults import fill

pytestmark = pytest.mark.process
ROOM = (0, 8, 20, 40, 80, 150, 300, 600, 1200)  # KiB that are free
Command = Callable[[Memory], object]
COMMANDS: dict[str, Command] = {
    "add": lambda memory: memory.failures.add("a new error", name="new", fix="x" * 3_000),
    "add --ndjson": lambda memory: memory.add_rows(
        [failure(f"n{n}", fix="y" * 300) for n in range(300)]
        + [edge(f"failure/n{n}", "causes", "failure/f0") for n in range(50)]
    ),
    "edit": lambda memory: memory.edit("f1", {"fix": "z" * 3_000}),
    "purge": lambda memory: memory.store.purge(["f2"], yes=True),
    "undo": lambda memory: memory.undo(),
    "session decide": lambda memory: memory.sessions.decide("use sqlite", reasoning="r" * 2_000),
    "session task": lambda memory: memory.sessions.work_on("add a page"),
    "type add": lambda memory: memory.types.add_entity("thing"),
    "type rename": lambda memory: memory.types.rename("part", "piece", yes=True),
    "export": lambda memory: memory.store.export(),
    "feedback": lambda memory: memory.feedback("f3", helped=True),
}


@pytest.fixture(scope="module")
def small(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A file system of 12 MB, really full when it is full."""
    folder = tmp_path_factory.mktemp("small")
    command = ["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", str(folder)]
    if subprocess.run(command, capture_output=True, check=False).returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    yield folder
    subprocess.run(["umount", "-l", str(folder)], check=True)


def truth(folder: Path) -> list[str]:
    """Return what a store holds whose catalog is made again from the files."""
    for path in (folder / ".graphmem/local").glob("catalog.sqlite*"):
        path.unlink()
    with open_memory(folder) as memory:
        assert memory.store.validate().ok
        return sorted(found.model_dump_json() for found in memory.list().results)


@pytest.mark.long
@pytest.mark.parametrize("name", COMMANDS)
@pytest.mark.slow
def test_what_failed_on_a_full_disk_did_not_happen_and_what_did_not_fail_did(small: Path, name: str) -> None:
    for room in ROOM:
        folder = small / f"{name.replace(' ', '-')}-{room}"
        folder.mkdir()
        with open_memory(folder) as memory:
            memory.types.add_entity("part")
            memory.entities.add("part", "wheel")
            memory.add_rows([failure(f"f{n}") for n in range(100)])
            memory.failures.add("a last error", name="last")
            before = data_of(folder)
            ballast = fill(folder)
            with ballast.open("r+b") as file:
                file.truncate(max(0, ballast.stat().st_size - room * 1024))
            try:
                COMMANDS[name](memory)
                has_failed = False
            except (GraphmemError, OSError, sqlite3.Error):
                has_failed = True
        after = data_of(folder)
        if has_failed:
            assert after == before, f"{name} with {room} KiB failed and wrote"
        elif name not in ("export", "session task"):
            assert after != before, f"{name} with {room} KiB succeeded and wrote nothing"
        ballast.unlink()
        with open_memory(folder) as memory:
            shown = sorted(found.model_dump_json() for found in memory.list().results)
            if name == "purge" and not has_failed:
                with pytest.raises(NotFound):
                    memory.get("f2")
            memory.failures.add("there is room again", name="after")
            assert memory.store.validate().ok
            memory.undo()
        assert truth(folder) == shown
        left = [path.name for path in folder.rglob("*.tmp")]
        assert left == []
        shutil.rmtree(folder)


def data_of(folder: Path) -> dict[str, bytes]:
    """Return the committed files of a store but for those that a write may make and leave empty."""
    return {name: found for name, found in contents(folder).items() if found and name.startswith(("data/", "types/"))}


def test_a_session_ends_on_a_full_disk_or_goes_on(small: Path) -> None:
    folder = small / "ends"
    folder.mkdir()
    with open_memory(folder) as memory:
        memory.sessions.work_on("add a page")
        memory.sessions.prefer(communication_style="brief")
        ballast = fill(folder)
        with contextlib.suppress(GraphmemError, OSError):
            memory.sessions.end()
        ballast.unlink()
        total = memory.list("session").total
        if total:
            memory.sessions.start()
        assert memory.sessions.end().action == "created" or total == 1
        assert memory.list("session").total >= 1
        assert memory.store.validate().ok
