"""What was purged is in no file of the store, and no merge brings it back."""

import sqlite3
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from graphmem import Memory, NotFound
from graphmem.embed.model import Embedder
from graphmem.rules.purged import Purges, purge_hash
from tests.repository import Repository
from tests.sample import Clock, contents, data, edge, failure, open_memory, write

WORDS = ("xyzzyname", "plughtrigger", "frobfix", "quuxalias", "wibblenote", "wobbletask")


def traces(folder: Path) -> list[str]:
    """Return the files below a folder that hold one of the words, in any case."""
    return [
        f"{path.relative_to(folder)}: {word}"
        for path in sorted(folder.rglob("*"))
        if path.is_file()
        for word in WORDS
        if word.encode() in path.read_bytes().lower()
    ]


def secret(memory: Memory) -> None:
    """A failure that everything on this machine knows of."""
    memory.failures.add("PlughTriggerError: the FrobFix failed", name="xyzzyname", fix="FrobFix it", sources=["x"])
    memory.edit("xyzzyname", {"fix": "FrobFix twice"})
    memory.rename("xyzzyname", "quuxalias")
    memory.rename("quuxalias", "xyzzyname")
    memory.failures.add("another thing", name="other", fix="do it", dedup=False)
    memory.relations.link("xyzzyname", "causes", "other", note="wibblenote")
    memory.feedback("xyzzyname", helped=True, task="wobbletask")
    memory.supersede("other", "xyzzyname")
    memory.restore("other")
    memory.add_rows([b'{"kind":"failure","name":"bad","fix":"FrobFix twice"}', failure("good")], skip_invalid=True)
    memory.ran(["make"], status=1, log=[b"PlughTriggerError: the FrobFix failed\n"])
    memory.sessions.start(task="work")
    memory.sessions.note(used=["xyzzyname"])
    work_with(memory, "PlughTriggerError: the FrobFix failed")
    memory.query("PlughTrigger")
    memory.context("PlughTrigger: the FrobFix failed")
    memory.cypher("MATCH (f:Failure) RETURN f.fix")


def work_with(memory: Memory, text: str) -> None:
    """A task that got the failure and was blocked by it, and all else that work notes."""
    memory.campaigns.create("some work", name="work")
    memory.campaigns.add_tasks("work", [{"seq": 1, "objective": "mend it"}, {"seq": 2, "objective": "show it"}])
    memory.tasks.start("work/001")
    memory.tasks.block("work/001", text)
    memory.tasks.start("work/001")
    memory.tasks.complete("work/001", delivered="it is mended", used=["xyzzyname"])
    memory.runs.set({"agent_outputs": {"plan": {"summary": text}}, "next_step": "build"})
    memory.events.add("context-compacted", data={"said": [text]})
    memory.events.add("review.verdict", subject="failure/other", data={"findings": [{"description": text}]})
    memory.explorations.report(memory.explorations.start().session, "memory", text)
    memory.inbox.add(text)


@pytest.fixture
def store(tmp_path: Path, embedder: Embedder) -> Iterator[Memory]:
    repository = Repository(tmp_path)
    with open_memory(tmp_path, embedder=embedder) as memory:
        secret(memory)
        repository.commit("the store")
        with Memory(tmp_path, at="HEAD") as past:
            past.query("PlughTrigger")
        yield memory


def test_after_a_purge_its_bytes_are_in_no_file_of_the_store(store: Memory, tmp_path: Path) -> None:
    folder = tmp_path / ".graphmem"
    before = {found.partition(":")[0] for found in traces(folder)}
    assert {"local/catalog.sqlite", "local/graph.kuzu", "state/usage.sqlite", "state/runs.json", "state/session.json",
            "state/rejects.ndjson", "data/failure.ndjson", "data/feedback.ndjson"} <= {
        name.removesuffix("-wal") for name in before}  # fmt: skip
    assert any(name.startswith("local/at/") for name in before)
    assert any(name.startswith("state/undo/") for name in before)
    store.purge(["xyzzyname"], yes=True)
    assert traces(folder) == []
    assert store.validate().ok
    assert [found.ref for found in store.list("failure").results] == ["failure/good", "failure/other"]
    store.query("what is left")
    store.cypher("MATCH (f:Failure) RETURN f.fix")
    store.rebuild()
    store.close()
    assert traces(folder) == []


def test_an_open_reader_does_not_keep_purged_bytes_in_the_log_of_the_catalog(memory: Memory, tmp_path: Path) -> None:
    secret(memory)
    other = sqlite3.connect(tmp_path / ".graphmem/local/catalog.sqlite")
    other.execute("SELECT count(*) FROM record").fetchone()
    memory.purge(["xyzzyname"], yes=True)
    assert traces(tmp_path / ".graphmem") == []
    other.close()


def test_a_purge_leaves_a_row_that_names_nothing(memory: Memory, tmp_path: Path) -> None:
    secret(memory)
    key = memory.get("xyzzyname").record.key_ref
    memory.purge(["xyzzyname"], yes=True)
    rows = [orjson.loads(line) for line in data(tmp_path, "purge").read_bytes().splitlines()]
    (salt,) = {row["salt"] for row in rows}
    assert purge_hash(salt, key) in {row["hash"] for row in rows}
    assert len(rows) == 4  # the record, its edge, its two reports
    assert memory.export_check().ok


def test_what_only_quoted_the_purged_text_stays_without_it(memory: Memory) -> None:
    secret(memory)
    memory.purge(["xyzzyname"], yes=True)
    moves = memory.tasks.show("work/001").moves
    assert [(one.before, one.after, one.reason) for one in moves] == [
        ("pending", "active", None), ("active", "blocked", None), ("blocked", "active", None),
        ("active", "complete", None),
    ]  # fmt: skip
    assert memory.runs.show().next_step == "build"
    assert [one.type for one in memory.events.list(types=["review."]).events] == ["review.verdict"]
    assert [one.content for one in memory.inbox.items().items] == [""]


def test_the_lineage_of_a_task_goes_with_the_task_that_is_purged(memory: Memory) -> None:
    memory.campaigns.create("some work", name="work")
    memory.campaigns.add_tasks(
        "work", [{"seq": 1, "objective": "first"}, {"seq": 2, "objective": "next", "depends": 1}]
    )
    memory.tasks.start("work/001")
    memory.tasks.complete("work/001", delivered="what nobody may read")
    memory.tasks.start("work/002")
    memory.purge(["task/work/001-first"], yes=True)
    task = memory.get("task/work/002-next").record
    assert getattr(task, "lineage", None) == ()
    assert memory.tasks.show("work/002").moves[0].after == "active"


# --- a merge that brings it back -----------------------------------------------------------------------------------


@pytest.fixture
def merged(tmp_path: Path) -> Path:
    """A repository in which one branch purged a failure that the other edited, linked and reported on."""
    repository = Repository(tmp_path / "project")
    folder = repository.folder
    clock = Clock()
    with open_memory(folder, clock=clock) as memory:
        memory.failures.add("plughtrigger happened", name="xyzzyname", fix="frobfix")
        memory.failures.add("another thing", name="other", dedup=False)
    repository.commit("both")
    repository("checkout", "-q", "-b", "old")
    with open_memory(folder, clock=clock) as memory:
        memory.edit("xyzzyname", {"fix": "frobfix, better"})
        memory.relations.link("xyzzyname", "causes", "other", note="wibblenote")
        memory.feedback("xyzzyname", helped=True)
        memory.feedback("other", helped=True)
    repository.commit("old work")
    repository("checkout", "-q", "main")
    with open_memory(folder, clock=clock) as memory:
        memory.purge(["xyzzyname"], yes=True)
    repository.commit("purged")
    repository("merge", "-q", "-m", "merged", "old")
    return folder


def test_a_merge_does_not_bring_back_what_was_purged(merged: Path) -> None:
    assert b"frobfix" in data(merged, "failure").read_bytes()
    said: list[str] = []
    with open_memory(merged, said=said) as memory:
        assert [found.ref for found in memory.list().results] == ["failure/other"]
        assert any("data/failure.ndjson: 1 row that had been purged came back" in text for text in said)
        with pytest.raises(NotFound):
            memory.get("xyzzyname")
        assert memory.query("plughtrigger").results == []
        assert memory.get("other").record.helped == 1  # type: ignore[union-attr]
        found = [finding for finding in memory.validate().findings if finding.code == "purged_row"]
        assert {finding.file for finding in found} == {
            "data/failure.ndjson", "data/feedback.ndjson", "data/relations/causes.ndjson"}  # fmt: skip
        assert memory.validate().ok


def test_the_next_write_of_a_file_removes_what_a_merge_brought_back_and_says_so(merged: Path) -> None:
    said: list[str] = []
    with open_memory(merged, said=said) as memory:
        memory.edit("other", {"fix": "x"})
        assert b"frobfix" not in data(merged, "failure").read_bytes()
        assert any(text.startswith("removed from data/failure.ndjson: 1 row") for text in said)
        assert b"wibblenote" in data(merged, "relations/causes").read_bytes()
        assert memory.doctor(fix=True).findings == []
    assert traces(merged / ".graphmem/data") == []


def test_the_same_thing_may_be_added_again_after_a_purge(merged: Path) -> None:
    clock = Clock()
    clock.back(clock.step * 10_000)  # a clock that is behind does not lose it either
    with open_memory(merged, clock=clock) as memory:
        memory.failures.add("plughtrigger happened", name="xyzzyname", fix="in public")
        memory.relations.link("xyzzyname", "causes", "other")
        memory.feedback("xyzzyname", helped=True, task="t")
        memory.edit("xyzzyname", {"tags": ["x"]})
        memory.rebuild()
        assert memory.get("xyzzyname").record.fix == "in public"  # type: ignore[union-attr]
        assert memory.get("xyzzyname").record.helped == 1  # type: ignore[union-attr]
        assert [found.target for found in memory.get("xyzzyname").relations] == ["failure/other"]
        assert memory.purge(["xyzzyname"], yes=True).records == ["failure/xyzzyname"]
    with open_memory(merged) as memory:
        assert [found.ref for found in memory.list().results] == ["failure/other"]


def test_a_purge_that_arrives_by_a_pull_keeps_rows_out_and_its_revert_lets_them_in(
    memory: Memory, tmp_path: Path
) -> None:
    write(data(tmp_path, "failure"), failure("a"), failure("b"))
    write(data(tmp_path, "relations/causes"), edge("failure/a", "causes", "failure/b"))
    memory.list()
    row = {"kind": "purge", "salt": "s", "hash": purge_hash("s", "failure/a"), "at": "2026-11-02T00:00:00.000Z"}
    write(data(tmp_path, "purge"), orjson.dumps(row) + b"\n")
    assert [found.ref for found in memory.list().results] == ["failure/b"]
    assert memory.get("b").relations == []
    data(tmp_path, "purge").unlink()
    assert [found.ref for found in memory.list().results] == ["failure/a", "failure/b"]
    assert len(memory.get("b").relations) == 1


def test_rows_of_a_purge_are_taken_in_like_any_rows(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("a"), failure("b"))
    row = {"kind": "purge", "salt": "s", "hash": purge_hash("s", "failure/a"), "at": "2026-11-02T00:00:00.000Z"}
    memory.add_rows([orjson.dumps(row)])
    assert [found.ref for found in memory.list().results] == ["failure/b"]
    memory.undo()
    assert [found.ref for found in memory.list().results] == ["failure/a", "failure/b"]


@pytest.mark.parametrize(
    ("row", "is_purged"),
    [
        ({"kind": "failure", "name": "a", "created_at": "2026-11-01T00:00:00.000Z"}, True),
        ({"kind": "failure", "name": "a", "created_at": "2026-11-03T00:00:00.000Z"}, False),
        ({"kind": "failure", "name": "b", "key": "a", "created_at": "2026-11-01T10:00:00+01:00"}, True),
        ({"kind": "failure", "name": "b", "created_at": "2026-11-01T00:00:00.000Z"}, False),
        ({"kind": "pattern", "name": "a", "created_at": "2026-11-01T00:00:00.000Z"}, False),
        ({"kind": "feedback", "ref": "failure/a", "id": "1", "at": "2026-11-01T00:00:00.000Z"}, True),
        ({"kind": "feedback", "ref": "failure/a", "id": "1", "at": "2026-11-03T00:00:00.000Z"}, False),
        ({"kind": "event", "id": "1", "subject": "failure/a", "at": "2026-11-01T00:00:00.000Z"}, True),
        ({"kind": "relation", "from": "failure/b", "type": "causes", "to": "failure/a",
          "created_at": "2026-11-01T00:00:00.000Z"}, True),
        ({"kind": "decision", "name": "d", "task": "failure/a", "created_at": "2026-11-01T00:00:00.000Z"}, False),
    ],
)  # fmt: skip
def test_a_row_is_purged_by_its_key_or_by_what_it_cannot_be_without(row: dict[str, str], is_purged: bool) -> None:
    found = {"salt": "s", "hash": purge_hash("s", "failure/a"), "at": "2026-11-02T00:00:00.000Z"}
    assert (Purges([found]).purged_at(row, ()) is not None) == is_purged


def test_a_purge_shows_first_and_writes_no_hash(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("a went wrong", name="a")
    before = contents(tmp_path)
    memory.purge(["a"])
    assert contents(tmp_path) == before
