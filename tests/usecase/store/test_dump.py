"""``dump``: the rows of a kind or a type, as other memories take them."""

from pathlib import Path

import pytest

from graphmem import NotFound, Refused
from tests.importers.real import SAMPLES
from tests.importers.test_beads import issue, needs, write
from tests.sample import contents, data, open_memory


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


def rows(folder: Path) -> dict[str, bytes]:
    """Return the data files of a store that hold something."""
    return {name: text for name, text in contents(folder).items() if name.startswith("data/") and text}


def test_a_table_comes_back_as_the_same_rows(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.failures.add(
            'it goes "boom",\nthen bang', fix="duck", tags=["a", "b"], cost=2.5, versions={"flask": "3.0"}
        )
        memory.failures.add("it hangs for ever", sources=["a run"])
        memory.edit("it-hangs-for-ever", {"fix": "5"})
        memory.forget("it-hangs-for-ever", reason="old")
        table = memory.dump("failure", format="csv")
        (tmp_path / "failures.csv").write_text(table.text)
        before = rows(tmp_path / "one")
    with open_memory(tmp_path / "two") as other:
        answer = other.imports.file(tmp_path / "failures.csv")
        assert (answer.format, answer.read, answer.created) == ("csv", {"row": 2}, {"failure": 2})
        assert rows(tmp_path / "two") == before
        assert other.imports.file(tmp_path / "failures.csv").unchanged == {"failure": 2}


def test_tables_of_entities_and_edges_bring_their_types(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "mcp_memory.jsonl")
        for kind in ("entity", "relation"):
            (tmp_path / f"{kind}.csv").write_text(memory.dump(kind, format="csv").text)
        before = rows(tmp_path / "one")
    with open_memory(tmp_path / "two") as other:
        for kind in ("entity", "relation"):
            assert other.imports.file(tmp_path / f"{kind}.csv").skipped == []
        assert rows(tmp_path / "two") == before


def test_entities_come_back_from_the_form_of_the_memory_server(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "mcp_memory.jsonl")
        dumped = memory.dump("entity", format="mcp-memory")
        (tmp_path / "memory.jsonl").write_text(dumped.text)
        before = rows(tmp_path / "one")
        assert dumped.rows == dumped.text.count("\n") > 10
    with open_memory(tmp_path / "two") as other:
        other.imports.file(tmp_path / "memory.jsonl")
        assert rows(tmp_path / "two") == before


def test_a_form_that_cannot_hold_what_is_asked_for_is_refused(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        with pytest.raises(Refused, match="beads holds tasks"):
            memory.dump("failure", format="beads")
        with pytest.raises(Refused, match="mcp-memory holds entities"):
            memory.dump("failure", format="mcp-memory")
        for name in ("service", "team"):
            memory.types.add_entity(name)
            memory.entities.add(name, "shop")
        with pytest.raises(Refused, match="two entities are called 'shop'"):
            memory.dump("entity", format="mcp-memory")
        assert memory.dump("team", format="mcp-memory").rows == 1


def test_tasks_that_came_from_beads_come_back_from_its_form(tmp_path: Path) -> None:
    with open_memory(tmp_path / "one") as memory:
        memory.imports.file(SAMPLES / "beads/issues.jsonl")
        memory.imports.file(
            write(
                tmp_path,
                issue("bd-e", issue_type="epic", labels=["ui"]),
                issue("bd-e.2", status="blocked", dependencies=needs("bd-e.2", "bd-e", "gone", sort="parent-child")),
                issue("bd-e.3", description="more", dependencies=needs("bd-e.3", "bd-e.2")),
            )
        )
        dumped = memory.dump("task", format="beads")
        (tmp_path / "issues.jsonl").write_text(dumped.text)
        before = rows(tmp_path / "one")
    with open_memory(tmp_path / "two") as other:
        answer = other.imports.file(tmp_path / "issues.jsonl")
        assert (answer.format, answer.skipped, dumped.rows) == ("beads", [], 27)
        assert rows(tmp_path / "two") == before
