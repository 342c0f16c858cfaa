"""The reference memory server: entities of declared types, relations, observations."""

import json
from pathlib import Path
from typing import Any

from tests.features.exchange.importers.real import ARE_THERE, SAMPLES, expected, unpacked
from tests.features.exchange.importers.test_beads import total
from tests.sample import open_memory


def write(folder: Path, *lines: Any) -> Path:
    path = folder / "memory.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


def entity(name: str, *observations: Any, sort: str = "Person") -> dict[str, Any]:
    return {"type": "entity", "name": name, "entityType": sort, "observations": list(observations)}


def relation(source: str, target: str, sort: str = "knows") -> dict[str, Any]:
    return {"type": "relation", "from": source, "to": target, "relationType": sort}


def test_entities_and_relations_are_of_declared_types(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        relation("Ada", "Engine", "works-on"),
        entity("Ada", "writes programs", "lives in London"),
        {**entity("Engine", sort="AnalyticalEngine"), "createdAt": "2025-12-01T10:00:00Z", "createdBy": "ada"},
        relation("Ada", "Nobody"),
        relation("Ada", "Ada"),
        entity("Ada", "twice"),
        entity("", "no name"),
        {"type": "relation", "from": "Ada", "relationType": 5},
        {"x": 1},
    )
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.read == {"entity": 4, "line": 1, "observation": 4, "relation": 4}
        assert (answer.created, answer.dangling) == ({"entity": 2, "relation": 1}, 1)
        assert len(answer.skipped) == 4
        ada: Any = memory.get("person/Ada")
        assert ada.record.value == "writes programs\nlives in London\ntwice"
        assert [(edge.type, edge.target) for edge in ada.relations] == [("works_on", "analytical_engine/Engine")]
        engine: Any = memory.get("analytical_engine/Engine").record
        assert engine.x_mcp_memory == {"createdBy": "ada", "entityType": "AnalyticalEngine"}
        assert memory.imports.file(path).created == {}


def test_observations_over_the_limit_are_entities_of_their_own(tmp_path: Path) -> None:
    path = write(tmp_path, entity("Ada", *(f"{n} {'x' * 500}" for n in range(10))))
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(path).created == {"entity": 11, "relation": 10}
        assert memory.list("observation").total == 10
        held: Any = memory.get("person/Ada").record
        assert len(held.x_mcp_memory["observations"]) == 10
        assert memory.imports.file(path).created == {}


def test_a_type_that_graphmem_has_a_meaning_for_is_told_apart(tmp_path: Path) -> None:
    path = write(tmp_path, entity("a", sort="Decision"), entity("b", sort="任务"), relation("a", "b", "depends_on"))
    with open_memory(tmp_path) as memory:
        memory.imports.file(path)
        edges = memory.get("their_decision/a").relations
        assert [edge.type for edge in edges] == ["their_depends_on"]
        assert edges[0].target.startswith("x_")


def test_what_another_program_calls_a_failure_is_an_entity(tmp_path: Path) -> None:
    """Only an entity that is called as graphmem calls one, and says what it says of one, is a record of that kind."""
    path = write(
        tmp_path, entity("boom", "trigger: a", sort="failure"), entity("failure/bang", "it bangs", sort="failure"),
        entity("duck", "insight: b", sort="pattern"), relation("duck", "boom", "solves"),
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(path).created == {"entity": 3, "relation": 1}
        assert memory.list("their_failure").total == 2
        assert [edge.type for edge in memory.get("their_pattern/duck").relations] == ["their_solves"]


def test_the_sample_without_types_on_its_lines_comes_in(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(SAMPLES / "mcp_memory.jsonl")
        assert answer.format == "mcp-memory"
        assert total(answer, "entity") == answer.read["entity"]
        assert total(answer, "relation") + answer.dangling == answer.read["relation"]


@ARE_THERE
def test_a_whole_memory_is_accounted_for(tmp_path: Path) -> None:
    told, path = expected("mcp_memory.jsonl"), unpacked("mcp_memory.jsonl", tmp_path)
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.read == {
            name: told[f"{name[:-1]}ies" if name == "entity" else f"{name}s"] for name in answer.read
        }
        assert answer.created == {"entity": told["entities"], "relation": told["relations"]}
        assert answer.dangling == told["dangling"]
        stats = memory.stats()
        for name, number in told["relation_types"].items():
            assert stats.relations[name if name not in ("depends_on", "part_of") else f"their_{name}"] == number
        assert memory.store.validate().ok


def test_an_entity_on_several_lines_has_the_observations_of_all(tmp_path: Path) -> None:
    path = write(
        tmp_path, entity("D3", "draws", sort="technology"), entity("D3", "draws", "by an okapi", sort="technology"),
        relation("D3", "Ada"), entity("D3", "ISC licence", sort="library"), entity("Ada", "writes"),
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert (answer.read["entity"], answer.created["entity"], answer.skipped) == (4, 3, [])
        made: Any = memory.get("technology/D3")
        assert made.record.value == "draws\nby an okapi"
        assert [edge.target for edge in made.relations] == ["person/Ada"]
        assert memory.query("ISC licence").results[0].ref == "library/D3"
        assert memory.imports.file(path).created == {}


def test_an_observation_that_is_an_object_is_found_by_its_words(tmp_path: Path) -> None:
    path = write(
        tmp_path, {**entity("Cache", sort="system"), "observations": ["Redis", {"content": "the narwhal way"}]}
    )
    with open_memory(tmp_path) as memory:
        memory.imports.file(path)
        assert memory.query("narwhal").results[0].ref == "system/Cache"


def test_the_graph_as_the_server_prints_it_is_read(tmp_path: Path) -> None:
    path = tmp_path / "graph.json"
    graph = {
        "entities": [entity("Ada", "writes"), entity("Bo", "reads")],
        "relations": [relation("Ada", "Bo", "knows")],
    }
    for indent in (None, 2):
        path.write_text(json.dumps(graph, indent=indent))
        (tmp_path / str(indent)).mkdir()
        with open_memory(tmp_path / str(indent)) as memory:
            answer = memory.imports.file(path)
            assert (answer.format, answer.created) == ("mcp-memory", {"entity": 2, "relation": 1})
