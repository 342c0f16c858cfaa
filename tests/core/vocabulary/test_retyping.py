"""Drift: rows of a type that no file declares, and edges that their type no longer allows; read, named, mended."""

import json
from pathlib import Path

import pytest

from graphmem import Memory, Refused
from graphmem.kernel.finding import Finding
from tests.sample import CREATED, contents, data, edge, line, open_memory, write

MEND = "graphmem doctor --fix --yes"


@pytest.fixture
def project(memory: Memory) -> Memory:
    """Two services, one calls the other."""
    memory.types.add_entity("service", description="A thing we run.")
    memory.types.add_relation("calls", sources=["service"], targets=["service"])
    memory.entities.add("service", "shop")
    memory.entities.add("service", "stock")
    memory.relations.link("service/shop", "calls", "service/stock")
    return memory


def type_file(folder: Path, name: str) -> Path:
    return folder / ".graphmem/types" / f"{name}.md"


def findings(memory: Memory, code: str) -> list[Finding]:
    return [found for found in memory.store.validate().findings if found.code == code]


@pytest.mark.long
def test_rows_of_a_type_whose_file_is_gone_are_read_and_a_write_to_them_names_the_repair(
    project: Memory, tmp_path: Path
) -> None:
    type_file(tmp_path, "entities/service").unlink()
    answer = project.get("service/shop")
    assert [found.target for found in answer.relations] == ["service/stock"]
    assert answer.notices == [
        "error: data/entities/service.ndjson:1:1: entity type 'service' is not declared; its rows are read,"
        " and none is written, expected a file types/entities/service.md"
    ]
    assert [found.ref for found in project.query("shop").results] == ["service/shop"]
    assert [found.ref for found in project.list("service").results] == ["service/shop", "service/stock"]
    assert project.cypher("MATCH (n:Service) RETURN count(*)").rows == [[2]]
    before = contents(tmp_path)
    for write_one in (
        lambda: project.entities.add("service", "more"),
        lambda: project.edit("service/shop", {"value": "x"}),
        lambda: project.rename("service/shop", "x"),
        lambda: project.forget("service/shop"),
        lambda: project.add_rows([line(kind="entity", type="service", name="shop", value="x")]),
    ):
        with pytest.raises(Exception, match="type 'service' has no file"):
            write_one()
    with pytest.raises(Refused) as error:
        project.edit("service/shop", {"value": "x"})
    assert error.value.hint == MEND
    assert contents(tmp_path) == before
    project.failures.add("something else", name="other")  # all other writes go on
    assert project.store.export().files["data/entities/service.ndjson"].rows == 2
    (found,) = findings(project, "drift")
    assert (found.severity, found.fix) == ("error", MEND)


def test_doctor_makes_the_file_of_a_type_again_whose_new_name_is_not_known(project: Memory, tmp_path: Path) -> None:
    for name in ("entities/service", "relations/calls"):
        type_file(tmp_path, name).unlink()
    before = contents(tmp_path)
    with pytest.raises(Refused, match="type 'calls' has no file"):
        project.relations.link("service/stock", "calls", "service/shop")
    shown = project.store.doctor()
    assert shown.findings[0].fix == f"{MEND}, which would make a file for the type"
    assert contents(tmp_path) == before
    assert len([found for found in project.store.doctor(fix=True).mended if found.code == "drift"]) == 2
    assert project.store.validate().findings == []
    assert [made.type for made in project.types.list().entities] == ["service"]
    assert project.types.show("calls").model_dump()["sources"] == ("any",)
    assert project.entities.add("service", "more").action == "created"
    assert {file: found for file, found in contents(tmp_path).items() if file.startswith("data/relations")} == {
        file: found for file, found in before.items() if file.startswith("data/relations")
    }


def test_rows_that_a_branch_added_under_the_old_name_go_under_the_new_one(project: Memory, tmp_path: Path) -> None:
    """As a merge leaves them: a new row, one that the branch changed, edges and a report that name both."""
    project.types.rename("service", "component", yes=True)
    project.edit("component/stock", {"value": "changed here", "sources": ["a chart"]})
    late = {"value": "2026-11-01T09:30:40.000Z"}
    write(
        data(tmp_path, "entities/service"),
        line(kind="entity", type="service", name="late"),
        line(kind="entity", type="service", name="stock", value="changed on a branch", edited=late),
    )
    with data(tmp_path, "relations/calls").open("ab") as file:
        file.write(edge("service/late", "calls", "service/shop") + edge("service/shop", "calls", "service/stock"))
    report = {"kind": "feedback", "ref": "service/late", "helped": True, "at": CREATED, "task": "plan/001"}
    write(data(tmp_path, "feedback"), json.dumps(report).encode() + b"\n")
    before = contents(tmp_path)
    assert project.get("service/late").ref == "component/late"
    assert project.get("service/shop").ref == "component/shop"
    assert project.store.validate().findings == []
    assert not project.store.export_check().ok
    with pytest.raises(Refused, match="type 'service' was renamed to 'component'"):
        project.entities.add("service", "more")
    check_one_type(project)
    assert {file: found for file, found in contents(tmp_path).items() if before[file] != found}.keys() <= {
        "data/entities/component.ndjson", "data/entities/service.ndjson", "data/relations/calls.ndjson",
        "data/feedback.ndjson",
    }  # fmt: skip
    added = project.failures.add("it broke", name="a")
    assert "rows of types that were renamed are under the new names now" in added.notices
    project.undo()  # of the failure alone
    check_one_type(project)
    assert project.store.validate().findings == [] and project.store.export_check().ok
    assert b"service" not in b"".join(found for file, found in contents(tmp_path).items() if file.startswith("data/"))


def check_one_type(project: Memory) -> None:
    assert [found.ref for found in project.list("component").results] == [
        "component/late", "component/shop", "component/stock",
    ]  # fmt: skip
    stock = project.get("component/stock").record
    assert stock.model_dump()["value"] == "changed on a branch"  # the later one; nothing of the other is lost
    assert (stock.sources, [found.text for found in stock.alternates]) == (("a chart",), ["changed here"])
    assert [found.target for found in project.get("component/late").relations] == ["component/shop"]
    assert len(project.get("component/shop").relations) == 2


def test_a_relation_type_of_a_branch_that_names_an_old_name_means_the_new_one(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    type_file(tmp_path, "relations/hosts").write_text(
        "---\ntype: hosts\nsources: [service]  # who\ntargets: [service, failure]\n---\n\nWhy.\n"
    )
    assert project.relations.link("component/shop", "hosts", "component/stock").action == "created"
    assert project.store.validate().findings == []
    project.types.rename("component", "part", yes=True)
    assert type_file(tmp_path, "relations/hosts").read_text() == (
        "---\ntype: hosts\nsources:\n- part\ntargets:\n- part\n- failure\n---\n\nWhy.\n"
    )
    assert project.store.validate().findings == []


def test_edges_that_a_narrowed_type_no_longer_allows_are_named_and_doctor_lets_it_connect_them(
    project: Memory, tmp_path: Path
) -> None:
    project.types.add_entity("team")
    project.entities.add("team", "red")
    path = type_file(tmp_path, "relations/calls")
    path.write_text(path.read_text().replace("- service", "- team"))
    (found,) = findings(project, "narrowed")
    assert found.severity == "warning"
    assert found.message == "service/shop calls service/stock: a calls edge goes from team to team"
    assert found.fix == f"graphmem unlink service/shop calls service/stock, or {MEND}"
    with pytest.raises(Refused, match="the edge is there, and 'calls' no longer allows it") as error:
        project.relations.link("service/shop", "calls", "service/stock", weight=0.5)
    assert error.value.hint == f"{MEND}, or graphmem unlink service/shop calls service/stock"
    assert project.get("service/shop").relations == []
    project.store.doctor(fix=True)
    assert [found.target for found in project.get("service/shop").relations] == ["service/stock"]
    made = project.types.show("calls").model_dump()
    assert (made["sources"], made["targets"]) == (("team", "service"), ("team", "service"))
    assert project.store.validate().findings == []
    project.undo()
    assert len(findings(project, "narrowed")) == 1


def test_an_edge_of_a_built_in_type_that_it_does_not_allow_is_left_to_a_person(project: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "relations/solves"), edge("service/shop", "solves", "service/stock"))
    before = contents(tmp_path)
    (found,) = findings(project, "not_allowed")
    assert found.fix == "graphmem unlink service/shop solves service/stock"
    project.store.doctor(fix=True)
    assert contents(tmp_path) == before


def test_a_file_edited_by_hand_counts_for_the_next_command_also_of_an_open_process(
    project: Memory, tmp_path: Path
) -> None:
    with open_memory(tmp_path) as other:
        other.list()
        path = type_file(tmp_path, "relations/calls")
        path.write_text(path.read_text().replace("weight: 1.0", "weight: 0.25"))
        type_file(tmp_path, "entities/team").write_text("---\ntype: team\n---\n")
        for memory in (project, other):
            assert memory.types.show("calls").model_dump()["weight"] == 0.25
            assert memory.get("service/shop").relations[0].weight == 0.25
        assert other.entities.add("team", "red").action == "created"
        assert project.get("team/red").ref == "team/red"
        type_file(tmp_path, "entities/team").unlink()
        with pytest.raises(Refused, match="type 'team' has no file"):
            other.entities.add("team", "blue")


def test_schema_json_that_is_stale_is_named_and_renewed_by_the_next_write(project: Memory, tmp_path: Path) -> None:
    schema = tmp_path / ".graphmem/schema.json"
    for renew in (
        lambda: project.failures.add("it broke", name="a"),
        project.store.export,
        lambda: project.store.doctor(fix=True),
    ):
        type_file(tmp_path, "entities/team").unlink(missing_ok=True)
        project.store.export()
        type_file(tmp_path, "entities/team").write_text("---\ntype: team\n---\n")
        assert [found.code for found in project.store.export_check().findings] == ["stale_schema"]
        assert not project.store.export_check().ok
        assert "stale_schema" in [found.code for found in project.store.doctor().findings]
        renew()
        assert "team" in json.loads(schema.read_text())["entities"]
        assert project.store.export_check().findings == []


def test_schema_json_says_nothing_of_types_that_only_rows_name(project: Memory, tmp_path: Path) -> None:
    project.types.rename("service", "component", yes=True)
    before = (tmp_path / ".graphmem/schema.json").read_bytes()
    write(data(tmp_path, "entities/service"), line(kind="entity", type="service", name="late"))
    write(data(tmp_path, "relations/ghosts"), edge("service/late", "ghosts", "component/shop"))
    project.failures.add("it broke", name="a")
    assert (tmp_path / ".graphmem/schema.json").read_bytes() == before
    assert [made.type for made in project.types.list().entities] == ["component"]


def test_rows_of_a_name_that_no_type_can_have_are_left_aside(project: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "entities/Service"), line(kind="entity", type="Service", name="x"))
    write(data(tmp_path, "entities/ser_vice"), line(kind="entity", type="ser_vice", name="x"))  # the label of another
    write(data(tmp_path, "entities/gadget"), line(kind="entity", type="gadget", name="x"))
    write(data(tmp_path, "entities/failure"), line(kind="entity", type="failure", name="x"))
    assert {found.file for found in findings(project, "unknown_type")} == {
        "data/entities/Service.ndjson", "data/entities/failure.ndjson", "data/entities/ser_vice.ndjson",
    }  # fmt: skip
    assert [found.file for found in findings(project, "drift")] == ["data/entities/gadget.ndjson"]
    project.store.doctor(fix=True)
    assert project.get("gadget/x").ref == "gadget/x"


def test_an_alias_that_is_a_name_of_graphmem_or_of_another_type_means_nothing(project: Memory, tmp_path: Path) -> None:
    aliases = "[failure, any, service, solves, gone]"
    type_file(tmp_path, "entities/odd").write_text(f"---\ntype: odd\naliases: {aliases}\n---\n")
    project.failures.add("it broke", name="a")
    project.entities.add("odd", "x")
    assert project.get("failure/a").ref == "failure/a"
    assert project.get("service/shop").ref == "service/shop"
    assert project.get("gone/x").ref == "odd/x"
    assert project.store.validate().findings == []
