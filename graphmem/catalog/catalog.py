"""
The catalog: what was last read of the ledger, in SQLite, with names resolved and edges ready to walk.

Derived: it can be deleted at any moment. It is what makes a cold command fast: no file is parsed that has not changed.
Decision: docs/decisions/0001-one-catalog-many-followers.md.
"""

import contextlib
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import cache
from itertools import chain, starmap
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import orjson

from graphmem.catalog.entry import repeat_keys
from graphmem.errors import DamagedCatalog, Unavailable
from graphmem.files import shipped
from graphmem.model import MODELS, Feedback, Frozen, Memory, Record, Relation
from graphmem.model.field import as_set, parse_time
from graphmem.model.record import Row
from graphmem.model.vocabulary import Vocabulary
from graphmem.names import edge_key, mark, row_id, split_ref
from graphmem.rules.fixes import credited
from graphmem.rules.lesson_state import Standing
from graphmem.rules.merge import FACTS
from graphmem.rules.paths import Edge, Step
from graphmem.rules.purged import Purges

T = TypeVar("T")
R = TypeVar("R", bound=Record)

VERSION = 9  # of the catalog's own tables; another one is thrown away and made again
SCOPES = (  # from one to the next in the index: DISTINCT would read all of it
    "WITH RECURSIVE found (scope) AS (SELECT min(scope) FROM record UNION ALL"
    " SELECT (SELECT min(scope) FROM record WHERE scope > found.scope) FROM found WHERE found.scope IS NOT NULL)"
    " SELECT scope FROM found WHERE scope IS NOT NULL"
)
CHECKPOINT_S = 10.0  # seconds to wait for readers of an older state, until the log of the catalog can be cut
# What the file holds beside these tables: the search index, and the counter of SQLite.
LEXICAL = ("CREATE VIRTUAL TABLE lexical USING fts5(", "CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(",
           "CREATE TABLE 'lexical_", "CREATE TABLE sqlite_sequence(")  # fmt: skip
REPAIR = "graphmem doctor --fix --yes"  # of a damaged catalog
CHUNK = 500  # values in one IN list
# What holds rows, and what follows from them.
TABLES = (
    "file", "record", "alias", "signature", "expression", "line", "error", "clueless", "relation", "fact", "run",
    "seen", "standing", "stale", "change",
)  # fmt: skip


def connect(path: Path) -> sqlite3.Connection:
    """
    Open the catalog at ``path``; where it is missing, of another version or not made by graphmem, it is made empty.

    Raises:
        sqlite3.DatabaseError: the file is no SQLite database; delete it and call again.
    """
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None)
    connection.execute("PRAGMA trusted_schema = OFF")  # no function of the file's own schema runs
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        is_own = version == VERSION and has_own_tables(connection)
    except UnicodeDecodeError:  # of a message with damaged bytes in it
        is_own = False
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise
        is_own = False
    if not is_own:
        renew(connection)
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA cache_size = -65536")
    return connection


def is_damage(error: Exception) -> bool:
    """Tell whether an error says that the file is damaged; every other one may pass, and the file is left alone."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # of Python's module, about a text that is no UTF-8
        return isinstance(error, sqlite3.Error) and "decode" in str(error)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


@cache
def statements() -> tuple[str, ...]:
    """Return the statements that make an empty catalog, in the words in which SQLite keeps them."""
    text = shipped("schema").joinpath("catalog.sql").read_text(encoding="utf-8")
    return tuple(part[part.index("CREATE ") :] for part in text.split(";\n") if "CREATE " in part)


def has_own_tables(connection: sqlite3.Connection) -> bool:
    """Tell whether a file holds the tables and indexes of a catalog and nothing else, such as a view or a trigger."""
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    return found.issuperset(statements()) and all(sql.startswith(LEXICAL) for sql in found.difference(statements()))


def renew(connection: sqlite3.Connection) -> None:
    """
    Put an empty catalog in the place of whatever the file holds, also where that is damaged.

    The places of vectors stay where their table is as this version makes it: to embed takes longest. The file is
    overwritten, not removed: another process may have it open.
    """
    kept: list[tuple[object, ...]] = []
    names: list[tuple[str, object]] = []
    with contextlib.suppress(sqlite3.DatabaseError, UnicodeDecodeError):
        tables = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE type = 'table'")}
        if tables.issuperset(
            sql for sql in statements() if sql.startswith(("CREATE TABLE vector", "CREATE TABLE meta"))
        ):
            of_files = "SELECT name, value FROM meta WHERE name GLOB 'vector_bytes *' OR name GLOB 'vector_file *'"
            names = connection.execute(of_files).fetchall()
            kept = connection.execute("SELECT model, text_hash, place, crc FROM vector").fetchall()
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        for statement in statements():
            fresh.execute(statement)
        fresh.execute("INSERT INTO meta VALUES ('identity', hex(randomblob(16)))")
        fresh.executemany("INSERT INTO meta VALUES (?, ?)", names)
        fresh.executemany("INSERT INTO vector VALUES (?,?,?,?)", kept)
        fresh.execute(f"PRAGMA user_version = {VERSION}")
        fresh.backup(connection)


@contextlib.contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """Run the block in one transaction of the catalog: all of it or nothing."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        if connection.in_transaction:  # a full disk has ended it already
            connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


class Catalog:
    """The rows of a store as last read; every method works inside the transaction that the caller opened, if any."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.vocabulary = Vocabulary(entities={}, project_relations={})

    @contextlib.contextmanager
    def unchanging(self) -> Iterator[None]:
        """See the catalog as it is now while the block runs, whatever other processes write meanwhile."""
        if self.connection.in_transaction:
            yield
            return
        self.connection.execute("BEGIN")
        try:
            self.connection.execute("SELECT 1 FROM meta").fetchone()  # from here on, not from BEGIN
            yield
        finally:
            if self.connection.in_transaction:
                self.connection.execute("COMMIT")

    # --- what was read ------------------------------------------------------------------------------------------

    def meta(self, name: str) -> Any:
        """Return a value that was kept under ``name``; None where there is none."""
        row = self.connection.execute("SELECT value FROM meta WHERE name = ?", (name,)).fetchone()
        return row[0] if row else None

    def keep(self, name: str, value: object) -> None:
        """Keep a value under ``name``."""
        self.connection.execute("INSERT OR REPLACE INTO meta VALUES (?, ?)", (name, value))

    def clear(self) -> None:
        """Forget all rows, and the index of their texts; the vectors stay."""
        for table in TABLES:
            self.connection.execute(f"DELETE FROM {table}")
        for table in ("lexical_terms", "lexical"):
            self.connection.execute(f"DROP TABLE IF EXISTS {table}")
        self.next_epoch()

    def copy(self, path: Path) -> None:
        """Copy the catalog as it is now to a new file, for another store: it has an identity of its own there."""
        with contextlib.closing(sqlite3.connect(path)) as made:
            self.connection.backup(made)
            made.execute("UPDATE meta SET value = hex(randomblob(16)) WHERE name = 'identity'")
            made.commit()

    def compact(self) -> None:
        """Rewrite the file, so that it holds nothing of rows that are gone; the graph has to be made again then."""
        with transaction(self.connection):
            self.next_epoch()
        if self.connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'lexical'").fetchone():
            self.connection.execute("INSERT INTO lexical (lexical) VALUES ('rebuild')")
        self.connection.execute("VACUUM")
        end = time.monotonic() + CHECKPOINT_S
        while self.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0]:
            if time.monotonic() > end:
                raise Unavailable(
                    "another process reads the catalog all the time: its log still holds what was removed",
                    hint="end that process, then: graphmem rebuild",
                )
            time.sleep(0.02)

    def damage(self) -> str | None:
        """Return what is wrong with the file as a database; None where it checks out, its indexes too."""
        try:
            (result,) = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            return str(error)
        return None if result == "ok" else str(result)

    def next_epoch(self) -> None:
        """Note that the graph has to be made anew: what it lacks is no longer listed row by row."""
        self.connection.execute("DELETE FROM change")
        self.keep("epoch", (self.meta("epoch") or 0) + 1)

    @property
    def path(self) -> str:
        """The path of the file, for another process."""
        return str(self.connection.execute("PRAGMA database_list").fetchone()[2])

    @property
    def is_new(self) -> bool:
        """Tell whether no file was ever read."""
        return self.connection.execute("SELECT 1 FROM file").fetchone() is None

    @property
    def identity(self) -> str:
        """What tells this catalog from one that was made anew: its epochs count from the beginning."""
        return str(self.meta("identity"))

    @property
    def position(self) -> tuple[int, int]:
        """The epoch, and the number of the last change in it: what a follower has to have taken in."""
        row = self.connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'change'").fetchone()
        return self.meta("epoch") or 0, row[0] if row else 0

    def lines(self, file: str) -> dict[bytes, int]:
        """Return the rows of a file as last read: line to number."""
        return dict(self.connection.execute(f"SELECT line, id FROM {table_of(file)} WHERE file = ?", (file,)))

    def files_of(self, ids: Collection[int], table: str) -> dict[int, str]:
        """Return the files that hold rows of a table with these numbers."""
        found: dict[int, str] = {}
        if self.connection.execute(f"SELECT 1 FROM {table}").fetchone() is None:
            return found
        for part in chunks(ids):
            sql = f"SELECT id, file FROM {table} WHERE id IN ({marks(part)}) AND file IS NOT NULL"
            found |= dict(self.connection.execute(sql, part).fetchall())
        return found

    def lines_of(self, ids: Collection[int], file: str) -> dict[int, bytes]:
        """Return the lines of those of some rows that a file holds, as last read."""
        found: dict[int, bytes] = {}
        table = table_of(file)
        if self.connection.execute(f"SELECT 1 FROM {table}").fetchone() is None:
            return found
        for part in chunks(ids):
            sql = f"SELECT id, line FROM {table} WHERE id IN ({marks(part)}) AND file = ?"
            found |= dict(self.connection.execute(sql, (*part, file)).fetchall())
        return found

    # --- looking up ---------------------------------------------------------------------------------------------

    def live(self, refs: Collection[str]) -> dict[str, tuple[int, str]]:
        """Return the live records that references mean, by key, name or alias: number and reference by key."""
        found = {row_id(ref): ref for ref in refs}
        result: dict[str, tuple[int, str]] = {}
        present: set[str] = set()
        for part in chunks(found):
            sql = f"SELECT id, is_live FROM record WHERE id IN ({marks(part)})"
            for number, is_live in self.connection.execute(sql, part):
                present.add(found[number])
                if is_live:
                    result[found[number]] = (number, found[number])
        for ref in set(refs) - present:
            number = self.by_name(*split_ref(ref))
            if number is not None:
                row = self.connection.execute(
                    "SELECT scope || '/' || key FROM record WHERE id = ? AND is_live", (number,)
                ).fetchone()
                if row:
                    result[ref] = (number, row[0])
        return result

    def known(self, refs: Collection[str]) -> dict[str, int]:
        """Return the records, live or archived, that references mean, by key, name or alias."""
        found: dict[str, int] = {}
        for ref in refs:
            number = self.lookup(*split_ref(ref))
            if number is not None:
                found[ref] = number
        return found

    def lookup(self, scope: str, name: str) -> int | None:
        """Return the record of a scope that a name means: by key, then name, then alias."""
        number = row_id(f"{scope}/{name}")
        if self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone():
            return number
        return self.by_name(scope, name)

    def key_of_name(self, scope: str, name: str) -> str | None:
        """Return the key of the record of a scope that is called this now; aliases do not count."""
        sql = "SELECT key FROM record WHERE name = ? AND scope = ? ORDER BY key <> name, key LIMIT 1"
        row = self.connection.execute(sql, (name, scope)).fetchone()
        return row[0] if row else None

    def namesakes(self, number: int, name: str) -> list[int]:
        """Return the other records that have this as their stored name, where it is not the key of this one."""
        sql = (
            "SELECT other.id FROM record one JOIN record other ON other.name = one.name AND other.scope = one.scope"
            " WHERE one.id = ? AND one.name = ? AND one.key <> one.name AND other.id <> one.id ORDER BY other.key"
        )
        return [other for (other,) in self.connection.execute(sql, (number, name))]

    def by_name(self, scope: str, name: str) -> int | None:
        """Return the record of a scope with this name, as shown or as stored, or with this alias."""
        row = self.connection.execute(
            "SELECT id FROM record WHERE name = ? AND scope = ? AND shown = name UNION ALL"
            " SELECT id FROM record WHERE shown = ? AND shown <> name AND scope = ? UNION ALL"
            " SELECT record FROM alias WHERE name = ? AND scope = ? UNION ALL"
            " SELECT id FROM record WHERE name = ? AND scope = ? LIMIT 1",
            (name, scope) * 4,
        ).fetchone()
        return row[0] if row else None

    def anywhere(self, name: str, scopes: Collection[str] | None = None) -> list[int]:
        """Return the records of any scope that a bare name means; where keys or names fit, aliases do not count."""
        among = [scope for scope in self.scopes() if scopes is None or scope in scopes]
        numbers = {self.lookup(scope, name) for scope in among}
        return sorted(number for number in numbers if number is not None)

    def scopes(self) -> list[str]:
        """Return the kinds and entity types that have records."""
        return [scope for (scope,) in self.connection.execute(SCOPES)]

    def names(self, limit: int) -> list[str]:
        """Return references by shown name, at most ``limit``: for suggestions and completion."""
        rows = self.connection.execute("SELECT scope || '/' || shown FROM record WHERE is_live LIMIT ?", (limit,))
        return [ref for (ref,) in rows]

    def completions(self, prefix: str, limit: int) -> list[str]:
        """Return current references that begin with ``prefix``, in name order."""
        sql = (
            "SELECT scope || '/' || shown AS ref FROM record"
            " WHERE is_live AND substr(scope || '/' || shown, 1, ?) = ? ORDER BY ref LIMIT ?"
        )
        return [ref for (ref,) in self.connection.execute(sql, (len(prefix), prefix, limit))]

    def refs(self, ids: Collection[int]) -> dict[int, str]:
        """Return the current references of records."""
        found: dict[int, str] = {}
        for part in chunks(ids):
            sql = f"SELECT id, scope || '/' || shown FROM record WHERE id IN ({marks(part)})"
            found |= dict(self.connection.execute(sql, part).fetchall())
        return found

    def records(self, ids: Collection[int]) -> dict[int, Record]:
        """Return records as answers show them: they and what they refer to by shown name, with what was reported."""
        counts, standings = self.reports(ids), self.standings(ids)
        found: dict[int, Record] = {}
        for part in chunks(ids):
            sql = f"SELECT id, shown, line, crc FROM record WHERE id IN ({marks(part)})"
            for number, shown, line, crc in self.connection.execute(sql, part):
                helped, failed, _ = counts.get(number, (0, 0, None))
                stored = parse_record(number, line, crc)
                if shown not in (stored.name, told_apart(stored.name, stored.key)):
                    raise DamagedCatalog("a name in the catalog is not as it was written", hint=REPAIR)
                record = shown_as(stored, shown, helped, failed, standings.get(number))
                found[number] = (
                    credited(record, self.times_of_reports(number)) if record.alternates and helped + failed else record
                )
        if len(found) < len({*ids}) and self.damage():  # gone since they were found, or damaged
            raise DamagedCatalog("rows of the catalog are missing", hint=REPAIR)
        return dict(zip(found, self.named(list(found.values())), strict=True))

    def named(self, records: Sequence[R]) -> list[R]:
        """Return records with the references in their fields by shown name; rows have them by key."""
        given = {ref for record in records for ref in references_in(record)}
        if not given:
            return list(records)
        shown = self.shown_refs(given)
        return [with_references(record, shown) for record in records]

    def shown_refs(self, refs: Collection[str]) -> dict[str, str]:
        """Return the current reference by shown name for each of these references that means a record."""
        known = self.known(refs)
        names = self.refs(set(known.values()))
        return {ref: names[number] for ref, number in known.items()}

    def repeating(self, record: Memory, limit: int) -> list[Memory]:
        """
        Return live memories of its kind that share a signature with a record: of the trigger, of an error.

        At most ``limit``, those with the signature of the trigger first.
        """
        keys = list(repeat_keys(record))
        among = f"IN ({marks(keys)})"
        sql = (
            f"WITH same (id, is_error) AS (SELECT record, 0 FROM signature WHERE number {among}"
            f" UNION ALL SELECT record, 1 FROM error WHERE number {among})"
            " SELECT id, line, crc FROM same JOIN record USING (id) WHERE is_live"
            f" GROUP BY id ORDER BY min(is_error), id LIMIT {limit}"
        )
        found = [parse_record(*row) for row in self.connection.execute(sql, (*keys, *keys))]
        return [other for other in found if isinstance(other, Memory) and other.kind == record.kind]

    def has(self, number: int) -> bool:
        """Tell whether there is a record with this number."""
        return self.connection.execute("SELECT 1 FROM record WHERE id = ?", (number,)).fetchone() is not None

    def stored(self, number: int) -> Record:
        """Return a record as its row has it."""
        sql = "SELECT id, line, crc FROM record WHERE id = ?"
        return parse_record(*self.connection.execute(sql, (number,)).fetchone())

    def reports(self, ids: Collection[int]) -> dict[int, tuple[int, int, str | None]]:
        """Return, for records that were reported on, how often they helped, failed, and when they last helped."""
        found = {}
        for part in chunks(ids):
            sql = (
                "SELECT record, sum(helped), count(*), max(CASE WHEN helped THEN at END) FROM fact"
                f" WHERE ref IS NOT NULL AND record IN ({marks(part)}) GROUP BY record"
            )
            for number, helped, total, last in self.connection.execute(sql, part):
                found[number] = (helped, total - helped, last)
        return found

    def times_of_reports(self, number: int) -> list[tuple[datetime, bool]]:
        """Return when each report on a record was made, and whether it helped, in the order of time."""
        sql = "SELECT at, helped FROM fact WHERE ref IS NOT NULL AND record = ? ORDER BY at, id"
        return [(parse_time(at), bool(helped)) for at, helped in self.connection.execute(sql, (number,))]

    def standings(self, ids: Collection[int]) -> dict[int, Standing]:
        """Return how those of some records that are lessons stand."""
        found = {}
        for part in chunks(ids):
            sql = f"SELECT record, frequency, silent, last_run, is_faded FROM standing WHERE record IN ({marks(part)})"
            for number, frequency, silent, last_run, is_faded in self.connection.execute(sql, part):
                found[number] = Standing(frequency, silent, last_run, bool(is_faded))
        return found

    def steps(self, ids: Collection[int], types: Collection[str] | None, direction: str) -> Iterator[Step]:
        """Yield the live edges at each of these records, seen from it; ``direction`` is out, in or both."""
        yield from starmap(Step, self.edges_at(ids, types, direction))

    def edges_at(self, ids: Collection[int], types: Collection[str] | None, direction: str) -> Iterator[Edge]:
        """Return what ``steps`` does as bare tuples, for walks that pass very many."""
        kinds = f" AND type IN ({marks(types)})" if types is not None else ""
        for near, far, is_out in (("src", "dst", True), ("dst", "src", False)):
            if direction in ("both", "out" if is_out else "in"):
                select = f"SELECT {near}, {far}, type, weight, {is_out} FROM relation WHERE is_live"
                for part in chunks(ids):
                    sql = f"{select} AND {near} IN ({marks(part)}){kinds}"
                    yield from self.connection.execute(sql, (*part, *(types or ())))

    def live_rows(self, scope: str) -> Iterator[tuple[int, str, str, bytes]]:
        """Yield the live records of a scope: number, key, shown name, line."""
        sql = "SELECT id, key, shown, line, crc FROM record WHERE scope = ? AND is_live ORDER BY id"
        for number, key, shown, line, crc in self.connection.execute(sql, (scope,)):
            yield number, key, shown, sound(number, line, crc)

    def holding(self, texts: Collection[str]) -> list[int]:
        """Return the live records in whose rows one of these texts stands, wherever; every row is looked at."""
        wanted = [orjson.dumps(text)[1:-1] for text in texts]
        any_of = " OR ".join(["instr(line, ?)"] * len(wanted))
        sql = f"SELECT id FROM record WHERE is_live AND file IS NOT NULL AND ({any_of}) ORDER BY id"
        return [number for (number,) in self.connection.execute(sql, wanted)]

    def of_kind(self, model: type[R], *, is_live: bool = True) -> dict[int, R]:
        """Return the records of a kind as their rows have them, by number; the live ones, or archived ones too."""
        kind = next(kind for kind, found in MODELS.items() if found is model)
        sql = f"SELECT id, line, crc FROM record WHERE scope = ?{' AND is_live' if is_live else ''} ORDER BY id"
        found = {number: parse_record(number, line, crc) for number, line, crc in self.connection.execute(sql, (kind,))}
        return {number: record for number, record in found.items() if isinstance(record, model)}

    def live_counts(self) -> tuple[int, int]:
        """Return how many live records and live edges there are."""
        (records,) = self.connection.execute("SELECT count(*) FROM record WHERE is_live").fetchone()
        (edges,) = self.connection.execute("SELECT count(*) FROM relation WHERE is_live").fetchone()
        return records, edges

    def live_edges(self) -> Iterator[tuple[str, int, int, float, bytes]]:
        """Yield the live edges: type, numbers of the ends, effective weight, row."""
        sql = "SELECT type, src, dst, weight, coalesce(merged, line) FROM relation WHERE is_live ORDER BY id"
        yield from self.connection.execute(sql)

    def edge(self, source: str, kind: str, target: str) -> tuple[float, Row] | None:
        """Return the effective weight and the row of the live edge between two references by key."""
        number = row_id(edge_key(source, kind, target, symmetric=self.vocabulary.relations[kind].symmetric))
        sql = "SELECT weight, coalesce(merged, line) FROM relation WHERE is_live AND edge = ?"
        row = self.connection.execute(
            f"{sql} AND id = ? UNION ALL {sql} AND edge <> id", (number, number, number)
        ).fetchone()
        return (row[0], orjson.loads(row[1])) if row else None

    def report(self, number: int) -> Feedback | None:
        """Return a report by its number."""
        found = self.fact(number)
        return found if isinstance(found, Feedback) else None

    def fact(self, number: int) -> Frozen | None:
        """Return a report, a run or an event by its number."""
        row = self.connection.execute("SELECT id, line, crc FROM fact WHERE id = ?", (number,)).fetchone()
        return parse_row(*row) if row else None

    def purges(self) -> Purges:
        """Return which rows were purged."""
        sql = "SELECT line FROM fact WHERE node IS NULL AND ref IS NULL"
        return Purges(orjson.loads(line) for (line,) in self.connection.execute(sql))

    def relation(self, number: int) -> Relation | None:
        """Return the row that speaks for an edge, given the edge's number."""
        row = self.connection.execute(
            "SELECT line FROM relation WHERE (id = ? OR edge = ?) AND file IS NOT NULL ORDER BY id <> ? LIMIT 1",
            (number, number, number),
        ).fetchone()
        return Relation.model_validate(orjson.loads(row[0])) if row else None

    def relation_rows(self, number: int) -> list[tuple[int, str]]:
        """Return number and file of every row that stands for an edge."""
        sql = (
            "SELECT id, file FROM relation WHERE id = ? AND file IS NOT NULL UNION"
            " SELECT id, file FROM relation WHERE edge <> id AND edge = ?"
        )
        return self.connection.execute(sql, (number, number)).fetchall()

    def refused_rows(self, kind: str, source: int, target: int) -> list[tuple[int, str]]:
        """Return number and file of the rows for an edge that its type does not allow."""
        sql = (
            "SELECT id, file FROM relation WHERE edge IS NULL AND file IS NOT NULL AND type = ? AND src = ? AND dst = ?"
        )
        return self.connection.execute(sql, (kind, source, target)).fetchall()

    def notes(self, edges: Collection[tuple[int, str, int]]) -> dict[tuple[int, str, int], str]:
        """Return the notes of edges that have one, by their ends and type."""
        found = {}
        for part in chunks(edges):
            asked = ",".join(["(?,?,?)"] * len(part))
            sql = (
                f"WITH asked (src, type, dst) AS (VALUES {asked}) SELECT src, type, dst, coalesce(merged, line)"
                " FROM asked JOIN relation USING (src, type, dst) WHERE is_live AND instr(coalesce(merged, line), ?)"
            )
            for *edge, line in self.connection.execute(sql, (*chain.from_iterable(part), b'"note":')):
                if note := orjson.loads(line).get("note"):
                    found[tuple(edge)] = note
        return found

    def max_weight(self, types: Collection[str] | None) -> float:
        """Return a bound, 1 or more, that no live edge of these types exceeds."""
        among = f" AND type IN ({marks(types)})" if types is not None else ""
        sql = f"SELECT max(weight) FROM relation WHERE is_live AND weight > 1{among}"
        return self.connection.execute(sql, list(types or ())).fetchone()[0] or 1.0

    def of_scopes(self, ids: Collection[int], scopes: Collection[str]) -> set[int]:
        """Return those of some records that are of these kinds or entity types."""
        found: set[int] = set()
        for part in chunks(ids):
            sql = f"SELECT id FROM record WHERE id IN ({marks(part)}) AND scope IN ({marks(scopes)})"
            found.update(number for (number,) in self.connection.execute(sql, (*part, *scopes)))
        return found

    def expressions(self, text: str | None = None) -> list[tuple[int, str]]:
        """Return the match expressions of live records, those alone whose needed literal stands in ``text``."""
        sql = (
            "SELECT DISTINCT e.record, e.expression FROM expression e JOIN record r ON r.id = e.record"
            " WHERE r.is_live AND (? IS NULL OR instr(?, e.literal)) ORDER BY e.record"
        )
        lowered = None if text is None else text.lower()
        return self.connection.execute(sql, (lowered, lowered)).fetchall()

    def heads(self, numbers: Collection[int] | None = None) -> list[tuple[int, str]]:
        """Return of triggers the number of the first line and its last word; of all, or where it is one of some."""
        if numbers is None:
            return self.connection.execute("SELECT DISTINCT number, word FROM line").fetchall()
        sql = "SELECT DISTINCT number, word FROM line WHERE number IN"
        return [row for part in chunks(numbers) for row in self.connection.execute(f"{sql} ({marks(part)})", part)]

    def begun_by(self, number: int) -> list[tuple[int, bytes]]:
        """Return the live records with a trigger that begins with a line, and the numbers of the lines after it."""
        sql = "SELECT l.record, l.rest FROM line l JOIN record r ON r.id = l.record WHERE l.number = ? AND r.is_live"
        return self.connection.execute(sql, (number,)).fetchall()

    def with_errors(self, keys: Collection[str]) -> dict[int, str]:
        """Return the live failures whose trigger tells of an error with one of these keys, each with the first."""
        found: dict[int, str] = {}
        sql = "SELECT e.record FROM error e JOIN record r ON r.id = e.record WHERE e.number = ? AND r.is_live"
        for key in keys:
            for (record,) in self.connection.execute(sql, (row_id(key),)):
                found.setdefault(record, key)
        return found

    def changes(self, seq: int) -> list[tuple[str | None, str, str | None]]:
        """Return what the graph lacks since ``seq``: nodes (type and target None) first, then edges, each once."""
        sql = (
            "SELECT DISTINCT type, source, target FROM change WHERE seq > ?"
            " ORDER BY type IS NOT NULL, type, source, target"
        )
        return self.connection.execute(sql, (seq,)).fetchall()

    # --- for mirrors --------------------------------------------------------------------------------------------

    def live_row(self, number: int) -> tuple[str, bytes] | None:
        """Return the shown name and the line of a live record."""
        sql = "SELECT shown, line FROM record WHERE id = ? AND is_live"
        row = self.connection.execute(sql, (number,)).fetchone()
        return (row[0], row[1]) if row else None

    def settled_tasks(self, refs: Collection[str]) -> set[str]:
        """Return those references that mean a live task, or an archived one that is complete."""
        numbers, found = self.known(refs), set[int]()
        for part in chunks(numbers.values()):
            sql = f"SELECT id, is_live, line FROM record WHERE id IN ({marks(part)})"
            for number, is_live, line in self.connection.execute(sql, part):
                if is_live or orjson.loads(line).get("status") == "complete":
                    found.add(number)
        return {ref for ref, number in numbers.items() if number in found}

    def begins_at(self, source: str, kind: str, target: str) -> bool:
        """Tell whether the row of a live symmetric edge has ``source`` as its first end."""
        number = row_id(edge_key(source, kind, target, symmetric=True))
        sql = "SELECT 1 FROM relation WHERE is_live AND src = ? AND edge = ?"
        return self.connection.execute(sql, (row_id(source), number)).fetchone() is not None


def told_apart(name: str, key: str) -> str:
    """Return how a record is shown whose name another one of its scope has too."""
    return f"{name}~{mark(key)}"


def table_of(file: str) -> str:
    """Return which table the rows of a data file stand in: relation, fact or record."""
    folder = file.split("/")[1].removesuffix(".ndjson")
    return "relation" if folder == "relations" else "fact" if folder in FACTS else "record"


def checksum(number: int, line: bytes) -> int:
    """Return the CRC-32 of a row: of its line, begun with its number."""
    return crc32(line, number & 0xFFFFFFFF)


def sound(number: int, line: bytes, crc: int) -> bytes:
    """Return the line of a row, or raise ``DamagedCatalog`` where it is not as it was written."""
    if checksum(number, line) != crc:
        raise DamagedCatalog("a row of the catalog is not as it was written", hint=REPAIR)
    return line


def parse_row(number: int, line: bytes, crc: int) -> Frozen:
    """Return what a line of the catalog says, checked when it was read from its file."""
    row = orjson.loads(sound(number, line, crc))
    return MODELS[row["kind"]].model_validate(row)


def parse_record(number: int, line: bytes, crc: int) -> Record:
    """Return the record that a line of the catalog holds."""
    record = parse_row(number, line, crc)
    assert isinstance(record, Record)
    return record


def shown_as(record: Record, shown: str, helped: int, failed: int, standing: Standing | None = None) -> Record:
    """Return the copy of a record that answers show: by current name, with its counts, and how it stands."""
    changes: dict[str, object] = {} if shown == record.name else {"name": shown}
    others = tuple(found for found in record.alternates if getattr(record, found.field, None) != found.text)
    if others != record.alternates:
        changes["alternates"] = others
    if isinstance(record, Memory) and (helped or failed):
        changes |= {"helped": record.helped + helped, "failed": record.failed + failed}
    if standing is not None:
        changes |= standing.fields
    return record.model_copy(update=changes) if changes else record


def references_in(record: Record) -> Iterator[str]:
    """Yield the references in the fields of a record."""
    for field in record.references:
        yield from getattr(record, field)
    yield from filter(None, (getattr(record, field) for field in record.single_references))


def with_references(record: R, shown: Mapping[str, str]) -> R:
    """Return a record with other references in its fields, where ``shown`` has one for those that are there."""
    changes: dict[str, Any] = {}
    for field in record.references:
        changes[field] = as_set(shown.get(ref, ref) for ref in getattr(record, field))
    for field in record.single_references:
        changes[field] = shown.get(getattr(record, field), getattr(record, field))
    changes = {field: value for field, value in changes.items() if value != getattr(record, field)}
    return record.model_copy(update=changes) if changes else record


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield the values in lists that fit into one IN list."""
    listed = list(values)
    for start in range(0, len(listed), CHUNK):
        yield listed[start : start + CHUNK]


def marks(values: Collection[object]) -> str:
    """Return the question marks of an IN list."""
    return ",".join("?" * len(values))
