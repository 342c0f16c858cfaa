"""A project's own stored queries: run by name like graphmem's, checked, and within the caller's scope."""

import json
from pathlib import Path

import anyio
import pytest
from mcp import Client

from graphmem import Memory, NotFound, Refused, Usage
from graphmem.doors.mcp.server import make_server
from graphmem.features.cypher import project_queries
from tests.sample import open_memory

GOOD = """// Failures with a fix, by name.
//
// param  part STRING a part of the name
// column name STRING
MATCH (f:Failure)
WHERE f.name CONTAINS $part AND f.fix IS NOT NULL
RETURN f.name AS name
ORDER BY name;
"""


def write(folder: Path, name: str, text: str) -> None:
    path = folder / ".graphmem" / "queries" / f"{name}.cypher"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


@pytest.fixture
def filled(memory: Memory, tmp_path: Path) -> Memory:
    memory.failures.add("it went boom", name="boom", fix="stop it")
    memory.failures.add("it hangs for ever", name="hangs")
    write(tmp_path, "failure/mended", GOOD)
    return memory


def test_a_query_of_the_project_runs_by_its_name_and_is_listed(filled: Memory) -> None:
    assert filled.store.cypher_named("failure/mended", {"part": "bo"}).rows == [["boom"]]
    with pytest.raises(Usage, match="misses parameter 'part'"):
        filled.store.cypher_named("failure/mended")
    (listed,) = [query for query in filled.store.queries().results if query.is_of_project]
    assert (listed.name, listed.sentence) == ("failure/mended", "Failures with a fix, by name.")
    assert (listed.parameters, listed.columns) == ({"part": "STRING"}, ["name"])
    assert filled.store.validate().findings == []
    with pytest.raises(NotFound) as told:
        filled.store.cypher_named("failure/mend")
    assert str(told.value.hint).startswith("did you mean failure/mended")


def test_an_agent_runs_it_over_mcp(filled: Memory) -> None:
    async def talk() -> str:
        async with Client(make_server(lambda: filled)) as client:
            given = {"query": "failure/mended", "parameters": {"part": "bo"}}
            return json.dumps((await client.call_tool("cypher", given)).model_dump(mode="json"))

    assert "boom" in anyio.run(talk)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("failure/x", "MATCH (f:Failure) RETURN f.name AS a", "its first line does not say what it is for"),
        ("failure/x", "// x\n// column a\nMATCH (f:Failure) RETURN f.name AS a", "declares nothing"),
        ("failure/x", "// x\nMATCH (f:Failure) RETURN f.name AS a", "no column is declared"),
        ("failure/x", "// x\n// column a STRING\nMATCH (f:Failure {name: $n}) RETURN 1 AS a", "is used and not"),
        ("failure/x", "// x\n// param n STRING\n// column a STRING\nMATCH (f:Failure) RETURN f.name AS a", "not used"),
        ("failure/x", "// x\n// write\n// column a STRING\nMATCH (f:Failure) RETURN f.name AS a", "a query only reads"),
        ("failure/x", "// x\n// column a STRING\nMATCH (f:Failure) DELETE f", "DELETE is not allowed"),
        ("failure/x", "// x\n// column a STRING\nRETURN 1 AS a; RETURN 2 AS a", "one statement"),
        ("failure/solutions", GOOD, "is a query of graphmem's own"),
        ("failure/No-Way", GOOD, "is not queries/NOUN/VERB.cypher"),
        ("x", GOOD, "is not queries/NOUN/VERB.cypher"),
        ("failure/x", "// x\n" + "// y\n" * 20_000, "at most 65,536 are read"),
        ("failure/x", "// x\n// column a STRING\nMATCH (f:Failur) RETURN f.name AS a", "Table Failur does not exist"),
        ("failure/x", "// x\n// column a STRING\nMATCH (f:Failure) RETURN f.nam AS a", "Cannot find property nam"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_what_is_wrong_with_a_file_is_named_and_it_does_not_run(
    filled: Memory, tmp_path: Path, name: str, text: str, message: str
) -> None:
    write(tmp_path, name, text)
    (finding,) = filled.store.validate().findings
    assert (finding.file, finding.code) == (f"queries/{name}.cypher", "bad_query")
    assert message in finding.message
    if name == "failure/x":
        with pytest.raises((Refused, NotFound), match=r"."):
            filled.store.cypher_named(name, {"n": "x"} if "$n" in text or "param n" in text else None)
    assert filled.store.cypher_named("failure/mended", {"part": "bo"}).rows == [["boom"]]


def test_other_columns_than_those_declared_are_refused_when_it_runs(filled: Memory, tmp_path: Path) -> None:
    write(tmp_path, "failure/x", "// x\n// column b STRING\nMATCH (f:Failure) RETURN f.name AS a")
    with pytest.raises(Refused, match="returns the columns a, and its header declares b"):
        filled.store.cypher_named("failure/x")


def test_a_link_is_not_followed_and_of_too_many_files_the_first_are_read(
    filled: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "outside.cypher").write_text(GOOD)
    (tmp_path / ".graphmem" / "queries" / "failure" / "linked.cypher").symlink_to(tmp_path / "outside.cypher")
    with pytest.raises(NotFound):
        filled.store.cypher_named("failure/linked", {"part": "b"})
    monkeypatch.setattr(project_queries, "MOST_QUERIES", 1)
    write(tmp_path, "failure/other", GOOD)
    (finding,) = [one for one in filled.store.validate().findings if one.code == "bad_query"]
    assert finding.message == "2 queries; the first 1 are read"


@pytest.mark.long
def test_queries_that_take_the_engine_long_to_read_hold_up_no_check(
    filled: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(project_queries, "ONE_CHECK_S", 0.3)
    monkeypatch.setattr(project_queries, "CHECK_S", 0.5)
    for number in range(4):
        write(tmp_path, f"failure/long_{number}", f"// All.\n//\n// column a INT64\nRETURN {'1+' * 20_000}1 AS a;\n")
    found = [finding for finding in filled.store.validate().findings if finding.code == "bad_query"]
    files = [*(f"long_{number}" for number in range(4)), "mended"]
    assert [finding.file for finding in found] == [f"queries/failure/{name}.cypher" for name in files]
    assert "took longer than" in found[0].message
    assert "not checked: those before it took 0.5 s" in found[-1].message


def test_a_query_that_names_what_a_scope_hides_is_not_there(tmp_path: Path) -> None:
    with open_memory(tmp_path) as owner:
        owner.types.add_entity("room")
        owner.patterns.add("noise", "be calm", name="calm")
        for name, label in (("pattern/all", "Pattern"), ("room/all", "Room"), ("failure/all", "Failure")):
            write(tmp_path, name, f"// All.\n// column name STRING\nMATCH (n:{label}) RETURN n.name AS name")
        owner.store.scopes.add("reader", read=["pattern"])
        with Memory(tmp_path, scope="reader") as reader:
            own = [query.name for query in reader.store.queries().results if query.is_of_project]
            assert own == ["pattern/all"]
            assert reader.store.cypher_named("pattern/all").rows == [["calm"]]
            for hidden in ("room/all", "failure/all"):
                with pytest.raises(NotFound):
                    reader.store.cypher_named(hidden)


def test_a_list_of_queries_reports_at_most_ten_that_are_wrong(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / ".graphmem/queries/failure"
    folder.mkdir(parents=True)
    for number in range(40):
        (folder / f"bad_{number}.cypher").write_text("nonsense")
    notices = memory.store.queries().notices
    assert len(notices) == 11 and notices[-1] == "and 30 more; see: graphmem validate"
