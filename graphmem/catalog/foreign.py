"""The tables of another program's SQLite database, read: the rows of its tables, and no view, trigger or function."""

import contextlib
import sqlite3
from collections.abc import Sequence
from typing import Any

from graphmem.errors import BadInput

MAGIC = b"SQLite format 3\0"
JOURNAL_MODE = slice(18, 20)  # of the header: how it is written; 2 is a write-ahead log, which is another file
ROWS = 1_000_000  # of one table


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
