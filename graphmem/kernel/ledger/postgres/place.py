"""
Rows in a PostgreSQL server as a place of rows.

The number of a commit is counted in the row of the project, whose lock orders the commits. A writer holds the lock of
another row while it decides. No session state is left over, so it works behind a pooler of transactions.
"""

import contextlib
import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

import psycopg
from psycopg import errors as failures

from graphmem.errors import Locked, Refused, Unavailable
from graphmem.kernel.ledger.parts import holds, is_of_purges, usual_file
from graphmem.kernel.ledger.port import PlaceAway, TakingIn
from graphmem.kernel.ledger.postgres.connection import LOOK_S, LimitedConnection, answering, connect, was_ended
from graphmem.kernel.ledger.postgres.schema import SCHEMA_VERSION
from graphmem.kernel.ledger.served import ROWS_HELD, TEXT, ServedPlace, ServerLastRead, id_of_text, unconfirmed
from graphmem.kernel.ledger.served_history import Written
from graphmem.kernel.ledger.types import Types
from graphmem.kernel.model.entry import Batch

STATEMENT_S = 60.0  # seconds that one statement may take
IDLE_S = 60.0  # seconds after which the server takes the lock from a writer that does nothing
WRITTEN = """
SELECT c.seq, c.at, c.by, c.id, r.kind, r.type, r.key, c.old, c.new
FROM graphmem.changes c JOIN graphmem.rows r ON r.project = c.project AND r.id = c.id
WHERE c.project = %s AND c.seq > %s AND c.seq <= %s AND (%s::bigint[] IS NULL OR c.id = ANY(%s)) ORDER BY c.seq
"""
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


class PostgresPlace(ServedPlace):
    """The rows of one project in a PostgreSQL server; its address is that of a database, as libpq takes it."""

    def __init__(self, address: str, project: str, last: ServerLastRead, *, lock_timeout_s: float) -> None:
        super().__init__(address, project, last, lock_timeout_s=lock_timeout_s)
        self.connection: LimitedConnection | None = None
        self.is_held = False  # a transaction with the lock is under way

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
        with self.answering():
            return self.connected().execute(sql, values).fetchall()

    def worth(self) -> str:
        names = ("fsync", "synchronous_commit", "synchronous_standby_names")
        fsync, waits, standbys = self.ask(f"SELECT {', '.join(f'current_setting({name!r})' for name in names)}")[0]
        if "off" in (fsync, waits):
            return "any"
        return "standby" if standbys and waits in ("on", "remote_apply") else "disk"

    @property
    def role(self) -> str | None:
        return self.connected().info.user

    def close(self) -> None:
        if self.connection is not None:
            with contextlib.suppress(psycopg.Error):
                self.connection.close()
            self.connection = None

    # --- reading ------------------------------------------------------------------------------------------------

    def last_commit(self) -> tuple[str, int, int]:
        found = self.ask("SELECT epoch, seq, commit FROM graphmem.project WHERE project = %s", self.project)
        if not found:
            raise Unavailable(
                f"the server has no project {self.project!r} that this role may read",
                hint="its owner lets it in with: graphmem team grant URL ROLE",
            )
        epoch, seq, commit = found[0]
        return epoch, seq, commit

    def has_commit(self, seq: int, commit: int) -> bool:
        sql = "SELECT 1 FROM graphmem.changes WHERE project = %s AND seq = %s AND commit = %s LIMIT 1"
        return bool(self.ask(sql, self.project, seq, commit))

    def parts_since(self, seq: int) -> Iterable[str]:
        return self.parts_where("seq > %s", seq)

    def live_parts(self) -> Iterable[str]:
        return self.parts_where("deleted_at IS NULL")

    def parts_where(self, condition: str, *values: object) -> set[str]:
        """Return the parts with rows for which a condition of SQL holds."""
        sql = "SELECT DISTINCT kind, type, CASE WHEN kind = 'file' THEN key END FROM graphmem.rows"
        found = self.ask(f"{sql} WHERE project = %s AND {condition}", self.project, *values)
        return {path or usual_file(kind, type_name) for kind, type_name, path in found}

    def span(self) -> tuple[int, int]:
        sql = "SELECT history_from, seq FROM graphmem.project WHERE project = %s"
        dropped, last = next(iter(self.ask(sql, self.project)), (0, 0))
        return dropped + 1, last

    def written(self, after: int, upto: int, numbers: Sequence[int] | None = None) -> Iterator[Written]:
        some = None if numbers is None else list(numbers)
        for seq, at, by, number, kind, type_name, key, *lines in self.ask(
            WRITTEN, self.project, after, upto, some, some
        ):
            old, new = (None if line is None else line.encode() for line in lines)
            yield Written(seq, at, by, number, key if kind == TEXT else usual_file(kind, type_name), old, new)

    def commit_before(self, date: datetime) -> int | None:
        sql = "SELECT max(seq) FROM graphmem.changes WHERE project = %s AND at < %s"
        found: int | None = self.ask(sql, self.project, date)[0][0]
        return found

    def size(self) -> int:
        sql = "SELECT coalesce(sum(octet_length(row)), 0) FROM graphmem.rows WHERE project = %s"
        return int(self.ask(sql, self.project)[0][0])

    def texts(self) -> Mapping[str, bytes]:
        sql = "SELECT key, row FROM graphmem.rows WHERE project = %s AND kind = %s AND row IS NOT NULL"
        return {path: text.encode() for path, text in self.ask(sql, self.project, TEXT)}

    def text(self, file: str) -> bytes | None:
        sql = "SELECT row FROM graphmem.rows WHERE project = %s AND id = %s AND row IS NOT NULL"
        found = self.ask(sql, self.project, id_of_text(file))
        return found[0][0].encode() if found else None

    def rows_of(self, file: str, since: int) -> Iterator[Sequence[tuple[int, bytes | None]]]:
        kind, type_name = holds(file)
        sql = (
            "SELECT id, row FROM graphmem.rows WHERE project = %s AND kind = %s AND type IS NOT DISTINCT FROM %s"
            " AND seq > %s AND seq <= %s AND id > %s ORDER BY id LIMIT %s"
        )
        last = -1
        while rows := self.ask(sql, self.project, kind, type_name, since, self.seen[1], last, ROWS_HELD):
            yield [(number, None if row is None else row.encode()) for number, row in rows]
            last = rows[-1][0]

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

    def commit(self, batches: Mapping[str, Batch], types: Types, taking_in: TakingIn, *, is_read_again: bool) -> None:
        self.refuse_worth_less()
        number = secrets.randbits(62)
        with taking_in:
            epoch, seq = self.count(number)
            self.refuse_changed({*batches, *types})
            self.write(batches, types, seq, number)
            if not is_read_again:
                self.take_in(batches, (epoch, seq, number))
        try:
            self.run("COMMIT")
        except PlaceAway as error:
            raise unconfirmed(error.message) from error
        with contextlib.suppress(Unavailable):  # it is written; what comes next in the block fails without the lock
            self.run("BEGIN")
            self.lock(self.lock_timeout_s)

    def run(self, sql: str) -> None:
        """Run a statement that gives no rows."""
        with self.answering():
            self.connected().execute(sql)

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
            kind, type_name = holds(file) if file.startswith("data/") else (TEXT, None)
            sql = (
                "SELECT 1 FROM graphmem.rows WHERE project = %s AND kind = %s AND type IS NOT DISTINCT FROM %s"
                " AND seq > %s AND (kind <> 'file' OR key = %s) LIMIT 1"
            )
            if self.ask(sql, self.project, kind, type_name, self.since(file), file):
                raise self.replaced(file)

    def write(self, batches: Mapping[str, Batch], types: Types, seq: int, commit: int) -> None:
        """Write rows and texts, with what they were; of rows that are purged nothing is kept."""
        is_purge = any(map(is_of_purges, batches))
        gone = [number for numbers in self.gone(batches, types).values() for number in numbers]
        put = [row for rows in self.put(batches, types).values() for row in rows]
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
            cursor.executemany(sql, [(self.project, seq, row.id, commit, self.project, row.id, row.row) for row in put])
            sql = (
                "INSERT INTO graphmem.rows (project, seq, id, key, kind, type, from_type, to_type, row)"
                " VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s) ON CONFLICT (project, id) DO UPDATE SET"
                " seq = excluded.seq, key = excluded.key, kind = excluded.kind, type = excluded.type,"
                " from_type = excluded.from_type, to_type = excluded.to_type, row = excluded.row, deleted_at = NULL"
            )
            cursor.executemany(sql, [(self.project, seq, *row) for row in put])


PLACE = PostgresPlace  # what a place in such a server is
