"""What the catalog knows of the files it was made from."""

import contextlib
import hashlib
import sqlite3
from collections.abc import Collection, Iterator, Sequence
from typing import NamedTuple

import orjson

from graphmem.kernel.catalog.database import CHUNK, Reads, chunks, marks, remembered, rows_among, table_of
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.port import Stamp
from graphmem.kernel.model.entry import Entry
from graphmem.kernel.model.record import Row


def _by_index(file: str) -> str:
    """Return what lets SQLite find the rows of a file by the index of those that are not in the one file of a kind."""
    path = "data/relations/*/*" if table_of(file) == "relation" else "data/*/*"
    return f" AND file GLOB '{path}'" if file.count("/") >= path.count("/") else ""


class ReadFile(NamedTuple):
    """How a file was when it was read, as the catalog has it."""

    size: int
    mtime_ns: int
    inode: int
    sha256: bytes
    read_ns: int
    is_ordered: int
    findings: bytes
    purged: str

    def listed(self) -> list[Finding]:
        """Return what was wrong with it."""
        return [Finding.model_validate(item) for item in orjson.loads(self.findings)]


class FileReads(Reads):
    """What the catalog knows of the files it was made from."""

    def lines(self, file: str) -> dict[bytes, int]:
        """Return the rows of a file as last read: line to number."""
        sql = f"SELECT line, id FROM {table_of(file)} WHERE file = ?{_by_index(file)}"
        return dict(self.connection.execute(sql, (file,)))

    def files_of(self, ids: Collection[int], table: str) -> dict[int, str]:
        """Return the files that hold rows of a table with these numbers."""
        sql = f"SELECT id, file FROM {table} WHERE id IN (...) AND file IS NOT NULL"
        return {} if self._is_empty(table, ids) else dict(rows_among(self.connection, sql, ids))

    def _is_empty(self, table: str, ids: Collection[int]) -> bool:
        """Return whether a table has no row at all, which is asked before very many rows are looked for."""
        return len(ids) > CHUNK and self.connection.execute(f"SELECT 1 FROM {table}").fetchone() is None

    def files_between(self, numbers: range, file: str) -> dict[int, str]:
        """Return the files that hold the rows with these numbers, of the table that the rows of ``file`` are in."""
        sql = f"SELECT id, file FROM {table_of(file)} WHERE id BETWEEN ? AND ? AND file IS NOT NULL"
        return dict(self.connection.execute(sql, (numbers[0], numbers[-1])).fetchall())

    def lines_of(self, ids: Collection[int], file: str) -> dict[int, bytes]:
        """Return the lines of those of some rows that a file holds, as last read."""
        table = table_of(file)
        sql = f"SELECT id, line FROM {table} WHERE file = ? AND id IN (...)"
        return {} if self._is_empty(table, ids) else dict(rows_among(self.connection, sql, ids, [file]))

    def without_moved(self, file: str, entries: Sequence[Entry]) -> list[Entry]:
        """Note which rows of a file were in another one, with the same lines; return the others."""
        left: list[Entry] = []
        table = table_of(file)
        for part in chunks(entries):
            sql = f"SELECT id, line FROM {table} WHERE id IN ({marks(part)}) AND file <> ?"
            lines = dict(self.connection.execute(sql, (*(entry.id for entry in part), file)).fetchall())
            moved = [entry.id for entry in part if lines.get(entry.id) == entry.line]
            sql = f"UPDATE {table} SET file = ? WHERE id IN ({marks(moved)})"
            self.connection.execute(sql, (file, *moved))
            left += part if not moved else [entry for entry in part if lines.get(entry.id) != entry.line]
        return left

    def rows_in(self, file: str) -> int:
        """Return how many rows a file has, as last read."""
        sql = f"SELECT count(*) FROM {table_of(file)} WHERE file = ?{_by_index(file)}"
        (number,) = self.connection.execute(sql, (file,)).fetchone()
        return int(number)

    def misplaced(self, file: str, own: range) -> int:
        """Return how many rows of a file have other numbers than these."""
        return sum(number not in own for number in self.lines(file).values())

    def move_rows(self, file: str, own: range, files: Collection[str]) -> None:
        """Note for the rows with these numbers, which are in some files, that they are in another one."""
        sql = f"UPDATE {table_of(file)} SET file = ? WHERE id BETWEEN ? AND ? AND file IN ({marks(files)})"
        self.connection.execute(sql, (file, own[0], own[-1], *files))

    # --- the files as they were read ----------------------------------------------------------------------------

    @remembered
    def files(self) -> dict[str, ReadFile]:
        """Return each file that was read, in the order of their paths, as it was then."""
        rows = self.connection.execute("SELECT * FROM file ORDER BY path").fetchall()
        return {path: ReadFile(*rest) for path, *rest in rows}

    def file_stamps(self) -> dict[str, tuple[int, int, int, int]]:
        """Return size, time, inode and the time of reading of each file that was read."""
        return {path: (row.size, row.mtime_ns, row.inode, row.read_ns) for path, row in self.files().items()}

    def stamp(self, file: str) -> Stamp | None:
        """Return size, time and inode of a file when it was read; None where it was not there."""
        row = self.files().get(file)
        return Stamp(row.size, row.mtime_ns, row.inode) if row else None

    def digest(self, file: str) -> bytes | None:
        """Return the SHA-256 of a file when it was read; None where it was not there."""
        row = self.files().get(file)
        return row.sha256 if row else None

    def contents(self) -> bytes:
        """Return a digest of the contents of all files as they were read: the same for the same files."""
        digest = hashlib.sha256()
        for path, row in self.files().items():
            digest.update(hashlib.sha256(path.encode()).digest() + row.sha256)
        return digest.digest()

    def store_file(
        self,
        file: str,
        stamp: Stamp,
        digest: bytes,
        read_ns: int,
        *,
        findings: Collection[Finding] = (),
        purged: Collection[int] = (),
        is_ordered: bool,
    ) -> None:
        """
        Store how a file was when it was read, and what was found in it.

        Args:
            stamp: of the file. digest: its SHA-256. read_ns: when it was read.
            findings: what is wrong with it. purged: numbers of its rows that were purged, and are not read.
            is_ordered: every line is a row, in order.
        """
        self.connection.execute(
            "INSERT OR REPLACE INTO file VALUES (?,?,?,?,?,?,?,?,?)",
            (
                file,
                *stamp,
                digest,
                read_ns,
                is_ordered,
                orjson.dumps([finding.model_dump() for finding in findings]),
                orjson.dumps(list(purged)).decode(),
            ),
        )

    def store_read_time(self, file: str, read_ns: int) -> None:
        """Store when a file was last compared; where another process writes the catalog, a later call does it."""
        with contextlib.suppress(sqlite3.OperationalError):
            self.connection.execute("UPDATE file SET read_ns = ? WHERE path = ?", (read_ns, file))

    def remove_file(self, file: str) -> None:
        """Remove what is stored of a file; its rows stay until they are removed."""
        self.connection.execute("DELETE FROM file WHERE path = ?", (file,))

    def findings_of(self, file: str) -> list[Finding]:
        """Return what was wrong with a file when it was read."""
        row = self.files().get(file)
        return row.listed() if row else []

    def purged_in(self, file: str) -> list[int]:
        """Return the numbers of the rows of a file that were purged, and are not read."""
        row = self.files().get(file)
        return orjson.loads(row.purged) if row else []

    def is_ordered(self, file: str) -> bool:
        """Return whether every line of a file was a row, in order, when it was read."""
        row = self.files().get(file)
        return bool(row and row.is_ordered)

    def findings(self) -> list[Finding]:
        """Return what was wrong with the files when they were read, in the order of files and lines."""
        return [found for row in self.files().values() for found in row.listed()]

    def purged_rows(self) -> dict[str, int]:
        """Return the files with purged rows that a merge brought back, with how many; these rows are not read."""
        return {path: len(orjson.loads(row.purged)) for path, row in self.files().items() if row.purged != "[]"}

    def all_lines(self) -> Iterator[tuple[str, bytes]]:
        """Yield file and line of every row of the files: records, then relations, then facts, each in their order."""
        for table in ("record", "relation", "fact"):
            yield from self.connection.execute(f"SELECT file, line FROM {table} WHERE file IS NOT NULL ORDER BY id")

    def rows_naming(self, type_name: str) -> Iterator[tuple[int, str, bytes]]:
        """Yield number, file and line of the rows of a type, and of all that may refer to a record of it."""
        for table, column in (("record", "record_type"), ("relation", "type"), ("fact", "NULL")):
            of_type = f"{column} = ?1 OR instr(line, CAST(?2 AS BLOB))"
            sql = f"SELECT id, file, line FROM {table} WHERE file IS NOT NULL AND ({of_type}) ORDER BY id"
            yield from self.connection.execute(sql, (type_name, f'"{type_name}/')).fetchall()

    def rows_of(self, ids: Collection[int]) -> Iterator[tuple[int, str]]:
        """Yield number and file of the rows of some records: their own, their live edges, reports on them."""
        selects = (
            "SELECT id, file FROM record WHERE file NOT NULL AND id IN (...)",
            "SELECT id, file FROM fact WHERE file NOT NULL AND node IN (...)",
            "SELECT id, file FROM fact WHERE record IN (...)",
            "SELECT id, file FROM relation WHERE is_live AND file IS NOT NULL AND src IN (...)",
            "SELECT id, file FROM relation WHERE is_live AND file IS NOT NULL AND dst IN (...)",
        )
        for select in selects:
            yield from rows_among(self.connection, select, ids)

    # --- rows by who wrote them ---------------------------------------------------------------------------------

    def rows_of_source(self, source: str) -> dict[int, tuple[str, Row]]:
        """Return the records and relations that one source alone wrote: file and row, by number."""
        text = orjson.dumps(source)
        found: dict[int, tuple[str, Row]] = {}
        for table in ("record", "relation"):
            sql = f"SELECT id, file, line FROM {table} WHERE file IS NOT NULL AND instr(line, ?)"
            for number, file, line in self.connection.execute(sql, (text,)):
                row = orjson.loads(line)
                if row.get("sources") == [source]:  # it may stand in a text as well
                    found[number] = file, row
        return found

    def origins(self, tool: str) -> dict[tuple[str, str], int]:
        """Return the records that came from another tool, archived ones too, by record type and source."""
        text, found = f"{tool}:", dict[tuple[str, str], int]()
        sql = "SELECT id, record_type, line FROM record WHERE file IS NOT NULL AND instr(line, ?)"
        for number, record_type, line in self.connection.execute(sql, (f'"{text}'.encode(),)):
            sources = orjson.loads(line).get("sources") or ()  # it may stand in a text as well
            found |= {(record_type, source): number for source in sources if source.startswith(text)}
        return found

    def referred(self, ids: Collection[int], going: Collection[int]) -> set[int]:
        """Return which records something refers to that is not going itself: an edge, a field of a record, a report."""
        found: set[int] = set()
        for end in ("src", "dst"):
            live = rows_among(self.connection, f"SELECT {end}, id FROM relation WHERE is_live AND {end} IN (...)", ids)
            found.update(record for record, number in live if number not in going)
            idle = self.connection.execute(f"SELECT {end}, id FROM relation WHERE NOT is_live AND {end} IS NOT NULL")
            found.update(record for record, number in idle if record in ids and number not in going)
        reports = rows_among(self.connection, "SELECT record FROM fact WHERE ref IS NOT NULL AND record IN (...)", ids)
        return found | {record for (record,) in reports}
