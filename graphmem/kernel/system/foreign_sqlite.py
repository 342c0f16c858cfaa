"""The tables of another program's SQLite database, read: the rows of its tables, and no view, trigger or function."""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

from graphmem.errors import BadInput
from graphmem.kernel.system import safe_files

MAGIC = b"SQLite format 3\0"
JOURNAL_MODE = slice(18, 20)  # of the header: how it is written; 2 is a write-ahead log, which is another file
ROWS = 1_000_000  # of one table
STEPS = 100_000  # of SQLite's machine between two looks at the clock
ROW_S = 20.0  # seconds that the next row may take
MOST_VALUE = 64 * 2**20  # bytes of one value
MOST_SQL = 2**20  # bytes of the definition of a table
SPARE_BYTES = 2**20  # that the rows may have beyond twice the file: pages can be in several rows
WAIT_S = 5.0  # for a program that is writing
Rows = Iterator[tuple[Any, ...]]


def is_database(head: bytes) -> bool:
    """Return whether a file begins as a database does."""
    return head.startswith(MAGIC)


class ForeignDatabase(AbstractContextManager["ForeignDatabase"]):
    """
    A database that a stranger may have made, of which stored rows are read; nothing that it defines is computed.

    Args:
        source: its file, which another program may be writing to; or its content, of which a copy in memory is asked.

    Raises:
        BadInput: it is not a database, or damaged.
        Unavailable: it is a link, or behind one.
    """

    def __init__(self, source: Path | bytes) -> None:
        self.name = "the database" if isinstance(source, bytes) else str(source)
        self.until, self.is_interrupted = 0.0, False
        with self.refusing():
            self.connection = _opened(source)
            size = len(source) if isinstance(source, bytes) else source.stat().st_size
            self.left = 2 * size + SPARE_BYTES
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, min(self.left, MOST_VALUE))
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_SQL_LENGTH, MOST_SQL)
            self.connection.set_progress_handler(self.is_too_long, STEPS)
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.execute("PRAGMA query_only = ON")

    def __exit__(self, *exc: object) -> None:
        self.connection.close()

    def columns(self, table: str) -> list[str]:
        """Return the columns of a table that are stored; none where there is no such table."""
        with self.refusing():
            self.until = monotonic() + ROW_S
            self.connection.set_authorizer(None)
            return [
                name for _, name, *_, hidden in self.connection.execute(f"PRAGMA table_xinfo({table})") if not hidden
            ]

    def rows(
        self, table: str, columns: Sequence[str], order: Sequence[str] = (), where: tuple[str, object] | None = None
    ) -> Rows:
        """
        Yield the rows of a table, one table at a time; all names come from our own code, or are those of columns.

        Args:
            where: a column and its value, of the rows that are meant; all rows if not given.
        """
        given = [*columns, *order, *(where[:1] if where else ())]
        if missing := {*given} - {*self.columns(table), "rowid"}:
            raise BadInput(
                f"{self.name} cannot be read as a database: no column {min(missing)!r} is stored in {table!r}"
            )
        quoted = [f'"{column.replace(chr(34), 2 * chr(34))}"' for column in columns]
        only = f" WHERE {where[0]} = ?" if where else ""
        sorting = f" ORDER BY {', '.join(order)}" if order else ""
        statement = f"SELECT {', '.join(quoted)} FROM {table}{only}{sorting}"
        with self.refusing():
            self.until = monotonic() + ROW_S
            self.connection.set_authorizer(_only_stored(table))
            for row in self.connection.execute(statement, where[1:] if where else ()):
                self.left -= sum(len(value) for value in row if isinstance(value, str | bytes))
                if self.left < 0:
                    raise BadInput(f"{self.name} cannot be read as a database: its rows have more than the file holds")
                yield row
                self.until = monotonic() + ROW_S

    def is_too_long(self) -> bool:
        """Return whether SQLite has to stop: the next row takes too long, or the person has interrupted it."""
        try:
            return monotonic() > self.until
        except KeyboardInterrupt:  # raised here it would be lost
            self.is_interrupted = True
            return True

    @contextlib.contextmanager
    def refusing(self) -> Iterator[None]:
        """Raise ``BadInput`` for what SQLite says in the block."""
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError) as error:
            if self.is_interrupted:
                raise KeyboardInterrupt from None
            hint = "a whole file of SQLite, and plain tables"
            raise BadInput(f"{self.name} cannot be read as a database: {error}", hint=hint) from None


def _opened(source: Path | bytes) -> sqlite3.Connection:
    """Return a connection to a file, or to a copy of a content."""
    if isinstance(source, Path):
        safe_files.refuse_link(source)
        return sqlite3.connect(f"{source.resolve().as_uri()}?mode=ro", uri=True, timeout=WAIT_S)
    copy = bytearray(source)
    copy[JOURNAL_MODE] = b"\1\1"
    connection = sqlite3.connect(":memory:")
    connection.deserialize(bytes(copy))
    return connection


def _only_stored(table: str) -> Any:
    """Return what lets a statement read the rows of one table, and nothing that a view or a function makes."""

    def decide(action: int, first: str | None, second: str | None, database: str | None, inside: str | None) -> int:
        is_read = action == sqlite3.SQLITE_SELECT or (action == sqlite3.SQLITE_READ and first == table)
        return sqlite3.SQLITE_OK if is_read and inside is None else sqlite3.SQLITE_DENY

    return decide


def rows_of(data: bytes, tables: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """
    Return the rows of those tables that a database has, by table, with the columns that are stored.

    Raises:
        BadInput: it is damaged, or a table has too many rows.
    """
    found: dict[str, list[dict[str, Any]]] = {}
    with ForeignDatabase(data) as database:
        for name in tables:
            if columns := database.columns(name):
                rows = list(islice(database.rows(name, columns), ROWS + 1))
                if len(rows) > ROWS:
                    raise BadInput(f"table {name!r} has over {ROWS:,} rows", hint="that is more than is read")
                found[name] = [dict(zip(columns, row, strict=True)) for row in rows]
    return found
