"""A write that touches several files happens whole or not at all, wherever the process dies."""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest

from graphmem import Memory
from graphmem.errors import Refused
from graphmem.kernel.ledger.files.journal import recover
from graphmem.kernel.ledger.files.layout import Layout
from tests.sample import open_memory

BEFORE = [
    {"kind": "failure", "name": "old", "trigger": "the old error"},
    {"kind": "pattern", "name": "old", "trigger": "when it is old", "insight": "renew it"},
]
WRITE = [
    {"kind": "failure", "name": "new", "trigger": "the new error"},
    {"kind": "pattern", "name": "new", "trigger": "when it is new", "insight": "wait"},
    {"kind": "relation", "from": "pattern/new", "type": "solves", "to": "failure/new"},
]


class Died(BaseException):
    """Stands for the death of the process: nothing in the program catches it."""


def put(memory: Memory, rows: list[dict[str, Any]]) -> None:
    memory.add_rows([orjson.dumps(row) for row in rows])


def committed(folder: Path) -> dict[str, bytes]:
    """Return every file that git would see, and what is left over beside it; what ``undo`` notes is neither."""
    store = folder / ".graphmem"
    paths = [path for path in store.rglob("*") if path.is_file() and path.relative_to(store).parts[0] != "local"]
    paths = [path for path in paths if path.parent.name != "undo" or path.name.endswith(".tmp")]
    return {path.relative_to(store).as_posix(): path.read_bytes() for path in paths}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    with open_memory(tmp_path / "store") as memory:
        put(memory, BEFORE)
    return tmp_path / "store"


@pytest.fixture
def after(folder: Path, tmp_path: Path) -> dict[str, bytes]:
    """What the files hold when the write is done; its clock and ids are those of the write under test."""
    shutil.copytree(folder, tmp_path / "after")
    with open_memory(tmp_path / "after") as memory:
        put(memory, WRITE)
    return committed(tmp_path / "after")


def dying(call: Callable[..., Any], countdown: Iterator[int]) -> Callable[..., Any]:
    """Return ``call`` with a death before it once the countdown is over."""

    def step(*arguments: Any, **named: Any) -> Any:
        if next(countdown) == 0:
            raise Died
        return call(*arguments, **named)

    return step


def write_and_die(folder: Path, steps: int, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Do the write with a death before the step of this number among those that touch the disk; tell if it died."""
    countdown = iter(range(steps, -1_000, -1))
    with open_memory(folder) as memory, monkeypatch.context() as patch:
        for name in ("replace", "fsync", "unlink", "open"):
            patch.setattr(os, name, dying(getattr(os, name), countdown))
        try:
            put(memory, WRITE)
        except Died:
            return True
    return False


@pytest.mark.long
def test_a_death_at_any_step_leaves_the_old_state_or_the_new_one(
    folder: Path, after: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before, seen, steps = committed(folder), set(), 0
    while True:
        copy = tmp_path / f"death-{steps}"
        shutil.copytree(folder, copy)
        if not write_and_die(copy, steps, monkeypatch):
            break
        with open_memory(copy) as memory:
            assert memory.store.validate().ok
            names = {hit.record.name for hit in memory.list("failure").results}
            assert len(memory.list("pattern").results) == len(names)
            put(memory, [{"kind": "failure", "name": "next", "trigger": "the next error"}])
        found = committed(copy)
        del found["data/failure.ndjson"]
        wanted = after if "new" in names else before
        assert found == {name: data for name, data in wanted.items() if name != "data/failure.ndjson"}, steps
        seen.add("new" in names)
        steps += 1
    assert seen == {True, False} and steps > 10


@pytest.mark.long
def test_a_journal_cut_at_any_byte_means_that_nothing_was_written(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = committed(folder)
    with open_memory(folder) as memory, monkeypatch.context() as patch:
        renamed = iter([None, None])  # the note of undo, then the journal

        def only_the_journal(source: Any, target: Any, **folders: Any) -> None:
            if next(renamed, Died) is Died:
                raise Died
            os.rename(source, target, **folders)

        patch.setattr(os, "replace", only_the_journal)
        with pytest.raises(Died):
            put(memory, WRITE)
    journal = folder / ".graphmem/state/journal.json"
    whole = journal.read_bytes()
    assert len(orjson.loads(whole)) == 3
    for cut in range(len(whole)):
        copy = tmp_path / f"cut-{cut}"
        shutil.copytree(folder, copy, ignore=shutil.ignore_patterns("local"))
        (copy / ".graphmem/state/journal.json").write_bytes(whole[:cut])
        layout = Layout(copy)
        assert recover(layout)
        found = {name: data for name, data in committed(copy).items() if not name.endswith(".tmp")}
        assert found == before, cut
    with open_memory(folder) as memory:
        assert {hit.record.name for hit in memory.list("failure").results} == {"old", "new"}


def test_a_journal_that_came_with_a_branch_moves_nothing_elsewhere(folder: Path, tmp_path: Path) -> None:
    victim = tmp_path / "victim.md"
    victim.write_text("mine")
    store = folder / ".graphmem"
    (store / "data/.victim.md.1.tmp").write_text("theirs")
    (store / "data/.failure.ndjson.1.tmp").write_text("")
    (store / "state/journal.json").write_bytes(
        orjson.dumps(
            [
                ["data/.victim.md.1.tmp", "../../victim.md"],
                ["data/.failure.ndjson.1.tmp", "data/pattern.ndjson"],
                [str(store / "data/.victim.md.1.tmp"), str(victim)],
                ["../../victim.md"],
                [str(victim)],
                ["types/entities/../../../victim.md"],
                ["config.toml"],
                ["data/pattern.ndjson"],
            ]
        )
    )
    before = committed(folder)
    with open_memory(folder) as memory:
        assert memory.store.validate().ok
    assert victim.read_text() == "mine"
    for file in ("data/pattern.ndjson", "config.toml"):
        assert committed(folder)[file] == before[file]


def test_a_disk_that_fills_up_leaves_every_file_as_it_was(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = committed(folder)
    with open_memory(folder) as memory, monkeypatch.context() as patch:
        left = iter(range(2, -100, -1))

        def full(handle: int) -> None:
            if next(left) <= 0:
                raise OSError(28, "No space left on device", "somewhere")

        patch.setattr(os, "fsync", full)
        with pytest.raises(Refused, match="No space left"):
            put(memory, WRITE)
        assert committed(folder) == before
    with open_memory(folder) as memory:
        put(memory, WRITE)
        assert memory.store.validate().ok
