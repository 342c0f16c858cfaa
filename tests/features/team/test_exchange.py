"""What clones and a memory in a server give each other, in any order and wherever it ends."""

import contextlib
import random
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from graphmem import GraphmemError, Memory, Refused, Unavailable, Usage
from graphmem.kernel.ledger.served_history import ServedHistory
from graphmem.kernel.store.snapshot import Writing
from tests.contract.places import Died, stepping
from tests.contract.test_histories import act, rows_of
from tests.features.team.test_sync import Shared, shared  # noqa: F401  # the fixture
from tests.postgres import postgres
from tests.repository import Repository
from tests.sample import new_store, open_memory

SECRET = "the vault opens with sesame"


class Team:
    """A project in a server, and clones that exchange their rows with it, each on a machine of its own."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self.patch = folder, monkeypatch
        self.url = postgres().new_project("carla")
        with open_memory(self.clone("owner")) as memory:
            memory.store.team.init(self.url)

    def clone(self, name: str) -> Path:
        made = self.folder / name / "clone"
        if not made.exists():
            made.parent.mkdir()
            new_store(made)
        return made

    def open(self, name: str) -> Memory:
        self.patch.setenv("XDG_STATE_HOME", str(self.folder / name / "state"))
        return open_memory(self.clone(name))

    def sync(self, name: str, **given: bool) -> tuple[int, int]:
        """Exchange the rows of a clone; return how many were sent and received."""
        with self.open(name) as memory:
            answer = memory.store.sync(self.url, **given)
            return answer.sent, answer.received

    def names(self, name: str) -> list[str]:
        with self.open(name) as memory:
            return sorted(found.ref for found in memory.list().results)

    def rows(self, name: str) -> dict[int, bytes]:
        with self.open(name) as memory:
            memory.list()
            return rows_of(memory)


@pytest.fixture
def team(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Team:
    return Team(tmp_path, monkeypatch)


def add(team: Team, clone: str, name: str, fix: str | None = None) -> None:
    with team.open(clone) as memory:
        memory.failures.add(f"{name} went wrong", name=name, fix=fix, dedup=False)


def test_what_one_clone_has_the_other_gets_with_its_types(team: Team) -> None:
    with team.open("one") as memory:
        memory.types.add_entity("room")
        memory.entities.add("room", "attic", value="cold")
    add(team, "one", "boom")
    assert team.sync("one", dry_run=True) == (3, 0)
    assert team.sync("one") == (3, 0)
    assert team.sync("one") == (0, 0)
    add(team, "two", "full")
    assert team.sync("two", dry_run=True) == (1, 3)
    assert team.names("two") == ["failure/full"]
    assert team.sync("two") == (1, 3)
    assert team.sync("one") == (0, 1)
    assert team.names("one") == team.names("two") == ["failure/boom", "failure/full", "room/attic"]


def test_scopes_extractors_and_stored_queries_are_shared_and_nothing_of_them_runs(team: Team) -> None:
    """Of other files of a store a server takes none, and a machine that reads it directly has them as files."""
    query = team.clone("one") / ".graphmem/queries/shop/open.cypher"
    query.parent.mkdir(parents=True)
    query.write_text("MATCH (f:Failure) RETURN f.name\n")
    with team.open("one") as memory:
        memory.store.scopes.add("reviewer", read=["failure"])
        memory.store.extractors.add("python")
    sent, _ = team.sync("one")
    assert team.sync("two") == (0, sent)
    assert team.sync("one") == team.sync("two") == (0, 0)
    with team.open("two") as memory:
        assert [scope.name for scope in memory.store.scopes.list().results] == ["reviewer"]
        assert memory.store.extractors.list().extractors[0].trusted is False
    with Memory(team.url) as direct:
        assert (direct.store.client.layout.queries / "shop/open.cypher").is_file()
        direct.store.scopes.add("writer", write=["failure"])
        assert team.sync("two") == (0, 1)
    assert (team.clone("two") / ".graphmem/scopes/writer.toml").read_text().endswith('write = ["failure"]\n')
    query.unlink()
    team.sync("one")
    team.sync("two")
    assert not (team.clone("two") / ".graphmem/queries/shop/open.cypher").exists()
    with psycopg.connect(team.url.replace("&project=shop", "")) as admin:
        admin.execute("UPDATE graphmem.rows SET key = 'scopes/../../config.toml' WHERE key LIKE 'scopes/%'")
    with team.open("three") as memory:
        team.sync("three")
        assert memory.store.scopes.list().results == []


def test_changes_of_one_record_by_two_are_both_there(team: Team) -> None:
    with team.open("one") as memory:
        memory.failures.add("it went boom", name="boom", tags=["a", "b"])
    team.sync("one")
    team.sync("two")
    for clone, changes in (("one", {"fix": "wait", "tags": ["b", "c"]}), ("two", {"trigger": "bang", "tags": ["a"]})):
        with team.open(clone) as memory:
            memory.edit("boom", changes)
    for clone in ("one", "two", "one"):
        team.sync(clone)
    for clone in ("one", "two"):
        with team.open(clone) as memory:
            record = memory.get("boom").record
            assert (record.fix, record.trigger) == ("wait", "bang")  # type: ignore[union-attr]
            assert record.to_row()["tags"] == ["c"]  # each took one out


def test_what_was_removed_does_not_come_back_by_another_clone(team: Team) -> None:
    """Not even by one that got the row through git and exchanges for the first time; what it changed there stays."""
    for name in ("gone", "kept"):
        add(team, "one", name)
    for clone in ("git", "changed"):
        data = team.clone(clone) / ".graphmem/data/failure.ndjson"
        data.write_bytes((team.clone("one") / ".graphmem/data/failure.ndjson").read_bytes())
    with team.open("changed") as memory:
        memory.edit("gone", fix="look again")
    team.sync("one")
    team.sync("two")
    (team.clone("one") / ".graphmem/data/failure.ndjson").write_bytes(
        b"".join(line for line in team.rows("one").values() if b'"kept"' in line) + b"\n"
    )
    assert team.sync("one") == (1, 0)
    assert team.sync("two") == (0, 1)
    assert team.sync("git") == (0, 1)
    assert team.names("one") == team.names("two") == team.names("git") == ["failure/kept"]
    assert team.sync("changed") == (1, 0)
    assert team.names("changed") == ["failure/gone", "failure/kept"]


def test_a_purge_reaches_the_server_and_every_clone(team: Team) -> None:
    add(team, "one", "vault", fix=SECRET)
    for clone in ("one", "two", "late"):
        team.sync(clone)
    add(team, "late", "other")
    with team.open("late") as memory:
        memory.edit("vault", fix=f"{SECRET}, twice")  # it goes all the same
    with team.open("two") as memory:
        memory.store.purge(["vault"], yes=True)
    for clone in ("two", "one", "late", "two", "one"):
        team.sync(clone)
    for clone in ("one", "two", "late"):
        assert team.names(clone) == ["failure/other"]
        kept = [path for path in (team.folder / clone).rglob("*") if path.is_file()]
        assert [str(path) for path in kept if SECRET.encode() in path.read_bytes()] == []
    dump = subprocess.run(
        ["psql", team.url.replace("&project=shop", ""), "-Atc", "SELECT * FROM graphmem.rows, graphmem.changes"],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "other" in dump.stdout
    assert SECRET not in dump.stdout


@pytest.mark.parametrize("seed", [1, 2, *(pytest.param(seed, marks=pytest.mark.bench) for seed in range(3, 12))])
def test_clones_that_write_and_exchange_in_any_order_end_in_the_same_rows(team: Team, seed: int) -> None:
    chance = random.Random(seed)
    clones = ("one", "two", "three")
    for _ in range(24):
        clone = chance.choice(clones)
        if chance.random() < 0.4:
            team.sync(clone)
        else:
            with team.open(clone) as memory, contextlib.suppress(GraphmemError):
                act(memory, chance)
    for clone in clones * 2:
        team.sync(clone)
    assert team.rows("one") == team.rows("two") == team.rows("three")
    assert [team.sync(clone) for clone in clones] == [(0, 0)] * 3


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.bench) for seed in range(2, 22))])
@pytest.mark.parametrize("bridges", ["one two three", "one"])
@pytest.mark.slow
def test_clones_that_share_a_ref_and_a_server_end_in_the_same_rows(
    team: Team,
    shared: Shared,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
    bridges: str,
    seed: int,
) -> None:
    """
    In any order of writes and of exchanges with both; one more writes to the server and has no clone.

    Where several clones exchange with both, a change and what takes it back can go round without an end.
    """
    if " " in bridges:
        monkeypatch.setattr(Memory, "undo", lambda memory: None, raising=False)
    chance = random.Random(seed)
    clones = {name: shared.clone(name).folder for name in ("one", "two", "three")}

    def opened(name: str) -> Memory:
        monkeypatch.setenv("XDG_STATE_HOME", str(team.folder / "machines" / name))
        return open_memory(clones[name])

    def with_server() -> Memory:
        monkeypatch.setenv("XDG_STATE_HOME", str(team.folder / "machines" / "server"))
        with monkeypatch.context() as patch:
            patch.setenv("GRAPHMEM_STORE", team.url)
            patch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
            return Memory()

    done = 0
    for _ in range(24):
        name = chance.choice([*clones, "server"])
        with with_server() if name == "server" else opened(name) as memory:
            for _ in range(5):
                with contextlib.suppress(GraphmemError):
                    act(memory, chance)
                    done += 1
            if name != "server" and chance.random() < 0.6:
                memory.store.sync(chance.choice([None, team.url] if name in bridges else [None]))
    assert done > 15
    found = []
    for _ in range(3):
        for name in clones:
            with opened(name) as memory:
                memory.store.sync()
                if name in bridges:
                    memory.store.sync(team.url)
    for name in clones:
        with opened(name) as memory:
            memory.store.sync()
            memory.list()
            found.append(rows_of(memory))
    with with_server() as memory:
        memory.list()
        found.append(rows_of(memory))
    assert found[0] and found == [found[0]] * 4
    assert [sync_of(opened, name, team.url) for name in clones if name in bridges] == [(0, 0)] * len(bridges.split())


def sync_of(opened: Callable[[str], Memory], name: str, url: str) -> tuple[int, int]:
    with opened(name) as memory:
        answer = memory.store.sync(url)
        return answer.sent, answer.received


def test_an_exchange_that_dies_at_any_step_is_finished_by_the_next(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """It dies before each write, between them, and before it is kept what both have."""
    died = 0
    for step in range(8):
        for clone in ("one", "two"):
            add(team, clone, f"{clone}-{step}")
        steps = iter(range(100))

        def die(step: int = step, steps: Iterator[int] = steps) -> None:
            if next(steps) == step:
                raise Died

        with monkeypatch.context() as patch:
            for kind, name in ((Writing, "commit"), (ServedHistory, "last")):
                patch.setattr(kind, name, stepping(getattr(kind, name), die))
            try:
                team.sync("one")
            except Died:
                died += 1
        for clone in ("one", "two", "one"):
            team.sync(clone)
        assert team.rows("one") == team.rows("two")
        assert len(team.rows("one")) == 2 * (step + 1)
    assert died == 4


def test_what_cannot_be_exchanged_is_said_and_changes_nothing(team: Team) -> None:
    add(team, "one", "boom")
    with team.open("one") as memory:
        with pytest.raises(Unavailable, match="does not answer"):
            memory.store.sync("postgresql://127.0.0.1:1/x?project=shop")
        with pytest.raises(Unavailable, match="no project 'mill'"):
            memory.store.sync(team.url.replace("project=shop", "project=mill"))
        with pytest.raises(Usage, match="names no project"):
            memory.store.sync("postgresql://127.0.0.1:1/x")
        with pytest.raises(Usage, match="a preview is of an exchange with a server"):
            memory.store.sync(dry_run=True)
    team.patch.setenv("GRAPHMEM_STORE", team.url)
    with Memory() as memory, pytest.raises(Refused, match="this memory is in a server"):
        memory.store.sync(team.url)


def test_an_exchange_commits_nothing_in_git(team: Team) -> None:
    made = Repository(team.folder / "owner" / "repo")
    Memory.init(made.folder)
    made.change("memory", a="x = 1")
    head = made("rev-parse", "HEAD")
    with open_memory(made.folder) as memory:
        memory.failures.add("it broke", name="broke")
        assert memory.store.sync(team.url).sent == 1
    assert made("rev-parse", "HEAD") == head


def test_what_a_member_writes_for_a_path_becomes_no_file(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    """A member reaches the tables by other programs too: its texts are no reason to write elsewhere."""
    add(team, "one", "boom")
    team.sync("one")
    with psycopg.connect(team.url.replace("&project=shop", ""), autocommit=True) as member:
        member.execute("UPDATE graphmem.project SET seq = 9, commit = 9")
        for number, (kind, path) in enumerate(
            [("file", "../../evil.md"), ("file", "state/state.db"), ("file", "config.toml"), ("../evil", "x")]
        ):
            sql = "INSERT INTO graphmem.rows (project, id, key, kind, row, seq) VALUES ('shop', %s, %s, %s, 'evil', 9)"
            member.execute(sql, [number, path, kind])
            values = "('shop', 9, %s, 9, 'evil', now())"
            sql = f"INSERT INTO graphmem.changes (project, seq, id, commit, new, at) VALUES {values}"
            member.execute(sql, [number])
    before = {path: path.read_bytes() for path in team.clone("two").rglob("*") if path.is_file()}
    team.sync("two")
    assert team.names("two") == ["failure/boom"]
    monkeypatch.setenv("GRAPHMEM_STORE", team.url)
    with Memory() as memory:
        memory.store.export(to=team.folder / "out")
        assert [change.ref for change in memory.diff("1").changes] == []
    with Memory(at="9") as memory:
        assert [found.ref for found in memory.list().results] == ["failure/boom"]
    found = [path for path in team.folder.rglob("*") if path.is_file() and b"evil" in path.read_bytes()]
    assert [path.suffix for path in found if path.suffix not in (".sqlite", ".sqlite-wal")] == []
    config = team.clone("two") / ".graphmem/config.toml"
    assert config.read_bytes() == before[config]
