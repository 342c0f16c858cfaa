"""
What a graph engine has to fulfil (graphmem/kernel/graph.py).

The named queries are the graph's own answers to questions that the program answers from the catalog: on random stores,
as the files came and after a history of changes, both give the same.
"""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from graphmem import Memory
from graphmem.constants import HALF_LIFE_DAYS
from graphmem.errors import BadInput, Refused, Unavailable
from graphmem.features.cypher.engines.kuzu import mirror
from graphmem.features.cypher.engines.kuzu.engine import INSTALL
from graphmem.kernel.model.field import format_time
from tests.contract.random_store import change, random_store
from tests.sample import open_memory

STORES = ((1, False), (2, True))  # seed; whether the graph followed a history or was built from the files
STARTS = 4  # records of each store that a question begins at
Rows = list[list[object]]


@pytest.fixture(scope="module")
def stores(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[Memory]]:
    """A store whose graph was built from its files, and one whose graph followed a history."""
    with ExitStack() as stack:
        found = []
        for seed, is_changed in STORES:
            memory = stack.enter_context(random_store(tmp_path_factory.mktemp("store"), seed))
            memory.cypher("MATCH (n) RETURN count(*)")
            if is_changed:
                change(memory, seed)
                assert memory.store.client.graph.catch_up() is False  # change by change
            found.append(memory)
        yield found


@pytest.fixture
def small(memory: Memory) -> Memory:
    """A store with two failures and an edge."""
    return filled(memory)


def test_without_an_engine_all_but_cypher_works(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.failures.add("it went boom", name="boom")
    monkeypatch.setattr(mirror, "ENGINE", "absent")
    asks: list[Callable[[], object]] = [
        lambda: memory.cypher("MATCH (n) RETURN count(n)"),
        lambda: memory.store.cypher_named("failure/unsolved"),
    ]
    for ask in asks:
        with pytest.raises(Unavailable, match="kuzu is not installed, and Cypher needs it") as caught:
            ask()
        assert caught.value.hint == INSTALL
    rebuilt = memory.store.rebuild()
    assert (rebuilt.records, rebuilt.notices) == (
        1, ["no graph engine is installed: all but the graph, which only Cypher asks, is rebuilt"]
    )  # fmt: skip
    assert memory.store.validate().ok and memory.store.doctor(fix=True).ok
    memory.store.purge(["boom"], yes=True)
    assert memory.list().total == 0


@pytest.fixture(scope="module")
def asked(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The same for the tests that change nothing."""
    with open_memory(tmp_path_factory.mktemp("asked")) as memory:
        yield filled(memory)


def filled(memory: Memory) -> Memory:
    memory.failures.add("boom", name="a")
    memory.failures.add("bang", name="b")
    memory.relations.link("a", "causes", "b", weight=0.5, note="seen")
    return memory


def named(memory: Memory, name: str, **parameters: object) -> Rows:
    return list(map(list, memory.store.cypher_named(name, parameters).rows))


def some(memory: Memory, kind: str, number: int = STARTS) -> list[str]:
    """Return references of live records that edges begin or end at, those with most edges first."""
    refs = [found.ref for found in memory.list(kind).results]
    return sorted(refs, key=lambda ref: (-len(memory.get(ref).relations), ref))[:number]


# --- one question, one answer ---------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_strongest_relations_within_two_hops_are_those_of_related(stores: list[Memory]) -> None:
    for memory in stores:
        for ref in [*some(memory, "failure"), *some(memory, "order", 1), *some(memory, "task", 1)]:
            related = memory.related(ref, max_hops=2, min_strength=0.3).results
            expected = [[found.ref, pytest.approx(found.strength), found.hops] for found in related]
            assert named(memory, "relation/strongest", ref=ref, min_strength=0.3) == expected


@pytest.mark.long
def test_what_solves_a_failure_is_the_same(stores: list[Memory]) -> None:
    for memory in stores:
        for ref in some(memory, "failure", 6):
            found = [one for one in memory.solutions(ref).results if len(one.path) == 1]
            expected = [[one.ref, one.path[0].weight, one.path[0].note, pytest.approx(one.strength)] for one in found]
            assert named(memory, "failure/solutions", ref=ref) == expected


@pytest.mark.long
def test_near_solutions_are_the_same(stores: list[Memory]) -> None:
    for memory in stores:
        for ref in some(memory, "failure", 6):
            found = [one for one in memory.solutions(ref).results if len(one.path) == 2]
            strongest: dict[object, object] = {}
            for *_, pattern, _, _, strength in named(memory, "failure/solutions_nearby", ref=ref):
                strongest.setdefault(pattern, strength)
            assert list(strongest.items()) == [(one.ref, pytest.approx(one.strength)) for one in found]


@pytest.mark.long
def test_unsolved_failures_are_the_same(stores: list[Memory]) -> None:
    for memory in stores:
        found = memory.stats().connectivity
        refs = [row[0] for row in named(memory, "failure/unsolved")]
        assert len(refs) == found.unsolved_failures > 0
        assert set(found.unsolved) <= set(refs)
        assert refs == sorted(map(str, refs))


def test_ready_tasks_are_the_same(stores: list[Memory]) -> None:
    """A parent may be archived, complete or not, and then has no node."""
    for memory in stores:
        for campaign in ("one", "two"):
            expected = [[task.ref, task.ref.rpartition("/")[2][:3]] for task in memory.campaigns.ready(campaign).ready]
            assert named(memory, "task/ready", ref=campaign) == expected
    assert any(memory.campaigns.ready(campaign).ready for memory in stores for campaign in ("one", "two"))


@pytest.mark.parametrize("relation", ["causes", "resembles"])
def test_reach_and_distance_are_those_of_related(stores: list[Memory], relation: str) -> None:
    for memory in stores:
        for ref in some(memory, "failure", 2):
            hops: dict[str, int] = {}
            for most in range(1, 7):
                reach = memory.related(ref, max_hops=most, types=[relation], direction="out", min_strength=0.0)
                for found in reach.results:
                    hops.setdefault(found.ref, most)
            assert max(hops.values(), default=0) < 6  # the graph goes on, `related` does not
            assert named(memory, "relation/reached", ref=ref, relation=relation) == [[found] for found in sorted(hops)]
            against = memory.related(ref, max_hops=6, types=[relation], direction="in", min_strength=0.0).results
            reaching = named(memory, "relation/reaching", ref=ref, relation=relation)
            assert reaching == [[found] for found in sorted(found.ref for found in against)]
            for target in list(hops)[-2:]:
                distance = named(memory, "relation/distance", ref=ref, target=target, relation=relation)
                assert distance == [[hops[target]]]


@pytest.mark.parametrize("relation", ["causes", "variant", "resembles"])
def test_neighbours_are_the_edges_of_a_record(stores: list[Memory], relation: str) -> None:
    for memory in stores:
        for ref in some(memory, "failure", 2):
            edges = [edge for edge in memory.get(ref).relations if edge.type == relation]
            expected = [
                (edge.target if edge.source == ref else edge.source, edge.weight, edge.source == ref) for edge in edges
            ]
            rows = named(memory, "relation/neighbours", ref=ref, relation=relation)
            assert rows == [list(found) for found in sorted(expected, key=lambda row: (row[0], not row[2]))]


def test_the_hybrid_score_for_given_similarities_is_that_of_query(stores: list[Memory]) -> None:
    """`query` is given what it would be without the graph; patterns that solve a hit come in by the graph alone."""
    is_raised = False
    for memory in stores:
        hits = memory.query("f1 went wrong", limit=100, profile="classic").results
        own = {hit.ref: hit.relevance for hit in hits if hit.relevance > hit.factors.graph}
        is_raised = is_raised or any(hit.relevance == hit.factors.graph for hit in hits)
        now = format_time(memory.store.client.now())
        given = [{"ref": ref, "similarity": similarity} for ref, similarity in own.items()]
        rows = named(memory, "record/hybrid", hits=given, now=now, half_life_days=HALF_LIFE_DAYS)
        expected = {hit.ref: (pytest.approx(hit.score, rel=1e-4), pytest.approx(hit.relevance)) for hit in hits}
        assert {str(ref): (score, relevance) for ref, score, relevance in rows} == expected
    assert is_raised


# --- the port -------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_graph_that_followed_changes_is_the_one_that_is_built_again(stores: list[Memory]) -> None:
    nodes, edges = "MATCH (n) RETURN n", "MATCH (a)-[r]->(b) RETURN a.ref, r, b.ref"
    for memory in stores:
        before = [sorted(map(repr, memory.cypher(query).rows)) for query in (nodes, edges)]
        records, relations = memory.store.client.graph.rebuild()
        assert [sorted(map(repr, memory.cypher(query).rows)) for query in (nodes, edges)] == before
        assert (records, relations) == tuple(map(len, before))
        assert not [found for found in memory.store.validate().findings if found.file.startswith("local/")]


def test_the_position_is_that_of_the_catalog_once_asked(small: Memory) -> None:
    graph = small.store.client.graph
    assert not graph.exists
    position, counts = graph.counts()
    assert graph.exists
    assert position == graph.position == small.store.client.catalog.position
    assert counts == {"Failure": 2, "CAUSES": 1}
    small.failures.add("crash", name="c")
    assert graph.position != small.store.client.catalog.position
    assert graph.catch_up() is False
    assert graph.position == small.store.client.catalog.position
    graph.forget()
    assert not graph.exists
    assert graph.position is None
    assert graph.counts()[1] == {"Failure": 3, "CAUSES": 1}


def test_nodes_relations_and_paths_are_json_with_references(asked: Memory) -> None:
    row: list[Any] = list(asked.cypher("MATCH p = (a:Failure)-[r:CAUSES]->(b) RETURN a, r, p, b.ref").rows[0])
    node, relation, path, ref = row
    assert (node["ref"], node["label"], node["properties"]["trigger"]) == ("failure/a", "Failure", "boom")
    assert relation["properties"].pop("created_at") == relation["properties"].pop("updated_at")
    assert relation == {
        "type": "CAUSES", "from": "failure/a", "to": "failure/b",
        "properties": {"weight": 0.5, "note": "seen", "by": None, "via": None},
    }  # fmt: skip
    assert [part.get("ref") or part["type"] for part in path] == ["failure/a", "CAUSES", "failure/b"]
    assert ref == "failure/b"


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE (:Failure {key: 'x'})",
        "MATCH (n:Failure) SET n.name = 'x'",
        "MATCH (n) DETACH DELETE n",
        "COPY (MATCH (n) RETURN n.ref) TO '{folder}/out.csv'",
        "LOAD FROM '/etc/passwd' (file_format='csv') RETURN *",
    ],
)
def test_a_query_can_only_read_with_the_check_and_without_it(asked: Memory, statement: str) -> None:
    graph, text = asked.store.client.graph, statement.replace("{folder}", str(asked.store.client.local))
    before = graph.counts()
    with pytest.raises(Refused):
        graph.require_read(text)
    with pytest.raises((BadInput, Unavailable)):
        graph.cypher(text, {}, timeout_s=5.0, limit=10)
    assert graph.counts() == before
    assert not (asked.store.client.local / "out.csv").exists()


def test_a_query_has_bounds_of_rows_and_time(asked: Memory) -> None:
    answer = asked.store.client.graph.cypher("UNWIND range(1, 5) AS x RETURN x", {}, timeout_s=5.0, limit=3)
    assert (answer.columns, answer.rows, answer.truncated) == (["x"], [[1], [2], [3]], True)
    long = "UNWIND range(1, 10000) AS x UNWIND range(1, 10000) AS y UNWIND range(1, 100) AS z RETURN sum(x * y * z)"
    with pytest.raises(Unavailable, match="longer than"):
        asked.store.client.graph.cypher(long, {}, timeout_s=0.3, limit=3)


def test_a_query_that_the_engine_refuses_says_why_and_what_was_meant(asked: Memory) -> None:
    with pytest.raises(BadInput, match="Failur ") as error:
        asked.cypher("MATCH (f:Failur) RETURN f.name")
    assert error.value.hint == "did you mean Failure?"


def test_two_memories_share_one_graph(small: Memory) -> None:
    with open_memory(small.store.client.layout.store.parent) as other:
        for number in range(2):
            (small if number else other).failures.add(f"number {number}", name=f"n{number}")
            for memory in (small, other):
                assert memory.cypher("MATCH (n:Failure) RETURN count(*)").rows == [[number + 3]]


ODD = ("123", "-1.5", "null", "{}", '["a", "b"]', "a\nb", "\\u0041", "\\", '"', "''", "é\u2028", "😀", "a,b", "{a: b}")


def test_a_graph_that_is_built_has_every_text_as_it_is(small: Memory) -> None:
    tags = [text for text in ODD if text.isprintable()]
    for number, text in enumerate(ODD):
        small.failures.add(f"{text} failed", name=f"odd-{number}", tags=tags)
        small.relations.link(f"odd-{number}", "causes", "b", note=f"{text} failed")
    small.store.client.graph.rebuild()
    rows = small.cypher(
        "MATCH (f:Failure)-[c:CAUSES]->(:Failure {name: 'b'}) WHERE f.name STARTS WITH 'odd' "
        "RETURN f.name, f.trigger, f.tags, c.note, f.helped"
    ).rows
    expected = {f"odd-{number}": f"{text} failed" for number, text in enumerate(ODD)}
    assert [[*row] for row in rows] == [[row[0], expected.pop(str(row[0])), sorted(tags), row[1], 0] for row in rows]
    assert expected == {}
