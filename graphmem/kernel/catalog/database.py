"""The file of the catalog: opening, renewing, transactions, and rows that carry a checksum."""

import contextlib
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Any, TypeVar
from zlib import crc32

import orjson

from graphmem.constants import REPAIR_COMMAND
from graphmem.errors import Damaged, DamagedCatalog, GraphmemError, Unavailable
from graphmem.kernel.model import MODELS, Frozen, Record
from graphmem.kernel.model.merge import FACTS
from graphmem.kernel.model.record import CHECKED
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.system import safe_files
from graphmem.kernel.system.files import shipped
from graphmem.names import mark

T = TypeVar("T")
CatalogError = sqlite3.Error  # what a full disk, a lock or damage raises

CATALOG = "catalog.sqlite"  # the file, in the folder of what is derived
VERSION = 26  # of the catalog's own tables; another one is thrown away and made again
# What the file holds beside these tables: the search index, and the counter of SQLite.
LEXICAL = (
    "CREATE VIRTUAL TABLE lexical USING fts5(",
    "CREATE VIRTUAL TABLE lexical_terms USING fts5vocab(",
    "CREATE TABLE 'lexical_",
    "CREATE TABLE sqlite_sequence(",
)
CHUNK = 500  # values in one IN list


def _connect(path: Path) -> sqlite3.Connection:
    """
    Open the catalog at ``path``; where it is missing, of another version or not made by graphmem, it is made empty.

    Raises:
        sqlite3.DatabaseError: the file is no SQLite database; delete it and call again.
    """
    # One thread uses the connection; another one may close it.
    connection = sqlite3.connect(path, timeout=30.0, isolation_level=None, check_same_thread=False)
    connection.execute("PRAGMA trusted_schema = OFF")  # no function of the file's own schema runs
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        is_own = version == VERSION and _has_own_tables(connection)
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


def open_file(path: Path) -> sqlite3.Connection:
    """Open the catalog; one that is damaged is made again from the files, for it is derived."""
    for file in _files_of(path):
        if safe_files.is_folder(file):
            safe_files.remove_folder(file)
        safe_files.refuse_link(file)
    try:
        return _connect(path)
    except sqlite3.DatabaseError as error:
        if not is_damage(error):
            raise Unavailable(f"{str(path)!r} cannot be opened: {error}", hint=_hint_of(error)) from None
        remove(path)
        return _connect(path)


def _hint_of(error: sqlite3.Error) -> str:
    """Return what to look at when the catalog cannot be opened."""
    if getattr(error, "sqlite_errorcode", 0) & 0xFF == sqlite3.SQLITE_CANTOPEN:
        return "are too many files open, or is the folder not readable?"
    return "is the disk full, or does another process hold it?"


def _files_of(path: Path) -> list[Path]:
    """Return the files of a catalog."""
    return [path.with_name(path.name + suffix) for suffix in ("", "-wal", "-shm", "-journal")]


def remove(path: Path) -> None:
    """Remove a catalog: the next open makes it from the files."""
    for file in _files_of(path):
        safe_files.remove(file)


def is_damage(error: Exception) -> bool:
    """Return whether an error says that the file is damaged; every other one may pass, and the file is left alone."""
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:  # of Python's module, about a text that is not UTF-8
        return isinstance(error, sqlite3.Error) and "decode" in str(error)
    return code & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _reason_of(error: sqlite3.Error) -> GraphmemError:
    """Return the error that a user sees for one of SQLite's."""
    if isinstance(error, sqlite3.OperationalError) or not isinstance(error, sqlite3.DatabaseError):
        return Unavailable(f"the catalog cannot be used: {error}", hint=_hint_of(error))
    return Damaged(f"the catalog cannot be read: {error}", hint=REPAIR_COMMAND)


@contextlib.contextmanager
def catalog_errors() -> Iterator[None]:
    """Raise what the block raises of SQLite as an error that a user sees."""
    try:
        yield
    except CatalogError as error:
        raise _reason_of(error) from error


def has_passing_cause(error: Exception) -> bool:
    """Return whether an error of the catalog has a cause that may pass, such as a full disk."""
    return getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) != sqlite3.SQLITE_ERROR


@cache
def _statements() -> tuple[str, ...]:
    """Return the statements that make an empty catalog, in the words in which SQLite keeps them."""
    text = shipped("schema").joinpath("catalog.sql").read_text(encoding="utf-8")
    return tuple(part[part.index("CREATE ") :] for part in text.split(";\n") if "CREATE " in part)


def _has_own_tables(connection: sqlite3.Connection) -> bool:
    """Return whether a file holds the tables and indexes of a catalog and nothing else, such as a view or a trigger."""
    found = {sql for (sql,) in connection.execute("SELECT sql FROM sqlite_master WHERE sql IS NOT NULL")}
    return found.issuperset(_statements()) and all(sql.startswith(LEXICAL) for sql in found.difference(_statements()))


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
            sql for sql in _statements() if sql.startswith(("CREATE TABLE vector", "CREATE TABLE meta"))
        ):
            of_files = "SELECT name, value FROM meta WHERE name GLOB 'vector_bytes *' OR name GLOB 'vector_file *'"
            names = connection.execute(of_files).fetchall()
            kept = connection.execute("SELECT model, text_hash, place, crc FROM vector").fetchall()
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as fresh:
        fresh.deserialize(_empty())
        fresh.execute("INSERT INTO meta VALUES ('identity', hex(randomblob(16)))")
        fresh.executemany("INSERT INTO meta VALUES (?, ?)", names)
        fresh.executemany("INSERT INTO vector VALUES (?,?,?,?)", kept)
        fresh.backup(connection)


@cache
def _empty() -> bytes:
    """Return the file of a catalog without rows; a process that makes several runs the statements once."""
    with contextlib.closing(sqlite3.connect(":memory:", isolation_level=None)) as made:
        for statement in _statements():
            made.execute(statement)
        made.execute(f"PRAGMA user_version = {VERSION}")
        return made.serialize()


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


def run_many(connection: sqlite3.Connection, sql: str, rows: Sequence[Sequence[object]]) -> None:
    """Run a statement once for each row, if there are any."""
    if rows:
        connection.executemany(sql, rows)


def table_of(file: str) -> str:
    """Return which table the rows of a data file are in: relation, fact or record."""
    folder = file.split("/")[1].removesuffix(".ndjson")
    return "relation" if folder == "relations" else "fact" if folder in FACTS else "record"


def checksum(number: int, line: bytes) -> int:
    """Return the CRC-32 of a row: of its line, begun with its number."""
    return crc32(line, number & 0xFFFFFFFF)


def sound(number: int, line: bytes, crc: int) -> bytes:
    """Return the line of a row, or raise ``DamagedCatalog`` where it is not as it was written."""
    if checksum(number, line) != crc:
        raise DamagedCatalog("a row of the catalog is not as it was written", hint=REPAIR_COMMAND)
    return line


def parse_row(number: int, line: bytes, crc: int) -> Frozen:
    """Return what a line of the catalog says, checked when it was read from its file."""
    row = orjson.loads(sound(number, line, crc))
    return MODELS[row["kind"]].model_validate(row, context=CHECKED)


def parse_record(number: int, line: bytes, crc: int) -> Record:
    """Return the record that a line of the catalog holds."""
    record = parse_row(number, line, crc)
    assert isinstance(record, Record)
    return record


def chunks(values: Iterable[T]) -> Iterator[list[T]]:
    """Yield the values in lists that fit into one IN list."""
    listed = list(values)
    for start in range(0, len(listed), CHUNK):
        yield listed[start : start + CHUNK]


def marks(values: Collection[object]) -> str:
    """Return the question marks of an IN list."""
    return ",".join("?" * len(values))


def rows_among(
    connection: sqlite3.Connection, sql: str, values: Iterable[T], before: Sequence[object] = ()
) -> Iterator[Any]:
    """
    Yield the rows of a statement for any number of values, in as many runs as it takes.

    Args:
        sql: has ``IN (...)`` where the values stand; where it has that several times, the parameters come as often.
        before: the parameters that stand before the values.
    """
    for part in chunks(values):
        found = sql.replace("IN (...)", f"IN ({marks(part)})")
        yield from connection.execute(found, (*before, *part) * sql.count("IN (...)"))


def run_among(connection: sqlite3.Connection, sql: str, values: Iterable[T]) -> int:
    """Run a statement that changes rows as ``rows_among`` does; return how many rows it changed."""
    found = ((sql.replace("IN (...)", f"IN ({marks(part)})"), part) for part in chunks(values))
    return sum(connection.execute(text, part).rowcount for text, part in found)


def distinct_name(name: str, key: str) -> str:
    """Return how a record is shown whose name another one of its record type has too."""
    return f"{name}~{mark(key)}"


R = TypeVar("R", bound=Record)


def _hide_others(connection: sqlite3.Connection, visible: Collection[str]) -> None:
    """
    Hide the rows of all but some kinds and entity types from this connection.

    A view of the temporary schema takes the name of each table with rows, so that no read can forget to ask.
    """
    types = ",".join(connection.execute("SELECT quote(?)", (name,)).fetchone()[0] for name in sorted(visible))
    is_seen = f"EXISTS (SELECT 1 FROM main.record AS seen WHERE seen.id = {{}} AND seen.record_type IN ({types}))"
    of_others = (  # an event belongs to the record that it is about
        "SELECT 1 FROM main.relation AS made JOIN main.record AS about ON about.id = made.dst"
        f" WHERE made.src = main.record.id AND made.type = 'about' AND about.record_type NOT IN ({types})"
    )
    views = {
        "record": f"record_type IN ({types}) AND (record_type <> 'event' OR NOT EXISTS ({of_others}))",
        "alias": f"record_type IN ({types})",
        "relation": f"{is_seen.format('src')} AND {is_seen.format('dst')}",
        "fact": is_seen.format("coalesce(record, node)"),
        "run": f"'run' IN ({types})",
        "seen": is_seen.format("lesson"),
    }
    of_records = ("label", "symptom", "signature", "expression", "line", "error", "standing")
    views |= {table: is_seen.format("record") for table in of_records}
    views["question"] = "EXISTS (SELECT 1 FROM temp.fact AS asked WHERE asked.question = question.text_hash)"
    for table, condition in views.items():
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT * FROM main.{table} WHERE {condition}")


def remembered(read: "Callable[[Any], T]") -> "Callable[[Any], T]":
    """
    Let a read of a catalog keep its answer until the catalog changes, by this connection or by another one.

    It is a method of the catalog, or of an index of it that has no other answer than any other such index.
    """
    name = read.__qualname__

    @wraps(read)
    def recall(owner: "Reads | Index") -> T:
        answers = owner.answers()
        if answers is None:
            return read(owner)
        if name not in answers:
            answers[name] = read(owner)
        found: T = answers[name]
        return found

    return recall


class Reads:
    """
    Base of the typed reads of a catalog.

    Args:
        path: the file; it is made where it is missing.
        replaces_damaged: a damaged file is made again; else ``CatalogError`` is raised.
        visible: the kinds and entity types of the rows that it reads; None for all. With some, it is only read.
        sees: those that the caller may see, where a write has to read more; it gives no name of any other record.

    Raises:
        Unavailable: the file cannot be opened.
    """

    def __init__(
        self,
        path: Path,
        *,
        replaces_damaged: bool = True,
        visible: Collection[str] | None = None,
        sees: Collection[str] | None = None,
    ) -> None:
        self.path = path
        self.visible = visible
        self.sees = visible if sees is None else sees
        self.connection = self.opened(open_file if replaces_damaged else _connect)
        self.vocabulary = Vocabulary(entities={}, project_relations={})
        # Keeps vectors that were made for these texts, by hash, with the records that have them.
        self.keep_vectors: Callable[[Collection[bytes]], None] = lambda digests: None
        self._answers: dict[str, Any] = {}  # of the reads that are remembered, by name
        self._moment = (-1, -1)  # of the catalog, when these answers were given
        self._version = -1  # of the file, as SQLite counts what other connections commit
        self._is_steady = False  # no other connection changes what is remembered
        self._is_reading = False  # the transaction under way, if any, changes nothing

    def opened(self, opener: Callable[[Path], sqlite3.Connection]) -> sqlite3.Connection:
        """Return a connection on which every read sees what the caller may see."""
        connection = opener(self.path)
        if self.visible is not None:
            _hide_others(connection, self.visible)
        return connection

    def may_tell(self, record_type: str) -> bool:
        """Return whether an answer may name records of a kind or entity type, under whatever name it has or had."""
        return self.sees is None or self.vocabulary.renamed.get(record_type, record_type) in self.sees

    def meta(self, name: str) -> Any:
        """Return the value that was stored under a name, or None."""
        return self.metas().get(name)

    @remembered
    def metas(self) -> dict[str, Any]:
        """Return all values that are stored, by their names."""
        return dict(self.connection.execute("SELECT name, value FROM meta").fetchall())

    def places(self, digests: Collection[bytes], model: str | None) -> dict[bytes, int]:
        """Return where the vectors are that a model made of texts, by the hash of the text, for those that have one."""
        sql = "SELECT text_hash, place FROM vector WHERE model = ? AND text_hash IN (...)"
        return dict(rows_among(self.connection, sql, digests, [model]))

    # --- what is remembered -------------------------------------------------------------------------------------

    def answers(self) -> dict[str, Any] | None:
        """Return what is remembered and still true; None in a transaction that writes, which may be taken back."""
        if self.connection.in_transaction and not self._is_reading:
            return None
        if not self._is_steady:
            self.look_again()
        moment = self._version, self.connection.total_changes
        if moment != self._moment:
            self._answers, self._moment = {}, moment
        return self._answers

    def look_again(self) -> None:
        """See whether another connection has changed the catalog since the last look."""
        (self._version,) = self.connection.execute("PRAGMA data_version").fetchone()

    @contextlib.contextmanager
    def steady(self) -> Iterator[None]:
        """Look once whether others changed the catalog: until the block ends they do not change what is remembered."""
        self.look_again()
        before, self._is_steady = self._is_steady, True
        try:
            yield
        finally:
            self._is_steady = before

    def damage(self) -> str | None:
        """Return what is wrong with the file as a database; None where it checks out, its indexes too."""
        try:
            (result,) = self.connection.execute("PRAGMA integrity_check(1)").fetchone()
        except sqlite3.DatabaseError as error:
            return str(error)
        return None if result == "ok" else str(result)


class Index:
    """Base of what is derived of the catalog and kept in the same database."""

    def __init__(self, catalog: Reads) -> None:
        self.catalog = catalog

    @property
    def connection(self) -> sqlite3.Connection:
        """The connection of the catalog; it may be another one after the catalog was damaged."""
        return self.catalog.connection

    def answers(self) -> dict[str, Any] | None:
        """Return what the catalog remembers."""
        return self.catalog.answers()
