"""
Runs a query of a user in a child process that can read the open graph and nothing else.

The child opens the database read-only, takes away its own means (no descriptor can be opened any more, no file can
grow, memory and CPU are bounded), runs the query, and writes one line of JSON to the pipe. The parent bounds time and
size and turns what went wrong into an error. It holds without the guard (``guard``), which only refuses sooner
and more kindly.

To start the child takes most of the time, so a ``Sandbox`` keeps it for the next query of the same caller on the same
state of the database. Each query has a connection of its own. After an error, and when it has waited long, answered
many queries or grown, the child ends, and the next query starts another one.
Source: docs/guarantees.md, "Queries of others".
"""

import contextlib
import fcntl
import json
import math
import os
import re
import resource
import select
import signal
import subprocess
import sys
import time
import weakref
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import NoReturn, TypedDict
from uuid import UUID

from graphmem.constants import (
    CYPHER_AT_ONCE,
    CYPHER_BUFFER_BYTES,
    CYPHER_IDLE_S,
    CYPHER_KEPT_BYTES,
    CYPHER_KEPT_QUERIES,
    CYPHER_KEPT_S,
    CYPHER_MAX_DB_BYTES,
    CYPHER_OUTPUT_BYTES,
    CYPHER_WORK_BYTES,
)
from graphmem.errors import BadInput, GraphmemError, Refused, Unavailable
from graphmem.features.cypher.engines.kuzu.engine import (
    Connection,
    Database,
    open_database,
    used_bytes,
    without_asyncio,
)
from graphmem.features.cypher.worker import (
    WorkerResult,
    error_fields,
    read_pipe,
    redirect_stdout,
    send,
    start_worker,
    watch_parent,
    write_all,
)
from graphmem.kernel.graph import GraphAnswer
from graphmem.kernel.settings.folders import private_folder

THREADS = 2  # of a query
MESSAGE_CHARS = 500  # of an error of the engine, which may hold texts of the store
POLL_S = 0.02  # seconds between two looks for a free place
GRACE_S = 3.0  # seconds beyond its time that a child may take to start and to answer
NOT_FINITE = {math.inf: "Infinity", -math.inf: "-Infinity"}


class SandboxRequest(TypedDict):
    """What the child reads from standard input."""

    path: str
    query: str
    parameters: dict[str, object]
    timeout_s: float
    limit: int


# --- the parent --------------------------------------------------------------------------------------------------


class Sandbox:
    """A child process that answers the queries of one caller, in one thread; it is started by the first query."""

    def __init__(self) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.database: object = None  # which the child has open: its path and its state
        self.queries, self.end_at, self.owner = 0, 0.0, 0

    def run(
        self,
        path: Path,
        query: str,
        parameters: Mapping[str, object],
        *,
        timeout_s: float,
        limit: int,
        state: object = None,
    ) -> GraphAnswer:
        """
        Run ``query`` on the database at ``path`` and return at most ``limit`` rows.

        Args:
            path: a database that no process has open for writing.
            parameters: JSON values; the caller has compared the names with those in the query.
            timeout_s: seconds until the query is stopped; the child has three more to start and to answer.
            state: of the database; a child that opened another state is not asked.

        Raises:
            BadInput: the engine does not understand the query.
            Refused: the answer is too large.
            Unavailable: time or memory is up, the database cannot be opened, or the engine broke down.

        Cost: a process, about 0.1 s CPU, unless one is kept. Source: docs/guarantees.md, "Queries of others".
        """
        request = SandboxRequest(
            path=str(path.resolve()),
            query=query,
            parameters=dict(parameters),
            timeout_s=timeout_s,
            limit=limit,
        )
        line = json.dumps(request).encode() + b"\n"
        with place(timeout_s):
            was_kept = self.has_child((request["path"], state))
            result = self.ask(line, timeout_s)
            if was_kept and not result.output and result.status == 0:  # it had ended, for it waited long or had grown
                result = self.ask(line, timeout_s)
        try:
            return _answer_of(result, timeout_s)
        except GraphmemError:
            self.close()
            raise

    def has_child(self, database: object) -> bool:
        """Return whether a child is kept that may answer on a database; any other one is ended."""
        is_usable = self.database == database and self.queries < CYPHER_KEPT_QUERIES and time.monotonic() < self.end_at
        if self.child is not None and (not is_usable or self.owner != os.getpid() or self.child.poll() is not None):
            self.close()
        self.database = database
        return self.child is not None

    def ask(self, line: bytes, timeout_s: float) -> WorkerResult:
        """Send a request to the child, which is started if necessary, and return the result."""
        end = time.monotonic() + timeout_s + GRACE_S
        if self.child is None:
            self.start()
        assert self.child is not None and self.child.stdin is not None and self.child.stdout is not None
        self.queries += 1
        with contextlib.suppress(BrokenPipeError):
            write_all(self.child.stdin.fileno(), line)
        output, is_timed_out = read_pipe(self.child.stdout.fileno(), end, CYPHER_OUTPUT_BYTES, is_line=True)
        if output.endswith(b"\n") and len(output) <= CYPHER_OUTPUT_BYTES:
            return WorkerResult(output, 0, is_timed_out)
        if not is_timed_out and len(output) <= CYPHER_OUTPUT_BYTES:
            with contextlib.suppress(subprocess.TimeoutExpired):
                self.child.wait(GRACE_S)
        return WorkerResult(output, self.close(), is_timed_out)

    def start(self) -> None:
        """Start a child; it ends at the latest when this object is collected, or this process ends."""
        self.child = start_worker("engines.kuzu.sandbox")
        self.queries, self.end_at, self.owner = 0, time.monotonic() + CYPHER_KEPT_S, os.getpid()
        self.finalizer = weakref.finalize(self, _end_child, self.child, self.owner)

    def close(self) -> int:
        """End the child, if there is one, and return its status; 0 where it has none."""
        if self.child is None:
            return 0
        self.child = None
        return self.finalizer() or 0


def _end_child(child: subprocess.Popen[bytes], owner: int) -> int:
    """End a child, and return its status; a process that was forked off leaves the child of the other alone."""
    assert child.stdin is not None and child.stdout is not None
    child.stdin.close()
    child.stdout.close()
    if os.getpid() != owner:
        return 0
    child.kill()  # a no-op for a child that has ended; its status stays its own
    return child.wait()


def run(path: Path, query: str, parameters: Mapping[str, object], *, timeout_s: float, limit: int) -> GraphAnswer:
    """Run one query as ``Sandbox.run`` does, in a child that answers no other."""
    with contextlib.closing(Sandbox()) as sandbox:
        return sandbox.run(path, query, parameters, timeout_s=timeout_s, limit=limit)


def _answer_of(result: WorkerResult, timeout_s: float) -> GraphAnswer:
    """Return the answer of a child, or raise what went wrong as an error."""
    if len(result.output) > CYPHER_OUTPUT_BYTES:
        raise _error("size", "", timeout_s)
    if result.is_timed_out or result.status == -signal.SIGXCPU:
        raise _error("time", "", timeout_s)
    if result.status or not result.output:
        code = "memory" if -result.status in (signal.SIGKILL, signal.SIGABRT) else "died"
        raise _error(code, result.signal_name or f"status {result.status}", timeout_s)
    answer = json.loads(result.output)
    if "unavailable" in answer:
        raise Unavailable(**answer["unavailable"])
    if "error" in answer:
        raise _error(answer["error"]["code"], answer["error"]["message"], timeout_s)
    return GraphAnswer(**answer)


@contextlib.contextmanager
def place(timeout_s: float) -> Iterator[None]:
    """Hold one of the places for queries that all processes of this user share; wait for one."""
    end, folder = time.monotonic() + timeout_s, private_folder()
    while True:
        for number in range(CYPHER_AT_ONCE):
            flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
            handle = os.open(folder / f"cypher.{number}.lock", flags, 0o600)
            try:
                if _is_taken(handle):
                    yield
                    return
            finally:
                os.close(handle)
        if time.monotonic() >= end:
            raise Unavailable(
                f"{CYPHER_AT_ONCE} other queries are running, and none of them ended within {timeout_s:g} s",
                hint="wait for them to end, or allow this one more time",
                details={"cause": "busy"},
            )
        time.sleep(POLL_S)


def _is_taken(handle: int) -> bool:
    """Take the lock on an open file, and return whether that was possible."""
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _error(code: str, message: str, timeout_s: float) -> GraphmemError:
    cause = {"cause": code}
    if code == "time":
        return Unavailable(
            f"the query took longer than {timeout_s:g} s", hint="narrow it, or allow it more time", details=cause
        )
    if code == "memory":
        return Unavailable(
            "the query was ended, as happens where it needs more memory than it may have",
            hint="narrow it, or return less",
            details=cause,
        )
    if code == "size":
        size = CYPHER_OUTPUT_BYTES // 2**20
        return Refused(f"the answer is larger than {size} MiB", hint="return fewer rows or fewer properties")
    if code == "cypher":
        return BadInput(f"the engine refuses the query: {message}", details={"findings": [message]})
    return Unavailable(f"the query brought the engine down ({message})", hint="write it in another way")


# --- the child ---------------------------------------------------------------------------------------------------


def main() -> NoReturn:
    """Answer the requests on standard input, a line each, and leave without taking the engine apart."""
    watch_parent()
    request = _next_request()
    if request is None:
        os._exit(0)
    without_asyncio()
    output = redirect_stdout()
    database, connection = _opened(request, output)
    _lock_up()
    most_bytes = _peak_bytes() + CYPHER_KEPT_BYTES
    while request is not None:
        answer = _answer(connection, request)
        write_all(output, answer + b"\n")
        if answer.startswith(b'{"error"') or _peak_bytes() > most_bytes:
            break
        if (request := _next_request()) is not None:
            connection = type(connection)(
                database, num_threads=THREADS
            )  # what a query has set ends with its connection
    os._exit(0)


def _next_request() -> SandboxRequest | None:
    """Return the next request; None where none comes for so long that this process is to end."""
    if not select.select([sys.stdin.fileno()], [], [], CYPHER_IDLE_S)[0]:  # poll() fails where no descriptor is allowed
        return None
    line = sys.stdin.buffer.readline()
    request: SandboxRequest | None = json.loads(line) if line else None
    return request


def _opened(request: SandboxRequest, output: int) -> tuple[Database, Connection]:
    """Open the database, or end with the reason why that cannot be."""
    path = Path(request["path"])
    try:
        opened = open_database(
            path,
            read_only=True,
            buffer_bytes=CYPHER_BUFFER_BYTES,
            max_bytes=CYPHER_MAX_DB_BYTES,
            threads=THREADS,
        )
    except Unavailable as error:
        send(output, json.dumps({"unavailable": error_fields(error)}).encode() + b"\n")
    # POSIX gives up all locks of a process on a file that it closes: this one must not keep out a writer while it
    # waits for the next query. While it answers, the caller holds the graph's own lock (decision 2).
    os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))
    return opened


def _answer(connection: Connection, request: SandboxRequest) -> bytes:
    try:
        most = resource.getrlimit(resource.RLIMIT_CPU)[1]
        cpu_s = math.ceil(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) + THREADS * request["timeout_s"] + GRACE_S)
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s if most == resource.RLIM_INFINITY else min(cpu_s, most), most))
        connection.set_query_timeout(max(1, int(request["timeout_s"] * 1000)))
        return _execute(connection, request)
    except Exception as error:  # the boundary of the process: whatever it is, the parent says it
        return json.dumps({"error": _told("cypher", error)}).encode()


def _peak_bytes() -> int:
    """Return the most memory that this process has had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def _lock_up() -> None:
    """Take away what a query needs for harm. What is open stays open; nothing more can be."""
    limits = {resource.RLIMIT_CORE: 0, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_NOFILE: 0}
    if sys.platform != "darwin":  # there a process has more from the start, and the limit is not kept
        limits[resource.RLIMIT_AS] = used_bytes() + CYPHER_WORK_BYTES
    for which, most in limits.items():
        kept = min([most, *(bound for bound in resource.getrlimit(which) if bound != resource.RLIM_INFINITY)])
        resource.setrlimit(which, (kept, kept))


def _execute(connection: Connection, request: SandboxRequest) -> bytes:
    result = connection.execute(request["query"], request["parameters"])
    if isinstance(result, list):
        raise ValueError("a query is one statement")
    columns, types = result.get_column_names(), result.get_column_data_types()
    rows: list[list[object]] = []
    while result.has_next() and len(rows) < request["limit"]:
        rows.append(result.get_next())
    refs = dict(_refs(rows))
    refs |= _look_up(connection, {end for end in _ends(rows) if end not in refs})
    exact = ["DECIMAL" in kind for kind in types]
    pieces, size = [], 0
    for row in rows:
        pieces.append(json.dumps([_json(v, refs, e) for v, e in zip(row, exact, strict=True)]))
        size += len(pieces[-1])
        if size > CYPHER_OUTPUT_BYTES:
            return json.dumps({"error": {"code": "size", "message": ""}}).encode()
    head = json.dumps({"columns": columns, "types": types, "truncated": result.has_next()})
    return f'{head[:-1]}, "rows": [{", ".join(pieces)}]}}'.encode()


def _told(code: str, error: Exception) -> dict[str, str]:
    """Return the error as code and message, without the names of the engine's classes and rules."""
    message = str(error).strip()
    if isinstance(error, MemoryError) or "bad_alloc" in message or message.startswith("Buffer manager exception"):
        code = "memory"
    elif message == "Interrupted.":
        code = "time"
    is_of_query = message.startswith(("Parser", "Binder", "Catalog"))  # any other may hold texts of the store
    message = re.sub(r"^\w+ exception: ", "", message)
    message = re.sub(r": expected rule \w+", "", message)
    message = message if is_of_query else json.dumps(" ".join(message.split())[:MESSAGE_CHARS], ensure_ascii=False)
    return {"code": code, "message": message or type(error).__name__}


Id = tuple[int, int]  # number of a table, place in it
Refs = Mapping[Id | None, object]


def _id(value: object) -> Id | None:
    """Return an internal id; a value made up by a query counts only if it holds two integers."""
    if isinstance(value, dict) and value.keys() == {"offset", "table"}:
        table, place = value["table"], value["offset"]
        if type(table) is int and type(place) is int:
            return table, place
    return None


def _dicts(value: object) -> Iterator[dict[object, object]]:
    """Yield every map, node and relation in ``value``."""
    if isinstance(value, dict):
        yield value
        value = list(value.values())
    if isinstance(value, list):
        for item in value:
            yield from _dicts(item)


def _is_node(value: dict[object, object]) -> bool:
    return "_label" in value and "_src" not in value and _id(value.get("_id")) is not None


def _is_relation(value: dict[object, object]) -> bool:
    return "_label" in value and None not in (_id(value.get("_src")), _id(value.get("_dst")))


def _refs(rows: object) -> Iterator[tuple[Id | None, object]]:
    return ((_id(value["_id"]), value.get("ref")) for value in _dicts(rows) if _is_node(value))


def _ends(rows: object) -> Iterator[Id]:
    ends = (_id(value[side]) for value in _dicts(rows) if _is_relation(value) for side in ("_src", "_dst"))
    return (end for end in ends if end is not None)


def _look_up(connection: Connection, ids: Iterable[Id]) -> dict[Id | None, object]:
    """Return the references of nodes that are in no row, with one statement (numbers only, so pasted is safe)."""
    listed = ", ".join(f"internal_id({table}, {place})" for table, place in sorted(ids))
    if not listed:
        return {}
    result = connection.execute(f"UNWIND [{listed}] AS i MATCH (n) WHERE id(n) = i RETURN i, n.ref")
    return {_id(row[0]): row[1] for row in result.get_all()}


def _json(value: object, refs: Refs, is_exact: bool) -> object:
    """Return ``value`` as a JSON value; ``is_exact`` if its type names a decimal, else a Decimal is a large integer."""
    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else NOT_FINITE.get(value, "NaN")
    if isinstance(value, list):
        return [_json(item, refs, is_exact) for item in value]
    if isinstance(value, dict):
        return _map(value, refs, is_exact)
    return _text(value, is_exact)


def _text(value: object, is_exact: bool) -> object:
    if isinstance(value, datetime):
        utc = value.astimezone(UTC) if value.tzinfo else value
        return utc.replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return str(value) if is_exact or value.as_tuple().exponent else int(value)
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, timedelta):
        return str(value).replace(",", "")
    if isinstance(value, UUID):
        return str(value)
    raise ValueError(f"a value of type {type(value).__name__} has no JSON form")


def _map(value: dict[object, object], refs: Refs, is_exact: bool) -> object:
    if _is_relation(value):
        ends = {"from": refs.get(_id(value["_src"])), "to": refs.get(_id(value["_dst"]))}
        return {"type": value["_label"], **ends, "properties": _properties(value, refs, is_exact)}
    if _is_node(value):
        properties = _properties(value, refs, is_exact)
        return {"ref": refs.get(_id(value["_id"])), "label": value["_label"], "properties": properties}
    if value.keys() == {"_nodes", "_rels"}:
        return _path(value["_nodes"], value["_rels"], refs, is_exact)
    if internal := _id(value):
        return "{}:{}".format(*internal)
    return {str(key): _json(item, refs, is_exact) for key, item in value.items()}


def _properties(value: dict[object, object], refs: Refs, is_exact: bool) -> dict[str, object]:
    internal = ("_id", "_label", "_src", "_dst")
    return {str(key): _json(item, refs, is_exact) for key, item in value.items() if key not in internal}


def _path(nodes: object, relations: object, refs: Refs, is_exact: bool) -> list[object]:
    """Return nodes and relations in turn; a path's variable has the ends, a relation's (``-[r*1..2]-``) has not."""
    assert isinstance(nodes, list) and isinstance(relations, list)
    longer, shorter = (nodes, relations) if len(nodes) > len(relations) else (relations, nodes)
    mixed: list[object] = [None] * (len(nodes) + len(relations))
    mixed[::2], mixed[1::2] = longer, shorter
    return [_json(item, refs, is_exact) for item in mixed]


if __name__ == "__main__":
    main()
