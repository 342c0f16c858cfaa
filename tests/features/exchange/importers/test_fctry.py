"""fctry: the inbox and the entries of its memory."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run
from graphmem.errors import BadInput

MEMORY = """# Memory

### 2026-02-20T10:00:00Z | decision-record | shop

**Section:** #core-flow (2.2)
**Content:** Update the spec
when it drifts.
**Authority:** user
**Status:** active

### 2026-02-21T10:00:00Z | cross-project-lesson | shop

**Section:** #tests
**Content:** Wait for the event, not the clock.
**Status:** consolidated

### 2026-02-22T10:00:00Z | user-preference | shop

**Content:** Short answers.
**Authority:** user

### 2026-02-23T10:00:00Z | something-else | shop

**Content:** x

### 2026-02-24T10:00:00Z | decision-record | shop
"""
INBOX: list[dict[str, Any]] = [
    {"id": "inbox-1", "type": "evolve", "content": "faster", "timestamp": "2026-02-16T10:00:00Z", "status": "pending"},
    {"id": "inbox-2", "type": "feature", "content": "dark", "timestamp": "2026-02-16T11:00:00Z", "status": "processed",
     "analysis": {"summary": "s"}},
    {"id": "inbox-3"},
]  # fmt: skip


def test_entries_become_decisions_patterns_and_constraints_and_items_wait(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "project" / ".fctry"
    folder.mkdir(parents=True)
    (folder / "memory.md").write_text(MEMORY)
    (folder / "inbox.json").write_text(json.dumps(INBOX))
    (folder / "state.json").write_text(json.dumps({"currentCommand": "evolve", "specVersion": "1.2"}))
    answer = memory.imports.file(tmp_path / "project")
    assert answer.format == "fctry"
    assert answer.read == {"entry": 5, "item": 3, "state field": 2}
    assert answer.created == {"constraint": 1, "decision": 1, "event": 3, "pattern": 1, "state field": 2}
    assert len(answer.skipped) == 2 + 1
    decision: Any = memory.list("decision").results[0].record
    assert decision.decision == "Update the spec\nwhen it drifts."
    assert decision.x_fctry["Section"] == "#core-flow (2.2)"
    lesson: Any = memory.list("pattern", archived=True).results[0].record
    assert (lesson.insight, lesson.archive_reason) == ("Wait for the event, not the clock.", "consolidated in fctry")
    items = {one.id: one.status for one in memory.inbox.items(everything=True).items}
    assert items == {"inbox-1": "pending", "inbox-2": "processed"}
    again = memory.imports.file(folder)
    assert (again.created, again.updated) == ({}, {})


STATE: dict[str, Any] = {
    "activeSection": {"alias": "checkout", "number": "2.1"}, "currentCommand": "execute", "workflowStep": "build",
    "completedSteps": ["plan"], "scenarioScore": {"satisfied": 4, "total": 9}, "readinessSummary": {"needs-Spec": 2},
    "untrackedChanges": [{"file": "a.py", "sectionNumber": "2.1", "timestamp": "2026-02-16T10:00:00Z"}],
    "buildRun": {"runId": "r1", "status": "partial", "startedAt": "2026-02-16T10:00:00Z",
                 "plan": {"totalChunks": 2, "prioritySource": "global"},
                 "chunks": [{"id": 1, "name": "form", "status": "completed", "attempt": 2},
                            {"id": 2, "name": "route", "dependsOn": [1]}], "lastCheckpoint": "2026-02-16T11:00:00Z"},
    "chunkProgress": {"current": 1}, "interviewState": {"a": 1}, "lastUpdated": "2026-02-16T11:00:00Z",
}  # fmt: skip


def test_the_run_state_is_taken_over_but_for_what_is_there_already(memory: Memory, tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text(json.dumps(STATE))
    memory.runs.set({"workflow_step": "observe", "current_command": "execute"})
    tried = memory.imports.file(tmp_path, dry_run=True)
    assert memory.runs.show().active_section is None
    answer = memory.imports.file(tmp_path)
    assert (answer.created, answer.unchanged) == ({"state field": 6}, {"state field": 1})
    assert (tried.created, tried.skipped) == (answer.created, answer.skipped)
    assert {one.place for one in answer.skipped} == {
        "state.json: chunkProgress", "state.json: interviewState", "state.json: lastUpdated",
        "run state: workflow_step",
    }  # fmt: skip
    state = memory.runs.show()
    assert state.active_section is not None and state.active_section.alias == "checkout"
    assert (state.workflow_step, state.completed_steps, state.readiness) == ("observe", ("plan",), {"needs-Spec": 2})
    assert state.untracked_changes is not None and state.untracked_changes[0].section_number == "2.1"
    assert state.build_run is not None and state.build_run.plan.priority_source == "global"
    assert [(one.id, one.status, one.depends_on) for one in state.build_run.chunks] == [
        ("1", "completed", ()), ("2", "planned", ("1",))
    ]  # fmt: skip
    again = memory.imports.file(tmp_path)
    assert (again.created, again.unchanged) == ({}, {"state field": 7})


@pytest.mark.parametrize("part", ["memory.md", "inbox.json"])
@pytest.mark.parametrize("is_named", [True, False])
def test_any_part_alone_is_taken(memory: Memory, tmp_path: Path, part: str, is_named: bool) -> None:
    folder = tmp_path / "project" / ".fctry"
    folder.mkdir(parents=True)
    (folder / part).write_text(MEMORY if part == "memory.md" else json.dumps([{"id": 4}, INBOX[0]]))
    answer = memory.imports.file(folder if is_named else folder.parent)
    assert (answer.format, sum(answer.created.values())) == ("fctry", 3 if part == "memory.md" else 1)


def test_an_item_keeps_its_own_id_as_a_name_that_commands_take(
    memory: Memory, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    names = ("inbox-1739712345678", "inbox-1739712399999", "dark mode")
    (tmp_path / "inbox.json").write_text(json.dumps([{**INBOX[0], "id": name} for name in names]))
    memory.imports.file(tmp_path)
    assert run(["--dir", str(tmp_path), "inbox", "add", "by hand"]) == 0
    made, _, _ = capsys.readouterr().out.partition(" ")
    assert run(["--dir", str(tmp_path), "inbox", "list"]) == 0
    shown = capsys.readouterr().out.splitlines()
    words = {line.partition("  [")[0] for line in shown}
    assert words == {*names[:2], '"dark mode"', made}
    for name in names[:2]:
        assert run(["--dir", str(tmp_path), "inbox", "done", name]) == 0
    assert len(made) == 8 and run(["--dir", str(tmp_path), "inbox", "dismiss", made]) == 0
    assert [one.id for one in memory.inbox.items().items] == ["dark mode"]


@pytest.mark.parametrize("odd", ["[" * 300 + "]" * 300, str(10**30), '"\\ud800"'])
def test_an_inbox_that_no_row_can_hold_is_told(memory: Memory, tmp_path: Path, odd: str) -> None:
    (tmp_path / "inbox.json").write_text(json.dumps(INBOX)[:-2] + f', "odd": {odd}}}]')
    with pytest.raises(BadInput, match="it is not a list of items"):
        memory.imports.file(tmp_path, format="fctry")
