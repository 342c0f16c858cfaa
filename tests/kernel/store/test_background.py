"""No command waits for the vectors of many new texts: a process in the background makes them."""

import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from graphmem import Memory
from graphmem.kernel.catalog.vectors import STEP
from graphmem.kernel.store import background
from graphmem.kernel.store.background import STARTED, embed_in_background
from graphmem.kernel.system.lock import locked
from graphmem.kernel.system.surroundings import Surroundings, called_from
from tests.kernel.store.test_embedding import Counting
from tests.pace import within
from tests.sample import failure, open_memory

ROWS = [failure(f"f{number}", f"error number {number} in the shop") for number in range(200)]


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """The processes that are started; none is."""
    found: list[Sequence[str]] = []
    monkeypatch.setattr(
        "graphmem.kernel.system.detached.launch",
        lambda command, is_child, variables: found.append([*command, variables.get("GRAPHMEM_EMBEDDING_MODEL", "")]),
    )
    return found


@pytest.mark.long
@pytest.mark.process
def test_after_a_bulk_add_a_process_makes_the_vectors_and_status_says_how_far_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_memory(tmp_path):
        pass
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_BACKGROUND", "true")
    with Memory(tmp_path) as memory:
        memory.add_rows(ROWS)
        assert memory.status().without_vector == 200
        began = time.monotonic()
        while memory.status().without_vector:
            assert within(time.monotonic() - began, 30)
            time.sleep(0.1)
        assert memory.query("error number 7").notices == []
    assert list(children(os.getpid())) == []  # it is nobody's child, and leaves no zombie to wait for


def children(process: int) -> list[str]:
    """Return the child processes of a process that make vectors."""
    listed = subprocess.run(["ps", "-eo", "ppid=,args="], capture_output=True, text=True, check=True).stdout
    lines = [line.split(maxsplit=1) for line in listed.splitlines()]
    return [line[1] for line in lines if int(line[0]) == process and "embed_all" in line[1]]


def test_one_process_runs_for_a_store_and_one_that_ended_with_work_left_is_not_started_again_at_once(
    tmp_path: Path, starts: list[Sequence[str]]
) -> None:
    assert embed_in_background(tmp_path, tmp_path)
    assert [command[:2] for command in starts] == [[sys.executable, "-P"]]
    assert embed_in_background(tmp_path, tmp_path)  # it is starting
    for age_s, is_under_way, started in ((10, False, 1), (30, True, 2)):
        then = time.time() - age_s
        os.utime(tmp_path / STARTED, (then, then))
        assert (embed_in_background(tmp_path, tmp_path), len(starts)) == (is_under_way, started)
    then = time.time() - 30
    os.utime(tmp_path / STARTED, (then, then))
    with locked(tmp_path / background.LOCK, timeout_s=0):
        assert embed_in_background(tmp_path, tmp_path)
    assert len(starts) == 2


@pytest.mark.parametrize(
    ("variable", "value", "number"),
    [("MODEL", "none", 0), ("BACKGROUND", "false", 0), ("BACKGROUND", "true", 1)],
)
def test_nothing_is_started_without_a_model_or_where_the_user_does_not_want_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: list[Sequence[str]], variable: str, value: str, number: int
) -> None:
    with open_memory(tmp_path):
        pass
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_BACKGROUND", "true")
    monkeypatch.setenv(f"GRAPHMEM_EMBEDDING_{variable}", value)
    with Memory(tmp_path) as memory:
        memory.add_rows(ROWS)
    assert len(starts) == number


def test_a_project_cannot_start_a_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, starts: list[Sequence[str]]
) -> None:
    with open_memory(tmp_path):
        pass
    monkeypatch.delenv("GRAPHMEM_EMBEDDING_BACKGROUND")
    own = Path(os.environ["XDG_CONFIG_HOME"]) / "graphmem/config.toml"
    own.parent.mkdir(parents=True)
    own.write_text("[embedding]\nbackground = false\n")
    with (tmp_path / ".graphmem/config.toml").open("a") as file:
        file.write("\n[embedding]\nbackground = true\n")
    with Memory(tmp_path) as memory:
        assert any("embedding.background" in notice for notice in memory.add_rows(ROWS).notices)
    assert starts == []


def test_the_process_has_the_variables_of_the_caller_also_where_a_service_answers(
    tmp_path: Path, starts: list[Sequence[str]]
) -> None:
    with called_from(Surroundings("/", {"GRAPHMEM_EMBEDDING_MODEL": "a/model"})):
        assert embed_in_background(tmp_path, tmp_path)
    assert [command[-1] for command in starts] == ["a/model"]


def test_vectors_are_placed_as_they_are_made_and_none_is_kept_of_a_text_that_was_purged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Purging(Counting):
        """A model in whose time the last record is purged."""

        def encode_documents(self, texts: Sequence[str]) -> NDArray[np.float32]:
            lacking.append(memory.store.client.catalog.without_vector())
            if len(lacking) == 2:
                other.store.purge(["failure/f299"], yes=True)
            return super().encode_documents(texts)

    lacking: list[int] = []
    with open_memory(tmp_path, embedder=Purging()) as memory, Memory(tmp_path) as other:
        memory.add_rows([failure(f"f{number}") for number in range(STEP + 44)])
        memory.store.rebuild()
        assert lacking == [STEP + 44, 44]
        kept = memory.store.client.catalog.connection.execute("SELECT count(*) FROM vector").fetchone()
        assert kept == (STEP + 43,)
