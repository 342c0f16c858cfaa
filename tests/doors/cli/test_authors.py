"""Who wrote a memory: what rows hold of it, and where it is shown and asked for."""

import json
from pathlib import Path

import pytest

from graphmem import Memory, Refused
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture
from tests.repository import Repository

PORT = ("add", "failure", "--name", "port", "--trigger", "port in use on startup", "--fix", "kill the old server")


def rows(folder: Path, file: str = "failure") -> list[dict[str, object]]:
    return [json.loads(line) for line in (folder / f".graphmem/data/{file}.ndjson").read_bytes().splitlines()]


def test_two_people_change_a_record_and_each_is_named_for_what_they_wrote(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("GRAPHMEM_BY", "Ana")
    graphmem(*PORT)
    monkeypatch.setenv("GRAPHMEM_BY", "Bo")
    monkeypatch.setenv("CLAUDECODE", "1")
    graphmem("edit", "port", "--tag", "net")
    (row,) = rows(tmp_path)
    assert (row["by"], row["via"], row["authors"]) == ("Bo", "claude-code", {"created_at": ["Ana", "cli"]})
    said = "  by:             Bo via claude-code; created by Ana via cli\n"
    assert said in graphmem("get", "port").out
    assert said in graphmem("why", "port").out
    assert graphmem("list", "--by", "Ana").out == graphmem("list", "--by", "Bo").out == graphmem("list").out
    assert graphmem("list", "--by", "Cy").out == ""
    found = graphmem("cypher", "MATCH (n:Failure) RETURN n.by, n.via", "--json").out
    assert json.loads(found)["rows"] == [["Bo", "claude-code"]]
    graphmem("undo")
    assert [(row["by"], row.get("authors")) for row in rows(tmp_path)] == [("Ana", None)]


def test_an_edge_and_a_report_name_their_authors(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("GRAPHMEM_BY", "Ana")
    graphmem(*PORT)
    graphmem("add", "failure", "--name", "socket", "--trigger", "socket closes early")
    graphmem("link", "port", "causes", "socket", "--weight", "0.5")
    graphmem("feedback", "port", "--helped", "--task", "t1")
    for file in ("relations/causes", "feedback"):
        assert [(row["by"], row["via"]) for row in rows(tmp_path, file)] == [("Ana", "cli")]
    monkeypatch.setenv("GRAPHMEM_BY", "Bo")
    graphmem("link", "port", "causes", "socket", "--weight", "0.75")
    (edge,) = rows(tmp_path, "relations/causes")
    assert (edge["by"], edge["authors"]) == ("Bo", {"created_at": ["Ana", "cli"]})
    found = graphmem("cypher", "MATCH (:Failure)-[r:CAUSES]->() RETURN r.by", "--json").out
    assert json.loads(found)["rows"] == [["Bo"]]


def test_the_name_is_gits_unless_the_user_sets_another_or_none(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.delenv("GRAPHMEM_BY")
    Repository(tmp_path)("config", "user.name", "Ana  Lee")
    graphmem(*PORT)
    assert [row["by"] for row in rows(tmp_path)] == ["Ana Lee"]
    monkeypatch.setenv("GRAPHMEM_BY", "")
    graphmem("add", "failure", "--name", "other", "--trigger", "the disk is full")
    assert [row.get("by") for row in rows(tmp_path) if row["name"] == "other"] == [None]


def test_a_project_cannot_say_who_its_users_are(graphmem: Graphmem, tmp_path: Path) -> None:  # noqa: F811
    graphmem(*PORT)
    (tmp_path / ".graphmem/config.toml").write_text('by = "Mallory"\n')
    assert "by of the project" in graphmem("config").err
    graphmem("add", "failure", "--name", "other", "--trigger", "the disk is full")
    assert all("by" not in row for row in rows(tmp_path))


def test_a_row_that_is_there_takes_no_name_that_somebody_gives(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither as a field that is edited, nor in a row that comes again."""
    Memory.init(tmp_path)
    monkeypatch.setenv("GRAPHMEM_BY", "Ana")
    with Memory(tmp_path) as memory:
        memory.failures.add("port in use on startup", name="port", fix="kill it")
        (line,) = (tmp_path / ".graphmem/data/failure.ndjson").read_bytes().splitlines()
        with pytest.raises(Refused, match="no field 'by' that edit changes"):
            memory.edit("port", {"by": "Mallory"})
        assert memory.add_rows([line.replace(b"Ana", b"Mallory")]).unchanged == 1
        assert memory.add_rows([line.replace(b"Ana", b"Mallory").replace(b"kill it", b"stop it")]).updated == 1
        found = memory.get("failure/port").record
    assert (found.by, found.authors, [*found.edited]) == ("Ana", {}, ["fix"])


def test_a_change_of_a_type_is_not_one_of_its_rows(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    graphmem("type", "add", "entity", "room")
    graphmem("add", "entity", "room", "attic")
    monkeypatch.setenv("GRAPHMEM_BY", "Bo")
    assert graphmem("type", "rename", "room", "chamber", "--yes").status == 0
    assert [row.get("by") for row in rows(tmp_path, "entities/chamber")] == [None]


@pytest.mark.parametrize("name", [" Ana", "A\nB", "A" * 101])
def test_a_name_that_no_line_could_show_is_left_out_and_named(
    graphmem: Graphmem,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    name: str,
) -> None:
    monkeypatch.setenv("GRAPHMEM_BY", name)
    done = graphmem(*PORT)
    assert done.status == 0
    assert "GRAPHMEM_BY" in done.err


def test_a_dump_keeps_its_authors_in_another_store(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    stores = [tmp_path / name for name in ("one", "two")]
    for store in stores:
        store.mkdir()
        Memory.init(store)
    monkeypatch.setenv("GRAPHMEM_BY", "Ana")
    with Memory(stores[0]) as memory:
        memory.failures.add("port in use on startup", name="port")
    monkeypatch.setenv("GRAPHMEM_BY", "Bo")
    with Memory(stores[1]) as memory:
        memory.add_rows((stores[0] / ".graphmem/data/failure.ndjson").read_bytes().splitlines())
        found = memory.get("failure/port").record
    assert (found.by, found.via) == ("Ana", "python")
