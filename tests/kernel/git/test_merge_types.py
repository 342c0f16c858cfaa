"""A type is renamed or dropped on one branch while another one uses it; merged by git itself, both ways."""

from collections.abc import Callable
from pathlib import Path

import pytest

from graphmem import Memory
from tests.kernel.git.test_merge import commit, git, settings_of_nobody
from tests.sample import contents, data, line, open_memory, write

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


def merged(project: Path, ours: Work, theirs: Work, *, is_clean: bool = True) -> Memory:
    """Return the memory of two branches of the project, merged by git."""
    for name, work in (("ours", ours), ("theirs", theirs)):
        git(project, "checkout", "-q", "main")
        git(project, "checkout", "-qb", name)
        with open_memory(project) as memory:
            work(memory)
        commit(project, name)
    git(project, "checkout", "-q", "ours")
    git(project, "merge", "-qm", "both", "theirs", ok=is_clean)  # no conflict is left
    return open_memory(project)


@pytest.mark.long
@pytest.mark.parametrize("is_split", [False, True])
@pytest.mark.parametrize("has_driver", [True, False])
@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.slow
def test_a_type_renamed_on_one_branch_and_used_on_the_other_is_one_type_at_once(
    project: Path, *, is_ours: bool, has_driver: bool, is_split: bool
) -> None:
    """Git takes the file of a split type for a renamed one, and merges rows by the former name into the new file."""
    if not has_driver:
        git(project, "config", "--remove-section", "merge.graphmem")

    is_clean = has_driver and not is_split

    def rename(memory: Memory) -> None:
        if is_split:
            memory.store.split("service", files=16)
            memory.store.split("calls", files=16)
        memory.types.rename("service", "component", yes=True)

    with merged(project, *((rename, use) if is_ours else (use, rename)), is_clean=is_clean) as memory:
        if not is_clean:  # what one branch split, and the other one changed, is a conflict of git
            memory.store.resolve()
            check_one_type(memory)
            commit(project, "both")
        before = contents(project)
        check_one_type(memory)
        assert contents(project) == before
        memory.failures.add("another thing broke", name="later")
        check_one_type(memory)
    rows = [found for file, found in contents(project).items() if file.startswith("data/")]
    assert b"service" not in b"".join(rows)
    with open_memory(project) as memory:
        check_one_type(memory)


def check_one_type(memory: Memory) -> None:
    assert [str(found) for found in memory.store.validate().findings if found.code != "misplaced"] == []
    assert memory.get("service/shop").ref == "component/shop"
    assert [found.ref for found in memory.list("component").results] == [
        "component/late", "component/shop", "component/stock",
    ]  # fmt: skip
    assert memory.get("component/late").record.model_dump()["value"] == "new"
    assert memory.get("component/stock").record.model_dump()["value"] == "changed"
    shown = {(found.source, found.type, found.target) for found in memory.get("component/late").relations}
    assert shown == {
        ("component/late", "calls", "component/shop"), ("component/late", "hosts", "failure/broke"),
    }  # fmt: skip
    assert len(memory.get("component/stock").relations) == 2


def test_rows_that_a_stash_brings_back_under_a_former_name_are_read(project: Path) -> None:
    with open_memory(project) as memory:
        memory.entities.add("service", "late", value="new")
    git(project, "stash", "-q")
    with open_memory(project) as memory:
        memory.types.rename("service", "component", yes=True)
    commit(project, "renamed")
    git(project, "stash", "pop", "-q")
    with open_memory(project) as memory:
        assert memory.get("component/late").record.model_dump()["value"] == "new"
        assert memory.store.validate().findings == []
        memory.edit("component/late", {"value": "newer"})
        assert memory.get("service/late").record.model_dump()["value"] == "newer"


def test_the_first_row_of_a_type_under_its_former_name_is_read_and_written_where_it_belongs(project: Path) -> None:
    with open_memory(project) as memory:
        memory.types.add_entity("tool")
        memory.types.rename("tool", "program", yes=True)
    row = line(kind="entity", type="tool", name="make", value="x")
    write(data(project, "entities/tool"), row)
    with open_memory(project) as memory:
        assert memory.get("program/make").ref == "program/make"
        assert memory.store.validate().findings == []
        memory.failures.add("another thing broke", name="later")
        assert data(project, "entities/tool").read_bytes() == b""
        assert b'"type":"program"' in data(project, "entities/program").read_bytes()
        assert memory.get("tool/make").ref == "program/make"
        memory.undo()  # of the failure: what was moved is no write of its own
        assert memory.get("program/make").ref == "program/make"


def test_a_bad_line_among_rows_of_a_former_name_is_named_and_kept(project: Path) -> None:
    with open_memory(project) as memory:
        memory.types.rename("service", "component", yes=True)
    rows = line(kind="entity", type="service", name="late"), b"half\n", line(kind="entity", type="other", name="x")
    write(data(project, "entities/service"), *rows)
    with open_memory(project) as memory:
        assert memory.get("component/late").ref == "component/late"
        assert [(found.code, found.line) for found in memory.store.validate().findings] == [
            ("bad_json", 2), ("wrong_file", 3),
        ]  # fmt: skip
        memory.failures.add("another thing broke", name="later")
        assert b"half\n" in data(project, "entities/service").read_bytes()
        assert memory.get("component/late").ref == "component/late"


@pytest.mark.parametrize("is_ours", [True, False])
@pytest.mark.slow
def test_a_type_dropped_on_one_branch_and_used_on_the_other_keeps_what_that_one_added(
    project: Path, *, is_ours: bool
) -> None:
    def drop(memory: Memory) -> None:
        memory.types.drop("service", yes=True)

    with merged(project, *((drop, use) if is_ours else (use, drop))) as memory:
        assert [found.ref for found in memory.list("service").results] == ["service/late", "service/stock"]
        assert {found.code for found in memory.store.validate().findings} >= {"drift"}
        memory.store.doctor(fix=True)
        assert memory.store.validate().findings == []
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
        assert not memory.store.validate().ok
        git(project, "checkout", "ours", "--", ".graphmem/types/entities/component.md", ".graphmem/types/relations")
        git(project, "checkout", "theirs", "--", ".graphmem/types/entities/part.md")
        assert {found.ref for found in memory.list("component").results} == {
            "component/ours", "component/shop", "component/stock",
        }  # fmt: skip
        assert {found.ref for found in memory.list("part").results} == {"part/theirs", "part/shop", "part/stock"}
