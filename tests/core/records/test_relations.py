"""Edges, and what they lead to: retrieval.md, sections 7 to 9."""

from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound, Refused, Usage
from tests.sample import data, edge, open_memory, write


@pytest.fixture
def graph(memory: Memory) -> Memory:
    """A failure that another causes, with a pattern for each, a variant, and an entity."""
    memory.types.add_entity("part")
    memory.types.add_relation("uses", sources=["part"], targets=["part", "failure"], weight=0.9)
    for name in ("timeout", "pool", "slow", "lonely"):
        memory.failures.add(f"{name} was seen", name=name)
    memory.patterns.add("the pool is empty", "make it larger", name="larger")
    memory.patterns.add("calls are slow", "cache them", name="cache")
    memory.entities.add("part", "pkg.Client")
    memory.relations.link("failure/pool", "causes", "failure/timeout", note="seen in March")
    memory.relations.link("pattern/larger", "solves", "failure/pool")
    memory.relations.link("failure/timeout", "variant", "failure/slow")
    memory.relations.link("pattern/cache", "solves", "failure/slow", weight=1.2)
    memory.relations.link("part/pkg.Client", "uses", "failure/timeout")
    return memory


# --- link and unlink -----------------------------------------------------------------------------------------------


def test_an_edge_has_the_weight_of_its_type_until_it_is_given_one(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("a thing", name="a")
    memory.patterns.add("t", "i", name="p")
    linked = memory.relations.link("p", "solves", "a")
    assert (linked.action, linked.edge.weight, linked.edge.source, linked.edge.target) == (
        "created", 1.5, "pattern/p", "failure/a",
    )  # fmt: skip
    assert b"weight" not in data(tmp_path, "relations/solves").read_bytes()
    assert memory.relations.link("p", "solves", "a").action == "unchanged"
    assert memory.relations.link("p", "solves", "a", weight=0.4, note="n").edge.weight == 0.4
    again = memory.relations.link("p", "solves", "a", sources=["run-1"])
    assert (again.action, again.edge.weight, again.edge.note) == ("updated", 0.4, "n")
    (row,) = [orjson.loads(line) for line in data(tmp_path, "relations/solves").read_bytes().splitlines()]
    assert (row["weight"], row["note"], row["sources"]) == (0.4, "n", ["run-1"])
    assert set(row["edited"]) == {"weight", "note", "sources"}


@pytest.mark.parametrize("weight", [0, -1, 2.01, float("nan"), float("inf")])
def test_a_weight_outside_of_0_to_2_is_refused(graph: Memory, weight: float) -> None:
    with pytest.raises(BadInput) as refused:
        graph.relations.link("larger", "solves", "timeout", weight=weight)
    assert refused.value.details["field"] == "weight"
    assert graph.relations.link("larger", "solves", "timeout", weight=2.0).edge.weight == 2.0


def test_an_edge_to_itself_is_refused_also_under_another_name(graph: Memory) -> None:
    graph.rename("failure/pool", "basin")
    for source, target in (("failure/basin", "failure/basin"), ("failure/pool", "basin")):
        with pytest.raises(Refused):
            graph.relations.link(source, "causes", target)


@pytest.mark.parametrize(
    ("source", "kind", "target", "hint"),
    [
        ("failure/pool", "solves", "pattern/larger", "from pattern to failure"),
        ("part/pkg.Client", "solves", "failure/pool", "from pattern to failure"),
        ("failure/pool", "uses", "part/pkg.Client", "from part to part or failure"),
        ("failure/pool", "solve", "failure/timeout", "did you mean solves?"),
        ("failure/pool", "depends_on", "failure/timeout", "add-tasks"),
        ("failure/pool", "part_of", "failure/timeout", "add-tasks"),
    ],
)
def test_ends_and_type_are_checked_and_the_hint_says_what_is_allowed(
    graph: Memory, source: str, kind: str, target: str, hint: str
) -> None:
    with pytest.raises(Refused) as refused:
        graph.relations.link(source, kind, target)
    assert hint in str(refused.value.hint)


def test_an_edge_to_nothing_is_not_made(graph: Memory, tmp_path: Path) -> None:
    before = data(tmp_path, "relations/causes").read_bytes()
    with pytest.raises(NotFound) as found:
        graph.relations.link("failure/pool", "causes", "failure/timeot")
    assert "failure/timeout" in str(found.value.hint)
    assert data(tmp_path, "relations/causes").read_bytes() == before


def test_a_symmetric_edge_is_stored_once_and_found_from_both_ends(graph: Memory, tmp_path: Path) -> None:
    assert graph.relations.link("failure/slow", "variant", "failure/timeout").action == "unchanged"
    (row,) = [orjson.loads(line) for line in data(tmp_path, "relations/variant").read_bytes().splitlines()]
    keys = [graph.get(name).record.key_ref for name in ("slow", "timeout")]
    assert [row["from"], row["to"]] == keys  # however it was given
    assert [found.ref for found in graph.related("slow", types=["variant"], max_hops=1).results] == ["failure/timeout"]
    assert [found.ref for found in graph.related("timeout", types=["variant"], max_hops=1).results] == ["failure/slow"]
    assert graph.relations.unlink("failure/slow", "variant", "failure/timeout").action == "removed"
    assert graph.related("timeout", types=["variant"]).results == []
    assert graph.cypher("MATCH ()-[r:VARIANT]->() RETURN count(r)").rows == [[0]]


def test_unlink_takes_out_one_edge_and_says_when_it_goes_the_other_way(graph: Memory) -> None:
    graph.relations.link("failure/timeout", "prerequisite", "failure/pool")
    with pytest.raises(NotFound) as found:
        graph.relations.unlink("failure/timeout", "causes", "failure/pool")
    assert "other way" in str(found.value.hint)
    removed = graph.relations.unlink("failure/pool", "causes", "failure/timeout")
    assert (removed.edge.weight, removed.edge.note) == (1.0, "seen in March")
    assert [edge.type for edge in graph.get("failure/pool").relations] == ["prerequisite", "solves"]


def test_parallel_edges_of_different_types_are_different_edges(graph: Memory) -> None:
    graph.relations.link("failure/pool", "co_occurs", "failure/timeout", weight=1.7)
    (found,) = graph.related("pool", max_hops=1, kinds=["failure"]).results
    assert (found.strength, found.path[0].type) == (1.7, "co_occurs")


def test_get_shows_every_edge_by_current_names(graph: Memory) -> None:
    graph.rename("failure/timeout", "late")
    edges = [(edge.source, edge.type, edge.target, edge.note) for edge in graph.get("late").relations]
    assert edges == [
        ("failure/pool", "causes", "failure/late", "seen in March"),
        ("part/pkg.Client", "uses", "failure/late", None),
        ("failure/late" if edges[2][0] == "failure/late" else "failure/slow", "variant", edges[2][2], None),
    ]


# --- related and path ----------------------------------------------------------------------------------------------


def test_what_caused_it_and_what_fixed_the_cause_is_one_question(graph: Memory) -> None:
    answer = graph.related("timeout")
    assert [(found.ref, found.hops) for found in answer.results] == [
        ("pattern/larger", 2), ("failure/pool", 1), ("part/pkg.Client", 1), ("pattern/cache", 2), ("failure/slow", 1),
    ]  # fmt: skip
    first = answer.results[0]
    assert first.strength == pytest.approx(1.5)
    assert [(e.source, e.type, e.target, e.direction, e.note) for e in first.path] == [
        ("failure/pool", "causes", "failure/timeout", "in", "seen in March"),
        ("pattern/larger", "solves", "failure/pool", "in", None),
    ]
    assert (answer.exhaustive, answer.truncated) == (True, False)


def test_related_is_filtered_by_types_kinds_direction_strength_and_limit(graph: Memory) -> None:
    def found(**options: object) -> list[str]:
        return [reached.ref for reached in graph.related("timeout", **options).results]  # type: ignore[arg-type]

    assert found(types=["causes"]) == ["failure/pool"]
    assert found(types=["causes", "solves"]) == ["pattern/larger", "failure/pool"]
    assert found(kinds=["pattern"]) == ["pattern/larger", "pattern/cache"]
    assert found(direction="in", max_hops=1, types=["causes", "uses"]) == ["failure/pool", "part/pkg.Client"]
    assert found(direction="out", types=["causes", "uses", "solves"]) == []
    assert found(min_strength=0.95) == ["pattern/larger", "failure/pool"]
    assert found(limit=2) == ["pattern/larger", "failure/pool"]
    assert graph.related("timeout", limit=2).truncated
    assert found(max_hops=1, kinds=["part"]) == ["part/pkg.Client"]


@pytest.mark.parametrize("options", [{"max_hops": 0}, {"max_hops": 7}, {"types": ["caused"]}, {"kinds": ["failur"]}])
def test_a_filter_that_nothing_can_meet_is_a_mistake(graph: Memory, options: dict[str, object]) -> None:
    with pytest.raises(Usage):
        graph.related("timeout", **options)  # type: ignore[arg-type]


def test_the_strongest_chain_between_two_records_is_shown_however_weak(graph: Memory) -> None:
    graph.relations.link("failure/slow", "causes", "failure/lonely", weight=0.01)
    found = graph.path("pattern/larger", "failure/lonely")
    assert (found.source, found.target, found.hops) == ("pattern/larger", "failure/lonely", 4)
    assert found.strength == pytest.approx(1.5 * 1.0 * 0.7 * 0.01)
    assert [step.direction for step in found.path][:2] == ["out", "out"]
    assert graph.path("larger", "lonely", max_hops=3).strength == 0.0
    assert graph.path("larger", "lonely", types=["solves"]).path == []
    assert graph.path("larger", "larger").strength == 1.0


# --- solutions -----------------------------------------------------------------------------------------------------


def test_solutions_are_those_of_the_failure_then_those_of_a_variant_or_a_cause(graph: Memory) -> None:
    graph.patterns.add("it is late", "wait longer", name="wait")
    graph.relations.link("wait", "solves", "timeout", weight=0.2)
    answer = graph.solutions("timeout")
    assert [found.ref for found in answer.results] == ["pattern/wait", "pattern/larger", "pattern/cache"]
    assert [found.strength for found in answer.results] == pytest.approx([0.1, 0.75, 0.42])
    assert [[step.type for step in found.path] for found in answer.results] == [
        ["solves"], ["causes", "solves"], ["variant", "solves"],
    ]  # fmt: skip


def test_what_helped_stands_before_what_did_not(graph: Memory) -> None:
    graph.patterns.add("it is late", "wait longer", name="wait")
    graph.patterns.add("it is early", "go home", name="home")
    for name in ("wait", "home"):
        graph.relations.link(name, "solves", "timeout")
    assert [found.ref for found in graph.solutions("timeout", limit=2).results] == ["pattern/home", "pattern/wait"]
    graph.feedback("wait", helped=True)
    (first, second) = graph.solutions("timeout", limit=2).results
    assert first.ref == "pattern/wait"
    assert [first.help_ratio, first.strength] == pytest.approx([2 / 3, 1.0])
    assert second.ref == "pattern/home"


def test_a_failure_that_this_one_causes_does_not_solve_it(graph: Memory) -> None:
    graph.patterns.add("it is late", "wait longer", name="wait")
    graph.relations.link("wait", "solves", "timeout")
    assert [found.ref for found in graph.solutions("pool").results] == ["pattern/larger"]


def test_only_a_failure_has_solutions(graph: Memory) -> None:
    with pytest.raises(NotFound):
        graph.solutions("pattern/larger")
    assert graph.solutions("lonely").results == []


# --- types ---------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_a_type_may_be_a_reserved_word_of_cypher(memory: Memory) -> None:
    for name in ("order", "group", "match"):
        memory.types.add_entity(name)
        memory.entities.add(name, "x")
    for name in ("contains", "return", "set"):
        memory.types.add_relation(name, sources=["any"], targets=["any"])
        memory.relations.link("order/x", name, "group/x")
    assert memory.cypher("MATCH (a:`Order`)-[r:`CONTAINS`]->(b:`Group`) RETURN a.name, b.name").rows == [["x", "x"]]
    memory.store.rebuild(embed=False)
    assert memory.cypher("MATCH (a:`Order`)-[r:`RETURN`]->(b:`Group`) RETURN count(r)").rows == [[1]]
    assert memory.store.validate().findings == []


@pytest.mark.parametrize("name", ["Part", "1part", "part-x", "", "x" * 65, "failure", "solves", "memory", "päart"])
def test_a_type_name_that_file_or_graph_could_not_carry_is_refused(memory: Memory, name: str) -> None:
    with pytest.raises(Refused):
        memory.types.add_entity(name)
    with pytest.raises(Refused):
        memory.types.add_relation(name, sources=["any"], targets=["any"])


def test_a_type_whose_label_another_has_is_refused_in_any_case(memory: Memory) -> None:
    memory.types.add_entity("work_item")
    for name in ("workitem", "work_item_", "workItem"):
        with pytest.raises(Refused):
            memory.types.add_entity(name)
    assert memory.types.add_entity("work_item").type == "work_item"  # the same again is no mistake


def test_a_relation_between_unknown_types_is_refused(memory: Memory) -> None:
    memory.types.add_entity("part")
    with pytest.raises(Refused) as refused:
        memory.types.add_relation("uses", sources=["prt"], targets=["any"])
    assert refused.value.hint == "did you mean part?"


def test_types_written_by_hand_are_taken_in(memory: Memory, tmp_path: Path) -> None:
    types = tmp_path / ".graphmem/types"
    (types / "entities/part.md").write_text("---\ntype: part\nsearch: false\n---\nProse.\n")
    (types / "relations/uses.md").write_bytes(
        b"---\r\ntype: uses\r\nsources: [part]\r\ntargets: [any]\r\nweight: 0.5\r\nsymmetric: true\r\n---\r\nP.\r\n"
    )
    memory.entities.add("part", "wheel")
    memory.entities.add("part", "axle")
    assert memory.relations.link("wheel", "uses", "axle").edge.weight == 0.5
    assert memory.relations.link("axle", "uses", "wheel").action == "unchanged"
    assert memory.query("wheel").results[0].factors.exact == 1.0
    assert memory.query("a wheel").results == []  # search: false
    assert memory.query("a wheel", kinds=["part"]).notices == [
        "part: not searched by words or meaning; its type file says search: false"
    ]
    shown = memory.types.show("part")
    assert shown.prose == "Prose."
    (types / "relations/uses.md").write_text("---\ntype: other\n---\n")
    (finding, *_) = memory.store.validate().findings
    assert (finding.file, finding.code) == ("types/relations/uses.md", "bad_type")


def declare(folder: Path, name: str, more: str) -> None:
    """Write the file of a relation type, as an earlier version let a project do."""
    (folder / f".graphmem/types/relations/{name}.md").write_text(f"---\ntype: {name}\n{more}\n---\nOurs.\n")


def test_a_type_of_the_project_with_the_name_of_a_built_in_one_is_used_with_a_warning(
    memory: Memory, tmp_path: Path
) -> None:
    memory.types.add_entity("part")
    for name in ("wheel", "axle"):
        memory.entities.add("part", name)
    declare(tmp_path, "solves", "sources: [part]\ntargets: [part]\nweight: 0.75\nsymmetric: true")
    assert memory.relations.link("part/wheel", "solves", "part/axle").edge.weight == 0.75
    memory.failures.add("the disk is full", name="disk")
    memory.patterns.add("a disk fills up", "delete old logs", name="logs")
    memory.relations.link("logs", "solves", "disk")
    assert [found.ref for found in memory.solutions("disk").results] == ["pattern/logs"]
    assert {found.ref for found in memory.related("part/wheel").results} == {"part/axle"}
    memory.store.export()
    found = memory.store.validate()
    assert found.ok and [(one.file, one.code) for one in found.findings] == [("types/relations/solves.md", "shadowing")]
    assert memory.types.show("solves").prose == "Ours."
    assert memory.types.add_relation("near", sources=["part"], targets=["part"]).type == "near"
    with pytest.raises(Refused, match="'causes' is a name of graphmem's own"):
        memory.types.add_relation("causes", sources=["part"], targets=["part"])
    with pytest.raises(Refused, match="kept free"):
        memory.types.add_entity("purge")
    with open_memory(tmp_path) as again:
        again.store.rebuild()
        assert [one.code for one in again.store.validate().findings] == ["shadowing"]


def test_a_type_of_the_project_may_have_the_name_of_what_fields_of_rows_make(memory: Memory, tmp_path: Path) -> None:
    declare(tmp_path, "depends_on", "sources: [task]\ntargets: [any]\nweight: 0.75\nsymmetric: true")
    memory.campaigns.create("Log in", name="auth")
    plan = [{"seq": 1, "objective": "one"}, {"seq": 2, "objective": "two", "depends": [1]}]
    one, two = (task.ref for task in memory.campaigns.add_tasks("auth", plan).tasks)
    memory.relations.link(two, "depends_on", one)  # the same edge, as a row
    memory.failures.add("the disk is full", name="disk")
    memory.relations.link(two, "depends_on", "failure/disk")
    assert [task.ref for task in memory.campaigns.ready("auth").ready] == [one]
    rows = data(tmp_path, "relations/depends_on").read_bytes().splitlines()
    assert len(rows) == 2
    memory.store.export()
    assert [one.code for one in memory.store.validate().findings] == ["shadowing"]
    memory.relations.unlink(two, "depends_on", one)
    assert memory.path(two, one, types=["depends_on"]).strength > 0  # the field still makes it
    memory.store.export()
    assert [one.code for one in memory.store.validate().findings] == ["shadowing"]


@pytest.mark.long
def test_an_edge_that_its_type_does_not_allow_is_used_by_nothing_and_named(memory: Memory, tmp_path: Path) -> None:
    """So `query` and `solutions` have one answer to what solves a failure."""
    memory.failures.add("the disk is full", name="disk")
    memory.patterns.add("a disk fills up", "delete old logs", name="logs")
    memory.patterns.add("it is slow", "wait for it", name="wait")
    write(
        data(tmp_path, "relations/solves"),
        edge("failure/disk", "solves", "pattern/logs"),
        edge("pattern/wait", "solves", "failure/disk"),
        edge("pattern/wait", "solves", "pattern/logs"),
    )
    assert [found.ref for found in memory.solutions("disk").results] == ["pattern/wait"]
    assert [(found.source, found.target) for found in memory.get("disk").relations] == [
        ("pattern/wait", "failure/disk")
    ]
    assert not memory.get("logs").relations
    assert [found.ref for found in memory.related("disk").results] == ["pattern/wait"]
    assert memory.cypher("MATCH (a)-[:SOLVES]->(b) RETURN a.ref, b.ref").rows == [["pattern/wait", "failure/disk"]]
    findings = [found for found in memory.store.validate().findings if found.code == "not_allowed"]
    assert [(found.file, found.line) for found in findings] == [("data/relations/solves.ndjson", n) for n in (1, 3)]
    assert findings[0].message == "failure/disk solves pattern/logs: a solves edge goes from pattern to failure"
    assert findings[0].fix == "graphmem unlink failure/disk solves pattern/logs"
    assert "not_allowed" in {found.code for found in memory.store.doctor(fix=True).findings}, "and is left where it is"
    memory.relations.unlink("failure/disk", "solves", "pattern/logs")
    assert len([found for found in memory.store.validate().findings if found.code == "not_allowed"]) == 1


def test_a_type_that_allows_more_brings_its_edges_to_life(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("the disk is full", name="disk")
    memory.patterns.add("a disk fills up", "delete old logs", name="logs")
    memory.types.add_relation("blocks", sources=["failure"], targets=["failure"])
    write(data(tmp_path, "relations/blocks"), edge("pattern/logs", "blocks", "failure/disk"))
    assert not memory.get("disk").relations
    (path,) = (tmp_path / ".graphmem").rglob("blocks.md")
    path.write_text(path.read_text().replace("- failure", "- any").replace("[failure]", "[any]"))
    assert [found.type for found in memory.get("disk").relations] == ["blocks"]
    path.write_text(path.read_text().replace("- any", "- failure").replace("[any]", "[failure]"))
    assert not memory.get("disk").relations
