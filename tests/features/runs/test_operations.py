"""The run state, build runs and prerequisites: campaigns.md, section 5."""

import io
import json
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from threading import Thread
from typing import Any, get_args

import pytest

from graphmem import BadInput, GraphmemError, Memory, NotFound, Refused
from graphmem.core.records.moves import CHUNK_MOVES
from graphmem.doors.cli.app import run
from graphmem.features.runs.contract import BeginBuildRequest, ChunkMove, RunShown
from graphmem.kernel.model.field import format_time
from graphmem.kernel.model.run_state import BuildPlan, Chunk, ChunkStatus, RunState
from tests.sample import contents, open_memory, put_state, state_of

# A value of every field that is set by hand.
EVERYTHING: Mapping[str, Any] = {
    "active_section": {"alias": "log-in", "number": 3},
    "current_command": "build --all",
    "workflow": "usual",
    "workflow_step": "build",
    "completed_steps": ["explore", "plan"],
    "skipped_steps": ["measure"],
    "next_step": "observe",
    "scenario_score": {"satisfied": 4, "total": 9},
    "chunk_progress": {"current": 2, "total": 5},
    "readiness": {"ready": 3, "blocked": 0},
    "untracked_changes": [
        {"file": "a.py", "section": "log-in", "section_number": "3b", "at": "2026-11-01T09:30:00.000Z"}
    ],
    "spec_version": "7",
    "agent_outputs": {"plan": {"summary": "ok", "deep": [1, None, {"x": "é"}]}},
}
PLAN: Mapping[str, Any] = {
    "spec_version": "1",
    "priorities": ["first c1"],
    "priority_source": "user-prompt",
    "chunks": [
        {"id": "c1", "name": "log in", "sections": ["1"], "scenarios": ["s1", "s2"]},
        {"id": "c2", "name": "log out", "depends_on": ["c1"]},
        {"id": "c3"},
    ],
}


def run_of(folder: Path) -> bytes | None:
    """Return the run state as it is kept."""
    return state_of(folder).read("run", "", bytes)


def shown(memory: Memory) -> dict[str, Any]:
    """Return the run state as JSON has it, without when it was changed."""
    found = memory.runs.show().model_dump(mode="json", exclude_none=True)
    found.pop("notices", None)
    found.pop("last_updated", None)
    return found


def statuses(memory: Memory) -> dict[str, str]:
    """Return the status of each chunk."""
    run = memory.runs.show().build_run
    assert run is not None
    return {one.id: one.status for one in run.chunks}


# --- merge on write ---------------------------------------------------------------------------------------------------


def test_every_field_is_kept_as_it_was_given(memory: Memory, tmp_path: Path) -> None:
    own = {"build_run", "last_updated"}
    assert EVERYTHING.keys() == RunState.model_fields.keys() - own
    for name, value in EVERYTHING.items():
        memory.runs.set({name: value})
    assert shown(memory) == EVERYTHING
    with open_memory(tmp_path) as other:
        assert shown(other) == EVERYTHING


@pytest.mark.parametrize("name", EVERYTHING)
def test_null_clears_one_field_and_the_others_stay(memory: Memory, name: str) -> None:
    memory.runs.set(EVERYTHING)
    memory.runs.set({name: None})
    assert shown(memory) == {one: value for one, value in EVERYTHING.items() if one != name}
    memory.runs.set(dict.fromkeys(EVERYTHING))
    assert shown(memory) == {}


def test_objects_are_merged_and_lists_are_replaced(memory: Memory) -> None:
    memory.runs.set({"readiness": {"a": 1, "b": 2}, "completed_steps": ["x"], "agent_outputs": {"p": {"q": 1}}})
    memory.runs.set({"readiness": {"b": None, "c": 3}, "completed_steps": ["y"], "agent_outputs": {"p": {"r": 2}}})
    assert shown(memory) == {
        "readiness": {"a": 1, "c": 3},
        "completed_steps": ["y"],
        "agent_outputs": {"p": {"q": 1, "r": 2}},
    }


def test_the_store_says_when_it_was_last_changed(memory: Memory) -> None:
    assert memory.runs.show().last_updated is None
    first = memory.runs.set({"workflow_step": "plan"}).last_updated
    second = memory.runs.set({"workflow_step": "build"}).last_updated
    assert first is not None and second is not None and first < second
    assert memory.runs.show().last_updated == second


def patched(old: Any, new: Any) -> Any:
    """RFC 7386, section 2, word for word."""
    if not isinstance(new, dict):
        return new
    found = dict(old) if isinstance(old, dict) else {}
    for name, value in new.items():
        if value is None:
            found.pop(name, None)
        else:
            found[name] = patched(found.get(name), value)
    return found


def test_random_patches_leave_what_the_standard_says(memory: Memory) -> None:
    chance = random.Random(7)

    def value(depth: int) -> Any:
        if depth and chance.random() < 0.6:
            return {chance.choice("abc"): value(depth - 1) for _ in range(chance.randrange(4))}
        return chance.choice([None, 1, "x", [1, 2]])

    expected: Any = {}
    for _ in range(60):
        patch = {"agent_outputs": {name: value(3) for name in "pq"}}
        expected = patched(expected, patch)
        memory.runs.set(patch)
        assert shown(memory) == expected


@pytest.mark.parametrize(
    ("fields", "message", "hint"),
    [
        ({"workflow_stp": "x"}, "no field 'workflow_stp'", "did you mean workflow_step"),
        ({"zzz": 1}, "no field 'zzz'", "active_section"),
        ({"build_run": None}, "'build_run' is not set by hand", "graphmem build begin"),
        ({"last_updated": "2026-11-01T09:30:00.000Z"}, "'last_updated' is not set by hand", ""),
        ({"workflow_step": 3}, "field 'workflow_step' is 3", ""),
        ({"chunk_progress": {"current": 3}}, "'chunk_progress.total' is missing", ""),
        ({"scenario_score": {"satisfied": -1, "total": 2}}, "satisfied", ""),
        ({"readiness": {"a": "many"}}, "readiness", ""),
        ({"completed_steps": "plan"}, "completed_steps", ""),
        ({"agent_outputs": {"a": 2**64}}, "64-bit", "JSON"),
        ({"agent_outputs": {"a": float("nan")}}, "not JSON", "JSON"),
        ({"agent_outputs": {"a": "\ud800"}}, "UTF-8", "JSON"),
        ({"agent_outputs": {1: 1}}, "str", "JSON"),
        ({"active_section": {"x": object()}}, "serializable", "JSON"),
        ({"agent_outputs": {"a": "x" * 2**21}}, "would have 2,097", "null clears a field"),
    ],
)
def test_what_cannot_be_kept_is_refused_and_changes_nothing(
    memory: Memory, tmp_path: Path, fields: dict[str, Any], message: str, hint: str
) -> None:
    memory.runs.set({"next_step": "plan"})
    before = run_of(tmp_path)
    with pytest.raises((BadInput, Refused)) as refused:
        memory.runs.set({**fields, "next_step": "build"})
    assert message in refused.value.message
    assert hint in (refused.value.hint or "")
    assert run_of(tmp_path) == before


def test_what_is_nested_too_deep_is_refused(memory: Memory) -> None:
    deep: dict[str, Any] = {}
    for _ in range(900):
        deep = {"a": deep}
    with pytest.raises(BadInput, match="run state: "):
        memory.runs.set({"agent_outputs": deep})


def test_what_another_version_noted_in_it_stays(memory: Memory, tmp_path: Path) -> None:
    memory.runs.set({"workflow_step": "plan"})
    row = json.loads(run_of(tmp_path) or b"")
    changed = {**row, "mood": "good", "active_section": {"colour": "red"}}
    put_state(tmp_path, "run", "", json.dumps(changed).encode())
    memory.runs.set({"active_section": {"alias": "a"}})
    found = json.loads(run_of(tmp_path) or b"")
    assert found["mood"] == "good"
    assert found["active_section"] == {"colour": "red", "alias": "a"}


def test_the_run_state_is_not_committed(memory: Memory, tmp_path: Path) -> None:
    before = contents(tmp_path)
    memory.runs.set(EVERYTHING)
    memory.runs.begin(PLAN)
    assert contents(tmp_path) == before


WRITER = """
import sys
from graphmem import Memory
memory = Memory(".")
for number in range(int(sys.argv[2])):
    memory.runs.set({"agent_outputs": {f"{sys.argv[1]}-{number}": number}})
"""


@pytest.mark.parametrize("each", [60, pytest.param(300, marks=pytest.mark.long)])
def test_six_hundred_updates_of_two_processes_on_a_large_state_are_all_kept(tmp_path: Path, each: int) -> None:
    """All of them with --all."""
    with open_memory(tmp_path) as memory:
        memory.runs.set({"agent_outputs": {"large": "x" * 200_000}})
        writers = [subprocess.Popen([sys.executable, "-c", WRITER, name, str(each)], cwd=tmp_path) for name in "ab"]
        assert [one.wait() for one in writers] == [0, 0]
        outputs = memory.runs.show().agent_outputs
    assert outputs is not None
    assert outputs.pop("large") == "x" * 200_000
    assert outputs == {f"{name}-{number}": number for name in "ab" for number in range(each)}


# --- a file that is damaged -------------------------------------------------------------------------------------------

DAMAGES = {
    "empty": b"",
    "cut": b'{"workflow_step": "pl',
    "a list": b"[]",
    "of another form": b'{"workflow_step": 3}',
    "binary": b"\xff\x00\xfe",
    "deep": b'{"a":' * 100_000,
}


@pytest.mark.parametrize("name", DAMAGES)
def test_a_damaged_state_is_taken_as_empty_and_reported(tmp_path: Path, name: str) -> None:
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.runs.set({"next_step": "plan"})
        put_state(tmp_path, "run", "", DAMAGES[name])
        assert shown(memory) == {}
        assert said == ["run in state/ is taken as empty: it is damaged"]
        memory.runs.set({"next_step": "build"})
        assert shown(memory) == {"next_step": "build"}


def test_a_state_that_is_a_link_is_neither_read_nor_followed(tmp_path: Path) -> None:
    target = tmp_path / "other.json"
    target.write_text('{"workflow_step": "plan"}')
    said: list[str] = []
    with open_memory(tmp_path, said=said) as memory:
        memory.runs.set({"next_step": "plan"})
        state_of(tmp_path).path.unlink()
        state_of(tmp_path).path.symlink_to(target)
        assert shown(memory) == {}
        assert "is a link" in said[0]
        with pytest.raises(GraphmemError, match="not a regular file"):
            memory.runs.set({"next_step": "build"})
    assert target.read_text() == '{"workflow_step": "plan"}'


def test_a_folder_in_its_place_is_an_error_with_its_path(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        (state_of(tmp_path).path / "inner").mkdir(parents=True)
        with pytest.raises(GraphmemError, match=r"state\.db' is not a regular file"):
            memory.runs.set({"next_step": "build"})


# --- build run --------------------------------------------------------------------------------------------------------


def test_a_build_run_from_begin_to_end(memory: Memory) -> None:
    memory.runs.set({"next_step": "build"})
    begun = memory.runs.begin(PLAN)
    run = begun.build_run
    assert run is not None
    assert (run.status, run.plan.total_chunks, run.plan.spec_version) == ("running", 3, "1")
    assert (run.plan.priorities, run.plan.priority_source) == (["first c1"], "user-prompt")
    assert run.chunks[0].scenarios == ("s1", "s2")
    assert begun.spec_version == "1"
    for number, chunk in enumerate(("c1", "c2", "c3"), 1):
        memory.runs.chunk(chunk, "active")
        progress = memory.runs.show().chunk_progress
        assert progress is not None
        assert (progress.current, progress.total) == (number, 3)
        memory.runs.checkpoint(phase=f"phase {number}")
        found = memory.runs.chunk(chunk, "completed").build_run
        assert found is not None
        one = found.chunks[number - 1]
        assert (one.status, one.attempt, one.spec_version_at_build) == ("completed", 1, "1")
        assert one.started_at is not None and one.completed_at is not None and one.started_at < one.completed_at
        assert found.convergence_phase == f"phase {number}"
        assert found.last_checkpoint is not None and found.last_checkpoint >= one.completed_at
    memory.runs.end()
    assert shown(memory) == {"next_step": "build", "spec_version": "1"}
    with pytest.raises(NotFound, match="no build run"):
        memory.runs.resume()


def test_a_build_run_that_ends_early_stays_visible_as_partial(memory: Memory) -> None:
    memory.runs.begin(PLAN)
    memory.runs.chunk("c1", "active")
    memory.runs.end()
    run = memory.runs.show().build_run
    assert run is not None and run.status == "partial"
    assert statuses(memory) == {"c1": "active", "c2": "planned", "c3": "planned"}
    with pytest.raises(Refused, match="is partial") as refused:
        memory.runs.chunk("c1", "completed")
    assert refused.value.hint == "graphmem build resume --choose resume"
    with pytest.raises(Refused, match="is partial"):
        memory.runs.checkpoint()
    memory.runs.begin({"chunks": [{"id": "d1"}]})
    assert statuses(memory) == {"d1": "planned"}


def test_a_build_run_is_not_begun_beside_another(memory: Memory) -> None:
    memory.runs.begin(PLAN)
    before = shown(memory)
    with pytest.raises(Refused, match="is under way") as refused:
        memory.runs.begin(PLAN)
    assert refused.value.hint == "graphmem build resume"
    assert shown(memory) == before


PATHS: dict[ChunkStatus, list[ChunkMove]] = {
    "planned": [],
    "active": ["active"],
    "failed": ["active", "failed"],
    "retrying": ["active", "failed", "retrying"],
    "completed": ["active", "completed"],
}


def test_the_table_has_every_status_of_a_chunk() -> None:
    assert set(CHUNK_MOVES) == set(get_args(ChunkStatus)) == set(PATHS)


@pytest.mark.parametrize("before", PATHS)
@pytest.mark.parametrize("after", get_args(ChunkMove))
def test_a_chunk_makes_the_moves_of_its_table(
    memory: Memory, tmp_path: Path, before: ChunkStatus, after: ChunkMove
) -> None:
    memory.runs.begin(PLAN)
    for status in PATHS[before]:
        memory.runs.chunk("c1", status)
    if after in CHUNK_MOVES[before]:
        memory.runs.chunk("c1", after)
        assert statuses(memory)["c1"] == after
        return
    before_it = run_of(tmp_path)
    said = f"is {before} already, since" if after == before else f"is {before}; it cannot become {after}"
    with pytest.raises(Refused, match=f"chunk c1 {said}") as refused:
        memory.runs.chunk("c1", after)
    assert refused.value.details["legal"] == list(CHUNK_MOVES[before])
    assert run_of(tmp_path) == before_it


def test_a_chunk_that_is_begun_is_refused_to_others_with_the_time(memory: Memory) -> None:
    memory.runs.begin({"chunks": [{"id": "c1"}]})
    memory.runs.chunk("c1", "active")
    begun = memory.runs.show().build_run
    assert begun is not None and begun.chunks[0].started_at is not None
    with pytest.raises(Refused) as refused:
        memory.runs.chunk("c1", "active")
    assert refused.value.message == f"chunk c1 is active already, since {format_time(begun.chunks[0].started_at)}"


def test_attempts_are_counted(memory: Memory) -> None:
    memory.runs.begin(PLAN)
    for status in ("active", "failed", "retrying", "failed", "retrying", "completed"):
        memory.runs.chunk("c1", status)
    run = memory.runs.show().build_run
    assert run is not None
    assert run.chunks[0].attempt == 3
    assert (run.chunks[0].failed_at, run.chunks[0].completed_at is not None) == (None, True)


def test_a_chunk_waits_for_those_that_it_depends_on(memory: Memory) -> None:
    memory.runs.begin(PLAN)
    with pytest.raises(Refused, match="chunk c2 waits for chunk c1"):
        memory.runs.chunk("c2", "active")
    memory.runs.chunk("c1", "active")
    with pytest.raises(Refused, match="chunk c2 waits for chunk c1"):
        memory.runs.chunk("c2", "active")
    memory.runs.chunk("c1", "completed")
    memory.runs.chunk("c2", "active")
    with pytest.raises(NotFound, match="no chunk 'c4'"):
        memory.runs.chunk("c4", "active")


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ({}, "has no chunks"),
        ({"chunks": []}, "has no chunks"),
        ({"chunks": "c1"}, "has no chunks"),
        ({"chunks": [3]}, "chunk 1: "),
        ({"chunks": [{"name": "x"}]}, "chunk 1: "),
        ({"chunks": [{"id": " "}]}, "id of a chunk is empty"),
        ({"chunks": [{"id": "a"}, {"id": "a"}]}, "two chunks have the id 'a'"),
        ({"chunks": [{"id": "a", "depends_on": ["b"]}]}, "depends on 'b', which is not a chunk"),
        ({"chunks": [{"id": "a", "depends_on": ["a"]}]}, "has a cycle: a → a"),
        (
            {"chunks": [{"id": "a", "depends_on": ["b"]}, {"id": "b", "depends_on": ["a"]}, {"id": "c"}]},
            "has a cycle: a → b → a",
        ),
        ({"chunks": [{"id": "a"}], "spec_version": 3}, "spec_version"),
        ({"chunks": [{"id": "a"}], "priorities": 2**70}, "64-bit"),
        ({"chunks": [{"id": "a"}], "priority_source": 3}, "priority_source is 3"),
        ({"chunks": [{"id": "a"}], "priority_source": "mars"}, "priority_source is 'mars'"),
        ({"chunks": [{"id": "a"}], "specVersion": "7"}, "the plan of a build run has no field 'specVersion'"),
        ({"chunks": [{"id": "a"}], "plan": {}}, "the plan of a build run has no field 'plan'"),
        ({"chunks": [{"id": "a"}, {"id": "b", "dependsOn": ["a"]}]}, "chunk 2 of a plan has no field 'dependsOn'"),
        ({"chunks": [{"id": "a", "status": "completed"}]}, "chunk 1 of a plan has no field 'status'"),
        ({"chunks": [{"id": True}]}, "chunk 1: "),
        ({"chunks": [{"id": 1}, {"id": "1"}]}, "two chunks have the id '1'"),
    ],
)
def test_a_plan_that_cannot_be_built_is_refused(
    memory: Memory, tmp_path: Path, plan: dict[str, Any], message: str
) -> None:
    with pytest.raises(BadInput) as refused:
        memory.runs.begin(plan)
    assert message in refused.value.message
    assert run_of(tmp_path) is None


def test_the_schema_of_a_build_plan_has_the_fields_that_are_taken() -> None:
    schema = BeginBuildRequest.model_json_schema()
    assert schema["properties"]["plan"]["$ref"] == "#/$defs/PlannedBuild"
    planned = schema["$defs"]
    assert planned["PlannedBuild"]["properties"].keys() | {"total_chunks"} == {"chunks", *BuildPlan.model_fields}
    assert planned["PlannedChunk"]["properties"].keys() < Chunk.model_fields.keys()


def test_a_plan_may_number_its_chunks(memory: Memory) -> None:
    memory.runs.begin({"chunks": [{"id": 1, "name": "one"}, {"id": 2, "depends_on": [1]}]})
    with pytest.raises(Refused, match="chunk 2 waits for chunk 1"):
        memory.runs.chunk("2", "active")
    memory.runs.chunk("1", "active")


def test_a_field_that_a_plan_misspells_is_named_with_the_nearest_one(memory: Memory) -> None:
    with pytest.raises(BadInput) as refused:
        memory.runs.begin({"chunks": [{"id": "a"}, {"id": "b", "dependsOn": ["a"]}]})
    assert refused.value.hint == "did you mean depends_on?"


@pytest.mark.long
def test_a_plan_of_very_many_chunks_in_a_row_is_begun(memory: Memory) -> None:
    chunks = [{"id": f"{number}", "depends_on": [f"{number - 1}"] if number else []} for number in range(3_000)]
    memory.runs.begin({"chunks": chunks[::-1]})
    memory.runs.chunk("0", "active")
    with pytest.raises(NotFound) as refused:
        memory.runs.chunk("zzzzz", "active")
    assert len(refused.value.hint or "") < 400


# --- resume -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def cut_off(memory: Memory) -> Memory:
    """A build run with a chunk completed, one failed, and one under way, whose specification has changed since."""
    memory.runs.begin({"spec_version": "1", "chunks": [{"id": f"c{number}"} for number in range(1, 5)]})
    for chunk, *moves in (("c1", "active", "completed"), ("c2", "active", "failed"), ("c3", "active")):
        for status in moves:
            memory.runs.chunk(chunk, status)  # type: ignore[arg-type]
    memory.runs.set({"spec_version": "2"})
    return memory


def test_resume_shows_what_is_left_and_changes_nothing(cut_off: Memory, tmp_path: Path) -> None:
    before = run_of(tmp_path)
    found = cut_off.runs.resume()
    assert [one.id for one in found.completed] == ["c1"]
    assert [one.id for one in found.remaining] == ["c2", "c3", "c4"]
    assert [one.id for one in found.drifted] == ["c1"]
    assert [(one.number, one.action, one.recommended) for one in found.choices] == [
        (1, "resume", True),
        (2, "fresh", False),
        (3, "cancel", False),
    ]
    assert run_of(tmp_path) == before


def test_a_chunk_of_the_same_version_has_not_drifted(cut_off: Memory) -> None:
    cut_off.runs.set({"spec_version": "1"})
    assert cut_off.runs.resume().drifted == []
    cut_off.runs.set({"spec_version": None})
    assert cut_off.runs.resume().drifted == []


def test_to_resume_plans_again_what_was_under_way(cut_off: Memory) -> None:
    run = cut_off.runs.resume().run_id
    found = cut_off.runs.resume(choose="resume")
    assert (found.run_id, found.chosen, found.choices) == (run, "resume", [])
    assert statuses(cut_off) == {"c1": "completed", "c2": "failed", "c3": "planned", "c4": "planned"}
    cut_off.runs.chunk("c3", "active")
    cut_off.runs.chunk("c1", "retrying")  # it has drifted
    cut_off.runs.chunk("c1", "completed")
    assert cut_off.runs.resume().drifted == []


def test_to_begin_fresh_plans_every_chunk_again(cut_off: Memory) -> None:
    run = cut_off.runs.resume().run_id
    found = cut_off.runs.resume(choose="fresh")
    assert found.run_id != run
    assert set(statuses(cut_off).values()) == {"planned"}
    made = cut_off.runs.show().build_run
    assert made is not None
    assert all(one.attempt == 0 and one.completed_at is None for one in made.chunks)
    cut_off.runs.chunk("c1", "active")
    found = cut_off.runs.chunk("c1", "completed").build_run  # type: ignore[assignment]
    assert cut_off.runs.resume().drifted == []


def test_to_cancel_leaves_it_as_partial_until_it_is_resumed(cut_off: Memory) -> None:
    cut_off.runs.resume(choose="cancel")
    run = cut_off.runs.show().build_run
    assert run is not None and run.status == "partial"
    assert statuses(cut_off)["c3"] == "active"
    cut_off.runs.resume(choose="resume")
    run = cut_off.runs.show().build_run
    assert run is not None and run.status == "running"


KILLED = """
import sys
from graphmem import Memory
memory = Memory(".")
memory.runs.begin({"chunks": [{"id": str(number)} for number in range(400)]})
for number in range(400):
    memory.runs.chunk(str(number), "active")
    print(number, "active", flush=True)
    memory.runs.chunk(str(number), "completed")
    print(number, "completed", flush=True)
"""


@pytest.mark.long
def test_a_build_run_outlives_its_process_that_is_killed_in_the_middle_of_an_update(tmp_path: Path) -> None:
    open_memory(tmp_path).close()
    for delay in (0.05, 0.11, 0.17):
        state_of(tmp_path).path.unlink(missing_ok=True)
        command = [sys.executable, "-c", KILLED]
        with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as writer:
            assert writer.stdout is not None
            lines = [writer.stdout.readline()]
            time.sleep(delay)
            os.kill(writer.pid, signal.SIGKILL)
            lines += writer.stdout.read().splitlines()
        last, status = lines[-1].split()
        with open_memory(tmp_path) as memory:
            found = memory.runs.resume()
            built = {int(one.id) for one in found.completed}
            # What was printed was kept; of what was not printed, at most one move more.
            said = set(range(int(last) + (status == "completed")))
            assert said <= built <= said | {int(last)}
            assert len(found.remaining) == 400 - len(built)
            memory.runs.resume(choose="resume")
            memory.runs.chunk(found.remaining[0].id, "active")


# --- prerequisites ----------------------------------------------------------------------------------------------------


def declare(folder: Path, workflows: object) -> Path:
    """Declare workflows, and return the file."""
    path = folder / ".graphmem/workflows.json"
    path.write_bytes(workflows if isinstance(workflows, bytes) else json.dumps(workflows).encode())
    return path


def test_what_a_step_needs_is_a_numbered_choice(memory: Memory) -> None:
    found = memory.runs.require("build")
    assert (found.met, found.missing, found.skipped) == (False, ["explore", "plan"], [])
    assert [one.model_dump() for one in found.choices] == [
        {"number": 1, "action": "run", "text": "run explore now", "recommended": True},
        {"number": 2, "action": "skip", "text": "begin build without explore, plan", "recommended": False},
        {"number": 3, "action": "abort", "text": "do not begin build", "recommended": False},
    ]
    memory.runs.done("explore")
    memory.runs.done("explore")
    assert memory.runs.require("build").missing == ["plan"]
    memory.runs.done("plan")
    found = memory.runs.require("build")
    assert (found.met, found.missing, found.choices) == (True, [], [])
    assert memory.runs.show().completed_steps == ("explore", "plan")


def test_a_step_that_is_complete_is_no_longer_the_current_one(memory: Memory) -> None:
    memory.runs.set({"workflow_step": "plan"})
    assert memory.runs.done("explore").workflow_step == "plan"
    assert memory.runs.done("plan").workflow_step is None


def files(state: RunShown) -> list[str]:
    return [one.file for one in state.untracked_changes or ()]


def test_changes_outside_of_the_plan_are_noted_and_taken_away_one_by_one(memory: Memory) -> None:
    memory.runs.set({"active_section": {"alias": "checkout", "number": 2}})
    memory.runs.change("add", "src/cart.py")
    memory.runs.change("add", "src/pay.py", section="payment")
    found = memory.runs.change("add", "src/cart.py", section_number="3b")
    assert [(one.file, one.section, one.section_number) for one in found.untracked_changes or ()] == [
        ("src/pay.py", "payment", None),
        ("src/cart.py", None, "3b"),
    ]
    assert all(one.at for one in found.untracked_changes or ())
    assert files(memory.runs.change("done", "src/pay.py")) == ["src/cart.py"]
    with pytest.raises(NotFound, match=r"'src/car\.py' is not among") as refused:
        memory.runs.change("done", "src/car.py")
    assert "did you mean src/cart.py" in str(refused.value.hint)
    assert memory.runs.change("done", "src/cart.py").untracked_changes is None


def test_a_field_and_a_change_are_one_line_each_whatever_they_say(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.runs.set({"next_step": "go\nnext_step: stop"})
    here = ["--dir", str(memory.store.client.root)]
    assert run(["build", "change", "add", "a.py\nb.py", "--section", "x\ny", *here]) == 0
    assert capsys.readouterr().out == '"a.py\\nb.py"  (x y)\n'
    assert run(["build", "change", "done", "c.py", *here]) == 1
    assert capsys.readouterr().err.splitlines()[1] == 'hint: noted: "a.py\\nb.py"'
    assert run(["build", "show", *here]) == 0
    assert "next_step: go next_step: stop" in capsys.readouterr().out.splitlines()


def test_a_changed_file_is_named_from_the_folder_where_the_command_is_typed(
    memory: Memory, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = memory.store.client.root / "src"
    folder.mkdir()
    monkeypatch.chdir(folder)
    assert run(["build", "change", "add", "./cart.py"]) == 0
    assert files(memory.runs.show()) == ["src/cart.py"]
    assert run(["build", "change", "add", "../../other.py"]) == 3
    assert run(["build", "change", "done", str(folder / "cart.py")]) == 0
    assert files(memory.runs.show()) == []


def test_a_list_of_changes_that_is_set_takes_no_other_writers_away(memory: Memory) -> None:
    memory.runs.set({"untracked_changes": [{"file": "a.py"}, {"file": "b.py", "section": "old"}]})
    found = memory.runs.set({"untracked_changes": [{"file": "c.py"}, {"file": "b.py", "section": "new"}]})
    assert files(found) == ["a.py", "c.py", "b.py"]
    assert found.untracked_changes is not None
    assert found.untracked_changes[-1].section == "new"
    with pytest.raises(BadInput, match="untracked_changes"):
        memory.runs.set({"untracked_changes": [{"section": "x"}]})
    assert files(memory.runs.set({"untracked_changes": []})) == []


def test_writers_at_once_lose_no_change(memory: Memory) -> None:
    def write(number: int) -> None:
        memory.runs.change("add", f"{number}.py")
        memory.runs.set({"untracked_changes": [{"file": f"set-{number}.py"}]})

    writers = [Thread(target=write, args=(number,)) for number in range(6)]
    for one in writers:
        one.start()
    for one in writers:
        one.join()
    wanted = {f"{number}.py" for number in range(6)}
    assert set(files(memory.runs.show())) == wanted | {f"set-{file}" for file in wanted}


def test_a_step_may_need_one_of_several(memory: Memory, tmp_path: Path) -> None:
    declare(tmp_path, {"ref": {"spec": ["scan", ["research", "translate"]], "scan": [], "research": ["scan"],
                               "translate": []}})  # fmt: skip
    assert memory.runs.require("spec").missing == ["scan", "research"]
    memory.runs.done("translate")
    assert memory.runs.require("spec").missing == ["scan"]
    memory.runs.done("scan")
    assert memory.runs.require("spec").met


def test_what_is_skipped_is_recorded_as_an_event_and_in_the_state(memory: Memory) -> None:
    memory.runs.done("explore")
    found = memory.runs.require("observe", skip=True)
    assert (found.met, found.missing, found.skipped) == (True, [], ["plan", "build"])
    assert memory.runs.show().skipped_steps == ("plan", "build")
    (event,) = memory.events.list(types=["prerequisite-skipped"]).events
    assert event.data == {"step": "observe", "skipped": ["plan", "build"]}
    again = memory.runs.require("observe", skip=True)
    assert (again.met, again.skipped) == (True, [])
    assert len(memory.events.list(types=["prerequisite-skipped"]).events) == 1


def test_a_project_declares_its_own_steps(memory: Memory, tmp_path: Path) -> None:
    declare(tmp_path, {"feature": {"ship": ["test", "write"], "test": ["write"], "write": []}})
    assert memory.runs.require("ship").missing == ["write", "test"]
    with pytest.raises(NotFound, match="has no step 'build'") as refused:
        memory.runs.require("build")
    assert refused.value.hint == "its steps: ship, test, write"
    with pytest.raises(NotFound, match="has no step 'shp'") as refused:
        memory.runs.require("shp")
    assert refused.value.hint == "did you mean ship?"
    with pytest.raises(NotFound, match="no workflow 'usual'"):
        memory.runs.require("build", workflow="usual")


def test_where_nothing_is_declared_there_are_the_usual_steps_only(memory: Memory, tmp_path: Path) -> None:
    assert memory.runs.require("build", workflow="usual").missing == ["explore", "plan"]
    with pytest.raises(NotFound, match="no workflow 'feature' is declared") as refused:
        memory.runs.require("build", workflow="feature")
    assert refused.value.hint == f"declare it in {tmp_path / '.graphmem/workflows.json'}"


def test_of_several_workflows_one_is_named_or_is_that_of_the_state(memory: Memory, tmp_path: Path) -> None:
    declare(tmp_path, {"feature": {"ship": ["write"], "write": []}, "fix": {"ship": ["reproduce"], "reproduce": []}})
    with pytest.raises(NotFound, match="several workflows are declared") as refused:
        memory.runs.require("ship")
    assert refused.value.hint == "one of: feature, fix"
    assert memory.runs.require("ship", workflow="feature").missing == ["write"]
    memory.runs.set({"workflow": "fix"})
    assert memory.runs.require("ship").missing == ["reproduce"]
    assert memory.runs.require("ship", workflow="feature").missing == ["write"]


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        ({"f": {"a": ["b"], "b": ["c"], "c": ["a"]}}, "f has a cycle: a → b → c → a"),
        ({"f": {"a": ["a"]}}, "f has a cycle: a → a"),
        ({"f": {"a": ["b"]}}, "f.a needs 'b', which is not a step of it"),
        ({"f": {"a": "b"}}, "f.a does not list the steps that it needs"),
        ({"f": {"a": [3]}}, "f.a does not list the steps that it needs"),
        ({"f": {"a": [["b", []]], "b": []}}, "f.a does not list the steps that it needs"),
        ({"f": {"a": [[]]}}, "f.a does not list the steps that it needs"),
        ({"f": {"a": [["b", "c"]], "b": []}}, "f.a needs 'c', which is not a step of it"),
        ({"f": {"a": [["b", "c"]], "b": [], "c": ["a"]}}, "f has a cycle: a → c → a"),
        ({"f": []}, "does not declare workflows"),
        ({}, "does not declare workflows"),
        ([], "does not declare workflows"),
        (b"{", "does not declare workflows"),
        (b"\xff\xfe", "does not declare workflows"),
        (b'{"a":' * 5_000, "does not declare workflows"),
        (b" " * 300_000, "too large"),
    ],
)
def test_a_declaration_that_makes_no_sense_is_refused_with_its_path(
    memory: Memory, tmp_path: Path, declared: object, message: str
) -> None:
    path = declare(tmp_path, declared)
    with pytest.raises(BadInput) as refused:
        memory.runs.require("a")
    assert message in refused.value.message
    assert str(path) in refused.value.message


def test_a_declaration_that_is_a_link_counts_as_missing(memory: Memory, tmp_path: Path) -> None:
    path = declare(tmp_path, {"f": {"a": []}})
    path.rename(tmp_path / "elsewhere.json")
    path.symlink_to(tmp_path / "elsewhere.json")
    with pytest.raises(NotFound, match="'usual' has no step 'a'"):
        memory.runs.require("a")


# --- the command line -------------------------------------------------------------------------------------------------


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store, in which the test is."""
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def answer(capsys: pytest.CaptureFixture[str], *words: str, status: int = 0) -> Any:
    """Return the JSON that a command prints."""
    assert run(["build", *words, "--json"]) == status
    return json.loads(capsys.readouterr().out)


def test_the_answers_have_the_shapes_of_the_specification(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = {"workflow_step": "build", "chunk_progress": {"current": 1, "total": 2}}
    made = answer(capsys, "set", json.dumps(given))
    assert made == {**dict.fromkeys(RunState.model_fields), **given, "last_updated": made["last_updated"]}
    assert answer(capsys, "show") == made
    (project / "plan.json").write_text(json.dumps(PLAN))
    begun = answer(capsys, "begin", "plan.json")
    assert RunState.model_validate(begun) == RunState.model_validate_json(run_of(project) or b"")
    assert begun["build_run"]["chunks"][0]["status"] == "planned"
    found = answer(capsys, "resume")
    assert found.keys() - {"chosen"} == {"run_id", "completed", "remaining", "drifted", "choices"}
    assert found["choices"][0].keys() >= {"number", "action", "text"}
    assert answer(capsys, "chunk", "c1", "active")["chunk_progress"] == {"current": 1, "total": 3}
    assert answer(capsys, "end")["build_run"]["status"] == "partial"


def test_a_step_that_lacks_another_is_exit_status_1(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = answer(capsys, "require", "plan", status=1)
    assert (found["step"], found["met"], found["missing"]) == ("plan", False, ["explore"])
    assert run(["build", "require", "plan"]) == 1
    assert capsys.readouterr().out.splitlines() == [
        "missing: explore",
        "  1. run explore now (recommended)",
        "  2. begin plan without explore",
        "  3. do not begin plan",
    ]
    assert answer(capsys, "require", "plan", "--skip")["met"] is True
    assert answer(capsys, "require", "plan")["met"] is True


@pytest.mark.parametrize("given", ["{", "[]", "3", "", "NaN", '{"agent_outputs": {"a": ' + "[" * 5_000])
def test_what_is_not_an_object_is_refused_on_the_command_line(
    project: Path, capsys: pytest.CaptureFixture[str], given: str
) -> None:
    assert run(["build", "set", given]) == 3
    assert "is not JSON" in (said := capsys.readouterr().err) or "is not a JSON object" in said


def test_input_that_is_no_plan_is_named_with_what_a_plan_is(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def said(words: str, given: bytes) -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(given)))
        assert run(words.split()) == 3
        return capsys.readouterr().err

    assert run(["campaign", "create", "x", "--name", "c"]) == 0
    for words in ("build begin -", "build set -", "campaign add-tasks c -", "campaign merge-plan c -"):
        assert "standard input is not JSON" in said(words, b"{")
    assert "the plan is not a JSON object" in (text := said("build begin -", b"[]"))
    assert '{"chunks": [{"id": "c1"' in text
    assert "the plan has no tasks" in said("campaign add-tasks c -", b'{"tasks": []}')


def test_a_run_is_shown_to_people(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "show"]) == 0
    assert capsys.readouterr().out == "nothing is going on\n"
    (project / "plan.json").write_text(json.dumps(PLAN))
    assert run(["build", "begin", "plan.json"]) == 0
    assert capsys.readouterr().out.splitlines()[-3:] == [
        "  c1  [planned] log in",
        "  c2  [planned] log out",
        "  c3  [planned]",
    ]
