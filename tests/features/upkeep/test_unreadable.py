"""What cannot be read is not missing: no repair takes out what depends on it, or overwrites what a person wrote."""

from pathlib import Path

import pytest

from graphmem import Memory, Refused
from tests.sample import contents, data, edge, failure, line, open_memory, write


@pytest.fixture
def linked(memory: Memory, tmp_path: Path) -> Memory:
    """Edges, a report and a successor that name a failure and an entity."""
    memory.types.add_entity("thing", description="written by a person")
    memory.add_rows([
        failure("a"), failure("b"), failure("c"), line(kind="entity", type="thing", name="t"),
        edge("failure/a", "causes", "failure/b"),
    ])  # fmt: skip
    memory.types.add_relation("touches", sources=["failure"], targets=["thing"])
    memory.relations.link("failure/a", "touches", "thing/t")
    memory.feedback("failure/b", helped=True)
    memory.supersede("c", "b")
    return memory


def break_row(folder: Path) -> None:
    path = data(folder, "failure")
    path.write_bytes(path.read_bytes().replace(b'"name":"b"', b'"name":"b'))


def break_type(folder: Path) -> None:
    path = folder / ".graphmem/types/entities/thing.md"
    path.write_text(path.read_text().replace("type: thing", "type: [thing"))


def conflict(folder: Path) -> None:
    path = data(folder, "failure")
    lines = [found for found in path.read_bytes().splitlines(True) if b'"b"' not in found]
    kept = [found for found in path.read_bytes().splitlines(True) if b'"b"' in found]
    path.write_bytes(b"".join([*lines, b"<<<<<<< ours\n", *kept, b"=======\n", b">>>>>>> theirs\n"]))


@pytest.mark.parametrize("damage", [break_row, break_type, conflict])
def test_doctor_takes_out_nothing_that_depends_on_what_cannot_be_read(
    linked: Memory, tmp_path: Path, damage: object
) -> None:
    assert callable(damage)
    damage(tmp_path)
    before = {name: found for name, found in contents(tmp_path).items() if name != "schema.json"}
    found = [finding for finding in linked.store.doctor(fix=True).findings if "graphmem doctor" in (finding.fix or "")]
    assert [finding.code for finding in found if finding.code != "unregistered"] == []
    assert {name: data for name, data in contents(tmp_path).items() if name != "schema.json"} == before
    if damage is not conflict:  # between its markers rows are read
        assert "unreadable_end" in {finding.code for finding in linked.store.validate().findings}
    assert not {"dangling", "lost_successor"} & {finding.code for finding in linked.store.validate().findings}


def test_what_is_really_missing_is_still_taken_out(linked: Memory, tmp_path: Path) -> None:
    break_type(tmp_path)
    break_row(tmp_path)
    write(data(tmp_path, "relations/solves"), edge("pattern/never", "solves", "pattern/nor-this"))
    linked.store.doctor(fix=True)
    assert data(tmp_path, "relations/solves").read_bytes() == b""
    assert b"thing/t" in data(tmp_path, "relations/touches").read_bytes()
    assert b"failure/b" in data(tmp_path, "relations/causes").read_bytes()
    assert b"failure/b" in data(tmp_path, "feedback").read_bytes()


def test_no_proposed_repair_overwrites_a_type_file_that_cannot_be_read(linked: Memory, tmp_path: Path) -> None:
    break_type(tmp_path)
    before = (tmp_path / ".graphmem/types/entities/thing.md").read_bytes()
    findings = [finding for finding in linked.store.validate().findings if finding.severity == "error"]
    assert {finding.code for finding in findings} == {"bad_type", "unknown_type"}
    assert [finding.fix for finding in findings if "type add" in (finding.fix or "")] == []
    with pytest.raises(Refused, match=r"types/entities/thing.md is there already and cannot be read"):
        linked.types.add_entity("thing")
    assert (tmp_path / ".graphmem/types/entities/thing.md").read_bytes() == before


def test_edges_of_a_kind_that_this_version_does_not_know_stay(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("a went wrong", name="a")
    write(data(tmp_path, "prophecy"), line(kind="prophecy", name="p"))
    write(data(tmp_path, "relations/causes"), edge("failure/a", "causes", "prophecy/p"))
    memory.store.doctor(fix=True)
    assert b"prophecy/p" in data(tmp_path, "relations/causes").read_bytes()


def test_a_record_that_is_read_again_has_its_edges_again(linked: Memory, tmp_path: Path) -> None:
    good = data(tmp_path, "failure").read_bytes()
    break_row(tmp_path)
    linked.store.doctor(fix=True)
    data(tmp_path, "failure").write_bytes(good)
    with open_memory(tmp_path) as memory:
        assert memory.get("b").relations != []
        assert memory.get("b").record.helped == 1  # type: ignore[union-attr]
