"""Taking back: supersede, purge, undo."""

import json
import os
import shutil
from pathlib import Path

import orjson
import pytest

from graphmem import BadInput, Memory, NotFound, Refused, Usage
from graphmem.kernel.ledger.files.place import FilePlace
from tests.kernel.ledger.test_journal import Died, dying
from tests.repository import Repository
from tests.sample import contents, data, edge, failure, line, open_memory, pattern, write


def failures(memory: Memory, *names: str) -> None:
    for name in names:
        memory.failures.add(f"{name} went wrong", name=name, dedup=False)


# --- supersede -----------------------------------------------------------------------------------------------------


def test_supersede_archives_the_old_record_and_names_its_successor(memory: Memory) -> None:
    failures(memory, "old", "new")
    memory.rename("new", "newer")
    answer = memory.supersede("old", "newer", "better")
    assert (answer.action, answer.ref) == ("archived", "failure/old")
    record = memory.get("old").record
    assert (record.is_archived, record.superseded_by, record.archive_reason) == (True, "failure/newer", "better")
    assert [found.ref for found in memory.list("failure").results] == ["failure/newer"]
    assert memory.supersede("old", "newer").action == "unchanged"
    assert memory.restore("old").record.superseded_by is None


def test_supersede_refuses_what_makes_no_sense(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a", "b", "gone")
    memory.patterns.add("t", "i", name="p")
    memory.forget("gone")
    before = contents(tmp_path)
    for old, new, message in (
        ("a", "a", "its own place"),
        ("a", "p", "of the kind failure"),
        ("a", "gone", "is archived"),
        ("gone", "a", "is archived"),
    ):
        with pytest.raises(Refused, match=message):
            memory.supersede(old, new)
    assert contents(tmp_path) == before


def test_a_chain_of_successors_may_not_end_in_a_circle(memory: Memory, tmp_path: Path) -> None:
    write(data(tmp_path, "failure"), failure("a"), failure("b", superseded_by="failure/a"))
    with pytest.raises(Refused, match="superseded by failure/a"):
        memory.supersede("a", "b")
    assert memory.supersede("b", "a").action == "archived"


# --- purge ---------------------------------------------------------------------------------------------------------


def linked(memory: Memory) -> None:
    """A failure that edges, a report, an alias, an alternate, a task and a successor name."""
    failures(memory, "secret", "other", "older")
    memory.patterns.add("when", "do", name="p")
    memory.relations.link("p", "solves", "secret")
    memory.relations.link("other", "causes", "secret")
    memory.relations.link("p", "solves", "other")
    memory.feedback("secret", helped=True)
    memory.feedback("other", helped=True)
    memory.supersede("older", "secret")


def test_purge_shows_first_and_changes_nothing(memory: Memory, tmp_path: Path) -> None:
    linked(memory)
    before = contents(tmp_path)
    shown = memory.store.purge(["secret"])
    assert not shown.done
    assert shown.records == ["failure/secret"]
    assert shown.rows == {
        "data/failure.ndjson": 1, "data/feedback.ndjson": 1, "data/relations/causes.ndjson": 1,
        "data/relations/solves.ndjson": 1,
    }  # fmt: skip
    assert shown.changed == ["failure/older"]
    assert contents(tmp_path) == before
    assert len(memory.store.undoable().writes) == 10


def test_purge_leaves_no_trace_in_the_files(memory: Memory, tmp_path: Path) -> None:
    linked(memory)
    answer = memory.store.purge(["secret"], yes=True)
    assert answer.done
    assert answer.history == ["graphmem purge --history-script FILE"]
    assert not [name for name, found in contents(tmp_path).items() if b"secret" in found]
    assert not any(b"secret" in path.read_bytes() for path in (tmp_path / ".graphmem/state").rglob("*.json"))
    assert memory.get("older").record.superseded_by is None
    assert [found.target for found in memory.get("p").relations] == ["failure/other"]
    assert memory.store.validate().findings == []
    with pytest.raises(NotFound):
        memory.undo()
    with pytest.raises(NotFound):
        memory.get("secret")


def test_purge_takes_names_and_texts_out_of_other_records(memory: Memory, tmp_path: Path) -> None:
    write(
        data(tmp_path, "failure"),
        failure("b", aliases=["c", "x"], alternates=[{"field": "fix", "text": "the token is 123"}]),
        failure("c", trigger="the token is 123"),
    )
    memory.store.purge(["failure/c"], yes=True)
    row = json.loads(data(tmp_path, "failure").read_bytes())
    assert (row["aliases"], "alternates" in row) == (["x"], False)


def test_a_campaign_is_purged_with_its_tasks_and_a_task_leaves_the_plans_of_others(memory: Memory) -> None:
    memory.campaigns.create("Make it", name="make")
    memory.campaigns.create("Ship it", name="ship")
    memory.campaigns.add_tasks("ship", [{"seq": 1, "objective": "a"}, {"seq": 2, "objective": "b", "depends": [1]}])
    memory.campaigns.add_tasks("make", [{"seq": 1, "objective": "c"}])
    memory.forget("ship")
    answer = memory.store.purge(["ship"])
    assert answer.records == ["campaign/ship", "task/ship/001-a", "task/ship/002-b"]
    answer = memory.store.purge(["ship/001-a"], yes=True)
    assert (answer.records, answer.changed) == (["task/ship/001-a"], ["task/ship/002-b"])
    assert memory.get("ship/002-b").record.depends == ()  # type: ignore[union-attr]
    memory.store.purge(["ship"], yes=True)
    assert [found.ref for found in memory.list("task").results] == ["task/make/001-c"]


def test_purge_of_what_is_archived_takes_edges_that_waited(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a", "b", "c")
    memory.relations.link("a", "causes", "b")
    memory.forget("b")
    memory.forget("c")
    answer = memory.store.purge(archived=True, yes=True)
    assert answer.records == ["failure/b", "failure/c"]
    assert answer.rows == {"data/failure.ndjson": 2, "data/relations/causes.ndjson": 1}
    assert data(tmp_path, "relations/causes").read_bytes() == b""
    assert memory.store.purge(archived=True, yes=True).records == []


def test_purge_wants_to_know_what(memory: Memory) -> None:
    failures(memory, "a")
    with pytest.raises(Usage):
        memory.store.purge(yes=True)
    with pytest.raises(NotFound):
        memory.store.purge(["a", "b"], yes=True)
    assert memory.get("a").ref == "failure/a"


def test_purge_erases_the_vector_of_a_text_that_nothing_else_has(memory_with_model: Memory, tmp_path: Path) -> None:
    memory = memory_with_model
    failures(memory, "a", "b")
    memory.query("went wrong")
    path = next((tmp_path / ".graphmem/local/vectors").glob("*.f32"))
    assert memory.store.client.vectors is not None
    (row,) = (row for _, row in memory.store.client.vectors.of(memory.store.client.catalog.anywhere("a")))
    vector = row.tobytes()
    assert vector in path.read_bytes()
    assert memory.store.purge(["a"], yes=True).vectors == 1
    assert vector not in path.read_bytes()
    assert [found.ref for found in memory.query("b went wrong").results] == ["failure/b"]
    failures(memory, "a")
    assert {found.ref for found in memory.query("a went wrong").results} == {"failure/a", "failure/b"}


# --- undo ----------------------------------------------------------------------------------------------------------


def test_undo_takes_back_what_commands_did_the_last_first(memory: Memory, tmp_path: Path) -> None:
    states = []
    steps = (
        lambda: failures(memory, "a"),
        lambda: failures(memory, "b"),
        lambda: memory.edit("a", {"fix": "x"}),
        lambda: memory.relations.link("a", "causes", "b"),
        lambda: memory.rename("b", "c"),
        lambda: memory.relations.unlink("a", "causes", "c"),
        lambda: memory.forget("a"),
        lambda: memory.feedback("c", helped=True, task="t"),
        lambda: memory.feedback("c", helped=False, task="t"),
    )
    for step in steps:
        states.append(rows(tmp_path))
        step()
    for before in reversed(states):
        assert len(memory.undo().writes) == 1
        assert rows(tmp_path) == before
    with pytest.raises(NotFound, match="nothing to undo"):
        memory.undo()


def rows(folder: Path) -> dict[str, bytes]:
    """Return the data files of a store that have rows."""
    found = contents(folder).items()
    return {name: data for name, data in found if name.startswith("data/") and name.endswith(".ndjson") and data}


def test_several_writes_are_taken_back_at_once_or_not_at_all(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a")
    before = rows(tmp_path)
    memory.edit("a", {"fix": "x"})
    memory.edit("a", {"fix": "y"})
    answer = memory.undo(2)
    assert [(write.changed, write.rows) for write in answer.writes] == [(1, ["failure/a"])] * 2
    assert rows(tmp_path) == before
    with pytest.raises(NotFound, match="1 writes"):
        memory.undo(2)
    assert rows(tmp_path) == before


def test_undo_is_refused_where_rows_were_changed_since(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a", "b")
    memory.edit("a", {"fix": "x"})
    file = data(tmp_path, "failure")
    file.write_bytes(file.read_bytes().replace(b'"fix":"x"', b'"fix":"by hand"'))
    before = contents(tmp_path)
    for number in (1, 2):
        with pytest.raises(Refused, match="changed since: failure/a"):
            memory.undo(number)
    assert contents(tmp_path) == before
    assert len(memory.store.undoable().writes) == 3


def test_undo_is_refused_where_a_row_that_was_added_is_gone_with_others_left(memory: Memory, tmp_path: Path) -> None:
    memory.add_rows([failure("a"), failure("b")])
    file = data(tmp_path, "failure")
    file.write_bytes(b"".join(line for line in file.read_bytes().splitlines(True) if b'"a"' not in line))
    with pytest.raises(Refused, match=r"a row of data/failure.ndjson that is gone"):
        memory.undo()


def test_rows_of_others_stay_when_a_write_is_taken_back(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a")
    file = data(tmp_path, "failure")
    write(file, file.read_bytes(), failure("pulled"))
    memory.undo()
    assert [found.ref for found in memory.list().results] == ["failure/pulled"]


def test_a_write_that_never_happened_is_passed_over(
    memory: Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A process that dies after it noted its write, and before its files are replaced, leaves such a note."""
    failures(memory, "a")
    with monkeypatch.context() as patch:
        patch.setattr(FilePlace, "refuse_changed", lambda *_: (_ for _ in ()).throw(Died()))
        with pytest.raises(Died):
            failures(memory, "b")
    assert len(memory.store.undoable().writes) == 2
    assert memory.undo().writes[0].rows == ["failure/a"]
    assert rows(tmp_path) == {}
    assert memory.store.undoable().writes == []


def test_undo_on_another_branch_refuses_rather_than_take_back_an_older_write(tmp_path: Path) -> None:
    repository = Repository(tmp_path)
    with open_memory(tmp_path) as memory:
        failures(memory, "first")
        repository.commit("first")
        repository("checkout", "-q", "-b", "side")
        memory.types.add_entity("thing")
        failures(memory, "second")
        repository.commit("second")
        repository("checkout", "-q", "main")
        before = contents(tmp_path)
        for number in (1, 2):
            with pytest.raises(Refused, match=r"add failure|python") as refusal:
                memory.undo(number)
            assert "failure/second" in str(refusal.value)
            assert "a row of data/failure.ndjson that is gone" in str(refusal.value)
        assert contents(tmp_path) == before
        assert [found.rows for found in memory.store.undoable().writes] == [
            ["failure/second"], ["entity type thing"], ["failure/first"]]  # fmt: skip
        repository("checkout", "-q", "side")
        assert memory.undo(3).writes[2].rows == ["failure/first"]


def test_undo_takes_back_a_type_that_nothing_uses(memory: Memory, tmp_path: Path) -> None:
    before = {name: found for name, found in contents(tmp_path).items() if name != "config.toml"}
    memory.types.add_entity("thing")
    memory.types.add_relation("touches", sources=["failure"], targets=["thing"])
    memory.entities.add("thing", "one")
    failures(memory, "a")
    memory.relations.link("failure/a", "touches", "thing/one")
    listed = [found.rows for found in memory.store.undoable().writes]
    assert listed == [["failure/a touches thing/one"], ["failure/a"], ["thing/one"], ["relation type touches"],
                      ["entity type thing"]]  # fmt: skip
    memory.undo(3)
    with open_memory(tmp_path) as other:
        other.entities.add("thing", "two")
    memory.undo()
    memory.undo(2)
    now = {name: found for name, found in contents(tmp_path).items() if found and name != "config.toml"}
    assert now == before
    assert memory.types.list().entities == []
    assert memory.store.validate().findings == []


def test_a_type_that_is_in_use_is_not_taken_back(memory: Memory, tmp_path: Path) -> None:
    memory.types.add_entity("thing")
    write(data(tmp_path, "entities/thing"), line(kind="entity", type="thing", name="t"))
    with pytest.raises(Refused, match="1 rows are of it"):
        memory.undo()
    data(tmp_path, "entities/thing").unlink()
    path = tmp_path / ".graphmem/types/entities/thing.md"
    path.write_text(path.read_text() + "\nmore\n")
    with pytest.raises(Refused, match=r"types/entities/thing.md, which is gone or has another text"):
        memory.undo()
    assert path.exists()


def test_a_write_to_a_full_disk_can_be_undone_around(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    failures(memory, "a")
    with monkeypatch.context() as patch:
        patch.setattr(FilePlace, "refuse_changed", full_disk)
        with pytest.raises(Refused):
            failures(memory, "b")
    assert memory.undo().writes[0].rows == ["failure/a"]


def full_disk(*_: object) -> None:
    raise Refused("the store cannot be written: No space left on device")


def test_a_bulk_addition_is_one_write_and_keeps_no_new_lines(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "f0")
    before = rows(tmp_path)
    memory.add_rows([failure(f"f{n}", fix="a fix that is nowhere else") for n in range(3000)])
    (last, _) = memory.store.undoable().writes
    assert (last.added, last.changed, last.removed, len(last.rows)) == (2999, 1, 0, 5)
    notes = sorted((tmp_path / ".graphmem/state/undo").iterdir())
    assert b"nowhere else" not in notes[-1].read_bytes()
    memory.undo()
    assert rows(tmp_path) == before


def test_fifty_writes_are_kept(memory: Memory) -> None:
    for number in range(55):
        failures(memory, f"f{number}")
    assert [write.rows for write in memory.store.undoable().writes] == [[f"failure/f{n}"] for n in range(54, 4, -1)]


def test_undo_brings_back_what_a_merge_of_duplicates_changed(memory: Memory, tmp_path: Path) -> None:
    memory.failures.add("It hangs", name="hang")
    before = rows(tmp_path)
    memory.failures.add("It hangs", name="hangs-again", cost=3)
    memory.undo()
    assert rows(tmp_path) == before


@pytest.mark.parametrize(
    "note",
    [
        b"{",
        b"[]",
        b'{"at":"x","command":"x","files":{"../../x":{"added":"","changed":["x"],"removed":[],"sums":""}},"types":{},"texts":{},"titles":[]}',
        b'{"at":"x","command":"x","files":{},"types":{"config.toml":2054797014},"texts":{},"titles":[]}',
        b'{"at":"x","command":"x","files":{},"types":{"types/entities/../../config.toml":1},"texts":{},"titles":[]}',
        b'{"at":"x","command":"x","files":{"../x":{"added":"","changed":[],"removed":["{}"],"sums":""}},"types":{},"texts":{},"titles":[]}',
    ],
)
def test_a_note_that_is_none_is_refused_by_its_path(memory: Memory, tmp_path: Path, note: bytes) -> None:
    failures(memory, "a")
    (tmp_path / ".graphmem/state/undo/0000000007.json").write_bytes(note)
    before = contents(tmp_path)
    with pytest.raises(Refused, match=r"0000000007|no row"):
        memory.undo()
    assert contents(tmp_path) == before


def test_a_note_writes_to_no_file_that_is_no_data_file(memory: Memory, tmp_path: Path) -> None:
    """The folder of notes may come with a branch, as everything in the store."""
    failures(memory, "a")
    row = failure("evil").decode().strip()
    note = {
        "at": "x",
        "command": "x",
        "files": {"data/failure/../../../../noted.ndjson": {"added": "", "changed": [], "removed": [row], "sums": ""}},
        "types": {},
        "texts": {},
        "titles": [],
    }
    (tmp_path / ".graphmem/state/undo/0000000007.json").write_bytes(orjson.dumps(note))
    with pytest.raises(Refused, match="is gone since"):
        memory.undo()
    assert not list(tmp_path.parent.rglob("noted.ndjson"))


def test_undo_refuses_a_file_with_bad_lines(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a")
    file = data(tmp_path, "failure")
    write(file, file.read_bytes(), b"{\n")
    with pytest.raises(BadInput):
        memory.undo()


def test_two_clones_of_one_store_undo_their_own_writes(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a")
    write(data(tmp_path, "relations/causes"), edge("failure/a", "causes", "failure/b"))
    with open_memory(tmp_path) as other:
        failures(other, "b")
        assert [found.rows for found in other.store.undoable().writes] == [["failure/b"], ["failure/a"]]
        other.undo()
    assert memory.store.validate().findings[0].code == "dangling"


def test_after_a_death_at_any_step_undo_leads_to_a_state_that_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether the write happened is known from the rows alone."""
    with open_memory(tmp_path / "store") as memory:
        failures(memory, "first")
        first = rows(tmp_path / "store")
        memory.add_rows([failure("first", fix="x"), failure("second"), pattern("p")])
        memory.undo()
        assert rows(tmp_path / "store") == first
    seen, steps = set(), 0
    while True:
        copy = tmp_path / f"death-{steps}"
        shutil.copytree(tmp_path / "store", copy)
        countdown = iter(range(steps, -1_000, -1))
        with open_memory(copy) as memory, monkeypatch.context() as patch:
            for name in ("replace", "fsync", "unlink"):
                patch.setattr(os, name, dying(getattr(os, name), countdown))
            try:
                memory.add_rows([failure("first", fix="x"), failure("second"), pattern("p")])
            except Died:
                pass
            else:
                break
        with open_memory(copy) as memory:
            memory.list()
            happened = rows(copy) != first
            assert happened == (rows(copy).keys() == {"data/failure.ndjson", "data/pattern.ndjson"})
            memory.undo()
            assert rows(copy) == (first if happened else {})
        seen.add(happened)
        steps += 1
    assert seen == {True, False}


def test_purge_takes_a_lesson_out_of_runs_and_an_experience_out_of_insights(memory: Memory, tmp_path: Path) -> None:
    memory.lessons.add("wait for the event", name="wait")
    memory.lessons.add("another thing entirely", name="other")
    memory.failures.add("it broke", name="f")
    experience = {"kind": "experience", "task_type": "bug", "description": "d", "approach": "a", "outcome": "success",
                  "lessons": ["l"]}  # fmt: skip
    rows = [
        {"kind": "run", "run": "r1", "seen": ["wait", "lesson/other"]},
        {"kind": "event", "id": "e1", "type": "seen", "subject": "failure/f", "data": {"secret": 1}},
        {"kind": "event", "id": "e2", "type": "seen", "subject": "failure/other"},
        *({**experience, "name": f"2026-11-0{day}_t{day}"} for day in (1, 2, 3)),
        {"kind": "insight", "category": "codebase_insight", "statement": "s",
         "derived_from": [f"2026-11-0{day}_t{day}" for day in (1, 2, 3)]},
    ]  # fmt: skip
    memory.add_rows([orjson.dumps(row) for row in rows])
    done = memory.store.purge(["lesson/wait", "failure/f", "2026-11-02_t2"], yes=True)
    assert done.changed == ["insight/s", "run/r1"]
    data = {path.name: path.read_text() for path in (tmp_path / ".graphmem/data").glob("*.ndjson")}
    assert "wait" not in "".join(data.values())
    assert "secret" not in data["event.ndjson"]
    assert "e2" in data["event.ndjson"]
    assert "t2" not in "".join(data.values())
    assert memory.store.validate().ok


def test_purge_of_a_task_takes_its_reports_and_its_name_in_decisions(memory: Memory, tmp_path: Path) -> None:
    failures(memory, "a")
    memory.campaigns.create("to do", name="c")
    memory.campaigns.add_tasks("c", [{"seq": 1, "slug": "secret", "objective": "o"}])
    memory.feedback("a", helped=True, task="c/001-secret")
    memory.feedback("a", helped=True, task="elsewhere")
    memory.sessions.decide("do it", task="c/001-secret")
    memory.store.purge(["task/c/001-secret"], yes=True)
    assert all(b"secret" not in path.read_bytes() for path in (tmp_path / ".graphmem/data").rglob("*.ndjson"))
    assert len((tmp_path / ".graphmem/data/feedback.ndjson").read_bytes().splitlines()) == 1
    assert memory.get("decision/do-it").record.name == "do-it"
