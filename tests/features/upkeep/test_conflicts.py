"""What ``resolve`` reads: the conflict markers of other tools than git."""

import json
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.errors import BadInput
from graphmem.kernel.git.merge_driver import merge_rows
from tests.sample import CREATED, data


def row(fix: str, name: str = "one") -> str:
    return json.dumps({"created_at": CREATED, "fix": fix, "kind": "failure", "name": name, "trigger": f"{name} broke",
                       "edited": {"fix": f"2026-11-01T09:30:0{len(fix)}.000Z"}})  # fmt: skip


JJ = {
    "diff": ["<<<<<<< conflict 1 of 1", "%%%%%%% diff from: base", "\\\\\\\\\\\\\\        to: side 1", f"-{row('0')}",
             f"+{row('aa')}", "+++++++ side 2", row("bbb"), ">>>>>>> conflict 1 of 1 ends"],
    "an older one": ["<<<<<<< Conflict 1 of 1", "+++++++ Contents of side #1", row("aa"),
                     "%%%%%%% Changes from base to side #2", f" {row('x', 'two')}", f"-{row('0')}", f"+{row('bbb')}",
                     ">>>>>>> Conflict 1 of 1 ends"],
    "snapshot": ["<<<<<<< Conflict 1 of 1", "+++++++ Contents of side #1", row("aa"), "------- Contents of base",
                 row("0"), "+++++++ Contents of side #2", row("bbb"), ">>>>>>> Conflict 1 of 1 ends"],
    "an edit and a removal": ["<<<<<<< conflict 1 of 1", "%%%%%%% diff from: base", f"-{row('0')}",
                              f" {row('x', 'two')}", "+++++++ side 2", row("bbb"), row("x", "two"),
                              ">>>>>>> conflict 1 of 1 ends"],
}  # fmt: skip


@pytest.mark.parametrize("style", JJ)
def test_resolve_reads_the_markers_of_jujutsu(memory: Memory, tmp_path: Path, style: str) -> None:
    others = [row("x", "before"), *JJ[style], row("x", "after")]
    data(tmp_path, "failure").write_text("".join(f"{line}\n" for line in others))
    assert memory.store.resolve().files == ["data/failure.ndjson"]
    found = memory.get("failure/one").record.model_dump()
    assert found["fix"] == "bbb"
    if style != "an edit and a removal":
        assert [aside["text"] for aside in found["alternates"]] == ["aa"]
    names = {one.ref.partition("/")[2] for one in memory.list("failure").results}
    assert {"one", "before", "after"} <= names <= {"one", "before", "after", "two"}
    assert memory.store.validate().findings == []


def test_a_conflict_of_jujutsu_with_three_sides_is_refused_with_its_line(memory: Memory, tmp_path: Path) -> None:
    lines = [*JJ["snapshot"][:-1], "+++++++ Contents of side #3", row("c"), JJ["snapshot"][-1]]
    data(tmp_path, "failure").write_text("".join(f"{line}\n" for line in lines))
    with pytest.raises(BadInput, match="line 8: a conflict of more than two sides"):
        memory.store.resolve()


def test_a_line_that_a_union_merge_doubled_is_one_row_and_stops_no_write(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("one broke", name="one")
    memory.failures.add("two broke", name="two")
    path = data(tmp_path, "failure")
    first, second = path.read_bytes().splitlines(keepends=True)
    for doubled in (first + first + second, first + second + first, first + second + second.strip()):
        path.write_bytes(doubled)
        assert [one.ref for one in memory.list().results] == ["failure/one", "failure/two"]
        assert memory.store.validate().findings == []
        assert [found.code for found in memory.store.export_check().findings] == ["not_canonical"]
        assert merge_rows(doubled, doubled, doubled, []) == first + second
        memory.edit("one", {"fix": "x"})
        assert path.read_bytes().count(b"\n") == 2
        memory.undo()
        assert path.read_bytes() == first + second
    path.write_bytes(first + second + first.replace(b'"kind"', b'"fix":"y","kind"'))
    assert [found.code for found in memory.store.validate().findings] == ["duplicate_key"]
