"""Task Master: each tag, task, subtask and dependency becomes something, or is accounted for."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from tests.features.exchange.importers.real import ARE_THERE, expected, unpacked
from tests.features.exchange.importers.test_beads import total
from tests.sample import open_memory

TASKS = [
    {
        "id": 1, "title": "Set up", "description": "the project", "status": "done", "dependencies": [],
        "priority": "high", "details": "npm init", "testStrategy": "run it", "subtasks": [
            {"id": 1, "title": "a", "status": "done", "dependencies": []},
            {"id": 2, "title": "b", "status": "pending", "dependencies": [1, "3.1", 9]},
            {"id": 2, "title": "b again", "status": "pending", "dependencies": []},
        ],
    },
    {"id": 2, "title": "Ship", "status": "in-progress", "dependencies": [1, 99], "priority": "low", "subtasks": []},
    {"id": "3", "title": "Old", "status": "cancelled", "dependencies": [], "subtasks": [
        {"id": 1, "title": "c", "status": "review", "dependencies": []},
    ]},
    {"id": 4, "title": " ", "status": "pending", "dependencies": [1]},
]  # fmt: skip
METADATA = {"created": "2025-06-13T23:52:56.848Z", "updated": "2025-08-02T14:13:14.826Z", "description": "All of it"}


def records(memory: Memory) -> dict[str, Any]:
    found = [*memory.list("task").results, *memory.list("task", archived=True).results]
    return {one.record.sources[0]: one.record for one in found}


@pytest.mark.parametrize("document", [{"tasks": TASKS}, {"master": {"tasks": TASKS, "metadata": METADATA}}])
def test_tags_tasks_and_subtasks_become_campaigns_and_tasks(document: Any, tmp_path: Path) -> None:
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps(document, indent=2))
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.format == "taskmaster"
        assert answer.read == {"dependency": 6, "subtask": 4, "tag": 1, "task": 4}
        assert answer.created == {"campaign": 1, "relation": 3 + 4, "task": 7}
        assert answer.dangling == 2
        assert [one.reason for one in answer.skipped] == ["task 4 has no title", "a dependency of what is left out"]
        made = records(memory)
        assert made["taskmaster:master/1"].name == "master/001-1"
        assert made["taskmaster:master/1"].objective == "Set up\n\nthe project"
        kept = made["taskmaster:master/1"].x_taskmaster
        assert kept == {"priority": "high", "details": "npm init", "testStrategy": "run it"}
        assert made["taskmaster:master/1.2"].depends == ("task/master/001-1.1", "task/master/001-3.1")
        assert made["taskmaster:master/1.2"].x_taskmaster["dependencies"] == [1, "3.1", 9]
        assert made["taskmaster:master/1.2#2"].objective == "b again"
        assert made["taskmaster:master/2"].status == "active"
        assert made["taskmaster:master/3"].archive_reason == "cancelled in Task Master"
        assert made["taskmaster:master/3.1"].tags == ("review",)
        again = memory.imports.file(path)
        assert (again.created, again.updated) == ({}, {})


def test_a_ring_of_tasks_is_opened_and_said(tmp_path: Path) -> None:
    tasks = [
        {"id": number, "title": "t", "status": "pending", "dependencies": [need]} for number, need in ((1, 2), (2, 1))
    ]
    path = tmp_path / "tasks.json"
    path.write_text(json.dumps({"tasks": tasks}))
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"campaign": 1, "relation": 1, "task": 2}
        assert [one.reason for one in answer.skipped] == ["task 2 needs 1, which waits for it already"]


@pytest.mark.long
@ARE_THERE
def test_a_whole_file_is_accounted_for(tmp_path: Path) -> None:
    told, path = expected("taskmaster_tagged.json"), unpacked("taskmaster_tagged.json", tmp_path)
    counts = {name: sum(tag[name] for tag in told.values()) for name in told["master"] if name != "by_status"}
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        links = counts["dependencies"] + counts["subtask_dependencies"]
        assert answer.read == {
            "dependency": links, "subtask": counts["subtasks"], "tag": 2, "task": counts["tasks"],
        }  # fmt: skip
        assert total(answer, "task") == counts["tasks"] + counts["subtasks"]
        assert total(answer, "relation") + answer.dangling + len(answer.skipped) == links + counts["subtasks"]
        assert memory.store.validate().ok
        assert memory.imports.file(path).created == {}
