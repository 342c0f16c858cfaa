"""A SQLite database of another program: opened to be read, never changed, within bounds."""

import sqlite3
from collections.abc import Iterator
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any, Self

from graphmem.errors import BadInput
from graphmem.system import safe_files

MOST_STEPS = 200_000_000  # of SQLite's machine in one statement: what takes longer is stopped
MOST_VALUE = 64 * 2**20  # bytes of one value


class ForeignDatabase(AbstractContextManager["ForeignDatabase"]):
    """
    A database that another program may be writing to.

    Raises:
        BadInput: it is a link, no SQLite database, damaged, or lacks a table.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        safe_files.refuse_link(path)
        try:
            self.connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True, timeout=5)
            self.connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MOST_VALUE)
            self.connection.execute("PRAGMA trusted_schema = OFF")
            self.connection.set_progress_handler(self.stop, MOST_STEPS)
        except sqlite3.Error as error:
            raise self.refusal(error) from None

    def stop(self) -> int:
        """Stop a statement that takes too long."""
        return 1

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *exc: object) -> None:
        self.connection.close()

    def rows(self, statement: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a statement."""
        try:
            yield from self.connection.execute(statement, values)
        except (sqlite3.Error, UnicodeDecodeError) as error:
            raise self.refusal(error) from None

    def tables(self) -> set[str]:
        """Return the names of its tables."""
        return {str(name) for (name,) in self.rows("SELECT name FROM sqlite_master WHERE type = 'table'")}

    def refusal(self, error: Exception) -> BadInput:
        """Return the error for what SQLite says."""
        return BadInput(f"{self.path} cannot be read as a database: {error}")
