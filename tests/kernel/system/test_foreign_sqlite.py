"""A database that a stranger made: its stored rows are read, and nothing that it defines is computed."""

import sqlite3
from pathlib import Path

import pytest

from graphmem.errors import BadInput
from graphmem.kernel.system import foreign_sqlite as foreign
from graphmem.kernel.system.foreign_sqlite import ForeignDatabase, rows_of

BIG = "hex(zeroblob(150000000))"
COUNT = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)"
PLAIN = "CREATE TABLE session (id, directory)"
MANY = f"{PLAIN}; {COUNT} INSERT INTO session SELECT i, i FROM n LIMIT 200000"
# By what it tries: statements that make a table `session` of `id` and `directory`.
BOMBS = {
    "view": f"CREATE VIEW session AS {COUNT} SELECT i AS id, length({BIG}) AS directory FROM n",
    "view of many": f"CREATE VIEW session AS {COUNT} SELECT i AS id, i AS directory FROM n WHERE i < 0",
    "view of a table": "CREATE TABLE other (id, directory); CREATE VIEW session AS SELECT * FROM other",
    "view without a function": "CREATE VIEW session AS SELECT 1 AS id, x'41' AS directory",
    "joined": "CREATE TABLE t (a); INSERT INTO t VALUES (1);"
    "CREATE VIEW session AS SELECT 1 AS id, x.a AS directory FROM t x, t y, t z",
    "generated": f"CREATE TABLE session (id, directory AS ({BIG}))",
    "stored": "CREATE TABLE session (id, directory AS (id || 'x') STORED)",
    "search": f"CREATE VIEW v AS SELECT 1 AS rowid, 2 AS id, {BIG} AS directory;"
    "CREATE VIRTUAL TABLE session USING fts5(id, directory, content='v')",
    "search with its own rows": "CREATE VIRTUAL TABLE session USING fts5(id, directory)",
}  # fmt: skip


def made(path: Path, script: str) -> Path:
    connection = sqlite3.connect(path)
    connection.executescript(script)
    connection.close()
    return path


def forged(path: Path) -> Path:
    """Make a database that says of a view that it is a table with pages."""
    made(path, BOMBS["view"])
    connection = sqlite3.connect(path)
    connection.executescript("PRAGMA writable_schema = ON; UPDATE sqlite_schema SET type = 'table', rootpage = 2;")
    connection.close()
    return path


def everything(path: Path) -> object:
    with ForeignDatabase(path) as database:
        return list(database.rows("session", ("id", "directory"), ("id",)))


@pytest.mark.parametrize("bomb", [*BOMBS, "forged"])
def test_nothing_that_a_database_defines_is_computed(tmp_path: Path, bomb: str) -> None:
    path = forged(tmp_path / "a.db") if bomb == "forged" else made(tmp_path / "a.db", BOMBS[bomb])
    connection = sqlite3.connect(path)
    if bomb in ("generated", "stored"):
        connection.execute("INSERT INTO session (id) VALUES (1)")
        connection.commit()
    connection.close()
    with pytest.raises(BadInput):
        everything(path)
    try:
        found = rows_of(path.read_bytes(), ("session",))
    except BadInput:
        return
    assert found == {"session": [{"id": 1}]} and bomb in ("generated", "stored")


def test_plain_tables_are_read_whatever_is_beside_them(tmp_path: Path) -> None:
    script = (
        'CREATE TABLE session (id TEXT PRIMARY KEY, directory DEFAULT (1 + 1), "odd ""name" BLOB, CHECK (abs(id) < 9))'
        " WITHOUT ROWID; INSERT INTO session VALUES ('2', 'b', x'00'), ('1', 'a', NULL);"
        "CREATE INDEX i ON session (abs(id)) WHERE abs(id) > 1; CREATE VIEW v AS SELECT 1;"
        "CREATE TRIGGER t AFTER INSERT ON session BEGIN SELECT 1; END; CREATE VIRTUAL TABLE f USING fts5(a);"
    )
    path = made(tmp_path / "a.db", script)
    assert everything(path) == [("1", "a"), ("2", "b")]
    with ForeignDatabase(path) as database:
        assert list(database.rows("session", ("directory",), where=("id", "2"))) == [("b",)]
        with pytest.raises(BadInput, match="no column 'nothing' is stored in 'session'"):
            list(database.rows("session", ("nothing",)))
        with pytest.raises(BadInput, match="no column"):
            list(database.rows("missing", ("id",)))
    assert rows_of(path.read_bytes(), ("session", "missing"))["session"][0] == {
        "id": "1", "directory": "a", 'odd "name': None,
    }  # fmt: skip


def test_rows_end_where_they_have_more_than_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(
        tmp_path / "a.db", f"CREATE TABLE session (id, directory); INSERT INTO session VALUES (1, '{'x' * 9_000}')"
    )
    monkeypatch.setattr(foreign, "SPARE_BYTES", -40_000)
    with pytest.raises(BadInput, match="have more than the file holds"):
        everything(path)


def test_a_row_that_takes_too_long_is_not_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", MANY)
    monkeypatch.setattr(foreign, "ROW_S", 0.0)
    monkeypatch.setattr(foreign, "STEPS", 1_000)
    with pytest.raises(BadInput, match="interrupted"):
        everything(path)


def test_a_person_can_interrupt_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = made(tmp_path / "a.db", MANY)

    def interrupted() -> float:
        raise KeyboardInterrupt

    with ForeignDatabase(path) as database:
        rows = database.rows("session", ("id",))
        next(rows)
        monkeypatch.setattr(foreign, "monotonic", interrupted)
        assert database.is_too_long() and database.is_interrupted
        with pytest.raises(KeyboardInterrupt), database.refusing():
            raise sqlite3.OperationalError("interrupted")
