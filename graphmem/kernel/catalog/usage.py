"""
How often this machine returned a record: in ``state/``, so that reading never dirties the working tree.

Source: docs/format.md.
"""

import contextlib
import sqlite3
from collections.abc import Collection, Iterator
from pathlib import Path

from graphmem.errors import Unavailable
from graphmem.kernel.system import safe_files

SCHEMA = "CREATE TABLE IF NOT EXISTS access (ref TEXT PRIMARY KEY, count INTEGER, last TEXT) WITHOUT ROWID"
PATIENCE_S = 5.0  # to wait for another process that counts


@contextlib.contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the counters; they are made where they are missing, and never where a branch put a link in their place."""
    with safe_files.folder(path.parent, make=True):
        pass
    try:
        for suffix in ("", "-journal", "-wal"):
            safe_files.refuse_link(path.with_name(path.name + suffix))
    except Unavailable as error:
        raise OSError(error.message) from None
    connection = sqlite3.connect(path, timeout=PATIENCE_S)
    try:
        with connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            connection.execute(SCHEMA)
            others = "SELECT 1 FROM sqlite_master WHERE type NOT IN ('table', 'index') OR name NOT IN ('access')"
            if connection.execute(others).fetchone():
                raise sqlite3.DatabaseError("it holds other things than the counters")
            yield connection
    finally:
        connection.close()


def count(path: Path, refs: Collection[str], at: str) -> None:
    """
    Count an access to each of these records.

    Args:
        path: of the counters. refs: by key, so that a rename keeps the count. at: now, as rows have it.

    Raises:
        OSError, sqlite3.Error: the counters cannot be written.
    """
    sql = (
        "INSERT INTO access VALUES (?, 1, ?) ON CONFLICT (ref)"
        " DO UPDATE SET count = count + 1, last = max(last, excluded.last)"
    )
    with opened(path) as connection:
        connection.executemany(sql, [(ref, at) for ref in refs])


def forget(path: Path, refs: Collection[str]) -> None:
    """Remove the counters of these records, also from what SQLite keeps of rows that are gone."""
    if not safe_files.is_file(path):
        return
    with opened(path) as connection:
        connection.executemany("DELETE FROM access WHERE ref = ?", [(ref,) for ref in refs])
    with opened(path) as connection:
        connection.commit()
        connection.execute("VACUUM")


def retype(path: Path, old: str, new: str | None) -> None:
    """Give the counters of the records of a type to its new name; None removes them."""
    if not safe_files.is_file(path):
        return
    with opened(path) as connection:
        of_type = "substr(ref, 1, ?) = ?"
        if new is not None:
            sql = f"UPDATE OR REPLACE access SET ref = ? || substr(ref, ?) WHERE {of_type}"
            connection.execute(sql, (new, len(old) + 1, len(old) + 1, f"{old}/"))
        connection.execute(f"DELETE FROM access WHERE {of_type}", (len(old) + 1, f"{old}/"))


def accesses(path: Path, refs: Collection[str]) -> dict[str, tuple[int, str]]:
    """Return how often records were returned and when last; nothing of what is damaged."""
    if not safe_files.is_file(path):
        return {}
    with contextlib.suppress(OSError, sqlite3.Error), opened(path) as connection:
        sql = "SELECT ref, count, last FROM access WHERE ref = ?"
        found = (connection.execute(sql, (ref,)).fetchone() for ref in refs)
        return {row[0]: (row[1], row[2]) for row in found if row}
    return {}
