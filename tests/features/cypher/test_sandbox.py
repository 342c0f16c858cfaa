"""The child process alone: each statement here runs in it without `check` before it."""

import hashlib
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import kuzu
import pytest

from graphmem.errors import BadInput, Refused, Unavailable
from graphmem.features.cypher.engines.kuzu import sandbox
from graphmem.features.cypher.engines.kuzu.sandbox import Sandbox, run
from graphmem.kernel.graph import GraphAnswer
from tests.pace import patience

pytestmark = pytest.mark.process
SCHEMA = (
    "CREATE NODE TABLE Failure(ref STRING, key STRING, name STRING, kind STRING, seen TIMESTAMP, PRIMARY KEY(ref))",
    "CREATE NODE TABLE Task(ref STRING, key STRING, name STRING, kind STRING, PRIMARY KEY(ref))",
    "CREATE REL TABLE CAUSES(FROM Failure TO Task, FROM Task TO Task, weight DOUBLE, note STRING)",
    """CREATE (f:Failure {ref: 'failure/a', name: 'a', kind: 'failure', seen: timestamp('2026-11-01 09:30:00.123456')})
       -[:CAUSES {weight: 0.5}]->(t:Task {ref: 'task/b', name: 'b', kind: 'task'})
       -[:CAUSES {weight: 1.0, note: 'x'}]->(:Task {ref: 'task/c', name: 'c', kind: 'task'})""",
)
Node = dict[str, Any]  # JSON
A: Node = {
    "ref": "failure/a",
    "label": "Failure",
    "properties": {
        "ref": "failure/a",
        "key": None,
        "name": "a",
        "kind": "failure",
        "seen": "2026-11-01T09:30:00.123Z",
    },
}
B, C = (
    {"ref": ref, "label": "Task", "properties": {"ref": ref, "key": None, "name": ref[-1], "kind": "task"}}
    for ref in ("task/b", "task/c")
)
AB = {"type": "CAUSES", "from": "failure/a", "to": "task/b", "properties": {"weight": 0.5, "note": None}}
BC = {"type": "CAUSES", "from": "task/b", "to": "task/c", "properties": {"weight": 1.0, "note": "x"}}
BOMB = "UNWIND range(1, 1000000000) AS x RETURN sum(x)"
LONG = "UNWIND range(1, 10000) AS x UNWIND range(1, 10000) AS y UNWIND range(1, 100) AS z RETURN sum(x * y * z)"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    path = tmp_path_factory.mktemp("sandbox") / "graph.kz"
    database = kuzu.Database(path, buffer_pool_size=2**26, max_db_size=2**30)
    connection = kuzu.Connection(database, num_threads=1)
    for statement in SCHEMA:
        connection.execute(statement)
    connection.close()
    database.close()
    yield path
    assert ask(path, "MATCH (n) RETURN count(*)").rows == [[3]]


@pytest.fixture
def graph(made: Path, tmp_path: Path) -> Iterator[Path]:
    """The database, which must be the same to the byte afterwards, alone in its folder."""
    before = hashlib.sha256(made.read_bytes()).hexdigest()
    yield made
    assert hashlib.sha256(made.read_bytes()).hexdigest() == before
    assert [entry.name for entry in made.parent.iterdir()] == [made.name]


@pytest.fixture(scope="module")
def kept() -> Iterator[Sandbox]:
    """A child for many queries: it starts as any other does."""
    with closing(Sandbox()) as one:
        yield one


def ask(graph: Path, query: str, timeout_s: float = 10.0, limit: int = 100, **parameters: object) -> GraphAnswer:
    return run(graph, query, parameters, timeout_s=timeout_s, limit=limit)


def unseen(node: Node) -> Node:
    """In a path the engine gives each node the properties of all labels in it."""
    return node | {"properties": {**node["properties"], "seen": None}}


def test_nodes_and_relations_and_paths_are_json_with_refs(graph: Path) -> None:
    answer = ask(graph, "MATCH p = (a:Failure)-[r]->(b:Task)-[s]->(c:Task) RETURN a, r, p, {n: b}, collect(c)")
    assert answer.types == ["NODE", "REL", "RECURSIVE_REL", "STRUCT(n NODE)", "NODE[]"]
    assert answer.rows == [[A, AB, [A, AB, unseen(B), BC, unseen(C)], {"n": B}, [C]]]
    assert answer.columns[:3] == ["a", "r", "p"]
    assert answer.truncated is False


def test_refs_of_ends_that_are_in_no_row_are_looked_up(graph: Path) -> None:
    assert ask(graph, "MATCH ()-[r]->() RETURN r ORDER BY r.weight").rows == [[AB], [BC]]
    assert ask(graph, "MATCH (:Failure)-[r*2..2]->() RETURN r").rows == [[[AB, unseen(B), BC]]]


def test_a_made_up_node_is_no_way_into_the_look_up(graph: Path) -> None:
    false = "{_src: {`table`: '0', offset: '0) RETURN 1 //'}, _dst: {`table`: 0, offset: 0}, _label: 'x'}"
    assert ask(graph, f"RETURN {false} AS x").rows[0] == [
        {"_src": {"table": "0", "offset": "0) RETURN 1 //"}, "_dst": "0:0", "_label": "x"}
    ]


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("date('2026-11-01')", "2026-11-01"),
        ("timestamp('2026-11-01 09:30:00')", "2026-11-01T09:30:00.000Z"),
        ("cast('2026-11-01 09:30:00+02' AS TIMESTAMP_TZ)", "2026-11-01T07:30:00.000Z"),
        ("cast(1.5 AS DECIMAL(10, 2))", "1.50"),
        ("cast(7 AS DECIMAL(10, 0))", "7"),
        ("cast('170141183460469231731687303715884105727' AS INT128)", 2**127 - 1),
        ("[cast('170141183460469231731687303715884105727' AS INT128)]", [2**127 - 1]),
        ("uuid('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11')", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
        ("blob('\\\\xAA\\\\x01')", "aa01"),
        ("interval('2 days 3 hours')", "2 days 3:00:00"),
        ("cast('nan' AS DOUBLE)", "NaN"),
        ("-cast('inf' AS DOUBLE)", "-Infinity"),
        ("map([1, 2], ['a', 'b'])", {"1": "a", "2": "b"}),
        ("'ä\u2028\x01'", "ä\u2028\x01"),
        ("internal_id(0, 7)", "0:7"),
    ],
)
def test_each_kind_of_value_has_a_json_form(graph: Path, kept: Sandbox, expression: str, value: object) -> None:
    assert kept.run(graph, f"RETURN {expression}", {}, timeout_s=10.0, limit=100, state=None).rows == [[value]]


@pytest.mark.parametrize("value", [None, True, 1, -1.5, "'; DROP TABLE Task; //", [1, 2], ["a", None], {"a": {"b": 1}}])
def test_a_parameter_comes_back_as_it_went_in(graph: Path, kept: Sandbox, value: object) -> None:
    answer = kept.run(graph, "RETURN $value", {"value": value}, timeout_s=10.0, limit=100, state=None)
    assert answer.rows == [[value]]


def test_rows_beyond_the_limit_are_told_not_returned(graph: Path) -> None:
    rows = "UNWIND range(1, 5) AS x RETURN x"
    some, every = (ask(graph, rows, limit=limit) for limit in (3, 5))
    assert (some.rows, some.truncated) == ([[1], [2], [3]], True)
    assert (len(every.rows), every.truncated) == (5, False)


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("RETURN nope", "Variable nope is not in scope."),
        ("MATCH (n RETURN n", r"\(line: 1, offset: 9\)"),
        ("RETURN $x", "Python"),
        ("RETURN 1; RETURN 2", "one statement"),
        ("RETURN error('said so')", "said so"),
    ],
)
def test_an_error_of_the_engine_is_told_without_its_classes(graph: Path, query: str, message: str) -> None:
    with pytest.raises(BadInput, match=message) as error:
        ask(graph, query, **({"x": 2**70} if "$" in query else {}))
    assert "exception" not in error.value.message
    assert "RuntimeError" not in error.value.message
    assert error.value.details["findings"]


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Task {{ref: 'x'}})",
        "MATCH (n:Task) SET n.name = 'x'",
        "MATCH (n) DETACH DELETE n",
        "MERGE (:Task {{ref: 'x'}})",
        "DROP TABLE CAUSES",
        "ALTER TABLE Task ADD x STRING",
        "CREATE MACRO m(x) AS x + 1",
        "CREATE SEQUENCE s",
        "COMMENT ON TABLE Task IS 'x'",
        "CHECKPOINT",
        "COPY Task FROM '{secret}'",
        "COPY (MATCH (n) RETURN n.ref) TO '{folder}/out.csv'",
        "COPY (MATCH (n) RETURN n.ref) TO '{folder}/out.parquet'",
        "COPY (RETURN 1) TO '{secret}'",
        "COPY (RETURN 1) TO '{graph}'",
        "EXPORT DATABASE '{folder}/export'",
        "IMPORT DATABASE '{folder}'",
        "LOAD FROM '{secret}' (file_format='csv') RETURN *",
        "LOAD WITH HEADERS (a STRING) FROM '{secret}' (file_format='csv') RETURN *",
        "MATCH (n:Task) LOAD/**/FROM '{secret}' (file_format='csv') RETURN *",
        "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
        "CALL read_csv_serial('{secret}') RETURN *",
        "LOAD EXTENSION '{secret}'",
        "ATTACH '{other}' AS x (dbtype kuzu)",
        "CALL timeout=0; LOAD FROM '{secret}' (file_format='csv') RETURN *",
        "RETURN 1; COPY (RETURN 1) TO '{folder}/out.csv'",
        "CALL spill_to_disk=true; COPY (RETURN 1) TO '{folder}/out.csv'",
    ],
)
def test_nothing_is_written_and_no_file_is_read(graph: Path, tmp_path: Path, statement: str) -> None:
    secret, other = tmp_path / "secret.csv", tmp_path / "other.kz"
    secret.write_text("hidden\n")
    other.write_bytes(graph.read_bytes())
    with pytest.raises((BadInput, Unavailable)) as error:
        ask(graph, statement.format(secret=secret, folder=tmp_path, other=other, graph=graph))
    assert "hidden" not in str(error.value.message)
    assert secret.read_text() == "hidden\n"
    assert other.read_bytes() == graph.read_bytes()
    files = {path.name for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {"secret.csv", "other.kz"}


def test_an_extension_is_not_fetched_and_nothing_is_made_in_the_home(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server of our own listens, so that the test does not depend on whether there is a network."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for statement in ("INSTALL httpfs", "FORCE INSTALL httpfs", "UPDATE httpfs", "UNINSTALL httpfs"):
        with pytest.raises((BadInput, Unavailable)):
            ask(graph, statement)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0.2)
        with pytest.raises((BadInput, Unavailable)):
            ask(graph, f"INSTALL httpfs FROM 'http://127.0.0.1:{server.getsockname()[1]}/'")
        with pytest.raises(TimeoutError):
            server.accept()
    assert list(tmp_path.iterdir()) == []


def test_a_setting_lasts_no_longer_than_its_process(graph: Path) -> None:
    for setting in ("timeout=0", "threads=64", "progress_bar=true", "home_directory='/'"):
        assert ask(graph, f"CALL {setting}").rows == []
    assert ask(graph, "CALL current_setting('threads') RETURN *").rows == [["2"]]


def test_a_query_that_would_take_all_memory_ends_at_once(graph: Path) -> None:
    started = time.monotonic()
    with pytest.raises(Unavailable, match="more memory") as error:
        ask(graph, BOMB)
    assert time.monotonic() - started < 5 * patience()
    assert error.value.hint


def test_a_query_is_stopped_when_its_time_is_up(graph: Path) -> None:
    started = time.monotonic()
    with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        ask(graph, LONG, timeout_s=0.3)
    assert time.monotonic() - started < (0.3 + sandbox.GRACE_S + 1) * patience()


def test_a_query_that_switches_its_time_limit_off_is_stopped_from_outside(
    graph: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sandbox, "GRACE_S", 0.7)
    with pytest.raises(Unavailable, match=r"longer than 0\.3 s"):
        ask(graph, f"CALL timeout=0; {LONG}", timeout_s=0.3)


@pytest.mark.parametrize(
    "query",
    ["RETURN cast('290000-01-01' AS TIMESTAMP)", "RETURN " + "(" * 100_000 + "1" + ")" * 100_000],
    ids=["a year that Python has not", "depth"],
)
@pytest.mark.slow
def test_a_query_that_breaks_the_engine_breaks_only_the_child(graph: Path, query: str) -> None:
    with pytest.raises(Unavailable, match=r"brought the engine down|more memory|longer"):
        ask(graph, query, timeout_s=1.0)


def test_an_answer_that_is_too_large_is_refused(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(Refused, match="larger than 64 MiB"):
        ask(graph, "UNWIND range(1, 100) AS x RETURN repeat('x', 1000000)")
    monkeypatch.setattr(sandbox, "CYPHER_OUTPUT_BYTES", 1000)
    with pytest.raises(Refused, match="larger"):
        ask(graph, "RETURN repeat('x', 2000)")


def test_a_database_that_another_process_writes_to_is_unavailable(made: Path, tmp_path: Path) -> None:
    graph = Path(shutil.copy(made, tmp_path))
    code = "import kuzu, sys; d = kuzu.Database(sys.argv[1]); print(1, flush=True); sys.stdin.read()"
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", code, str(graph)], stdin=pipe, stdout=pipe) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"1\n"
        with pytest.raises(Unavailable, match="cannot be opened"):
            ask(graph, "RETURN 1")
        writer.communicate()


def test_a_missing_database_is_unavailable_and_not_made(tmp_path: Path) -> None:
    with pytest.raises(Unavailable, match="cannot be opened"):
        ask(tmp_path / "none.kz", "RETURN 1")
    assert list(tmp_path.iterdir()) == []


def test_a_relative_path_means_the_folder_of_the_caller(graph: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(graph.parent)
    assert ask(Path(graph.name), "RETURN 1").rows == [[1]]


def test_modules_in_the_working_folder_are_not_imported(
    graph: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "kuzu.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    assert ask(graph, "RETURN 1").rows == [[1]]


def test_the_child_can_be_run_as_a_module(graph: Path) -> None:
    request = {"engine": "kuzu", "path": str(graph), "query": "RETURN 1", "parameters": {}, "timeout_s": 5, "limit": 5}
    command = [sys.executable, "-m", "graphmem.features.cypher.engines.kuzu.sandbox"]
    place = Path(sandbox.__file__).parents[5]
    done = subprocess.run(command, input=json.dumps(request).encode(), stdout=subprocess.PIPE, check=True, cwd=place)
    assert json.loads(done.stdout)["rows"] == [[1]]


def children() -> set[str]:
    """Return the children of this process but for the one that asks; a helper of multiprocessing may be among them."""
    asked = subprocess.Popen(["ps", "-A", "-o", "pid=,ppid="], stdout=subprocess.PIPE, text=True)
    rows = [line.split() for line in asked.communicate()[0].splitlines()]
    return {pid for pid, parent in rows if parent == str(os.getpid()) and pid != str(asked.pid)}


def test_queries_leave_no_descriptor_no_thread_and_no_child_behind(graph: Path) -> None:
    before = set(os.listdir("/dev/fd")), threading.active_count(), children()
    for query in ("RETURN 1", "RETURN nope", BOMB):
        with suppress(BadInput, Unavailable):
            ask(graph, query)
    time.sleep(0.05)  # a cancelled timer needs a moment to go
    assert len(set(os.listdir("/dev/fd"))) == len(before[0])
    assert threading.active_count() == before[1]
    assert children() == before[2]
