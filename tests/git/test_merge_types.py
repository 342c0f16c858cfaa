"""A type is renamed or dropped on one branch while another one uses it; merged by git itself, both ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory
from tests.git.test_merge import commit, git, settings_of_nobody
from tests.sample import contents, open_memory

pytestmark = pytest.mark.process
Work = Callable[[Memory], object]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, value in settings_of_nobody(tmp_path).items():
        monkeypatch.setenv(name, value)
    folder = tmp_path / "project"
    folder.mkdir()
    git(folder, "init", "-qb", "main")
    with open_memory(folder) as memory:
        memory.types.add_entity("service", description="A thing we run.")
        memory.types.add_relation("calls", sources=["service"], targets=["service"])
        for name in ("shop", "stock"):
            memory.entities.add("service", name)
        memory.failures.add("it broke", name="broke")
        memory.relations.link("service/shop", "calls", "service/stock")
    commit(folder)
    return folder


def use(memory: Memory) -> None:
    """What another branch does with the type: a new row, edges with it, a change, a relation type."""
    memory.entities.add("service", "late", value="new")
    memory.relations.link("service/late", "calls", "service/shop")
    memory.relations.link("failure/broke", "causes", "service/stock")
    memory.edit("service/stock", {"value": "changed"})
    memory.types.add_relation("hosts", sources=["service"], targets=["any"])
    memory.relations.link("service/late", "hosts", "failure/broke")


def merged(project: Path, ours: Work, theirs: Work) -> Memory:
    """Return the memory of two branches of the project, merged by git."""
    for name, work in (("ours", ours), ("theirs", theirs)):
        git(project, "checkout", "-q", "main")
        git(project, "checkout", "-qb", name)
        with open_memory(project) as memory:
            work(memory)
        commit(project, name)
    git(project, "checkout", "-q", "ours")
    git(project, "merge", "-qm", "both", "theirs")  # no conflict is left
    return open_memory(project)


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.slow
def test_a_type_renamed_on_one_branch_and_used_on_the_other_is_one_type_after_a_repair(
    project: Path, *, is_ours: bool
) -> None:
    def rename(memory: Memory) -> None:
        memory.types.rename("service", "component", yes=True)

    with merged(project, *((rename, use) if is_ours else (use, rename))) as memory:
        assert memory.get("service/late").record.model_dump()["value"] == "new"
        assert memory.get("service/shop").ref == "component/shop"
        assert {found.code for found in memory.validate().findings} <= {"drift", "stale_schema"}
        memory.doctor(fix=True)
        assert memory.validate().findings == []
        assert [found.ref for found in memory.list("component").results] == [
            "component/late", "component/shop", "component/stock",
        ]  # fmt: skip
        assert memory.get("component/stock").record.model_dump()["value"] == "changed"
        shown = {(found.source, found.type, found.target) for found in memory.get("component/late").relations}
        assert shown == {
            ("component/late", "calls", "component/shop"), ("component/late", "hosts", "failure/broke"),
        }  # fmt: skip
        assert len(memory.get("component/stock").relations) == 2
        rows = [found for file, found in contents(project).items() if file.startswith("data/")]
        assert b"service" not in b"".join(rows)


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.slow
def test_a_type_dropped_on_one_branch_and_used_on_the_other_keeps_what_that_one_added(
    project: Path, *, is_ours: bool
) -> None:
    def drop(memory: Memory) -> None:
        memory.types.drop("service", yes=True)

    with merged(project, *((drop, use) if is_ours else (use, drop))) as memory:
        assert [found.ref for found in memory.list("service").results] == ["service/late", "service/stock"]
        assert {found.code for found in memory.validate().findings} >= {"drift"}
        memory.doctor(fix=True)
        assert memory.validate().findings == []
        assert [made.type for made in memory.types.list().entities] == ["service"]
        assert {found.target for found in memory.get("service/late").relations} == {"failure/broke"}
        assert memory.entities.add("service", "more").action == "created"


def test_the_history_of_a_record_goes_on_under_the_old_name_of_its_type(project: Path) -> None:
    with open_memory(project) as memory:
        memory.types.rename("service", "component", yes=True)
        commit(project, "another name")
        memory.edit("component/shop", {"value": "x"})
        found = [(one.subject, one.change.action, one.change.ref) for one in memory.log("service/shop").results]
    assert found == [
        (None, "changed", "component/shop"),
        ("another name", "changed", "component/shop"),
        ("memory", "created", "service/shop"),
    ]


def test_a_type_renamed_on_both_branches_loses_nothing(project: Path) -> None:
    """Git reports the file of the type, of which each branch made another one; a person keeps both, or either."""
    for name, new in (("ours", "component"), ("theirs", "part")):
        git(project, "checkout", "-q", "main")
        git(project, "checkout", "-qb", name)
        with open_memory(project) as memory:
            memory.types.rename("service", new, yes=True)
            memory.entities.add(new, name)
        commit(project, name)
    assert git(project, "merge", "-qm", "both", "ours", ok=False) != "0"
    with open_memory(project) as memory:
        assert memory.get("failure/broke").ref == "failure/broke"
        assert not memory.validate().ok
        git(project, "checkout", "ours", "--", ".graphmem/types/entities/component.md", ".graphmem/types/relations")
        git(project, "checkout", "theirs", "--", ".graphmem/types/entities/part.md")
        assert {found.ref for found in memory.list("component").results} == {
            "component/ours", "component/shop", "component/stock",
        }  # fmt: skip
        assert {found.ref for found in memory.list("part").results} == {"part/theirs", "part/shop", "part/stock"}
