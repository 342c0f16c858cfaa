"""The rows of a memory move into a ref of their own and back: all of them, with their history, or none."""

import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Literal

import pytest

from graphmem import Memory, Refused, Unavailable
from tests.contract.places import Died, RefCase
from tests.contract.test_histories import rows_of
from tests.repository import Repository
from tests.sample import contents, open_memory

REF = "refs/heads/graphmem/memory"


@pytest.fixture
def project(tmp_path: Path) -> Repository:
    """A project whose branch has a memory with a history, and a row that is not committed."""
    made = Repository(tmp_path / "project")
    with open_memory(made.folder) as memory:
        memory.types.add_entity("service")
        memory.entities.add("service", "shop")
        memory.failures.add("it went boom", name="boom", fix="wait")
        made.commit("remember")
        memory.edit("boom", {"fix": "wait longer"})
        made.commit("know better")
        memory.failures.add("it is full", name="full")
    return made


def rows(project: Repository) -> dict[int, bytes]:
    with open_memory(project.folder) as memory:
        memory.list()
        return rows_of(memory)


def move(project: Repository, to: Literal["ref", "branch"], **more: bool) -> int:
    with open_memory(project.folder) as memory:
        return int(memory.store.ledger.move(to, **more).commits)


def test_the_rows_go_there_and_back_with_their_history_and_what_undo_needs(project: Repository) -> None:
    before, status = rows(project), project("status", "--porcelain")
    assert move(project, "ref") == 2
    assert rows(project) == before and project("status", "--porcelain") == status
    assert project("log", "--format=%s", REF).splitlines() == [
        "memory: moved from the branch",
        "know better",
        "remember",
    ]
    with open_memory(project.folder) as memory:
        assert [found.change.action for found in memory.log("boom").results] == ["changed", "created"]
        assert memory.undo().writes[0].rows == ["failure/full"]
        memory.failures.add("another one", name="another", dedup=False)
    after = rows(project)
    with pytest.raises(Refused, match=r"1 files in .* are in no commit"):
        move(project, "branch")
    project("checkout", "--", ".graphmem")
    assert move(project, "branch") == 0
    assert rows(project) == after and not (project.folder / ".git/graphmem/.graphmem").exists()
    with open_memory(project.folder) as memory:
        memory.failures.add("and one more", name="more", dedup=False)
        memory.forget("another")
    last = rows(project)
    assert move(project, "ref") == 0
    assert rows(project) == last


def test_a_preview_and_a_move_to_where_the_rows_are_change_nothing(project: Repository, tmp_path: Path) -> None:
    rows(project)
    before = contents(project.folder), project("show-ref")
    assert move(project, "ref", dry_run=True) == 2
    move(project, "branch")
    assert (contents(project.folder), project("show-ref")) == before
    with open_memory(tmp_path / "alone") as memory, pytest.raises(Unavailable, match="is in no git repository"):
        memory.store.ledger.move("ref")


def test_a_memory_that_was_open_says_that_the_rows_were_moved(project: Repository) -> None:
    with open_memory(project.folder) as memory:
        move(project, "ref")
        with pytest.raises(Unavailable, match="the rows were moved"):
            memory.failures.add("late", name="late")


def test_killed_at_any_step_a_move_has_happened_or_can_be_repeated(project: Repository, tmp_path: Path) -> None:
    before = rows(project)
    for steps in itertools.count(step=4):
        one = project.copied(tmp_path / f"copy{steps}")
        case, left, is_dead = RefCase.__new__(RefCase), iter(range(steps, -10_000, -1)), False

        def step(left: Iterator[int] = left) -> None:
            if next(left) == 0:
                raise Died

        with case.dying(step):
            try:
                move(one, "ref")
            except Died:
                is_dead = True
        assert rows(one) == before
        move(one, "ref")
        assert rows(one) == before
        with Memory(one.folder) as memory:
            assert memory.store.client.layout.home is not None
        if not is_dead:
            break
