"""Who may do what with the projects of a server, and what is said where something is wrong with it."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path
from typing import Any

import psycopg
import pytest

from graphmem import Memory
from graphmem.errors import NotFound, Refused, Unavailable, Usage
from graphmem.kernel.catalog.catalog import Catalog
from graphmem.kernel.ledger.port import RowPlace
from graphmem.kernel.ledger.postgres import place, schema
from graphmem.kernel.ledger.postgres.place import PostgresPlace
from graphmem.kernel.settings.address import ServerAddress
from tests.contract.places import MemoryOnRows
from tests.postgres import postgres
from tests.sample import new_store

NUMBERS = count(1)


@pytest.fixture
def owner() -> Iterator[psycopg.Connection[Any]]:
    """The owner of a database of its own, with the roles ana, bo and reader, who are in no project."""
    name = f"d{next(NUMBERS)}"
    with psycopg.connect(postgres().address, autocommit=True) as admin:
        for role in ("owner", "ana", "bo", "reader"):
            if admin.execute("SELECT 1 FROM pg_roles WHERE rolname = %s", [role]).fetchone() is None:
                admin.execute(f"CREATE ROLE {role} LOGIN")
        admin.execute(f"CREATE DATABASE {name} OWNER owner")
    with psycopg.connect(f"host={postgres().folder} dbname={name} user=owner", autocommit=True) as connection:
        yield connection


def as_role(owner: psycopg.Connection[Any], role: str) -> str:
    return f"host={postgres().folder} dbname={owner.info.dbname} user={role}"


def open_as(owner: psycopg.Connection[Any], role: str, project: str, folder: Path) -> Memory:
    """Return a store of a machine whose user has a role of the server."""

    def open_place(catalog: Catalog, timeout_s: float) -> RowPlace:
        return PostgresPlace(as_role(owner, role), project, catalog, lock_timeout_s=timeout_s)

    store = folder / f"{role}-{project}"
    if not store.exists():
        new_store(store)
    return MemoryOnRows(store, open_place)


def names(memory: Memory) -> list[str]:
    return [found.ref for found in memory.list().results]


def test_a_member_sees_its_project_and_no_other(owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    for role, project in (("ana", "shop"), ("bo", "mill")):
        schema.make_project(owner, project)
        schema.grant(owner, role, project, writes=True)
        with open_as(owner, role, project, tmp_path) as memory:
            memory.failures.add(f"the {project} is closed", name=project)
    for role, own, other in (("ana", "shop", "mill"), ("bo", "mill", "shop")):
        with open_as(owner, role, own, tmp_path) as memory:
            assert names(memory) == [f"failure/{own}"]
        with (
            pytest.raises(Unavailable, match=f"no project '{other}' that this role may read"),
            open_as(owner, role, other, tmp_path) as memory,
        ):
            memory.list()
        with psycopg.connect(as_role(owner, role), autocommit=True) as connection:
            for table in ("project", "writer", "rows", "changes"):
                sql = f"SELECT DISTINCT project FROM graphmem.{table}"
                assert connection.execute(sql).fetchall() == [(own,)]
            done = connection.execute("UPDATE graphmem.rows SET row = 'mine' WHERE project = %s", [other])
            assert done.rowcount == 0
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                sql = "INSERT INTO graphmem.changes (project, seq, id, commit, at) VALUES (%s, 9, 9, 9, now())"
                connection.execute(sql, [other])
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute("INSERT INTO graphmem.member VALUES (%s, %s, true)", [role, other])


def test_who_may_only_read_reads_and_is_told_so_when_it_writes(owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    schema.make_project(owner, "shop")
    schema.grant(owner, "ana", "shop", writes=True)
    schema.grant(owner, "reader", "shop", writes=False)
    with open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.failures.add("the shop is closed", name="closed")
        with open_as(owner, "reader", "shop", tmp_path) as other:
            assert names(other) == ["failure/closed"]
            with pytest.raises(Refused, match="this role may not write project 'shop'"):
                other.failures.add("the shop is open", name="open")
            memory.failures.add("the till is empty", name="till")
            assert names(other) == names(memory) == ["failure/closed", "failure/till"]


def test_who_is_taken_out_of_a_project_sees_nothing_of_it_any_more(
    owner: psycopg.Connection[Any], tmp_path: Path
) -> None:
    schema.make_project(owner, "shop")
    schema.grant(owner, "ana", "shop", writes=True)
    schema.run(owner, schema.revoke_statements("ana", "shop"))
    with pytest.raises(Unavailable, match="may read"), open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.list()
    with psycopg.connect(as_role(owner, "ana")) as connection:
        assert connection.execute("SELECT * FROM graphmem.project").fetchall() == []


def test_the_owner_of_the_tables_sees_no_project_that_it_was_taken_out_of(owner: psycopg.Connection[Any]) -> None:
    schema.make_project(owner, "shop")
    assert owner.execute("SELECT project FROM graphmem.project").fetchall() == [("shop",)]
    schema.run(owner, schema.revoke_statements("owner", "shop"))
    assert owner.execute("SELECT project FROM graphmem.project").fetchall() == []


def test_what_is_made_twice_is_there_once_and_keeps_its_rows(owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    schema.make_project(owner, "shop")
    schema.grant(owner, "ana", "shop", writes=True)
    with open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.failures.add("the shop is closed", name="closed")
        schema.make_project(owner, "shop")
        assert names(memory) == ["failure/closed"]


def test_tables_of_a_newer_version_are_read_and_not_written(owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    schema.make_project(owner, "shop")
    schema.grant(owner, "ana", "shop", writes=True)
    with open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.failures.add("the shop is closed", name="closed")
        owner.execute("UPDATE graphmem.version SET version = 9")
        assert names(memory) == ["failure/closed"]
        with pytest.raises(Refused, match="version 9, and this graphmem writes 2"):
            memory.failures.add("the shop is open", name="open")
        assert names(memory) == ["failure/closed"]
        with pytest.raises(Refused, match="version 9"):
            schema.make_project(owner, "mill")


def test_older_tables_are_read_and_written_after_their_owner_upgraded_them(
    owner: psycopg.Connection[Any], tmp_path: Path
) -> None:
    schema.make_project(owner, "shop")
    schema.grant(owner, "ana", "shop", writes=True)
    with open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.failures.add("the shop is closed", name="closed")
        for column in ("history_from", "history_days"):  # as the first version had it
            owner.execute(f"ALTER TABLE graphmem.project DROP COLUMN {column}")
        owner.execute("ALTER TABLE graphmem.changes DROP COLUMN by")
        owner.execute("REVOKE DELETE ON graphmem.rows, graphmem.changes FROM ana")
        owner.execute("UPDATE graphmem.version SET version = 1")
        assert names(memory) == ["failure/closed"]
        with pytest.raises(Refused, match="version 1, and this graphmem writes 2") as raised:
            memory.failures.add("the shop is open", name="open")
        assert raised.value.hint == "their owner upgrades them with: graphmem team upgrade URL"
        with ThreadPoolExecutor(4) as pool:  # several at once make one
            opened = [psycopg.connect(as_role(owner, "owner"), autocommit=True) for _ in range(4)]
            assert set(pool.map(schema.upgrade, opened)) <= {1, 2}
        for connection in opened:
            connection.close()
        memory.failures.add("the shop is open", name="open")
        assert [change.commit for change in memory.log("failure/open").results] == ["2"]


def test_nobody_writes_in_the_name_of_another(
    owner: psycopg.Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRAPHMEM_BY", "carla")
    schema.make_project(owner, "shop")
    for role in ("ana", "bo"):
        schema.grant(owner, role, "shop", writes=True)
    with open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.failures.add("the shop is closed", name="closed")
        found = memory.get("failure/closed").record
        assert (found.by, found.via) == ("ana", "python")
    with open_as(owner, "bo", "shop", tmp_path) as memory:
        memory.edit("failure/closed", fix="open it")
        assert [(one.commit, one.author) for one in memory.log("failure/closed").results] == [("2", "bo"), ("1", "ana")]
    with psycopg.connect(as_role(owner, "bo"), autocommit=True) as connection:
        for sql in (
            "INSERT INTO graphmem.changes (project, seq, id, commit, at, by) VALUES ('shop', 9, 9, 9, now(), 'ana')",
            "UPDATE graphmem.changes SET by = 'ana'",
        ):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                connection.execute(sql)


def test_the_history_and_deletions_are_kept_for_so_many_days(
    owner: psycopg.Connection[Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A machine that did not look for longer compares everything, so that it misses no deletion."""
    schema.make_project(owner, "shop")
    for role in ("ana", "bo"):
        schema.grant(owner, role, "shop", writes=True)
    monkeypatch.setattr(place, "PRUNED_EACH", 4)
    with open_as(owner, "ana", "shop", tmp_path) as memory, open_as(owner, "bo", "shop", tmp_path) as away:
        memory.failures.add("the shop is closed", name="closed")
        memory.failures.add("the till is empty", name="till")
        assert names(away) == ["failure/closed", "failure/till"]
        memory.undo()
        owner.execute("UPDATE graphmem.changes SET at = at - interval '364 days' WHERE project = 'shop'")
        memory.failures.add("the door is shut", name="door")  # the fourth commit: nothing is old enough
        count_ = "SELECT count(*) FROM graphmem.rows WHERE row IS NULL"
        assert owner.execute(count_).fetchone() == (1,)
        owner.execute("UPDATE graphmem.changes SET at = at - interval '2 days' WHERE project = 'shop' AND seq < 4")
        for number in range(4):
            memory.failures.add(f"window {number} is broken", name=f"window-{number}")
        assert owner.execute(count_).fetchone() == (0,)
        assert names(away) == names(memory)
        assert [one.commit for one in memory.log("failure/closed").results] == []
        with pytest.raises(NotFound, match="commit 2 is not in the history") as raised:
            memory.diff("2")
        assert raised.value.hint == "the history of this memory has the commits 4 to 8"


def test_a_machine_that_read_more_than_a_backup_has_follows_what_was_restored(
    owner: psycopg.Connection[Any], tmp_path: Path
) -> None:
    """Also where new commits have the numbers of those that were lost."""
    tables = ("project", "rows", "changes")
    schema.make_project(owner, "shop")
    for role in ("ana", "bo"):
        schema.grant(owner, role, "shop", writes=True)
    with open_as(owner, "ana", "shop", tmp_path) as memory, open_as(owner, "bo", "shop", tmp_path) as away:
        memory.failures.add("the shop is closed", name="closed")
        for table in tables:
            owner.execute(f"CREATE TABLE graphmem.{table}_backup AS SELECT * FROM graphmem.{table}")
        memory.failures.add("the till is empty", name="till")
        memory.edit("closed", fix="open it")
        assert names(away) == ["failure/closed", "failure/till"]
        for table in tables:
            owner.execute(f"DELETE FROM graphmem.{table}")
            owner.execute(f"INSERT INTO graphmem.{table} SELECT * FROM graphmem.{table}_backup")
        assert names(memory) == ["failure/closed"]
        memory.failures.add("the door is shut", name="door")
        memory.failures.add("the window is broken", name="window")
        assert names(away) == names(memory) == ["failure/closed", "failure/door", "failure/window"]
        assert away.get("closed").record.fix is None  # type: ignore[union-attr]


def test_a_role_that_the_server_has_not_is_named(owner: psycopg.Connection[Any]) -> None:
    schema.make_project(owner, "shop")
    with pytest.raises(NotFound, match="no role 'who'") as raised:
        schema.grant(owner, "who", "shop", writes=True)
    assert raised.value.hint == 'its administrator makes it with: CREATE ROLE "who" LOGIN'


def test_a_database_without_the_tables_is_a_clear_line(owner: psycopg.Connection[Any], tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="no tables of graphmem"), open_as(owner, "ana", "shop", tmp_path) as memory:
        memory.list()


def test_an_address_names_a_database_and_a_project() -> None:
    found = ServerAddress.parse("postgresql://ana:pw@db:5433/team?sslmode=require&project=shop")
    assert found == ("postgresql://ana:pw@db:5433/team?sslmode=require", "shop")
    assert found.shown == "postgresql://db:5433/team?project=shop"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("db/team?project=shop", "begins with ''"),
        ("mysql://db/team?project=shop", "begins with 'mysql'"),
        ("postgresql://ana:secret@db/team", "names no project"),
        ("postgresql://db/team?project=Shop%20A", "names project 'Shop A'"),
        ("postgresql://db/team?project=a&project=b", "names project 'a'"),
        ("postgresql://[db/team?project=a", "cannot be read"),
    ],
)
def test_what_is_no_address_is_named_without_a_password(text: str, said: str) -> None:
    with pytest.raises(Usage, match=said) as raised:
        ServerAddress.parse(text)
    assert "secret" not in f"{raised.value} {raised.value.hint}"
