"""
Rows in a PostgreSQL server as a place of rows.

Each commit of a project has a number, ``seq``, one above the last: it is counted in the row of the project, whose lock
orders the commits, so who has read up to one has missed nothing below it. A random number beside it tells a commit
from one of the same ``seq`` that died after the catalog of its machine took it in. A writer holds the lock of another
row while it decides. No session state is left over, so it works behind a pooler of transactions.
"""

import contextlib
import secrets
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Protocol

import orjson
import psycopg
from psycopg import errors as failures

from graphmem.errors import FileReplaced, Locked, Refused, Unavailable
from graphmem.kernel.finding import Finding
from graphmem.kernel.ledger.codec import finding
from graphmem.kernel.ledger.parts import holds, is_of_purges, usual_file
from graphmem.kernel.ledger.port import CURSOR, LastRead, PlaceAway, Stamp, Unconfirmed
from graphmem.kernel.ledger.postgres.address import ServerAddress
from graphmem.kernel.ledger.postgres.connection import LOOK_S, LimitedConnection, answering, connect, was_ended
from graphmem.kernel.ledger.postgres.history import PostgresHistory
from graphmem.kernel.ledger.postgres.schema import SCHEMA_VERSION
from graphmem.kernel.ledger.row import read_entry
from graphmem.kernel.ledger.types import Types, read_types
from graphmem.kernel.model.entry import Batch, Entry
from graphmem.kernel.model.vocabulary import Vocabulary
from graphmem.kernel.ndjson import BadLine
from graphmem.names import row_id, row_key, split_ref

STATEMENT_S = 60.0  # seconds that one statement may take
IDLE_S = 60.0  # seconds after which the server takes the lock from a writer that does nothing
TEXT = "file"  # the kind of a row that is a text of the vocabulary
PRUNED_EACH = 100  # commits, after which the oldest of the history go
# The deletions go with what says when they were: a machine that read up to a commit that is kept misses none.
PRUNE = """
WITH old AS (
  SELECT max(seq) AS seq FROM (SELECT seq, at FROM graphmem.changes WHERE project = %s ORDER BY seq LIMIT 10000) first
  WHERE at < now() - (SELECT make_interval(days => history_days) FROM graphmem.project WHERE project = %s)
), gone AS (
  DELETE FROM graphmem.changes c USING old WHERE c.project = %s AND c.seq <= old.seq
), dead AS (
  DELETE FROM graphmem.rows r USING old WHERE r.project = %s AND r.row IS NULL AND r.seq <= old.seq
)
SELECT seq FROM old WHERE seq IS NOT NULL
"""
ROWS_HELD = 5_000  # of a part that are read at once


class PostgresLastRead(LastRead, Protocol):
    """What this place needs to know beyond what every place does."""

    def meta(self, name: str) -> str | None:
        """Return a value that was kept."""

    def keep(self, name: str, value: object) -> None:
        """Keep a value."""

    def purged_in(self, file: str) -> list[int]:
        """Return the numbers of the rows of a part that were purged, and are not read."""


class PostgresPlace:
    """
    The rows of one project in a server; ``port.RowPlace`` says what the methods do that are not described here.

    Args:
        address: of the database, as libpq takes it.
        project: the name of the project there.
    """

    def __init__(self, address: str, project: str, last: PostgresLastRead, *, lock_timeout_s: float) -> None:
        self.address = address
        self.project = project
        self.last = last
        self.lock_timeout_s = lock_timeout_s
        self.notices: list[str] = []
        self.history = PostgresHistory(self.ask, project)
        self.connection: LimitedConnection | None = None
        self.seen: tuple[str, int, int] = ("", 0, 0)  # epoch, number and random number of the last commit looked at
        self.is_held = False  # a transaction with the lock is under way
        self.is_whole = True  # nothing that was read counts: all parts are compared

    # --- the server ---------------------------------------------------------------------------------------------

    def connected(self) -> LimitedConnection:
        """
        Return the connection, which is opened where it is missing, or where the server ended it meanwhile.

        Raises:
            PlaceAway: the server does not answer, or ended the connection that has the lock.
        """
        if self.connection is not None and not self.is_held and was_ended(self.connection):
            self.close()
        if self.connection is None or self.connection.closed:
            if self.is_held:
                raise PlaceAway("the server of the memory ended the connection", hint="see: graphmem doctor")
            self.connection = connect(self.address)
        return self.connection

    @contextlib.contextmanager
    def answering(self) -> Iterator[None]:
        """Do as ``connection.answering``, and let go of a connection that has ended."""
        try:
            with answering():
                yield
        except PlaceAway:
            self.close()
            raise

    def ask(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Return what a statement gives."""
        connection = self.connected()
        with self.answering():
            return connection.execute(sql, values).fetchall()

    def where(self) -> str | None:
        names = ("fsync", "synchronous_commit", "synchronous_standby_names")
        fsync, waits, standbys = self.ask(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}")[0]
        worth = "on the server's disk"
        if fsync == "off" or waits == "off":
            worth = "lost where the server dies soon after"
        elif standbys and waits in ("on", "remote_apply"):
            worth = "on the server's disk and a standby's"
        where = ServerAddress(self.address, self.project).shown
        return f"in {where}, where what was written is {worth}"

    @property
    def role(self) -> str | None:
        return self.connected().info.user

    def close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(psycopg.Error):
                self.connection.close()
            self.connection = None

    # --- watching -----------------------------------------------------------------------------------------------

    def last_commit(self) -> tuple[str, int, int]:
        """Return epoch, number and random number of the last commit."""
        found = self.ask("SELECT epoch, seq, commit FROM graphmem.project WHERE project = %s", self.project)
        if not found:
            raise Unavailable(
                f"the server has no project {self.project!r} that this role may read",
                hint="its owner lets it in with: graphmem team grant URL ROLE",
            )
        epoch, seq, commit = found[0]
        return epoch, seq, commit

    def cursor(self) -> tuple[str, int, int]:
        """Return the last commit that was read."""
        epoch, seq, commit = orjson.loads(self.last.meta(CURSOR) or '["",0,0]')
        return epoch, seq, commit

    def has_changed(self, *, is_thorough: bool = False) -> bool:
        return is_thorough or self.last_commit() != self.cursor()

    def changed(self, end: float, *, is_thorough: bool = False, is_whole: bool = False) -> list[str]:
        self.seen, cursor = self.last_commit(), self.cursor()
        if self.seen == cursor and not is_thorough:
            return []
        self.is_whole = is_thorough or not self.is_ancestor(cursor)
        if self.is_whole:
            known = self.last.file_stamps().keys()
            return sorted({*known, *self.all_parts()}, key=_vocabulary_first)
        return self.parts_where("seq > %s", cursor[1])

    def is_ancestor(self, cursor: tuple[str, int, int]) -> bool:
        """Return whether a commit is one of those that led to the last one looked at."""
        epoch, seq, commit = cursor
        if epoch != self.seen[0] or not 0 < seq <= self.seen[1]:
            return False
        sql = "SELECT 1 FROM graphmem.changes WHERE project = %s AND seq = %s AND commit = %s LIMIT 1"
        return bool(self.ask(sql, self.project, seq, commit))

    def parts_where(self, condition: str, *values: object) -> list[str]:
        """Return the parts with rows for which a condition of SQL holds, the texts of types first."""
        sql = "SELECT DISTINCT kind, type, CASE WHEN kind = 'file' THEN key END FROM graphmem.rows"
        found = self.ask(f"{sql} WHERE project = %s AND {condition}", self.project, *values)
        return sorted({path or usual_file(kind, type_name) for kind, type_name, path in found}, key=_vocabulary_first)

    def refuse_moved(self) -> None:
        """Whatever is committed meanwhile: it has a greater number, and is read next."""

    def wait(self, end: float) -> None:
        """Nothing to wait for: a change that is under way is not seen."""

    def parts(self) -> list[str]:
        return [part for part in self.all_parts() if part.startswith("data/")]

    def all_parts(self) -> list[str]:
        return self.parts_where("deleted_at IS NULL")

    def size(self) -> int:
        sql = "SELECT coalesce(sum(octet_length(row)), 0) FROM graphmem.rows WHERE project = %s"
        return int(self.ask(sql, self.project)[0][0])

    # --- reading ------------------------------------------------------------------------------------------------

    def read_vocabulary(self) -> tuple[Vocabulary, list[Finding]]:
        sql = "SELECT key, row FROM graphmem.rows WHERE project = %s AND kind = %s AND row IS NOT NULL"
        texts = {path: text.encode() for path, text in self.ask(sql, self.project, TEXT) if path.startswith("types/")}
        return Vocabulary(entities={}, project_relations={}).with_types(read_types(texts)), []

    def drifted_types(self) -> Collection[str]:
        return ()

    def text(self, file: str) -> bytes | None:
        sql = "SELECT row FROM graphmem.rows WHERE project = %s AND id = %s AND row IS NOT NULL"
        found = self.ask(sql, self.project, _id_of_text(file))
        return found[0][0].encode() if found else None

    def to_read(self, changed: list[str]) -> list[str]:
        """Return the parts as they are, and note, with what is read of them, up to which commit that is."""
        self.keep_cursor(self.seen)
        return changed

    def keep_cursor(self, commit: tuple[str, int, int]) -> None:
        """Keep the last commit that was read."""
        self.last.keep(CURSOR, orjson.dumps(commit).decode())

    def read(self, file: str, *, is_every_line: bool) -> Iterator[Batch]:
        stamp = self.last.stamp(file)
        if not file.startswith("data/"):
            if self.text(file) is None:
                self.last.remove_file(file)
            else:
                self.last.store_file(file, self.stamp(), b"", 0, is_ordered=True)
            return
        is_all = is_every_line or self.is_whole or stamp is None
        since = 0 if stamp is None or is_all else stamp.mtime_ns
        known = {number: line for line, number in self.last.lines(file).items()} if is_all else {}
        purges, symmetric = self.last.purges(), self.last.vocabulary.symmetric
        purged = set() if is_all else {*self.last.purged_in(file)}
        found: list[Finding] = []
        there: set[int] = set()
        for rows in self.rows_of(file, since):
            entries, gone = list[Entry](), list[int]()
            for number, line in rows:
                purged.discard(number)
                if line is None:
                    gone.append(number)
                    continue
                there.add(number)
                try:
                    entry = read_entry(line, symmetric)
                except BadLine as bad:
                    found.append(finding(bad, file, len(there)))
                    gone.append(number)
                    continue
                if purges and purges.purged_at(entry.row, symmetric):
                    purged.add(number)
                    gone.append(number)
                elif known.get(number) != line:
                    entries.append(entry)
            yield Batch(file, gone=gone, entries=entries)
        if is_all:
            yield Batch(file, gone=known.keys() - there)
        if is_all and not there:
            self.last.remove_file(file)
        else:
            args = {"findings": found, "purged": sorted(purged), "is_ordered": True}
            self.last.store_file(file, self.stamp(), b"", 0, **args)  # type: ignore[arg-type]  # as it takes them

    def rows_of(self, file: str, since: int) -> Iterator[Sequence[tuple[int, bytes | None]]]:
        """Yield the rows of a part that were written after a commit, up to the one that was looked at."""
        kind, type_name = holds(file)
        sql = (
            "SELECT id, row FROM graphmem.rows WHERE project = %s AND kind = %s AND type IS NOT DISTINCT FROM %s"
            " AND seq > %s AND seq <= %s AND id > %s ORDER BY id LIMIT %s"
        )
        last = -1
        while rows := self.ask(sql, self.project, kind, type_name, since, self.seen[1], last, ROWS_HELD):
            yield [(number, None if row is None else row.encode()) for number, row in rows]
            last = rows[-1][0]

    def stamp(self) -> Stamp:
        """Return the stamp of a part that was read up to the last commit that was looked at."""
        return Stamp(0, self.seen[1], self.seen[2])

    # --- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def holding(self, timeout_s: float) -> Iterator[None]:
        self.run("BEGIN")
        self.is_held = True
        self.connected().limit_s = timeout_s + STATEMENT_S
        try:
            self.lock(timeout_s)
            yield
        finally:
            self.is_held = False
            if self.connection is not None:
                with contextlib.suppress(psycopg.Error):
                    self.connection.limit_s = LOOK_S
                    self.connection.execute("ROLLBACK")

    def lock(self, timeout_s: float) -> None:
        """Take the lock of the writers of this project for the transaction that was begun."""
        limits = {"lock_timeout": max(timeout_s, 0.001), "statement_timeout": STATEMENT_S + timeout_s}
        limits["idle_in_transaction_session_timeout"] = IDLE_S
        try:
            given = [word for name, seconds in limits.items() for word in (name, f"{seconds * 1000:.0f}ms")]
            self.ask(f"SELECT {', '.join(['set_config(%s, %s, true)'] * len(limits))}", *given)  # in one round trip
            if not self.ask("SELECT 1 FROM graphmem.writer WHERE project = %s FOR UPDATE", self.project):
                self.last_commit()  # raises where there is no such project
        except Unavailable as error:
            if isinstance(error.__cause__, failures.LockNotAvailable):
                raise Locked(f"another writer holds project {self.project!r} of the server") from None
            if not isinstance(error.__cause__, failures.InsufficientPrivilege):
                raise
            self.run("ROLLBACK")  # who may only read holds nothing, and what it reads is whole without
            self.run("BEGIN")

    def tidy(self) -> str | None:
        return None

    def refuse_unwell(self, files: Collection[str]) -> None:
        """No row is lost by a write to others."""

    def commit(
        self,
        batches: Mapping[str, Batch],
        types: Types,
        taking_in: contextlib.AbstractContextManager[None],
        *,
        is_read_again: bool,
    ) -> None:
        number, cursor = secrets.randbits(62), self.cursor()
        with taking_in:
            epoch, seq = self.count(number)
            self.refuse_changed({*batches, *types})
            self.write(batches, types, seq, number)
            if not is_read_again:
                self.seen = epoch, seq, number
                for file in batches:
                    if not is_of_purges(file):  # read like one that came from elsewhere: others follow from it
                        self.last.store_file(file, self.stamp(), b"", 0, is_ordered=True)
                if cursor[1] == seq - 1 and not any(map(is_of_purges, batches)):
                    self.keep_cursor(self.seen)
        try:
            self.run("COMMIT")
        except PlaceAway as error:
            raise Unconfirmed(
                f"whether this was written is unconfirmed: {error.message}", hint="repeat the request, which is safe"
            ) from error
        with contextlib.suppress(Unavailable):  # it is written; what comes next in the block fails without the lock
            self.run("BEGIN")
            self.lock(self.lock_timeout_s)

    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        connection = self.connected()
        with self.answering():
            connection.execute(sql)

    def count(self, number: int) -> tuple[str, int]:
        """Begin to commit: return the epoch and the number of the commit; no other one gets a number until it ends."""
        version = self.ask("SELECT max(version) FROM graphmem.version")[0][0]
        if version != SCHEMA_VERSION:
            older = "their owner upgrades them with: graphmem team upgrade URL"
            raise Refused(
                f"the tables in the server have version {version}, and this graphmem writes {SCHEMA_VERSION}",
                hint=older if version < SCHEMA_VERSION else "upgrade graphmem; until then it only reads",
            )
        sql = "UPDATE graphmem.project SET seq = seq + 1, commit = %s WHERE project = %s RETURNING epoch, seq"
        try:
            found = self.ask(sql, number, self.project)
        except Unavailable as error:
            if not isinstance(error.__cause__, failures.InsufficientPrivilege):
                raise
            found = []
        if not found:
            raise Refused(
                f"this role may not write project {self.project!r}",
                hint="its owner lets it with: graphmem team grant URL ROLE",
            )
        epoch, seq = found[0]
        if not seq % PRUNED_EACH:
            for pruned in self.ask(PRUNE, *[self.project] * 4):
                sql = "UPDATE graphmem.project SET history_from = %s WHERE project = %s RETURNING seq"
                self.ask(sql, *pruned, self.project)
        return epoch, seq

    def refuse_changed(self, files: Iterable[str]) -> None:
        """Raise ``FileReplaced`` where a part has rows that were written since it was read."""
        for file in files:
            stamp = self.last.stamp(file)
            kind, type_name = holds(file) if file.startswith("data/") else (TEXT, None)
            sql = (
                "SELECT 1 FROM graphmem.rows WHERE project = %s AND kind = %s AND type IS NOT DISTINCT FROM %s"
                " AND seq > %s AND (kind <> 'file' OR key = %s) LIMIT 1"
            )
            since = max(stamp.mtime_ns if stamp else 0, self.cursor()[1], self.seen[1])
            if self.ask(sql, self.project, kind, type_name, since, file):
                raise FileReplaced(
                    f"{file} was changed in the server while this command ran; nothing was changed",
                    hint="run the command again",
                )

    def write(self, batches: Mapping[str, Batch], types: Types, seq: int, commit: int) -> None:
        """Write rows and texts, with what they were; of rows that are purged nothing is kept."""
        symmetric = self.last.vocabulary.symmetric
        is_purge = any(map(is_of_purges, batches))
        gone = [number for file, batch in batches.items() for number in (*batch.gone, *self.last.purged_in(file))]
        gone += [_id_of_text(file) for file, text in types.items() if text is None]
        put = [_columns(entry, symmetric) for batch in batches.values() for entry in batch.entries]
        put += [
            (_id_of_text(file), file, TEXT, None, None, None, text.decode())
            for file, text in types.items()
            if text is not None
        ]
        connection = self.connected()
        with self.answering(), connection.cursor() as cursor:
            noted = "INSERT INTO graphmem.changes SELECT project, %s, id, %s, row, NULL, now() FROM graphmem.rows"
            if gone and not is_purge:
                cursor.execute(f"{noted} WHERE project = %s AND id = ANY(%s)", (seq, commit, self.project, gone))
            if gone:
                sql = (
                    "UPDATE graphmem.rows SET row = NULL, deleted_at = now(), seq = %s,"
                    " key = CASE WHEN %s AND kind <> 'file' THEN '' ELSE key END WHERE project = %s AND id = ANY(%s)"
                )
                cursor.execute(sql, (seq, is_purge, self.project, gone))
            if is_purge and gone:
                sql = "UPDATE graphmem.changes SET old = NULL, new = NULL WHERE project = %s AND id = ANY(%s)"
                cursor.execute(sql, (self.project, gone))
            sql = (
                "INSERT INTO graphmem.changes SELECT %s, %s, %s, %s,"
                " (SELECT row FROM graphmem.rows WHERE project = %s AND id = %s), %s, now()"
                " ON CONFLICT DO NOTHING"
            )
            cursor.executemany(sql, [(self.project, seq, row[0], commit, self.project, row[0], row[-1]) for row in put])
            sql = (
                "INSERT INTO graphmem.rows (project, seq, id, key, kind, type, from_type, to_type, row)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (project, id) DO UPDATE SET"
                " seq = excluded.seq, key = excluded.key, kind = excluded.kind, type = excluded.type,"
                " from_type = excluded.from_type, to_type = excluded.to_type, row = excluded.row, deleted_at = NULL"
            )
            cursor.executemany(sql, [(self.project, seq, *row) for row in put])


def _vocabulary_first(part: str) -> tuple[bool, str]:
    """Return what parts are sorted by: the texts of types come before the rows."""
    return part.startswith("data/"), part


def _id_of_text(file: str) -> int:
    """Return the number of the row that holds a text of the vocabulary."""
    return row_id(f"{TEXT}\t{file}")


def _columns(entry: Entry, symmetric: frozenset[str]) -> tuple[int, str, str, str | None, str | None, str | None, str]:
    """Return number, key, kind, type, the types of an edge's ends and the line of a row."""
    row = entry.row
    type_name = row.get("type") if entry.kind in ("entity", "relation") else None
    ends = [split_ref(row[end])[0] if entry.kind == "relation" else None for end in ("from", "to")]
    return entry.id, row_key(row, symmetric), entry.kind, type_name, ends[0], ends[1], entry.line.decode()
