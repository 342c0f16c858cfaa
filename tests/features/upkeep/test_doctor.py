"""What ``validate`` and ``doctor`` find, and what ``doctor`` mends."""

import os
import subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from graphmem import Memory, Refused
from graphmem.kernel.finding import Finding
from tests.sample import START, contents, data, edge, failure, line, open_memory, write


@pytest.fixture
def clone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a git repository of its own."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GIT_CONFIG_NOSYSTEM", "1")
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    return folder


def codes(findings: list[Finding]) -> list[str]:
    return [finding.code for finding in findings]


def task(seq: str, *depends: str, **fields: object) -> bytes:
    needs = [f"task/c/{need}-t" for need in depends]
    return line(kind="task", name=f"c/{seq}-t", campaign="campaign/c", objective="t", depends=needs, **fields)


# --- validate ------------------------------------------------------------------------------------------------------


def test_a_cycle_that_two_branches_made_is_an_error_with_its_path(memory: Memory, tmp_path: Path) -> None:
    memory.campaigns.create("C", name="c")
    write(
        data(tmp_path, "task"),
        task("001", "002"),
        task("002", "003"),
        task("003", "001"),
        task("004"),
        task("005", "004"),
    )
    checked = memory.store.validate()
    assert not checked.ok
    (finding,) = checked.findings
    assert (finding.file, finding.code, finding.line) == ("data/task.ndjson", "cycle", 1)
    assert "task/c/001-t → task/c/002-t → task/c/003-t → task/c/001-t" in finding.message
    assert [found.name for found in memory.campaigns.ready("c").ready] == ["c/004-t"]


def test_a_record_whose_successor_is_missing_is_told(memory: Memory, tmp_path: Path) -> None:
    write(
        data(tmp_path, "failure"),
        failure("a", superseded_by="failure/gone", archived_at="2026-11-01T09:30:00.000Z"),
        failure("b", superseded_by="failure/a", archived_at="2026-11-01T09:30:00.000Z"),
    )
    checked = memory.store.validate()
    assert checked.ok
    (finding,) = checked.findings
    assert (finding.code, finding.line) == ("lost_successor", 1)
    assert finding.message == "failure/a is superseded by failure/gone, which is missing"


def test_a_row_from_the_future_is_told(memory: Memory, tmp_path: Path) -> None:
    later = (START + timedelta(days=2)).isoformat()
    write(
        data(tmp_path, "failure"), failure("a"), failure("b", edited={"trigger": later}), failure("c", created_at=later)
    )
    checked = memory.store.validate()
    assert checked.ok
    assert [(found.code, found.line) for found in checked.findings] == [("future", 2), ("future", 3)]


def test_validate_sees_an_index_that_differs(memory: Memory) -> None:
    for name in ("a", "b"):
        memory.failures.add(f"{name} went wrong", name=name)
    memory.query("wrong")
    catalog = memory.store.client.catalog.connection  # behind everybody's back
    catalog.execute("DELETE FROM lexical WHERE rowid = (SELECT id FROM record LIMIT 1)")
    catalog.execute("INSERT INTO lexical (rowid, words) VALUES (7, 'ghost')")
    checked = memory.store.validate()
    assert (checked.ok, codes(checked.findings)) == (False, ["index_differs"] * 2)
    assert memory.store.doctor(fix=True).ok
    assert len(memory.query("wrong").results) == 2


def test_a_conflict_marker_names_the_command_that_repairs_it(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), b"<<<<<<< HEAD\n", failure("a"), b"=======\n", b">>>>>>> theirs\n")
    assert [(found.line, found.fix) for found in memory.store.validate().findings] == [
        (n, "graphmem resolve") for n in (1, 3, 4)
    ]


def test_a_report_on_nothing_is_told(memory: Memory, tmp_path: Path) -> None:
    write(
        data(tmp_path, "feedback"),
        b'{"at":"2026-11-01T09:30:00.000Z","helped":true,"id":"x","kind":"feedback","ref":"failure/a"}\n',
    )
    assert codes(memory.store.validate().findings) == ["dangling"]
    memory.failures.add("boom", name="a")
    assert memory.store.validate().findings == []


# --- doctor --------------------------------------------------------------------------------------------------------


def test_a_new_store_is_well(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.failures.add("boom", name="a")
        assert memory.store.doctor().model_dump() == {"ok": True, "findings": [], "mended": []}


def test_a_clone_that_is_not_set_up_is_one_line_with_one_command(clone: Path, tmp_path: Path) -> None:
    with open_memory(clone) as memory:
        memory.failures.add("boom", name="a")
    subprocess.run(["git", "-C", str(clone), "add", "--all"], check=True)
    who = ("-c", "user.name=a", "-c", "user.email=a@example.org")
    subprocess.run(["git", "-C", str(clone), *who, "commit", "--quiet", "-m", "store"], check=True)
    other = tmp_path / "another-clone"
    subprocess.run(["git", "clone", "--quiet", str(clone), str(other)], check=True)
    with open_memory(other) as memory:
        (found,) = memory.store.doctor().findings
        assert (found.code, found.fix) == ("not_set_up", "graphmem init")
        assert memory.store.doctor(fix=True).findings == []
        assert memory.store.doctor().findings == []


def test_doctor_shows_first_and_mends_when_told(clone: Path) -> None:
    with open_memory(clone) as memory:
        memory.failures.add("boom", name="a")
        memory.failures.add("bang", name="archived")
        memory.relations.link("a", "causes", "archived")
        memory.forget("archived")
    store = clone / ".graphmem"
    write(data(clone, "relations/prerequisite"), edge("failure/a", "prerequisite", "failure/gone"))
    (store / ".gitignore").write_text("# mine\nlocal/\n")
    (store / "schema.json").write_text("{}")
    (store / "types/entities").rmdir()
    leftover = store / "data/.failure.ndjson.123.tmp"
    leftover.write_bytes(b"half")
    subprocess.run(["git", "-C", str(clone), "config", "--local", "--remove-section", "merge.graphmem"], check=True)
    broken = ["dangling", "leftover", "missing_entry", "missing_folder", "stale_schema", "unregistered", "unregistered"]
    with open_memory(clone) as memory:
        before = contents(clone)
        found = memory.store.doctor()
        assert sorted(codes(found.findings)) == sorted([*broken, "waiting"])
        assert found.ok and not found.mended
        assert contents(clone) == before
        assert all("which would" in (finding.fix or "") for finding in found.findings if finding.code != "waiting")
        done = memory.store.doctor(fix=True)
        assert codes(done.findings) == ["waiting"]
        assert sorted(codes(done.mended)) == sorted(broken)
        assert not leftover.exists()
        lines = (store / ".gitignore").read_text().splitlines()
        assert lines.count("# mine") == lines.count("local/") == 1
        assert data(clone, "relations/prerequisite").read_bytes() == b""
        memory.undo()
        assert b"failure/gone" in data(clone, "relations/prerequisite").read_bytes()
        memory.restore("archived")
        assert [found.ref for found in memory.related("a").results] == ["failure/archived"]


@pytest.mark.long
def test_a_damaged_catalog_is_told_and_made_anew(memory: Memory, tmp_path: Path) -> None:
    for n in range(200):
        memory.failures.add(f"{n} went wrong", name=f"f{n}", dedup=False)
    catalog = tmp_path / ".graphmem/local/catalog.sqlite"
    memory.store.client.catalog.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    memory.close()
    before = contents(tmp_path)
    page = catalog.read_bytes().index(b'"name":"f150"') // 4096 * 4096
    with open(catalog, "r+b") as file:
        file.seek(page)
        file.write(b"\xff" * 100)
    with open_memory(tmp_path) as damaged:
        found = damaged.store.doctor()
        assert (found.ok, codes(found.findings)) == (False, ["catalog_damaged"])
        done = damaged.store.doctor(fix=True)
        assert (done.ok, codes(done.mended)) == (True, ["catalog_damaged"])
        assert damaged.list().total == 200
        damaged.failures.add("after", name="after")
    assert before.items() - contents(tmp_path).items() == {("data/failure.ndjson", before["data/failure.ndjson"])}


def test_a_damaged_state_is_told_and_put_aside(memory: Memory, tmp_path: Path) -> None:
    memory.runs.set({"next_step": "plan"})
    state = tmp_path / ".graphmem/state/state.db"
    whole = state.read_bytes()
    assert "state_damaged" not in {one.code for one in memory.store.doctor().findings}
    for damaged in (b"not a database" * 500, whole[: len(whole) // 2]):
        state.write_bytes(damaged)
        (finding,) = (one for one in memory.store.doctor().findings if one.code == "state_damaged")
        assert (finding.file, finding.severity) == ("state/state.db", "warning")
        assert finding.fix == "graphmem doctor --fix --yes, which would put it aside, and begin a new one"
        assert "state_damaged" in {one.code for one in memory.store.doctor(fix=True).mended}
        assert memory.store.doctor().findings == []
        assert state.with_name("state.db.aside").read_bytes() == damaged


def test_a_graph_that_cannot_be_read_is_told_and_made_anew(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("boom", name="a")
    memory.cypher("RETURN 1")
    path = tmp_path / ".graphmem/local/graph.kuzu"
    found = os.stat(path)
    with open(path, "r+b") as file:
        file.write(b"\xff" * 4096)
    os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))
    assert codes(memory.store.validate().findings) == ["graph_damaged"]
    assert memory.store.doctor(fix=True).ok
    assert memory.cypher("MATCH (f:Failure) RETURN f.name").rows == [["a"]]


def test_a_link_in_the_store_is_never_written_to(clone: Path, tmp_path: Path) -> None:
    """A branch can bring links that lead out of the store."""
    mine = tmp_path / "mine"
    mine.write_text("mine\n")
    with open_memory(clone) as memory:
        ignored = clone / ".graphmem/.gitignore"
        ignored.unlink()
        ignored.symlink_to(mine)
        with pytest.raises(Refused, match="symbolic link"):
            memory.store.doctor(fix=True)
        assert "link" in codes(memory.store.doctor().findings)
    assert mine.read_text() == "mine\n"
    assert ignored.is_symlink()


def test_doctor_says_when_no_model_is_at_hand(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Memory.init(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", str(tmp_path / "nothing"))
    with Memory(tmp_path) as memory:
        found = memory.store.doctor()
    assert (found.ok, codes(found.findings)) == (True, ["no_model"])
