"""
Clues: what a memory is recognised by beside its words: its signature, errors, lines and match expressions.

They take longer to work out than all else that the catalog holds of a record. After very many changes they are put off
until a command looks for them; one that does calls ``catch_up`` first.
"""

import contextlib
from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from graphmem.kernel.catalog.database import (
    Index,
    parse_record,
    remembered,
    rows_among,
    run_among,
    run_many,
    transaction,
)
from graphmem.kernel.model import Failure, MemoryRecord
from graphmem.kernel.model.expression import Expression, Malformed
from graphmem.kernel.registry import extensions

FORMATS = "formats"  # under which the catalog keeps by which formats problems were found
PART = 5_000  # memories in one transaction: half a second


class Clues(NamedTuple):
    """
    What a memory is recognised by beside its words and expressions.

    Attributes:
        signature: the number of its trigger's signature, and ``errors`` of the errors there.
        lines: of each trigger with lines that can be compared, the number of the first, its last word, and the others.
    """

    signature: int
    errors: Collection[int] = ()
    lines: Sequence[tuple[int, str, bytes]] = ()


class ClueIndex(Index):
    """The clues of the memories of a catalog, in the same database; the catalog lists which memories lack theirs."""

    @property
    @remembered
    def is_behind(self) -> bool:
        """Whether there are memories that have no clues yet."""
        return self.connection.execute("SELECT 1 FROM clueless LIMIT 1").fetchone() is not None

    @property
    def lacking(self) -> int:
        """How many memories have no clues yet."""
        count: int = self.connection.execute("SELECT count(*) FROM clueless").fetchone()[0]
        return count

    def put_off(self, ids: Collection[int]) -> None:
        """Note that these memories, new or changed, have no clues yet."""
        self.connection.executemany("INSERT OR IGNORE INTO clueless VALUES (?)", [(number,) for number in ids])

    def catch_up(self) -> None:
        """Add the clues that were put off, a part at a time: other processes take other parts, or write in between."""
        self.follow_formats()
        while self.is_behind:
            with transaction(self.connection):
                sql = f"SELECT record FROM clueless LIMIT {PART}"
                part = [number for (number,) in self.connection.execute(sql)]
                sql = "SELECT id, line, crc FROM record WHERE id IN (...)"
                found = [(row[0], parse_record(*row)) for row in rows_among(self.connection, sql, part)]
                self.add([(number, record) for number, record in found if isinstance(record, MemoryRecord)])
                run_among(self.connection, "DELETE FROM clueless WHERE record IN (...)", part)

    def follow_formats(self) -> None:
        """Put off what was found by other formats than those in use."""
        (digest,) = extensions("digest")
        used = digest()
        if self.catalog.meta(FORMATS) == used:
            return
        with transaction(self.connection):
            if self.connection.execute("SELECT 1 FROM error LIMIT 1").fetchone():
                self.connection.execute("DELETE FROM error")
                self.connection.execute(
                    "INSERT OR IGNORE INTO clueless SELECT id FROM record WHERE record_type = 'failure'"
                )
            self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (FORMATS, used))

    def add(self, memories: Iterable[tuple[int, MemoryRecord]]) -> None:
        """Add the clues of memories that have none; where some are there already, they stay."""
        (clues_of,) = extensions("clues")
        signatures, expressions, lines, errors = [], [], [], []
        for number, record in memories:
            clues: Clues = clues_of(record)
            signatures.append((clues.signature, number))
            errors += [(error, number) for error in clues.errors]
            lines += [(first, word, number, rest) for first, word, rest in clues.lines]
            if isinstance(record, Failure):
                for match in record.texts("match"):
                    with contextlib.suppress(Malformed):  # set aside by hand
                        expressions += [(number, literal, match) for literal in Expression(match).literals]
        run_many(self.connection, "INSERT OR IGNORE INTO signature VALUES (?,?)", signatures)
        run_many(self.connection, "INSERT OR IGNORE INTO expression VALUES (?,?,?)", expressions)
        run_many(self.connection, "INSERT OR IGNORE INTO line VALUES (?,?,?,?)", lines)
        run_many(self.connection, "INSERT OR IGNORE INTO error VALUES (?,?)", errors)
