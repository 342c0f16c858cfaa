"""Cypher over many projects: each has a graph in a FalkorDB server, replaced as a whole and asked read-only."""

import contextlib
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from falkordb import Graph
from redis import Redis

from graphmem import BadInput, Memory, NotFound, Refused, Unavailable, Usage
from graphmem.features.cypher.engines.falkordb import server as servers
from graphmem.features.cypher.engines.falkordb.server import GraphServer, key_of
from graphmem.kernel.catalog.catalog import Catalog
from tests.doors.cli.test_answers import Done, Graphmem, graphmem  # noqa: F401  # the fixture
from tests.falkordb_server import falkordb_server
from tests.pace import patience
from tests.sample import open_memory

pytestmark = pytest.mark.process
REF = "MATCH (f:Failure) RETURN f.ref AS ref ORDER BY ref"
Rows = list[list[object]]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> str:
    """The address of an empty server, which the user's environment names."""
    running = falkordb_server()
    redis(running.address, "FLUSHDB")
    monkeypatch.setenv("GRAPHMEM_GRAPH", running.address)
    return running.address


@pytest.fixture
def shop(server: str, tmp_path: Path) -> Iterator[Memory]:
    """A memory with two failures and an edge, pushed as the project shop; another one is the project bank."""
    (tmp_path / "bank").mkdir()
    with open_memory(tmp_path / "bank") as bank:
        bank.failures.add("no money", name="money")
        bank.store.graph.push(project="bank")
    with open_memory(tmp_path) as memory:
        memory.failures.add("boom", name="a", match="boom .*")
        memory.failures.add("bang", name="b")
        memory.relations.link("a", "causes", "b", weight=0.5, note='said "no" \\ é\n')
        memory.store.graph.push(project="shop")
        yield memory


def ask(memory: Memory, query: str, *projects: str, **parameters: object) -> Rows:
    return list(map(list, memory.store.cypher_projects(query, list(projects) or ["all"], parameters=parameters).rows))


def redis(address: str, *command: str) -> Any:
    """Return what a command gives."""
    with contextlib.closing(Redis.from_url(address, decode_responses=True)) as client:
        return client.execute_command(*command)


def keys(address: str) -> list[str]:
    found = map(str, redis(address, "KEYS", "*"))
    return sorted(key for key in found if not key.startswith("telemetry"))  # the server's own, written when it likes


# --- what is asked --------------------------------------------------------------------------------------------------


def test_rows_of_all_projects_are_put_together_with_the_name_of_each(shop: Memory) -> None:
    everything: Rows = [["bank", "failure/money"], ["shop", "failure/a"], ["shop", "failure/b"]]
    assert ask(shop, REF) == everything
    assert ask(shop, REF, "shop", "bank", "shop") == [*everything[1:], everything[0]]
    assert ask(shop, REF, "bank") == everything[:1]
    assert ask(shop, "MATCH (f:Failure) RETURN count(*) AS n") == [["bank", 1], ["shop", 2]]
    answer = shop.store.cypher_projects(REF, ["bank"])
    assert (answer.columns, answer.types, answer.truncated) == (["project", "ref"], ["STRING", "ANY"], False)


def test_nodes_relations_and_paths_are_those_of_the_local_graph(shop: Memory) -> None:
    """The server keeps no properties that have no value."""
    for query in (
        "MATCH (a)-[r:CAUSES]->(b) RETURN r, b.ref, a",
        "MATCH p = (a)-[r:CAUSES]->(b) RETURN p, a.expression, r.note",
        "MATCH (a:Failure {name: $name}) RETURN [a.ref] AS x, {x: a.helped} AS m, 1.5 AS y, a.fix AS z, a.created_at",
    ):
        given = {"name": "a"} if "$" in query else {}
        local = list(map(list, shop.cypher(query, parameters=given).rows))
        assert [row[1:] for row in ask(shop, query, "shop", **given)] == without_null(local)


def without_null(value: object) -> object:
    """Return rows without the properties that are null; a row itself keeps them."""
    if isinstance(value, dict):
        return {name: without_null(one) for name, one in value.items() if one is not None}
    return [without_null(one) for one in value] if isinstance(value, list) else value


def test_a_stored_query_is_asked_by_its_name(shop: Memory) -> None:
    assert ask(shop, "failure/unsolved", "bank") == [["bank", "failure/money"]]
    found = ask(shop, "relation/reached", "shop", ref="failure/a", relation="causes")
    assert found == [["shop", "failure/b"]]
    for name, parameters in (("relation/reached", {"ref": "failure/a"}), ("failure/solutions", {})):
        with pytest.raises(Usage, match="misses parameter"):
            ask(shop, name, **parameters)
    with pytest.raises(NotFound, match="no stored query"):
        ask(shop, "failure/nothing")
    for ref in ("nothing", "a` {x: 1}) LOAD CSV FROM 'x' AS r RETURN r //", "", "unknown/x"):
        with contextlib.suppress(Refused, Usage, BadInput):
            assert ask(shop, "relation/reached", ref=ref, relation="causes") == []
    with pytest.raises(Refused):
        ask(shop, "record/remove", key="boom")


def test_a_project_without_a_graph_is_named(shop: Memory, server: str) -> None:
    with pytest.raises(NotFound, match="project 'shoq' has no graph") as error:
        ask(shop, REF, "bank", "shoq")
    assert error.value.hint == "did you mean shop?"
    with pytest.raises(NotFound, match=r"project '\*' has no graph"):
        ask(shop, REF, "*")
    redis(server, "FLUSHDB")
    with pytest.raises(NotFound, match="no project has a graph"):
        ask(shop, REF)


def test_rows_and_time_are_bounded_over_all_projects(shop: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    for limit, expected in ((2, True), (3, False)):
        answer = shop.store.cypher_projects(REF + "; // LIMIT", ["all"], limit=limit)
        assert (len(answer.rows), answer.truncated) == (limit, expected)
    sent: list[int] = []
    asked = Graph.ro_query

    def counted(graph: Graph, *words: object, **more: object) -> object:
        result = asked(graph, *words, **more)
        sent.append(len(result.result_set))
        return result

    monkeypatch.setattr(Graph, "ro_query", counted)
    many = shop.store.cypher_projects("UNWIND range(1, 100) AS x RETURN x // all", ["all"], limit=5)
    assert (len(many.rows), many.truncated, sent) == (5, True, [6])
    began = time.monotonic()
    with pytest.raises(Unavailable, match="longer than it may"):
        long = "UNWIND range(1, 10000) AS x UNWIND range(1, 10000) AS y WITH x * y AS z WHERE z % 7 = 1 RETURN sum(z)"
        shop.store.cypher_projects(long, ["all"], timeout_s=0.3)
    assert time.monotonic() - began < 30 * patience()


ODD = ('"', "\\", '\\\\"', "'", "a\nb\t", "\u2028é😀", "$x", "`", "\x01", "{a: 1}", "*/ //")

# --- what is refused ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Failure {ref: 'x'})", "MATCH (n) DETACH DELETE n", "MATCH (n) SET n.ref = 'x'",
        "LOAD CSV FROM 'file:///etc/passwd' AS row RETURN row", "CALL db.labels()", "CYPHER x=1 RETURN $x",
        "RETURN 1; RETURN 2",
    ],
)  # fmt: skip
def test_a_statement_that_does_more_than_read_is_refused(shop: Memory, statement: str) -> None:
    with pytest.raises(Refused):
        ask(shop, statement)


def test_the_server_refuses_a_change_without_the_guard(shop: Memory, server: str) -> None:
    with GraphServer(server) as graphs, pytest.raises(BadInput, match="read-only"):
        graphs.query("shop", "CREATE (:Failure {ref: 'x'})", {}, 5.0, 9)
    assert len(ask(shop, REF)) == 3


@pytest.mark.parametrize(
    "value", ['"', "\\", '\\\\"', "'", "a\nb\t", "\u2028é😀", "$x", "`", "\x01", "{a: 1}", "*/ //"]
)
def test_a_parameter_is_a_value_whatever_it_says(shop: Memory, value: str) -> None:
    for given in (value, [value, None, True, -1, 2.5e-9], {"a": {"b": [value]}}):
        assert ask(shop, "RETURN $given AS x", "shop", given=given) == [["shop", given]]


def test_the_key_of_a_map_cannot_end_the_parameters(shop: Memory) -> None:
    for key in ("a`: 1} LOAD CSV FROM 'x' AS r RETURN r //", "a: 1", ""):
        with pytest.raises(BadInput, match="a parameter has the key"):
            ask(shop, "RETURN $given AS x", given=[{key: 1}])


def test_a_column_cannot_be_called_project(shop: Memory) -> None:
    with pytest.raises(Usage, match="'project'"):
        ask(shop, "RETURN 1 AS project")


def test_a_caller_with_a_scope_neither_asks_nor_pushes(shop: Memory, tmp_path: Path) -> None:
    shop.store.scopes.add("few", read=["pattern"])
    with Memory(tmp_path, scope="few") as few:
        for call in (lambda: ask(few, REF), lambda: few.store.graph.push(project="shop")):
            with pytest.raises(Refused, match="may not see all"):
                call()


def test_a_project_names_no_server(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_GRAPH")
    with open_memory(tmp_path) as memory:
        (tmp_path / ".graphmem/config.toml").write_text(f'format = 1\n[graph]\nurl = "{server}"\n')
    with open_memory(tmp_path) as memory:
        for call in (lambda: ask(memory, REF), lambda: memory.store.graph.push(project="shop")):
            with pytest.raises(Usage, match="no graph server is named"):
                call()
        assert any("which cannot name servers" in line for line in memory.store.config().ignored)
    assert keys(server) == []


@pytest.mark.usefixtures("shop")
def test_a_user_names_a_server_in_a_file(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("GRAPHMEM_GRAPH")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "mine"))
    (tmp_path / "mine/graphmem").mkdir(parents=True)
    (tmp_path / "mine/graphmem/config.toml").write_text(f'[graph]\nurl = "{server}"\n')
    with open_memory(tmp_path) as memory:
        assert ask(memory, REF, "bank") == [["bank", "failure/money"]]


# --- what is pushed -------------------------------------------------------------------------------------------------


def test_a_push_replaces_the_graph_and_does_nothing_where_nothing_changed(shop: Memory, server: str) -> None:
    before = keys(server)
    again = shop.store.graph.push(project="shop")
    assert (again.changed, again.records, again.relations) == (False, 0, 0)
    shop.forget("b")
    shop.failures.add("crash", name="c")
    pushed = shop.store.graph.push(project="shop")
    assert (pushed.changed, pushed.records, pushed.relations) == (True, 2, 0)
    assert ask(shop, REF, "shop") == [["shop", "failure/a"], ["shop", "failure/c"]]
    assert keys(server) == before
    redis(server, "DEL", key_of("shop"))
    assert shop.store.graph.push(project="shop").changed


def test_the_old_graph_answers_until_the_new_one_is_whole(
    shop: Memory, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(server)
    shop.failures.add("crash", name="c")
    seen: list[Rows] = []
    edges = Catalog.live_edges

    def asked_meanwhile(catalog: Catalog) -> Iterator[tuple[str, int, int, float, bytes]]:
        with GraphServer(server) as graphs:
            seen.append(graphs.query("shop", REF, {}, 5.0, 9)[1])
        yield from edges(catalog)

    monkeypatch.setattr(Catalog, "live_edges", asked_meanwhile)
    shop.store.graph.push(project="shop")
    assert seen == [[["failure/a"], ["failure/b"]]]
    assert len(ask(shop, REF, "shop")) == 3
    assert keys(server) == before


def test_a_push_that_fails_leaves_the_graph_and_no_draft(
    shop: Memory, server: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = keys(server)
    shop.failures.add("crash", name="c")

    def broken(catalog: Catalog) -> Iterator[tuple[str, int, int, float, bytes]]:
        raise RuntimeError("broken")

    with monkeypatch.context() as patch:
        patch.setattr(Catalog, "live_edges", broken)
        with pytest.raises(RuntimeError):
            shop.store.graph.push(project="shop")
    assert (keys(server), len(ask(shop, REF, "shop"))) == (before, 2)
    assert shop.store.graph.push(project="shop").changed


def test_a_draft_of_a_push_that_was_killed_is_no_project_and_goes(shop: Memory, server: str) -> None:
    drafts: list[int] = []

    def killed(graphs: GraphServer, graph: object, catalog: Catalog) -> tuple[int, int]:
        (draft,) = (key for key in keys(server) if "shop" in key and len(key) > len("graphmem:{shop}:state"))
        drafts.append(int(redis(server, "TTL", draft)))
        assert graphs.projects() == ["bank", "shop"]
        raise RuntimeError("killed")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(GraphServer, "_fill", killed)
        shop.failures.add("crash", name="c")
        with pytest.raises(RuntimeError):
            shop.store.graph.push(project="shop")
    assert 0 < drafts[0] <= servers.DRAFT_S
    assert redis(server, "TTL", key_of("shop")) == -1


# --- what is missing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("address", "error", "line"),
    [
        ("redis://ana@127.0.0.1:1", Unavailable, r"graph server redis://127.0.0.1:1 does not answer: "),
        ("unix:///nowhere/socket", Unavailable, "does not answer"),
        ("falkordb://:secret@localhost", BadInput, "has a password in it"),
        ("mysql://localhost", BadInput, "the address of the graph server is 'mysql://localhost'"),
        ("falkordb://", BadInput, "the address of the graph server is"),
    ],
)
def test_a_server_that_is_away_or_none_is_said(memory: Memory, address: str, error: type[Exception], line: str) -> None:
    with pytest.raises(error, match=line) as raised:
        memory.store.graph.push(address, project="shop")
    assert "secret" not in str(raised.value) and "ana" not in str(raised.value)


def test_a_server_that_hangs_is_not_waited_for(shop: Memory) -> None:
    process = falkordb_server().process
    process.send_signal(signal.SIGSTOP)
    try:
        began = time.monotonic()
        with pytest.MonkeyPatch.context() as patch, pytest.raises(Unavailable, match="does not answer"):
            patch.setattr(servers, "GRACE_S", 0.2)
            shop.store.cypher_projects(REF, ["all"], timeout_s=0.3)
        assert time.monotonic() - began < 30 * patience()
    finally:
        process.send_signal(signal.SIGCONT)
    assert len(ask(shop, REF)) == 3


def test_without_the_client_the_extra_is_named(memory: Memory, server: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "CLIENT", "absent")
    with pytest.raises(Unavailable, match="graphs of many projects need absent") as error:
        memory.store.graph.push(server, project="shop")
    assert error.value.hint == "pip install 'graphmem[team]'"


def test_a_push_needs_a_name(memory: Memory, server: str) -> None:
    with pytest.raises(Usage, match="no name in the graph server"):
        memory.store.graph.push(server)
    with pytest.raises(Usage, match="no name"):
        memory.store.graph.push(server, project="all")
    with pytest.raises(Usage, match="'a b' is not the name of a project"):
        memory.store.graph.push(server, project="a b")


def test_a_password_comes_from_the_environment(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    running = falkordb_server("--requirepass", "secret")
    with pytest.raises(Unavailable, match="graph server") as error:
        memory.store.graph.push(running.address, project="shop")
    assert "secret" not in str(error.value)
    monkeypatch.setenv("GRAPHMEM_GRAPH_PASSWORD", "secret")
    assert memory.store.graph.push(running.address, project="shop").changed


def test_the_commands_push_and_ask(graphmem: Graphmem, server: str) -> None:  # noqa: F811
    graphmem("add", "failure", "--trigger", "it broke", "--name", "broke")
    done: Callable[..., Done] = graphmem
    counts = done("graph", "push", "--project", "shop").out
    assert counts.startswith(f"pushed the graph of shop to {server}: ")
    assert done("graph", "push", server, "--project", "shop").out == f"the graph of shop in {server} is up to date\n"
    query = "MATCH (f:Failure {name: $name}) RETURN f.ref AS ref"
    found = done("cypher", "--projects", "all", query, "-p", "name=broke", "--format", "csv").out
    assert found == "project,ref\nshop,failure/broke\n"
    assert "failure/broke" in done("cypher", "--projects", "shop", "--named", "failure/unsolved").out
    assert done("cypher", "--projects", "ship", query, "-p", "name=x").status == 1
