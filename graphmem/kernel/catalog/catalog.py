"""
The catalog: what was last read of the ledger, in SQLite, with names resolved and edges ready to walk.

Derived: it can be deleted at any moment. It is what makes a cold command fast: no file is parsed that has not changed.
Decision: docs/decisions/0001-one-catalog-many-followers.md.
"""

import contextlib
import sqlite3
import time
from collections.abc import Iterator
from pathlib import Path

from graphmem.errors import Unavailable
from graphmem.kernel.catalog.clue_reads import ClueReads
from graphmem.kernel.catalog.database import open_file, remove, renew, transaction
from graphmem.kernel.catalog.files import FileReads
from graphmem.kernel.catalog.records import RecordReads
from graphmem.kernel.catalog.relations import RelationReads
from graphmem.kernel.ledger.port import CURSOR

CHECKPOINT_S = 10.0  # seconds to wait for readers of an older state, until the log of the catalog can be cut
# What holds rows, and what follows from them.
TABLES = (
    "file",
    "record",
    "alias",
    "label",
    "symptom",
    "signature",
    "expression",
    "line",
    "error",
    "clueless",
    "relation",
    "fact",
    "run",
    "seen",
    "standing",
    "stale",
    "change",
)


class Catalog(RecordReads, RelationReads, FileReads, ClueReads):
    """The rows of a store as last read; every method works inside the transaction that the caller opened, if any."""

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def renew(self) -> None:
        """Make the catalog empty: the next sync reads all files again. The places of the vectors stay."""
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")
        self._moment = (-1, -1)  # nothing is remembered: the file becomes another one
        try:
            renew(self.connection)
        except sqlite3.DatabaseError:  # not even the head of the file is left
            self.connection.close()
            remove(self.path)
            self.connection = self.opened(open_file)

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run the block in one transaction: all of it or nothing."""
        with transaction(self.connection):
            yield

    @contextlib.contextmanager
    def unchanging(self) -> Iterator[None]:
        """See the catalog as it is now while the block runs, whatever other processes write meanwhile."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        self._is_reading = True
        try:
            with self.steady():  # which reads: it is from here on, not from BEGIN
                yield
        finally:
            self._is_reading = False
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")

    def keep(self, name: str, value: object) -> None:
        """Keep a value under ``name``."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def clear(self) -> None:
        """Forget all rows, and the index of their texts; the vectors stay."""
        for table in TABLES:
            self.connection.execute(f"DELETE FROM {table}")
        for table in ("lexical_terms", "lexical"):
            self.connection.execute(f"DROP TABLE IF EXISTS {table}")
        self.keep(CURSOR, None)
        self.next_epoch()

    def copy(self, path: Path) -> None:
        """Copy the catalog as it is now to a new file, for another store: it has an identity of its own there."""
        with contextlib.closing(sqlite3.connect(path)) as made:
            self.connection.backup(made)
            made.execute("UPDATE meta SET value = hex(randomblob(16)) WHERE name = 'identity'")
            made.commit()

    def compact(self) -> None:
        """Rewrite the file, so that it holds nothing of removed rows; the graph must be rebuilt then."""
        with transaction(self.connection):
            self.next_epoch()
        if self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lexical'").fetchone():
            self.connection.execute("INSERT INTO lexical (lexical) VALUES ('rebuild')")
        self.shrink()

    def spare_bytes(self) -> int:
        """Return how many bytes of the file hold nothing."""
        sizes = [self.connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("freelist_count", "page_size")]
        return int(sizes[0] * sizes[1])

    def shrink(self) -> None:
        """Rewrite the file without what holds nothing."""
        self.connection.execute("VACUUM")
        end = time.monotonic() + CHECKPOINT_S
        while self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > end:
                raise Unavailable(
                    "another process reads the catalog all the time: its log still holds what was removed",
                    hint="end that process, then: graphmem rebuild",
                )
            time.sleep(0.02)

    def next_epoch(self) -> None:
        """Note that the graph must be rebuilt: the rows that it lacks are no longer listed."""
        self.connection.execute("DELETE FROM change")
        self.keep("epoch", (self.meta("epoch") or 0) + 1)

    @property
    def is_new(self) -> bool:
        """Return whether no file was ever read."""
        return not self.files()

    @property
    def identity(self) -> str:
        """What distinguishes this catalog from one that was made again: its epochs count from the beginning."""
        return str(self.meta("identity"))

    @property
    def position(self) -> tuple[int, int]:
        """The epoch, and the number of the last change in it: what a follower has to have taken in."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'change'").fetchone()
        return self.meta("epoch") or 0, row[0] if row else 0

    def changes(self, seq: int) -> list[tuple[str | None, str, str | None]]:
        """Return what the graph lacks since ``seq``: nodes (type and target None) first, then edges, each once."""
        sql = (
            "SELECT DISTINCT type, source, target FROM change WHERE seq > ?"
            " ORDER BY type IS NOT NULL, type, source, target"
        )
        return self.connection.execute(sql, (seq,)).fetchall()
