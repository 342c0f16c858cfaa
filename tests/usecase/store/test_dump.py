"""``dump``: the rows of a kind or a type, as other memories take them."""

from pathlib import Path

import pytest

from graphmem import NotFound
from tests.sample import data, open_memory


def test_a_dump_is_the_lines_of_the_files_whatever_their_number(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        for number in range(30):
            memory.failures.add(f"error number {number}", name=f"f{number}", dedup=False)
        memory.forget("f3", reason="old")
        lines = data(tmp_path, "failure").read_text()
        answer = memory.dump("failure")
        assert (answer.kind, answer.rows, answer.text) == ("failure", 30, lines)
        memory.split("failure")
        assert memory.dump("failure").text == lines


def test_types_are_dumped_one_by_one_and_together_and_another_memory_takes_them(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        for name in ("service", "team"):
            memory.types.add_entity(name)
            memory.entities.add(name, "shop", value=f"a {name}")
        memory.types.add_relation("runs", sources=["team"], targets=["service"])
        memory.relations.link("team/shop", "runs", "service/shop")
        assert memory.dump("pattern").text == ""
        assert memory.dump("team").rows == 1 and memory.dump("runs").rows == 1
        both, edges = memory.dump("entity"), memory.dump("relation")
        assert both.text == memory.dump("service").text + memory.dump("team").text
        with pytest.raises(NotFound, match="no kind or type 'teams'") as wrong:
            memory.dump("teams")
        assert wrong.value.hint == "did you mean team or task?"
        files = {path.name: path.read_bytes() for path in (tmp_path / "one/.graphmem/types").rglob("*.md")}
    with open_memory(tmp_path / "two") as other:
        for sort, names in (("entities", ("service", "team")), ("relations", ("runs",))):
            for name in names:
                (tmp_path / f"two/.graphmem/types/{sort}/{name}.md").write_bytes(files[f"{name}.md"])
        other.add_rows((both.text + edges.text).splitlines())
        assert (other.dump("entity"), other.dump("relation")) == (both, edges)
