"""The stored queries: each is declared as it is used, runs on an empty graph, and answers rightly on a small one."""

import ast
import re
import warnings
from collections import Counter
from collections.abc import Iterator
from functools import cache

import kuzu
import pytest

from graphmem import BadInput, Memory, NotFound, Refused, Usage
from graphmem.features.cypher.engines.kuzu.guard import require_read
from graphmem.features.cypher.engines.kuzu.mirror import opened
from graphmem.features.cypher.engines.kuzu.schema import define
from graphmem.features.cypher.stored_query import Stored, all_stored
from graphmem.kernel.model import Failure
from graphmem.kernel.model.vocabulary import KINDS, EntityType, RelationType, Vocabulary
from tests.sample import open_memory, task_row
from tests.source import MODULES, nodes

QUERIES = list(all_stored().values())
READS = [query for query in QUERIES if not query.is_write]
VOCABULARY = Vocabulary(
    entities={"order": EntityType(type="order"), "work_item": EntityType(type="work_item")},
    project_relations={
        "contains": RelationType(type="contains", sources=("order",), targets=("order", "work_item")),
        "part_like": RelationType(type="part_like", sources=("any",), targets=("any",), symmetric=True),
    },
)
NAMES = (
    {"label": "Failure", "from": "Failure", "to": "Failure", "relation": "CAUSES"},
    {"label": "Order", "from": "Order", "to": "Order", "relation": "CONTAINS"},
)
VALUES = {
    "STRING": "2026-11-01T09:30:00.000Z",
    "DOUBLE": 0.5,
    "STRING[]": ["nothing"],
    "STRUCT[]": [{"ref": "nothing", "similarity": 0.5}],
}


def named(query: Stored) -> str:
    return query.name


@pytest.fixture(scope="module")
def empty(tmp_path_factory: pytest.TempPathFactory) -> Iterator[kuzu.Connection]:
    """An empty graph with a project's types, some of them reserved words."""
    with opened(tmp_path_factory.mktemp("empty") / "graph.kuzu", read_only=False) as connection:
        define(connection, VOCABULARY)
        yield connection


def variants(query: Stored) -> list[str]:
    """Return the statement, or where names vary, that of a built-in and of a sample type."""
    names = {
        "entity/put": [{"label": "WorkItem"}, {"label": "Order"}],
        "relation/put_used": [{"from": "Task", "to": "Failure"}],
        "relation/create_used": [{"from": "Task", "to": "Failure"}],
    }.get(query.name, NAMES)
    return [query.filled(found) for found in (names if query.placeholders else [{}])]


@pytest.mark.parametrize("query", QUERIES, ids=named)
def test_a_query_says_in_a_sentence_what_it_does(query: Stored) -> None:
    assert query.sentence[0].isupper()
    assert query.sentence.endswith(".")
    assert "\n" not in query.sentence


@pytest.mark.parametrize("query", QUERIES, ids=named)
def test_a_query_uses_the_parameters_that_it_declares(query: Stored) -> None:
    for text in (query.text, *query.dialects.values()):
        assert set(re.findall(r"\$(\w+)", text)) == set(query.parameters)
    assert set(query.parameters.values()) <= {*VALUES, "INT64", "BOOLEAN", "TIMESTAMP"}


def test_an_engine_needs_other_words_for_three_queries_at_most() -> None:
    words = Counter(dialect for query in QUERIES for dialect in query.dialects)
    assert words.keys() <= {"kuzu", "open"} and max(words.values()) <= 3


def test_a_query_that_says_match_is_told_the_name_of_the_property(memory: Memory) -> None:
    memory.failures.add("a thing of its own", name="own", match="own .*", dedup=False)
    assert memory.cypher("MATCH (f:Failure {name: 'own'}) RETURN f.expression").rows == [["own .*"]]
    for text in ("MATCH (f:Failure) RETURN f.match", "MATCH (f:Failure {match: 'own .*'}) RETURN f.name"):
        with pytest.raises((Refused, BadInput)) as error:
            memory.cypher(text)
        assert error.value.hint == "its regular expression is the property `expression`"


@pytest.mark.parametrize("query", QUERIES, ids=named)
def test_a_query_fits_the_schema(query: Stored, empty: kuzu.Connection) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # there is no other way to check without running
        for text in variants(query):
            prepared = empty.prepare(text)
            assert prepared.is_success(), prepared.get_error_message()


@pytest.mark.parametrize("query", READS, ids=named)
def test_a_query_gives_exactly_its_columns_also_where_nothing_is(query: Stored, empty: kuzu.Connection) -> None:
    for text in variants(query):
        result = empty.execute(text, {name: VALUES[kind] for name, kind in query.parameters.items()})
        assert isinstance(result, kuzu.QueryResult)
        found = dict(zip(result.get_column_names(), result.get_column_data_types(), strict=True))
        assert list(found.items()) == list(query.columns.items())
        assert [row for row in result.get_all() if row != [0]] == []


@pytest.mark.parametrize("query", READS, ids=named)
def test_a_query_that_reads_is_one_that_a_user_may_run(query: Stored) -> None:
    for text in variants(query):
        assert require_read(text).parameters == frozenset(query.parameters)


@pytest.mark.parametrize("query", [query for query in QUERIES if query.is_write], ids=named)
def test_a_query_that_writes_is_refused_to_a_user(query: Stored, same: Memory) -> None:
    with pytest.raises(Refused):
        same.store.cypher_named(query.name)
    for text in variants(query):
        with pytest.raises(Refused):
            require_read(text)


@cache
def constants() -> dict[object, list[str]]:
    """Return where each text of the folder of the graph is."""
    found: dict[object, list[str]] = {}
    for file in (file for file in MODULES if file.startswith("features/cypher/")):
        for node in nodes(file):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.setdefault(node.value, []).append(f"{file.rpartition('/')[2]}:{node.lineno}")
    return found


@pytest.mark.parametrize("query", QUERIES, ids=named)
def test_a_query_is_used_in_at_most_one_place(query: Stored) -> None:
    places = constants().get(query.name, [])
    noun, _, verb = query.name.partition("/")
    if verb == "put" and noun in KINDS:  # all of them where the name is put together
        return
    assert len(places) == 1 or (places == [] and not query.is_write), places
    assert all(place.startswith("writes.py" if query.is_write else "mirror.py") for place in places)


def test_no_query_stands_outside_of_the_folder() -> None:
    for file in MODULES:
        # Put queries are made; a child reads no files; a user would write it so; the raw engine is asked; an example;
        # a graph in a server is filled in bulk, which the local engine does by copying.
        folder, _, name = file.rpartition("/")
        if name in ("schema.py", "sandbox.py", "speed.py") or folder.endswith(("cli", "engines/falkordb")):
            continue
        talk = {id(node.value) for node in nodes(file) if isinstance(node, ast.Expr)}
        for node in nodes(file):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in talk:
                is_query = re.search(r"\b(MATCH|MERGE)\s*\(", node.value)
                assert not is_query or node.value.startswith("graphmem cypher"), f"{file}:{node.lineno}"


# --- what each answers ---------------------------------------------------------------------------------------------


@pytest.fixture
def graph(memory: Memory) -> Memory:
    """The graph for a test that changes it."""
    return filled(memory)


@pytest.fixture(scope="module")
def same(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Memory]:
    """The graph for the tests that only ask it."""
    with open_memory(tmp_path_factory.mktemp("same")) as memory:
        yield filled(memory)


def filled(memory: Memory) -> Memory:
    """Add a chain of causes a → b → c → d with a way back, patterns for b and c, a variant, and two orders."""
    memory.types.add_entity("order")
    memory.types.add_relation("contains", sources=["order"], targets=["order", "failure"])
    for name in ("a", "b", "c", "d", "e"):
        memory.failures.add(f"{name} went wrong", name=name)
    for name in ("p", "q"):
        memory.patterns.add(f"when {name}", f"do {name}", name=name)
    for source, target, weight in (("a", "b", 0.9), ("b", "c", 0.8), ("c", "d", 0.7), ("c", "a", 0.6)):
        memory.relations.link(f"failure/{source}", "causes", f"failure/{target}", weight=weight)
    memory.relations.link("p", "solves", "b", note="by hand")
    memory.relations.link("q", "solves", "b", weight=1.6)
    memory.relations.link("q", "solves", "c")
    memory.relations.link("e", "variant", "c", note="alike")
    for name in ("x", "y"):
        memory.entities.add("order", name)
    memory.relations.link("x", "contains", "y")
    memory.relations.link("order/x", "contains", "failure/a")
    return memory


def rows(memory: Memory, name: str, **parameters: object) -> list[list[object]]:
    return list(map(list, memory.store.cypher_named(name, parameters).rows))


def test_failure_solutions(same: Memory) -> None:
    assert rows(same, "failure/solutions", ref="b") == [
        ["pattern/q", 1.6, None, 0.8], ["pattern/p", 1.5, "by hand", 0.75],
    ]  # fmt: skip
    assert rows(same, "failure/solutions", ref="failure/a") == []


def test_failure_solutions_nearby(same: Memory) -> None:
    assert rows(same, "failure/solutions_nearby", ref="c") == [
        ["failure/b", "CAUSES", 0.8, None, "pattern/p", 1.5, "by hand", pytest.approx(0.6)],
    ]
    assert rows(same, "failure/solutions_nearby", ref="e") == [
        ["failure/c", "VARIANT", 0.7, "alike", "pattern/q", 1.5, None, pytest.approx(0.525)],
    ]
    assert rows(same, "failure/solutions_nearby", ref="a") == [
        ["failure/c", "CAUSES", 0.6, None, "pattern/q", 1.5, None, pytest.approx(0.45)],
    ]


def test_failure_unsolved(graph: Memory) -> None:
    assert rows(graph, "failure/unsolved") == [["failure/a"], ["failure/d"], ["failure/e"]]
    graph.edit("d", {"fix": "mend it"})
    graph.forget("e")
    assert rows(graph, "failure/unsolved") == [["failure/a"]]


def test_graph_counts(same: Memory) -> None:
    counts = {str(name): number for name, number in rows(same, "graph/counts")}
    assert (counts["Failure"], counts["Order"], counts["CAUSES"], counts["CONTAINS"]) == (5, 2, 4, 2)


def test_relation_strongest(same: Memory) -> None:
    best = [["pattern/q", pytest.approx(1.05), 2], ["failure/c", 0.7, 1], ["failure/b", pytest.approx(0.56), 2]]
    assert rows(same, "relation/strongest", ref="d", min_strength=0.5) == best
    assert rows(same, "relation/strongest", ref="d", min_strength=0.6) == best[:2]


def test_record_hybrid(graph: Memory) -> None:
    """Of three similarities that are the same, what helped leads; a pattern that solves one of them joins."""
    graph.feedback("a", helped=True)
    given = {
        "hits": [{"ref": ref, "similarity": 0.6} for ref in ("a", "d", "b")],
        "now": "2026-11-01T09:30:00.000Z",
        "half_life_days": 30.0,
    }
    found = rows(graph, "record/hybrid", **given)
    assert [row[0] for row in found] == ["failure/a", "failure/b", "failure/d", "pattern/p", "pattern/q"]
    assert [row[1] for row in found] == pytest.approx([0.4, 0.3, 0.3, 0.3, 0.3])
    for wrong in ("a", [], ["a"], [{"ref": "a"}], [{"ref": "a", "similarity": "much"}]):
        with pytest.raises(Usage, match="hits"):
            graph.store.cypher_named("record/hybrid", {**given, "hits": wrong})


def test_relation_neighbours(same: Memory) -> None:
    assert rows(same, "relation/neighbours", ref="c", relation="causes") == [
        ["failure/a", 0.6, True], ["failure/b", 0.8, False], ["failure/d", 0.7, True],
    ]  # fmt: skip
    assert rows(same, "relation/neighbours", ref="order/x", relation="contains") == [
        ["failure/a", 1.0, True], ["order/y", 1.0, True],
    ]  # fmt: skip
    assert rows(same, "relation/neighbours", ref="c", relation="co_occurs") == []


def test_relation_reached_and_reaching(same: Memory) -> None:
    assert rows(same, "relation/reached", ref="a", relation="causes") == [["failure/b"], ["failure/c"], ["failure/d"]]
    assert rows(same, "relation/reached", ref="d", relation="causes") == []
    assert rows(same, "relation/reaching", ref="d", relation="causes") == [["failure/a"], ["failure/b"], ["failure/c"]]
    assert rows(same, "relation/reaching", ref="b", relation="causes") == [["failure/a"], ["failure/c"]]


def test_relation_distance(same: Memory) -> None:
    assert rows(same, "relation/distance", ref="a", target="d", relation="causes") == [[3]]
    assert rows(same, "relation/distance", ref="d", target="a", relation="causes") == []


@pytest.mark.long
def test_task_ready(graph: Memory) -> None:
    for name in ("one", "two"):
        graph.campaigns.create(f"to do {name}", name=name)
        graph.campaigns.add_tasks(
            name,
            [
                {"seq": n, "slug": f"s{n}", "objective": "o", "depends": d}
                for n, d in ((3, 1), (2, "none"), (1, "none"))
            ],
        )
    assert rows(graph, "task/ready", ref="one") == [["task/one/001-s1", "001"], ["task/one/002-s2", "002"]]
    graph.forget("task/one/001-s1")  # pending, so what depends on it is not ready
    assert rows(graph, "task/ready", ref="one") == [["task/one/002-s2", "002"]]
    graph.restore("task/one/001-s1")
    graph.tasks.start("task/one/001-s1")
    graph.tasks.complete("task/one/001-s1")
    assert rows(graph, "task/ready", ref="campaign/one") == [["task/one/002-s2", "002"], ["task/one/003-s3", "003"]]
    graph.forget("task/one/001-s1")
    assert rows(graph, "task/ready", ref="campaign/one") == [["task/one/002-s2", "002"], ["task/one/003-s3", "003"]]


@pytest.mark.long
def test_task_blocked_chains(graph: Memory) -> None:
    graph.campaigns.create("to do it", name="one")
    plan = [
        {"seq": n, "slug": f"s{n}", "objective": "o", "depends": d} for n, d in ((1, []), (2, [1]), (3, [2]), (4, []))
    ]
    graph.campaigns.add_tasks("one", plan)
    assert rows(graph, "task/blocked_chains", ref="one") == []
    graph.tasks.block("one/001", "it fails")
    found = [
        ["task/one/002-s2", "task/one/001-s1", 1, "it fails"],
        ["task/one/003-s3", "task/one/001-s1", 2, "it fails"],
    ]
    assert rows(graph, "task/blocked_chains", ref="one") == found
    graph.campaigns.propagate("one")
    assert rows(graph, "task/blocked_chains", ref="one") == found
    status = graph.campaigns.status("one")
    assert [(one.ref, one.blocked_by) for one in status.unreachable] == [(row[0], [row[1]]) for row in found]


def test_task_handed_out(graph: Memory) -> None:
    mine = graph.failures.add("it broke in a way of its own", fix="mend it", name="mine").record
    other = graph.failures.add("something else is odd there", fix="look", name="other").record
    assert isinstance(mine, Failure)
    assert isinstance(other, Failure)
    given = {"prior_knowledge": [mine.key_ref, other.key_ref], "status": "active"}
    graph.campaigns.create("to do it", name="one")
    graph.add_rows(task_row("one", n, **given) for n in (1, 2, 3))
    graph.tasks.complete("one/001", used=["failure/mine"], failed=["failure/other"])
    graph.tasks.complete("one/002", failed=["failure/mine"])
    assert rows(graph, "task/handed_out") == [["failure/mine", 3, 1, 1], ["failure/other", 3, 0, 1]]
    got = graph.get("failure/mine")
    assert (got.handed_out, got.worked) == (3, 1)


@pytest.mark.parametrize(
    "query", [query for query in all_stored().values() if query.is_write], ids=lambda one: one.name
)
def test_a_hint_never_names_a_query_that_writes(query: Stored, same: Memory) -> None:
    with pytest.raises(NotFound) as error:
        same.store.cypher_named(query.name[:-1])
    named = re.findall(r"[a-z_]+/[a-z_]+", error.value.hint or "")
    assert [name for name in named if all_stored()[name].is_write] == []


def test_parameters_are_exactly_those_declared(same: Memory) -> None:
    for name, parameters in (
        ("failure/solutions", {}),
        ("failure/solutions", {"ref": "a", "other": 1}),
        ("relation/reached", {"ref": "a"}),
        ("failure/unsolved", {"ref": "a"}),
    ):
        with pytest.raises(Usage):
            same.store.cypher_named(name, parameters)
    with pytest.raises(Usage) as error:
        same.store.cypher_named("relation/reached", {"ref": "a", "relation": "cause"})
    assert "did you mean causes" in str(error.value.hint)
    with pytest.raises(NotFound) as found:
        same.store.cypher_named("failure/solution", {"ref": "a"})
    assert "failure/solutions" in str(found.value.hint)


def test_the_list_of_queries_has_those_that_read(same: Memory) -> None:
    listed = {query.name: query for query in same.store.queries().results}
    assert set(listed) == {query.name for query in READS}
    assert listed["relation/reached"].parameters == {"ref": "STRING", "relation": "NAME"}
    assert listed["failure/solutions"].columns == ["pattern", "weight", "note", "strength"]


# --- tables and pairs ----------------------------------------------------------------------------------------------


def test_a_known_label_relation_or_pair_without_rows_gives_no_rows(memory: Memory) -> None:
    memory.types.add_entity("order")
    memory.types.add_relation("contains", sources=["order"], targets=["any"])
    for query in (
        "MATCH (n:Failure) RETURN n.name",
        "MATCH (n:`Order`) RETURN n.name",
        "MATCH (t:Task)-[:PART_OF]->(c:Campaign) RETURN t.name",
        "MATCH (a:Pattern)-[r:CAUSES]->(b:Campaign) RETURN r.weight",
        "MATCH (a:`Order`)-[r:`CONTAINS`]->(b:Failure) RETURN r.weight",
        "MATCH (a)-[r:VARIANT]-(b) RETURN r.weight",
    ):
        assert memory.cypher(query).rows == [], query


@pytest.mark.long
def test_a_pair_of_ends_is_declared_when_it_is_first_used(memory: Memory) -> None:
    memory.failures.add("a thing", name="a")
    memory.patterns.add("t", "i", name="p")
    memory.campaigns.create("to do", name="c")
    memory.cypher("MATCH (n) RETURN n.name")  # the graph is there, without the pair
    memory.relations.link("p", "causes", "c", weight=0.5)
    query = "MATCH (:Pattern)-[r:CAUSES]->(:Campaign) RETURN r.weight"
    assert memory.cypher(query).rows == [[0.5]]
    memory.store.rebuild(embed=False)
    assert memory.cypher(query).rows == [[0.5]]
    memory.relations.unlink("p", "causes", "c")
    assert memory.cypher(query).rows == []


def test_a_label_is_there_as_soon_as_its_type_is(memory: Memory) -> None:
    memory.cypher("MATCH (n) RETURN n.name")
    memory.types.add_entity("work_item")
    memory.types.add_relation("contains", sources=["work_item"], targets=["work_item"])
    assert memory.cypher("MATCH (n:WorkItem)-[:`CONTAINS`]->(m) RETURN n.name").rows == []
