"""The tables of another program's SQLite database, read: the rows of its tables, and no view, trigger or function."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

from graphmem.errors import BadInput
from graphmem.system import safe_files

MAGIC = b"SQLite format 3\0"
JOURNAL_MODE = slice(18, 20)  # of the header: how it is written; 2 is a write-ahead log, which is another file
ROWS = 1_000_000  # of one table
MOST_STEPS = 200_000_000  # of SQLite's machine in one statement: what takes longer is stopped
MOST_VALUE = 64 * 2**20  # bytes of one value
WAIT_S = 5.0  # for a program that is writing


def is_database(head: bytes) -> bool:
    """Return whether a file begins as a database does."""
    return head.startswith(MAGIC)


def rows_of(data: bytes, tables: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """
    Return the rows of those tables that a database has, by table; a copy in memory is asked.

    Raises:
        BadInput: it is damaged, or a table has too many rows.
    """
    copy = bytearray(data)
    copy[JOURNAL_MODE] = b"\1\1"
    found: dict[str, list[dict[str, Any]]] = {}
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        try:
            connection.deserialize(bytes(copy))
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute("PRAGMA query_only = ON")
            for name in tables:
                is_there = connection.execute("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?", (name,))
                if is_there.fetchone() is None:
                    continue
                rows = connection.execute(f'SELECT * FROM "{name}" LIMIT {ROWS + 1}')  # a name from our own code
                columns = [column for column, *_ in rows.description]
                found[name] = [dict(zip(columns, row, strict=True)) for row in rows]
                if len(found[name]) > ROWS:
                    raise BadInput(f"table {name!r} has over {ROWS:,} rows", hint="that is more than is read")
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise BadInput(f"the database cannot be read: {error}", hint="a whole file of SQLite") from None
    return found


class ForeignDatabase(AbstractContextManager["ForeignDatabase"]):
    """
    A database that is too large for a copy, and that another program may be writing to; its rows are read one by one.

    Raises:
        BadInput: it is not a database, damaged, or lacks a table.
        Unavailable: it is a link, or behind one.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        safe_files.refuse_link(path)
        try:
            self.connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=WAIT_S)
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.set_progress_handler(lambda: 1, MOST_STEPS)
        except sqlite3.Error as error:
            raise self.refusal(error) from None

    def __exit__(self, *exc: object) -> None:
        self.connection.close()

    def rows(
        self, table: str, columns: Sequence[str], order: Sequence[str], where: tuple[str, object] | None = None
    ) -> Iterator[tuple[Any, ...]]:
        """
        Yield the rows of a table; all names come from our own code.

        Args:
            where: a column and its value, of the rows that are meant; all rows if not given.
        """
        only = f" WHERE {where[0]} = ?" if where else ""
        statement = f"SELECT {', '.join(columns)} FROM {table}{only} ORDER BY {', '.join(order)}"
        try:
            yield from self.connection.execute(statement, where[1:] if where else ())
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.refusal(error) from None

    def refusal(self, error: Exception) -> BadInput:
        """Return the error for what SQLite says."""
        return BadInput(f"{self.path} cannot be read as a database: {error}")
