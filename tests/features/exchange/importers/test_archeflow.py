"""ArcheFlow: a lesson goes on counting where it was."""

import json
from pathlib import Path
from typing import Any

from graphmem import Memory
from tests.sample import open_memory

LESSON = {
    "id": "m-001", "ts": "2026-03-01T10:00:00Z", "run_id": "run-1", "type": "pattern", "source": "guardian",
    "description": "never retry a payment blindly", "frequency": 3, "severity": "bug", "domain": "security",
    "tags": ["payment"], "archetype": None, "last_seen_run": "run-4", "runs_since_last_seen": 2,
}  # fmt: skip
HINT = {**LESSON, "id": "m-002", "type": "archetype_hint", "archetype": "maker", "description": "write the test first"}
ODD = {**LESSON, "id": "m-003", "type": "archetype_hint", "severity": "fatal", "description": "odd", "frequency": "x"}


def write(folder: Path, **files: list[Any]) -> Path:
    (folder / "memory").mkdir(exist_ok=True)
    for name, lessons in files.items():
        (folder / "memory" / f"{name}.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in lessons))
    return folder / "memory"


def lessons(memory: Memory) -> dict[str, Any]:
    found = [*memory.list("lesson").results, *memory.list("lesson", archived=True).results]
    return {one.record.sources[0]: one.record for one in found}


def test_lessons_keep_what_they_were_counted_to_and_their_numbers(tmp_path: Path) -> None:
    path = write(
        tmp_path, lessons=[LESSON, HINT, ODD, {"id": "m-9"}], archive=[{**LESSON, "id": "m-4", "description": "old"}]
    )
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert (answer.format, answer.read, answer.created) == ("archeflow", {"lesson": 5}, {"lesson": 4})
        assert [one.place for one in answer.skipped] == ["lessons.jsonl:4"]
        made = lessons(memory)
        first = made["archeflow:m-001"]
        assert (first.frequency, first.runs_since_last_seen, first.last_seen_run) == (3, 2, "run-4")
        assert (first.aliases, first.severity, first.domain, first.tags) == (
            ("m-001",),
            "bug",
            "security",
            ("payment",),
        )
        assert first.x_archeflow == {"run_id": "run-1"}
        assert made["archeflow:m-002"].archetype == "maker"
        odd = made["archeflow:m-003"].x_archeflow
        assert odd == {"run_id": "run-1", "type": "archetype_hint", "severity": "fatal", "frequency": "x"}
        assert made["archeflow:m-4"].archive_reason == "archived in ArcheFlow"
        assert memory.get("lesson/m-001").ref == first.ref
        memory.lessons.decay("run-9")
        assert lessons(memory)["archeflow:m-001"].runs_since_last_seen == 3
        again = memory.imports.file(path)
        assert (again.created, again.updated) == ({}, {})


def test_the_file_alone_is_recognised_too(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(write(tmp_path, lessons=[LESSON]) / "lessons.jsonl").created == {"lesson": 1}


def test_archived_lessons_alone_are_taken(memory: Memory, tmp_path: Path) -> None:
    answer = memory.imports.file(write(tmp_path, archive=[LESSON]))
    assert (answer.format, answer.created) == ("archeflow", {"lesson": 1})
