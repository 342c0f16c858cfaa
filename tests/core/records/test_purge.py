"""What was purged is in no file of the store, and no merge brings it back."""

import contextlib
import sqlite3
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, Thread

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound
from graphmem.kernel.embed.model import Embedder
from graphmem.kernel.model.purges import Purges, purge_hash
from graphmem.kernel.system import safe_files
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


@pytest.mark.long
def test_after_a_purge_its_bytes_are_in_no_file_of_the_store(store: Memory, tmp_path: Path) -> None:
    folder = tmp_path / ".graphmem"
    before = {found.partition(":")[0] for found in traces(folder)}
    assert {"local/catalog.sqlite", "local/graph.kuzu", "state/state.db",
            "state/rejects.ndjson", "data/failure.ndjson", "data/feedback.ndjson"} <= {
        name.removesuffix("-wal") for name in before}  # fmt: skip
    assert any(name.startswith("local/at/") for name in before)
    assert any(name.startswith("state/undo/") for name in before)
    store.store.purge(["xyzzyname"], yes=True)
    assert traces(folder) == []
    assert store.store.validate().ok
    assert [found.ref for found in store.list("failure").results] == ["failure/good", "failure/other"]
    store.query("what is left")
    store.cypher("MATCH (f:Failure) RETURN f.fix")
    store.store.rebuild()
    store.close()
    assert traces(folder) == []


@pytest.mark.long
def test_a_purge_that_arrives_clears_what_is_on_this_machine(store: Memory, tmp_path: Path) -> None:
    """In the worktree of somebody else who merges the purge, nothing of the text stays beside git's own history."""
    folder = tmp_path / ".graphmem"
    with Memory(tmp_path, at="HEAD") as past:  # as another worktree has it from before
        past.list()
    rows = {file.name: file.read_bytes() for file in (folder / "data").glob("*.ndjson")}
    store.store.purge(["xyzzyname"], yes=True)
    after = {file.name: file.read_bytes() for file in (folder / "data").glob("*.ndjson")}
    other = tmp_path / "other"
    other.mkdir()
    Repository(other)
    with open_memory(other) as memory:
        for name, content in rows.items():
            write(other / ".graphmem/data" / name, content)
        memory.query("PlughTrigger")
        memory.ran(["make"], status=1, log=[b"PlughTriggerError: the FrobFix failed\n"])
        memory.sessions.start(task="PlughTriggerError: the FrobFix failed, again")
        memory.events.add("context-compacted", data={"said": ["PlughTriggerError: the FrobFix failed"]})
        memory.cypher("MATCH (f:Failure) RETURN f.fix")
        assert traces(other / ".graphmem/state") != []
        for name, content in after.items():
            write(other / ".graphmem/data" / name, content)
        memory.list()
        assert traces(other / ".graphmem") == []
        assert not (other / ".graphmem/state/purge.json").exists()


def test_a_past_state_lacks_what_was_purged_since(memory: Memory, tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    memory.failures.add("PlughTriggerError: the door is shut", name="xyzzyname", fix="FrobFix it")
    memory.failures.add("another thing", name="other", fix="do it")
    memory.relations.link("xyzzyname", "causes", "other", note="wibblenote")
    repository.commit("the store")
    memory.store.purge(["xyzzyname"], yes=True)
    for _ in range(2):  # taken out of git, and read again
        with Memory(tmp_path, at="HEAD") as past:
            assert [one.ref for one in past.list().results] == ["failure/other"]
    assert traces(tmp_path / ".graphmem") == []


def test_records_that_quote_what_was_purged_are_named(memory: Memory) -> None:
    memory.failures.add("PlughTriggerError: the door is shut", name="xyzzyname", fix="FrobFix it")
    memory.patterns.add("any door", "answer to PlughTriggerError: the door is shut", name="quoter")
    memory.failures.add("another thing", name="other", fix="do it")
    memory.relations.link("quoter", "solves", "xyzzyname")
    assert memory.store.purge(["xyzzyname"]).quoted_by == ["pattern/quoter"]
    assert memory.store.purge(["xyzzyname"], yes=True).quoted_by == ["pattern/quoter"]


@pytest.mark.long
@pytest.mark.parametrize("step", range(1, 12))
@pytest.mark.slow
def test_what_a_purge_that_was_cut_off_left_is_cleared_by_the_next_command(
    store: Memory, tmp_path: Path, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cut off before each file of this machine is replaced or removed, after the rows were replaced."""
    calls = iter(range(1, 1_000))

    def dying(act: Callable[..., None]) -> Callable[..., None]:
        def died_or_done(*arguments: object, **options: object) -> None:
            if next(calls) == step:
                raise KeyboardInterrupt
            act(*arguments, **options)

        return died_or_done

    with monkeypatch.context() as patch:
        for name in ("put", "remove_folder", "remove"):
            patch.setattr(safe_files, name, dying(getattr(safe_files, name)))
        with contextlib.suppress(KeyboardInterrupt):
            store.store.purge(["xyzzyname"], yes=True)
    gone = b"PlughTrigger" not in data(tmp_path, "failure").read_bytes()
    store.list()
    if gone:
        assert traces(tmp_path / ".graphmem") == []
    assert not (tmp_path / ".graphmem/state/purge.json").exists()
    assert store.store.validate().ok


def test_a_purge_takes_nothing_from_those_who_write_beside_it(tmp_path: Path) -> None:
    """Events and the run state of this machine are changed under their locks, also by a purge."""
    with open_memory(tmp_path) as memory:
        for number in range(8):
            memory.failures.add(f"PlughTrigger {number} went wrong", name=f"xyzzyname{number}", dedup=False)
    done: dict[str, int] = {"events": 0, "fields": 0}
    is_purged = Event()

    def act(name: str, add: Callable[[Memory, int], object]) -> None:
        with open_memory(tmp_path) as beside:
            while not is_purged.is_set():
                add(beside, done[name])
                done[name] += 1

    writers = [
        Thread(target=act, args=("events", lambda one, n: one.events.add("context-made", data={"n": n}))),
        Thread(target=act, args=("fields", lambda one, n: one.runs.set({"agent_outputs": {f"part-{n}": {"n": n}}}))),
    ]
    for thread in writers:
        thread.start()
    with open_memory(tmp_path) as memory:
        for number in range(8):
            memory.store.purge([f"xyzzyname{number}"], yes=True)
        is_purged.set()
        for thread in writers:
            thread.join()
        kept = list(memory.store.client.state.read_all("event", orjson.loads).values())
        assert [row["data"]["n"] for row in kept] == list(range(done["events"]))
        outputs = memory.runs.show().agent_outputs
        assert outputs is not None and set(outputs) == {f"part-{n}" for n in range(done["fields"])}


def test_an_open_reader_does_not_keep_purged_bytes_in_the_log_of_the_catalog(memory: Memory, tmp_path: Path) -> None:
    secret(memory)
    other = sqlite3.connect(tmp_path / ".graphmem/local/catalog.sqlite")
    other.execute("SELECT count(*) FROM record").fetchone()
    memory.store.purge(["xyzzyname"], yes=True)
    assert traces(tmp_path / ".graphmem") == []
    other.close()


def test_a_purge_leaves_a_row_that_names_nothing(memory: Memory, tmp_path: Path) -> None:
    secret(memory)
    key = memory.get("xyzzyname").record.key_ref
    memory.store.purge(["xyzzyname"], yes=True)
    rows = [orjson.loads(line) for line in data(tmp_path, "purge").read_bytes().splitlines()]
    (salt,) = {row["salt"] for row in rows}
    assert purge_hash(salt, key) in {row["hash"] for row in rows}
    assert len(rows) == 4  # the record, its edge, its two reports
    assert memory.store.export_check().ok


@pytest.mark.long
def test_what_only_quoted_the_purged_text_stays_without_it(memory: Memory) -> None:
    secret(memory)
    memory.store.purge(["xyzzyname"], yes=True)
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
    memory.store.purge(["task/work/001-first"], yes=True)
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
        memory.store.purge(["xyzzyname"], yes=True)
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
        found = [finding for finding in memory.store.validate().findings if finding.code == "purged_row"]
        assert {finding.file for finding in found} == {
            "data/failure.ndjson", "data/feedback.ndjson", "data/relations/causes.ndjson"}  # fmt: skip
        assert memory.store.validate().ok


def test_the_next_write_of_a_file_removes_what_a_merge_brought_back_and_says_so(merged: Path) -> None:
    said: list[str] = []
    with open_memory(merged, said=said) as memory:
        memory.edit("other", {"fix": "x"})
        assert b"frobfix" not in data(merged, "failure").read_bytes()
        assert any(text.startswith("removed from data/failure.ndjson: 1 row") for text in said)
        assert b"wibblenote" in data(merged, "relations/causes").read_bytes()
        assert memory.store.doctor(fix=True).findings == []
    assert traces(merged / ".graphmem/data") == []


def test_the_same_thing_may_be_added_again_after_a_purge(merged: Path) -> None:
    clock = Clock()
    clock.back(clock.step * 10_000)  # a clock that is behind does not lose it either
    with open_memory(merged, clock=clock) as memory:
        memory.failures.add("plughtrigger happened", name="xyzzyname", fix="in public")
        memory.relations.link("xyzzyname", "causes", "other")
        memory.feedback("xyzzyname", helped=True, task="t")
        memory.edit("xyzzyname", {"tags": ["x"]})
        memory.store.rebuild()
        assert memory.get("xyzzyname").record.fix == "in public"  # type: ignore[union-attr]
        assert memory.get("xyzzyname").record.helped == 1  # type: ignore[union-attr]
        assert [found.target for found in memory.get("xyzzyname").relations] == ["failure/other"]
        assert memory.store.purge(["xyzzyname"], yes=True).records == ["failure/xyzzyname"]
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


def test_rows_of_a_purge_are_taken_in_where_these_are_asked_for_and_no_time_to_come(
    memory: Memory, tmp_path: Path
) -> None:
    """Rows of a stranger would destroy records for good."""
    write(data(tmp_path, "failure"), failure("a"), failure("b"))
    row = {"kind": "purge", "salt": "s", "hash": purge_hash("s", "failure/a"), "at": "2026-11-01T09:30:00.000Z"}
    later = {**row, "at": "2099-01-01T00:00:00.000Z"}
    for given, purges in ((row, False), (later, False), (later, True)):
        with pytest.raises(BadInput, match="destroys a record for good" if not purges else "which is not yet"):
            memory.add_rows([orjson.dumps(given)], purges=purges)
        memory.add_rows([orjson.dumps(given)], purges=purges, skip_invalid=True)
    assert [found.ref for found in memory.list().results] == ["failure/a", "failure/b"]
    memory.add_rows([orjson.dumps(row)], purges=True)
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
    memory.store.purge(["a"])
    assert contents(tmp_path) == before
