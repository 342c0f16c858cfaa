"""Bytes of derived files change: no damaged text is shown, and what is damaged is made again from the files."""

import random
import shutil
import sqlite3
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import GraphmemError, Memory
from tests.sample import Clock, edge, failure, open_memory, pattern

FLIPS = 40  # damaged catalogs; each has 20 bytes changed


@pytest.fixture
def project(made: Path, tmp_path: Path) -> Path:
    """A store of 300 records whose catalog is one file."""
    return shutil.copytree(made, tmp_path / "project")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "project"
    folder.mkdir()
    with opened(folder) as memory:
        rows = [failure(f"f{n}", f"error {n} in module {n % 7}", fix=f"fix number {n}") for n in range(200)]
        rows += [pattern(f"p{n}") for n in range(100)]
        rows += [edge(f"pattern/p{n}", "solves", f"failure/f{n}") for n in range(100)]
        memory.add_rows(rows)
        memory.query("error 5 in module 5")
        memory.store.client.catalog.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return folder


def opened(folder: Path, said: list[str] | None = None) -> Memory:
    """Open the store at one moment: its answers depend on the time."""
    return open_memory(folder, said=said, clock=Clock(step=timedelta(0)))


def answers(memory: Memory) -> list[str]:
    return [
        memory.list("failure").model_dump_json(),
        memory.get("failure/f7").model_dump_json(),
        memory.solutions("f9").model_dump_json(),
        memory.related("f11").model_dump_json(),
        memory.query("error 5 in module 5").model_dump_json(),
    ]


def test_a_text_that_changed_on_the_disk_is_not_shown(project: Path) -> None:
    with opened(project) as memory:
        expected = answers(memory)
    path = project / ".graphmem/local/catalog.sqlite"
    data = path.read_bytes()
    assert b"fix number 7" in data
    path.write_bytes(data.replace(b"fix number 7", b"fix NUMBER 7").replace(b"fix number 150", b"fix\0number 150"))
    said: list[str] = []
    with opened(project, said) as memory:
        assert answers(memory) == expected
        assert said[0] == "the catalog was damaged; it is made again from the files"
        assert memory.store.validate().ok


@pytest.mark.parametrize("seed", [*range(8), *(pytest.param(seed, marks=pytest.mark.long) for seed in range(8, FLIPS))])
def test_a_damaged_catalog_gives_the_right_answer_or_validate_names_it(project: Path, seed: int) -> None:
    with opened(project) as memory:
        expected = answers(memory)
    path = project / ".graphmem/local/catalog.sqlite"
    data, chance = bytearray(path.read_bytes()), random.Random(seed)
    for _ in range(20):
        data[chance.randrange(100, len(data))] = chance.randrange(256)
    path.write_bytes(data)
    said: list[str] = []
    with opened(project, said) as memory:
        try:
            found = answers(memory)
        except GraphmemError:
            found = []
        if found != expected:
            assert said or not memory.store.validate().ok
            memory.store.doctor(fix=True)
        assert answers(memory) == expected
        memory.store.doctor(fix=True)
        memory.failures.add("one more", name="one-more")
        assert memory.store.validate().ok


@pytest.mark.long
def test_a_catalog_of_another_version_leaves_nothing_behind(project: Path) -> None:
    """Tables of another shape under names of ours, a view in the place of a table: all of it goes."""
    with opened(project) as memory:
        expected = answers(memory)
    path = project / ".graphmem/local/catalog.sqlite"
    for statement in (
        "DROP TABLE vector; CREATE TABLE vector (a, b)",
        "CREATE TABLE lexical_notes (x)",
        "DROP TABLE meta; CREATE VIEW meta AS WITH RECURSIVE c(x) AS"
        " (SELECT 1 UNION ALL SELECT x FROM c) SELECT * FROM c",
        "CREATE TRIGGER t AFTER INSERT ON record BEGIN DELETE FROM record; END",
        "DROP INDEX record_name; CREATE INDEX record_name ON record (shown)",
    ):
        for version in (None, 5, 99):
            damaged = sqlite3.connect(path)
            damaged.executescript(statement if version is None else f"PRAGMA user_version = {version}")
            damaged.close()
            with opened(project) as memory:
                assert answers(memory) == expected, statement
                assert memory.store.validate().ok
                made = memory.store.client.catalog.connection.execute("SELECT name FROM sqlite_master").fetchall()
                assert not {("t",), ("lexical_notes",)}.intersection(made)


def test_the_places_of_vectors_survive_a_catalog_of_another_version(memory_with_model: Memory, tmp_path: Path) -> None:
    memory_with_model.failures.add("the disk is full", name="full")
    memory_with_model.query("no space left")
    connection = memory_with_model.store.client.catalog.connection
    (before,) = connection.execute("SELECT count(*) FROM vector").fetchone()
    assert before
    memory_with_model.close()
    other = sqlite3.connect(tmp_path / ".graphmem/local/catalog.sqlite")
    other.execute("PRAGMA user_version = 5")
    other.close()
    with open_memory(tmp_path) as memory:
        assert memory.store.client.catalog.connection.execute("SELECT count(*) FROM vector").fetchone() == (before,)


def test_what_is_no_database_at_all_is_made_again_while_it_is_open(project: Path) -> None:
    with opened(project) as memory:
        expected = answers(memory)
        for path in (project / ".graphmem/local").glob("catalog.sqlite*"):
            path.write_bytes(b"nonsense" * 4096)
        assert answers(memory) == expected
    shutil.rmtree(project / ".graphmem/local")
    with opened(project) as memory:
        assert answers(memory) == expected
