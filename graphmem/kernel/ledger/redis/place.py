"""
Rows in a Redis server or cluster as a place of rows.

A commit is one script of the server, and counts once it is flushed there and on a replica. Who takes the lock of the
writers makes sure first that the last commit is: nothing that a death of the server could undo is built on.
"""

import contextlib
import secrets
import threading
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import orjson
from redis import exceptions as failures

from graphmem.errors import Locked, Refused, Unavailable
from graphmem.kernel.ledger.parts import is_of_purges, usual_file
from graphmem.kernel.ledger.port import PlaceAway, TakingIn, Unconfirmed
from graphmem.kernel.ledger.redis.connection import Client, answering, ask, connect, node_of, together
from graphmem.kernel.ledger.redis.schema import COMMIT, EXTEND, RELEASE, key, part_keys, refuse_newer
from graphmem.kernel.ledger.served import ROWS_HELD, TEXT, Columns, ServedPlace, ServerLastRead, id_of_text, unconfirmed
from graphmem.kernel.ledger.served_history import LAST, Written
from graphmem.kernel.ledger.types import Types
from graphmem.kernel.model.entry import Batch

LOCK_S = 4.0  # seconds after which the lock of a writer that died is free; a live one extends it
POLL_S = 0.5  # seconds between two tries to take it that nobody left
CONFIRM_S = 2.0  # seconds to wait until a commit is on the disks where it must be


class RedisPlace(ServedPlace):
    """The rows of one project in a Redis server or cluster; ``connect`` says what its address is."""

    def __init__(self, address: str, project: str, last: ServerLastRead, *, lock_timeout_s: float) -> None:
        super().__init__(address, project, last, lock_timeout_s=lock_timeout_s)
        self.client: Client | None = None
        self.token = ""  # of the lock, while it is held
        self.confirmed = ""  # the random number of the last commit, once it is known to be on the disks

    # --- the server ---------------------------------------------------------------------------------------------

    def key(self, name: str) -> str:
        """Return a key of the project."""
        return key(self.project, name)

    def connected(self) -> Client:
        """Return the client, which connects again by itself."""
        if self.client is None:
            self.client = connect(self.address)
        return self.client

    def ask(self, *command: Any) -> Any:
        """Return what a command gives that changes nothing when it is sent twice."""
        return ask(self.connected(), *command)

    def row(self) -> dict[str, str]:
        """Return the hash of the project."""
        found: dict[bytes, bytes] = self.ask("HGETALL", self.key("project"))
        if not found:
            raise Unavailable(
                f"the server has no project {self.project!r}",
                hint="its administrator makes it with: graphmem team init URL",
            )
        return {name.decode(): value.decode() for name, value in found.items()}

    def is_flushed(self) -> bool:
        """Return whether the server writes what it is given to a disk."""
        with answering():
            return bool(node_of(self.connected(), self.key("project")).info("persistence")["aof_enabled"])

    def worth(self) -> str:
        if not self.is_flushed():
            return "any"
        return "disk" if self.row()["replicas"] == "0" else "standby"

    def where(self) -> str | None:
        try:
            with answering():
                server = node_of(self.connected(), self.key("project"))
                found = server.config_get("appendfsync", "min-replicas-to-write")
            settings = ", ".join(f"{name} {value}" for name, value in sorted(found.items()))
        except Unavailable:
            settings = "its other settings are not known: it forbids CONFIG"
        return f"{super().where()} ({settings})"

    @property
    def role(self) -> str | None:
        return None

    def close(self) -> None:
        if self.client is not None:
            self.client.close()
            self.client = None

    # --- reading ------------------------------------------------------------------------------------------------

    def last_commit(self) -> tuple[str, int, int]:
        row = self.row()
        return row["epoch"], int(row["seq"]), int(row["commit"])

    def has_commit(self, seq: int, commit: int) -> bool:
        found = self.ask("XRANGE", self.key("changes"), f"{seq}-0", f"{seq}-0")
        return any(fields[b"commit"] == str(commit).encode() for _, fields in found)

    def parts_since(self, seq: int) -> Iterable[str]:
        return [name.decode() for name in self.ask("ZRANGE", self.key("parts"), f"({seq}", "+inf", "BYSCORE")]

    def live_parts(self) -> Iterable[str]:
        data = [part for part in self.parts_since(0) if part.startswith("data/")]
        return [*self.texts(), *(part for part in data if self.ask("EXISTS", part_keys(self.project, part)[0]))]

    def span(self) -> tuple[int, int]:
        row = self.row()
        return int(row.get("history_from", 0)) + 1, int(row["seq"])

    def noted(self, after: int, upto: int) -> Iterator[tuple[int, dict[bytes, bytes]]]:
        """Yield what the stream of changes holds of commits above a number and up to another: first each commit."""
        first = f"{after + 1}-0"
        while found := self.ask("XRANGE", self.key("changes"), first, upto, "COUNT", ROWS_HELD):
            yield from ((int(name.partition(b"-")[0]), fields) for name, fields in found)
            first = f"({found[-1][0].decode()}"

    def written(self, after: int, upto: int, numbers: Sequence[int] | None = None) -> Iterator[Written]:
        at = datetime.fromtimestamp(0, UTC)
        for seq, fields in self.noted(after, upto):
            if b"id" not in fields:
                at = datetime.fromtimestamp(int(fields[b"at"]), UTC)
            elif numbers is None or int(fields[b"id"]) in numbers:
                old, new = fields[b"old"], fields[b"new"]
                key, kind, type_name, *_ = orjson.loads((new or old).partition(b"\n")[0])
                part = key if kind == TEXT else usual_file(kind, type_name)
                yield Written(
                    seq, at, None, int(fields[b"id"]), part, *(_line(one) if one else None for one in (old, new))
                )

    def commit_before(self, date: datetime) -> int | None:
        times = ((seq, int(fields[b"at"])) for seq, fields in self.noted(0, LAST) if b"at" in fields)
        return max((seq for seq, at in times if at < date.timestamp()), default=None)

    def size(self) -> int:
        return int(self.row()["size"])

    def texts(self) -> Mapping[str, bytes]:
        rows = self.ask("HGETALL", part_keys(self.project, TEXT)[0]).values()
        return {orjson.loads(row.partition(b"\n")[0])[0]: _line(row) for row in rows}

    def text(self, file: str) -> bytes | None:
        found = self.ask("HGET", part_keys(self.project, file)[0], id_of_text(file))
        return None if found is None else _line(found)

    def rows_of(self, file: str, since: int) -> Iterator[Sequence[tuple[int, bytes | None]]]:
        rows, order = part_keys(self.project, file)
        ids = sorted(map(int, self.ask("ZRANGE", order, f"({since}", self.seen[1], "BYSCORE")))
        for first in range(0, len(ids), ROWS_HELD):
            some = ids[first : first + ROWS_HELD]
            found = self.ask("HMGET", rows, *some)
            yield [(one, None if row is None else _line(row)) for one, row in zip(some, found, strict=True)]

    # --- writing ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def holding(self, timeout_s: float) -> Iterator[None]:
        token, is_done = secrets.token_hex(16), threading.Event()
        try:
            if self.lock(token, timeout_s):  # who may only read holds nothing, and what it reads is whole without
                self.token, self.confirmed = token, ""
                threading.Thread(target=self.extend, args=(token, is_done), daemon=True).start()
                self.confirm_last()
            yield
        finally:
            is_done.set()
            self.token = ""
            with contextlib.suppress(Unavailable):
                keys = [self.key(name) for name in ("lock", "project", "free")]
                self.ask("EVAL", RELEASE, len(keys), *keys, token, self.confirmed)

    def lock(self, token: str, timeout_s: float) -> bool:
        """Take the lock of the writers of this project, which expires; return whether this user may."""
        end = time.monotonic() + timeout_s
        while True:
            try:
                if self.ask("SET", self.key("lock"), token, "NX", "PX", int(LOCK_S * 1000)):
                    return True
            except Unavailable as error:
                if not isinstance(error.__cause__, failures.NoPermissionError):
                    raise
                return False
            if (left_s := end - time.monotonic()) <= 0:
                raise Locked(f"another writer holds project {self.project!r} of the server")
            self.ask("BLPOP", self.key("free"), max(0.01, min(POLL_S, left_s)))  # 0 is without end

    def extend(self, token: str, is_done: threading.Event) -> None:
        """Extend the lock until the writer is done."""
        while not is_done.wait(LOCK_S / 3):
            with contextlib.suppress(Unavailable):
                self.ask("EVAL", EXTEND, 1, self.key("lock"), token, int(LOCK_S * 1000))

    def confirm_last(self) -> None:
        """
        Make sure that the last commit is confirmed: on the disks where commits of this project must be.

        Raises:
            PlaceAway: it is not yet.
        """
        row = self.row()
        if row["confirmed"] == row["commit"]:
            return
        try:
            is_held = self.durably(row, "EVAL", EXTEND, 1, self.key("lock"), self.token, int(LOCK_S * 1000))
        except Unconfirmed as error:
            raise PlaceAway(f"the last write to project {self.project!r} is unconfirmed: {error.message}") from error
        if not is_held:  # then this wrote nothing that could be confirmed
            raise Locked(f"another writer holds project {self.project!r} of the server")
        self.confirmed = row["commit"]

    def durably(self, row: Mapping[str, str], *command: Any) -> Any:
        """
        Return what a command gives that writes, once it is on the disks with all that was written before.

        Args:
            row: the hash of the project.

        Raises:
            Unconfirmed: it may have happened, and is on too few disks.
            Unavailable: it did not happen.
        """
        replicas, limit_ms = int(row["replicas"]), int(CONFIRM_S * 1000)
        waits = ("WAIT", replicas, limit_ms), ("WAITAOF", 1, replicas, limit_ms)  # alone the second waits for a second
        with answering():
            try:
                found, _, disks = together(self.connected(), self.key("project"), command, *waits)
            except (failures.ConnectionError, failures.TimeoutError, OSError) as error:
                raise unconfirmed(" ".join(str(error).split())) from error
            if isinstance(found, Exception):
                raise found
        if isinstance(disks, Exception) or disks[0] < 1 or disks[1] < replicas:
            raise unconfirmed(f"of 1 disk and {replicas} of replicas, these have it in time: {disks}")
        return found

    def commit(self, batches: Mapping[str, Batch], types: Types, taking_in: TakingIn, *, is_read_again: bool) -> None:
        if not self.token:
            raise Refused(
                f"this user may not write project {self.project!r}",
                hint="its administrator lets it with what this prints: graphmem team grant URL USER",
            )
        if not (self.is_worth or self.is_flushed()):
            raise Refused(
                "the server of the memory has appendonly off: what is written would be lost when it ends",
                hint="its administrator turns it on with: CONFIG SET appendonly yes",
            )
        self.refuse_worth_less()
        number = secrets.randbits(62)
        with taking_in:
            row = self.row()
            refuse_newer(int(row["format"]))
            self.refuse_changed([*batches, *types])
            gone, put = self.gone(batches, types), self.put(batches, types)
            if not is_read_again:
                self.take_in(batches, (row["epoch"], int(row["seq"]) + 1, number))
        keys = [self.key(name) for name in ("project", "lock", "parts", "changes")]
        words: list[Any] = [self.token, row["seq"], row["commit"], number, int(any(map(is_of_purges, batches)))]
        for file in {**gone, **put}:
            keys += part_keys(self.project, file)
            words += [file, len(gone.get(file, ())), *gone.get(file, ()), len(put.get(file, ()))]
            words += [word for columns in put.get(file, ()) for word in (columns.id, _packed(columns))]
        if not self.durably(row, "EVAL", COMMIT, len(keys), *keys, *words):
            raise self.replaced(f"project {self.project!r}")
        self.confirmed = str(number)

    def refuse_changed(self, files: Sequence[str]) -> None:
        """Raise ``FileReplaced`` where a part has rows that were written since it was read."""
        for file, seq in zip(files, self.ask("ZMSCORE", self.key("parts"), *files), strict=True):
            if seq is not None and seq > self.since(file):
                raise self.replaced(file)


def _packed(row: Columns) -> bytes:
    """Return a row as a value: its columns and its line."""
    return orjson.dumps(row[1:-1]) + b"\n" + row.row.encode()


def _line(value: bytes) -> bytes:
    """Return the line, or the text, of a value."""
    return value.partition(b"\n")[2]


PLACE = RedisPlace  # what a place in such a server is
