"""A caller that is bound to a scope reads and writes what the scope allows, from every front end."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import anyio
import pytest
from mcp import Client

from graphmem import BadInput, Memory, NotFound, Refused
from graphmem.doors.cli.app import run
from graphmem.doors.mcp.server import KeptMemory, make_server
from graphmem.errors import Damaged
from graphmem.kernel.system import safe_files
from tests.sample import data, open_memory

ROWS = [
    b'{"kind":"pattern","name":"x","trigger":"a b c","insight":"d"}\n',
    b'{"kind":"failure","name":"y","trigger":"it broke"}\n',
]


@pytest.fixture
def owner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Memory]:
    """A store with records of several kinds, and a scope that reads patterns and services, writes these and notes."""
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    with open_memory(tmp_path) as memory:
        memory.types.add_entity("service")
        memory.types.add_entity("note")
        memory.types.add_relation("serves", sources=["any"], targets=["any"])
        memory.failures.add("the attic is locked", name="attic", fix="the key is below the stone")
        memory.patterns.add("a noisy place", "stay calm", name="calm")
        memory.entities.add("service", "shop")
        memory.entities.add("note", "plan", value="nobody may know")
        memory.relations.link("note/plan", "serves", "service/shop")
        memory.store.scopes.add("clerk", read=["pattern", "service"], write=["pattern", "note"])
        yield memory


@pytest.fixture
def clerk(owner: Memory, tmp_path: Path) -> Iterator[Memory]:
    """The same store for a caller with that scope."""
    with Memory(tmp_path, scope="clerk") as memory:
        yield memory


def test_what_a_scope_allows_is_written_and_nothing_else(owner: Memory, clerk: Memory, tmp_path: Path) -> None:
    assert clerk.patterns.add("a dark place", "bring a lamp", name="lamp").action == "created"
    assert clerk.edit("lamp", insight="bring two").record.to_row()["insight"] == "bring two"
    assert clerk.rename("lamp", "lamps").ref == "pattern/lamps"
    assert clerk.feedback("lamps", helped=True).helped == 1
    assert clerk.forget("lamps").action == "archived"
    assert clerk.restore("lamps").action == "restored"
    before = {path: path.read_bytes() for path in (tmp_path / ".graphmem" / "data").rglob("*.ndjson")}
    for refused in (
        lambda: clerk.failures.add("it went boom", fix="stop"),
        lambda: clerk.edit("service/shop", value="sells"),
        lambda: clerk.feedback("service/shop", helped=True),
        lambda: clerk.lessons.add("never shout", type="preference"),
        lambda: clerk.add_rows(ROWS),
        lambda: clerk.campaigns.create("take it all"),
        clerk.undo,
    ):  # fmt: skip
        with pytest.raises(Refused, match=r"may not write|cannot be limited"):
            refused()
    assert before == {path: path.read_bytes() for path in before}
    assert {row["name"] for row in owner.list("pattern").model_dump()["results"] for row in [row["record"]]} == {
        "calm", "lamps",
    }  # fmt: skip


def test_an_edge_is_written_if_one_of_its_ends_may_be_also_where_the_other_is_hidden(
    owner: Memory, clerk: Memory
) -> None:
    assert clerk.relations.link("pattern/calm", "serves", "service/shop").action == "created"
    assert clerk.relations.unlink("pattern/calm", "serves", "service/shop").action == "removed"
    owner.entities.add("service", "bank")
    with pytest.raises(Refused, match="may not write 'service'"):
        clerk.relations.link("service/bank", "serves", "service/shop")
    made = clerk.relations.link("calm", "solves", "failure/attic", note="by ear")
    assert (made.edge.source, made.edge.target, made.edge.note) == ("pattern/calm", "failure", "by ear")
    assert owner.solutions("failure/attic").results[0].ref == "pattern/calm"
    again = clerk.relations.link("calm", "solves", "failure/attic")
    assert (again.action, again.edge.note) == ("unchanged", None)
    assert clerk.relations.unlink("calm", "solves", "failure/attic").edge.target == "failure"
    assert clerk.relations.unlink("note/plan", "serves", "service/shop").edge.source == "note"
    row = b'{"kind":"relation","from":"service/shop","type":"causes","to":"note/plan"}\n'
    assert clerk.add_rows([row]).relations == 1
    owner.relations.link("service/shop", "serves", "failure/attic")
    for ref in ("failure/attic", "failure/none", "other/attic"):  # whether it is there or not
        told = f"this caller may not write 'service' or '{ref.partition('/')[0]}'"
        for change in (clerk.relations.link, clerk.relations.unlink):
            with pytest.raises(Refused) as refused:
                change("service/shop", "serves", ref)
            assert refused.value.message == told
    assert "failure/attic" in str(owner.get("service/shop").relations)


def test_of_an_end_that_may_not_be_read_an_edge_shows_the_type_and_nothing_is_reached_through_it(
    owner: Memory, clerk: Memory, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    owner.relations.link("note/plan", "serves", "pattern/calm", note="a secret note")
    owner.relations.link("pattern/calm", "solves", "failure/attic")
    owner.entities.add("service", "bank")
    owner.relations.link("service/bank", "causes", "failure/attic")
    found = clerk.get("pattern/calm")
    assert [(one.source, one.type, one.target, one.note) for one in found.relations] == [
        ("note", "serves", "pattern/calm", None),
        ("pattern/calm", "solves", "failure", None),
    ]
    assert run(["--dir", str(tmp_path), "--scope", "clerk", "get", "pattern/calm"]) == 0
    shown = capsys.readouterr().out
    assert "pattern/calm -solves 1.5-> failure\n" in shown
    assert not any(word in shown for word in ("attic", "plan", "secret"))
    assert [one.ref for one in owner.related("pattern/calm").results] != []
    assert clerk.related("pattern/calm").results == []
    assert owner.path("pattern/calm", "service/bank").hops == 2
    assert clerk.path("pattern/calm", "service/bank").path == []
    assert clerk.cypher("MATCH (a)-[r]->(b) RETURN count(*)").rows == [[0]]
    with pytest.raises(Refused, match="may not read 'failure'"):
        clerk.solutions("failure/attic")


def test_what_may_be_written_and_not_read_is_not_shown(owner: Memory, clerk: Memory) -> None:
    made = clerk.entities.add("note", "plan", value="another plan")
    assert (made.ref, made.record.to_row()["value"]) == ("note/plan", "another plan")
    assert owner.get("note/plan").record.to_row()["value"] == "another plan"
    again = clerk.entities.add("note", "plan")
    assert "another" not in again.model_dump_json()
    rows = [b'{"kind":"entity","type":"note","name":"plan","value":"third"}\n']
    bulk = clerk.add_rows(rows, verbose=True)
    assert (bulk.created, bulk.updated, bulk.updates, bulk.results) == (1, 0, [], [])
    assert [one.ref for one in owner.add_rows(rows, verbose=True).results] == ["note/plan"]
    for asked in (lambda: clerk.get("note/plan"), lambda: clerk.edit("note/pla", value="x"), lambda: clerk.get("plan")):
        with pytest.raises(NotFound) as told:
            asked()
        assert "note/plan" not in f"{told.value.hint} {told.value.details.get('candidates')}"
    assert clerk.store.names() == ["pattern/calm", "service/shop"]


def test_a_scope_counts_as_its_file_is_at_each_call(owner: Memory, clerk: Memory, tmp_path: Path) -> None:
    file = tmp_path / ".graphmem" / "scopes" / "clerk.toml"
    assert file.read_text() == 'read = ["pattern","service"]\nwrite = ["pattern","note"]\n'
    with pytest.raises(Refused, match="may not read 'failure'"):
        clerk.get("failure/attic")
    owner.store.scopes.add("clerk", read=["any"], description="Who is in the shop")
    assert clerk.get("failure/attic").ref == "failure/attic"
    with pytest.raises(Refused, match="may not write 'pattern'"):
        clerk.patterns.add("a dark place", "bring a lamp")
    for text, error in (("read = 3", Damaged), ('reads = ["pattern"]', Damaged), ("read = [", Damaged)):
        file.write_text(text)
        with pytest.raises(error, match=r"scopes/clerk.toml: "):
            clerk.list()
        (finding,) = [one for one in owner.store.validate().findings if one.file == "scopes/clerk.toml"]
        assert finding.code == "bad_scope"
    file.unlink()
    with pytest.raises(NotFound, match="no scope 'clerk'"):
        clerk.list()


def test_a_link_in_the_place_of_a_scope_is_no_scope(owner: Memory, clerk: Memory, tmp_path: Path) -> None:
    file = tmp_path / ".graphmem" / "scopes" / "clerk.toml"
    (tmp_path / "all.toml").write_text('read = ["any"]\n')
    file.unlink()
    file.symlink_to(tmp_path / "all.toml")
    with pytest.raises(NotFound, match="no scope 'clerk'"):
        clerk.list()


def test_a_scope_that_names_no_type_is_refused_and_one_by_hand_is_reported(owner: Memory, tmp_path: Path) -> None:
    with pytest.raises(Refused, match="'patern' is neither a kind nor an entity type") as told:
        owner.store.scopes.add("other", read=["patern"])
    assert told.value.hint == "did you mean pattern?"
    with pytest.raises(BadInput, match="scope name 'No Way' is not allowed"):
        owner.store.scopes.add("No Way")
    (tmp_path / ".graphmem" / "scopes" / "hand.toml").write_text('read = ["patern"]\n')
    (finding,) = owner.store.validate().findings
    assert (finding.file, finding.code, finding.expected) == (
        "scopes/hand.toml",
        "unknown_in_scope",
        "did you mean pattern?",
    )
    assert [scope.name for scope in owner.store.scopes.list().results] == ["clerk", "hand"]
    assert owner.store.scopes.show("hand").read == ("patern",)


def test_the_past_is_limited_by_the_scope_of_now(owner: Memory, tmp_path: Path) -> None:
    from tests.repository import Repository

    repository = Repository(tmp_path)
    repository.commit("all of it")
    owner.patterns.add("a dark place", "bring a lamp", name="lamp")
    with Memory(tmp_path, at="HEAD", scope="clerk") as past:
        assert past.store.names() == ["pattern/calm", "service/shop"]
        with pytest.raises(Refused, match="may not read 'failure'"):
            past.get("failure/attic")
        assert [change.ref for change in past.diff().changes] == ["pattern/lamp"]


@pytest.mark.long
def test_the_graph_of_a_scope_follows_what_it_sees_and_goes_with_a_purge(owner: Memory, clerk: Memory) -> None:
    query = "MATCH (n) RETURN n.name ORDER BY n.name"
    assert clerk.cypher(query).rows == [["calm"], ["shop"]]
    owner.failures.add("it went boom", name="boom")
    owner.entities.add("note", "other")
    owner.patterns.add("a dark place", "bring a lamp", name="lamp")
    assert clerk.cypher(query).rows == [["calm"], ["lamp"], ["shop"]]
    folder = owner.store.client.local / safe_files.SCOPED
    assert [path.name for path in folder.rglob("graph.kuzu*")] == ["graph.kuzu"]
    owner.store.purge(["pattern/lamp"], yes=True)
    assert [path.name for path in folder.rglob("graph.kuzu*")] == []
    assert clerk.cypher(query).rows == [["calm"], ["shop"]]


def test_the_command_line_takes_a_scope_by_option_and_environment(
    owner: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_SERVICE", "off")
    assert run(["--scope", "clerk", "list"]) == 0
    assert capsys.readouterr().out == "pattern/calm  a noisy place\nservice/shop\n"
    shutil.rmtree(tmp_path / ".graphmem" / "local")
    assert run(["--scope", "clerk", "list", "pattern"]) == 0
    assert capsys.readouterr().err == ""  # not how many records were read, of all kinds
    assert run(["get", "failure/attic", "--scope", "clerk"]) == 3
    assert capsys.readouterr().err == "error: this caller may not read 'failure'\nhint: it may read: pattern, service\n"
    assert run(["list", "--scope", "clark"]) == 1
    assert capsys.readouterr().err == "error: no scope 'clark'\nhint: did you mean clerk?\n"
    for odd in ("", "../clerk", "Clerk"):  # an empty one is of a variable that is not set
        assert run(["list", "--scope", odd]) != 0
        assert "attic" not in "".join(capsys.readouterr())
    monkeypatch.setenv("GRAPHMEM_SCOPE", "clerk")
    assert run(["add", "failure", "--trigger", "it went boom"]) == 3
    assert "this caller may not write 'failure'" in capsys.readouterr().err
    assert run(["scope", "add", "clerk", "--read", "any", "--write", "any"]) == 3  # it cannot free itself
    assert capsys.readouterr().err.startswith("error: scopes.add cannot be limited")
    assert data(tmp_path, "failure").read_text().count("\n") == 1


def test_an_mcp_server_with_a_scope_serves_what_it_allows(owner: Memory, tmp_path: Path) -> None:
    async def talk() -> list[str]:
        async with Client(make_server(KeptMemory(str(tmp_path), scope="clerk"))) as client:
            asked = [
                ("recall", {"question": "the attic is locked"}),
                ("remember", {"kind": "failure", "trigger": "it went boom"}),
                ("remember", {"kind": "pattern", "trigger": "a dark place", "insight": "bring a lamp"}),
            ]
            return [json.dumps((await client.call_tool(name, given)).model_dump(mode="json")) for name, given in asked]

    found, refused, made = anyio.run(talk)
    assert "attic" not in found.replace("the attic is locked", "")
    assert "may not write 'failure'" in refused
    assert "pattern/" in made and '"isError": true' not in made


def test_scopes_and_extractors_follow_when_a_type_is_renamed_or_dropped(owner: Memory, tmp_path: Path) -> None:
    store = tmp_path / ".graphmem"
    (store / "extractors").mkdir()
    (store / "extractors" / "notes.md").write_text(
        "---\ncommand: [cat, notes]\nwrites: [note, serves]\n---\n\nReads.\n"
    )
    preview = owner.types.rename("note", "memo")
    assert {"scopes/clerk.toml", "extractors/notes.md"} <= set(preview.files)
    owner.types.rename("note", "memo", yes=True)
    assert owner.store.scopes.show("clerk").write == ("pattern", "memo")
    assert [one.writes for one in owner.store.extractors.list().extractors] == [["memo", "serves"]]
    owner.types.drop("memo", yes=True)
    assert owner.store.scopes.show("clerk").write == ("pattern",)
    owner.undo()
    owner.undo()
    assert owner.store.scopes.show("clerk").write == ("pattern", "note")
    assert "writes: [note, serves]" in (store / "extractors" / "notes.md").read_text()


def test_a_scope_that_was_declared_is_taken_back_by_undo(owner: Memory, tmp_path: Path) -> None:
    file = tmp_path / ".graphmem" / "scopes" / "clerk.toml"
    before = file.read_bytes()
    owner.store.scopes.add("clerk", read=["any"])
    owner.undo()
    assert file.read_bytes() == before
    owner.undo()
    assert not file.exists()
