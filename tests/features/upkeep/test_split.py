"""``split``: the rows of a kind in several files, and back where they belong after anything that moved them."""

import contextlib
from collections.abc import Mapping
from pathlib import Path
from typing import Literal

import pytest

from graphmem import BadInput, Memory, NotFound, Usage
from tests.repository import Repository
from tests.sample import contents, data, edge, failure, open_memory, write

NAMES = [f"f{number}" for number in range(40)]


def fill(memory: Memory) -> None:
    memory.add_rows([failure(name) for name in NAMES])


def files_of(folder: Path, kind: str = "failure") -> Mapping[str, bytes]:
    """Return the files of a kind by their names below ``data/``, in name order."""
    found = {path.removeprefix("data/"): text for path, text in contents(folder).items() if path.startswith("data/")}
    return {name: found[name] for name in sorted(found) if name.split("/")[0].removesuffix(".ndjson") == kind}


def joined(folder: Path, kind: str = "failure") -> bytes:
    return b"".join(files_of(folder, kind).values())


def names(folder: Path) -> list[str]:
    return [line.split(b'"name":"')[1].split(b'"')[0].decode() for line in joined(folder).splitlines()]


@pytest.mark.parametrize("files", [16, 256])
@pytest.mark.slow
def test_the_files_joined_are_the_lines_of_the_one_file(
    memory: Memory, tmp_path: Path, files: Literal[1, 16, 256]
) -> None:
    fill(memory)
    before, listing = joined(tmp_path), memory.list(limit=100)
    answer = memory.store.split("failure", files)
    assert (answer.rows, answer.changed, answer.removed) == (40, True, ["data/failure.ndjson"])
    assert len(files_of(tmp_path)) == files and joined(tmp_path) == before
    assert memory.list(limit=100) == listing
    assert memory.store.validate().findings == [] and memory.store.export_check().ok
    assert not any(found.changed for found in memory.store.export().files.values())
    assert not memory.store.split("failure", files).changed
    with open_memory(tmp_path) as again:  # what the catalog noted is what a first reading finds
        again.store.rebuild(embed=False)
        assert again.list(limit=100) == listing and again.store.validate().findings == []
    assert memory.store.split("failure", 1).changed
    assert files_of(tmp_path) == {"failure.ndjson": before}


def test_a_write_goes_to_the_file_where_its_row_belongs(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.store.split("failure")
    before = files_of(tmp_path)
    memory.add_rows([failure("a")])  # its hash begins with 0
    after = files_of(tmp_path)
    assert [name for name in after if after[name] != before[name]] == ["failure/0.ndjson"]
    memory.edit("a", {"fix": "a fix"})
    memory.store.purge(["a"], yes=True)
    assert files_of(tmp_path) == before
    assert memory.store.validate().findings == []


def test_types_are_split_too(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.types.add_entity("part")
    for number in range(5):
        memory.entities.add("part", f"p{number}")
    memory.add_rows([edge(f"failure/f{n}", "causes", "failure/f0") for n in range(1, 9)])
    rows = (tmp_path / ".graphmem/data/relations/causes.ndjson").read_bytes()
    assert memory.store.split("part").rows == 5 and memory.store.split("causes", 256).rows == 8
    parts = sorted((tmp_path / ".graphmem/data/relations/causes").iterdir())
    assert len(parts) == 256 and b"".join(path.read_bytes() for path in parts) == rows
    memory.relations.unlink("failure/f1", "causes", "failure/f0")
    memory.entities.add("part", "p9")
    assert memory.store.validate().findings == []
    assert memory.types.rename("part", "piece", yes=True).records == 6
    assert memory.store.validate().findings == []


def test_what_was_written_before_a_split_can_be_undone_after_it(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    before = joined(tmp_path)
    memory.add_rows([failure("a"), failure("b")])
    memory.edit("f1", {"fix": "another"})
    memory.forget("f2", "gone")
    memory.store.split("failure")
    memory.undo(2)
    memory.store.split("failure", 1)
    memory.undo()
    assert joined(tmp_path) == before


def test_what_cannot_be_split_is_refused(memory: Memory, tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no kind or type 'failur'") as wrong:
        memory.store.split("failur")
    assert wrong.value.hint and "failure" in wrong.value.hint
    with pytest.raises(Usage, match="unknown files 20") as number:
        memory.store.split("failure", files=20)  # type: ignore[arg-type] # as a caller without types does
    assert number.value.hint == "one of: 1, 16, 256"
    with pytest.raises(NotFound, match="pattern has no rows yet"):
        memory.store.split("pattern")
    write(data(tmp_path, "failure"), failure("a"), b"no row\n")
    before = contents(tmp_path)
    with pytest.raises(BadInput, match="bad lines"):
        memory.store.split("failure")
    assert contents(tmp_path) == before


def test_another_clone_takes_a_split_in_as_rows_that_moved(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory, open_memory(tmp_path) as other:
        fill(memory)
        assert len(other.query("f1").results)
        position = other.store.client.catalog.position
        memory.store.split("failure")
        assert other.list(limit=100).total == 40
        (tmp_path / ".graphmem/local/catalog.sqlite").touch()
        assert other.store.client.catalog.position == position  # the graph and the index have nothing to take in


# --- rows in a wrong file --------------------------------------------------------------------------------------------


def test_doctor_moves_rows_out_of_a_wrong_file(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    whole = joined(tmp_path)
    memory.store.split("failure")
    folder = tmp_path / ".graphmem/data/failure"
    left, right = sorted(folder.iterdir(), key=lambda path: path.stat().st_size)[-2:]
    left.write_bytes(left.read_bytes() + right.read_bytes())
    right.write_bytes(b"")
    (tmp_path / ".graphmem/data/failure.ndjson").write_bytes(failure("a"))  # of a branch that has the one file
    assert memory.list(limit=100).total == 41
    found = memory.store.validate()
    assert found.ok
    assert [(one.file, one.code) for one in found.findings] == [
        ("data/failure.ndjson", "misplaced"), (f"data/failure/{left.name}", "misplaced"),
    ]  # fmt: skip
    memory.edit("a", {"fix": "written where it stands"})
    memory.undo()
    assert {one.code for one in memory.store.doctor(fix=True).mended} == {"misplaced"}
    memory.store.purge(["a"], yes=True)
    assert joined(tmp_path) == whole and memory.store.validate().findings == []


def test_a_row_that_is_in_two_files_becomes_one(memory: Memory, tmp_path: Path) -> None:
    fill(memory)
    memory.store.split("failure")
    later = {"fix": "2026-11-01T09:30:00.500Z"}
    rows = [failure(name, fix="theirs", edited=later) for name in NAMES[:20]]
    write(tmp_path / ".graphmem/data/failure.ndjson", *rows)
    found = memory.store.validate().findings
    assert [one.code for one in found] == ["duplicate_key", "more_bad_lines"]  # not twenty times the same
    assert found[0].fix == "graphmem resolve"
    memory.failures.add("goes on", name="other")  # the parts are well
    assert memory.store.resolve().findings == []
    assert memory.store.validate().findings == [] and "failure.ndjson" not in files_of(tmp_path)
    assert sorted(names(tmp_path)) == sorted([*NAMES, "other"])
    assert all(memory.get(name).record.to_row()["fix"] == "theirs" for name in NAMES[:20])


# --- branches --------------------------------------------------------------------------------------------------------


def branches(folder: Path, files: Literal[1, 16, 256]) -> Repository:
    """Make a repository where `split` has split failures, and `one` has changed, added and taken out some."""
    repository = Repository(folder)
    with open_memory(folder) as memory:
        fill(memory)
        memory.add_rows([edge("failure/f1", "causes", "failure/f2")])
        if files == 1:
            memory.store.split("failure")
        repository.commit("base")
        repository("switch", "-q", "-c", "split")
        memory.store.split("failure", files)
        memory.edit("f3", {"fix": "of split"})
        memory.failures.add("an error of split", name="split")
        repository.commit("split")
        repository("switch", "-q", "-c", "one", "main")
        memory.edit("f4", {"fix": "of one", "tags": ["x"]})
        memory.edit("f3", {"cost": 3})
        memory.failures.add("an error of one", name="one")
        memory.undo()
        memory.failures.add("an error of one", name="one")
        for path in [path for path in (folder / ".graphmem/data").rglob("*.ndjson") if b'"f5"' in path.read_bytes()]:
            lines = path.read_bytes().splitlines(keepends=True)
            path.write_bytes(b"".join(line for line in lines if b'"name":"f5"' not in line))
        repository.commit("one")
    return repository


@pytest.mark.process
@pytest.mark.parametrize("files", [16, 1])
@pytest.mark.parametrize(("ours", "theirs"), [("split", "one"), ("one", "split")])
def test_a_branch_that_has_the_other_form_merges_both_ways(
    tmp_path: Path, ours: str, theirs: str, files: Literal[1, 16, 256]
) -> None:
    repository = branches(tmp_path / "project", files)
    folder = repository.folder
    repository("switch", "-q", ours)
    with pytest.raises(AssertionError):
        repository("merge", "-q", "--no-edit", theirs)
    with open_memory(folder) as memory:
        assert "unmerged" in {found.code for found in memory.store.validate().findings}
        assert memory.store.resolve().findings == []
        assert memory.store.validate().findings == [] and memory.store.export_check().ok
        assert len(files_of(folder)) == files
        assert sorted(names(folder)) == sorted([*(set(NAMES) - {"f5"}), "one", "split"])  # nothing lost or doubled
        rows = {name: memory.get(name).record.to_row() for name in ("f3", "f4")}
        assert (rows["f3"]["fix"], rows["f3"]["cost"]) == ("of split", 3)
        assert (rows["f4"]["fix"], rows["f4"]["tags"]) == ("of one", ["x"])
        repository.commit("merged")
        assert memory.store.resolve().files == []


@pytest.mark.process
@pytest.mark.parametrize(("ours", "theirs"), [("split", "one"), ("one", "split")])
def test_a_file_that_git_takes_for_renamed_is_merged_too(tmp_path: Path, ours: str, theirs: str) -> None:
    """A part with most of the rows of a small kind is like the one file, and git merges the other branch into it."""
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        memory.add_rows([failure("f0")])
        repository.commit("base")
        repository("switch", "-q", "-c", "split")
        memory.store.split("failure")
        repository.commit("split")
        repository("switch", "-q", "-c", "one", "main")
        memory.edit("f0", {"fix": "of one"})
        memory.add_rows([failure(name) for name in NAMES[1:9]])
        repository.commit("one")
        repository("switch", "-q", ours)
        with contextlib.suppress(AssertionError):  # a conflict: too much was added for a rename
            repository("merge", "-q", "--no-edit", theirs)
        memory.store.resolve()
        assert memory.store.validate().findings == [] and len(files_of(tmp_path)) == 16
        assert sorted(names(tmp_path)) == NAMES[:9]
        assert memory.get("f0").record.to_row()["fix"] == "of one"
