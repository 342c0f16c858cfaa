"""Beads: every issue and every dependency of a tracker's file becomes something, or is accounted for."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.contract.imports import Imported
from tests.importers.real import ARE_THERE, SAMPLES, expected, unpacked
from tests.pace import within
from tests.sample import open_memory

SAMPLE = SAMPLES / "beads" / "issues.jsonl"
KINDS = ("created", "merged", "updated", "unchanged")


def issue(number: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": number, "title": f"title of {number}", "status": "open", "issue_type": "task", "priority": 2,
        "created_at": "2025-11-02T21:58:07.295058-08:00", **fields,
    }  # fmt: skip


def needs(number: str, *targets: str, sort: str = "blocks") -> list[dict[str, Any]]:
    return [{"issue_id": number, "depends_on_id": target, "type": sort} for target in targets]


def write(folder: Path, *issues: Any) -> Path:
    path = folder / "issues.jsonl"
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in issues))
    return path


def total(answer: Imported, kind: str) -> int:
    """Return how many of a kind an import accounts for, whatever became of them."""
    return sum(getattr(answer, name).get(kind, 0) for name in KINDS)


def record(memory: Memory, kind: str, number: str) -> Any:
    """Return the one record of a kind that an issue became."""
    (made,) = [one for one in records(memory, kind) if f"beads:{number}" in one.sources]
    return made


def records(memory: Memory, kind: str) -> list[Any]:
    """Return the records of a kind, archived ones too."""
    return [one.record for one in (*memory.list(kind).results, *memory.list(kind, archived=True).results)]


@ARE_THERE
@pytest.mark.parametrize("name", ["beads_late.jsonl", "beads_polluted.jsonl"])
def test_a_whole_tracker_is_accounted_for(name: str, tmp_path: Path) -> None:
    told, path = expected(name), unpacked(name, tmp_path)
    issues = [json.loads(line) for line in path.read_text().splitlines()]
    with open_memory(tmp_path) as memory:
        start = time.monotonic()
        answer = memory.imports.file(path)
        assert within(time.monotonic() - start, 10.0)
        assert answer.read == {"issue": told["lines"], "dependency": sum(told["dependencies"].values())}
        assert (total(answer, "task"), answer.skipped) == (told["lines"], [])
        assert total(answer, "relation") + answer.dangling == answer.read["dependency"]
        assert answer.dangling == told["dangling_dependencies"]
        archived = told["by_status"].get("tombstone", 0)
        stats = memory.stats()
        assert stats.records["task"] == told["lines"] - archived
        states = Counter(one.status for one in records(memory, "task") if not one.is_archived)
        assert states["complete"] == told["by_status"]["closed"]
        tagged = {one.ref for one in memory.list("task", tags=["hooked"]).results}
        assert len(tagged) == told["by_status"].get("hooked", 0)
        kept = [one.x_beads for one in records(memory, "task")]
        assert Counter(one["issue_type"] for one in kept) == told["by_type"]
        assert sum("comments" in one for one in kept) == told["with_comments"]
        bugs = [one for one in issues if one["issue_type"] == "bug" and one["status"] == "closed"]
        assert total(answer, "failure") == sum(bool(one.get("close_reason") or one.get("notes")) for one in bugs)
        assert memory.validate().ok
        again = memory.imports.file(path)
        assert (again.created, again.merged, again.updated) == ({}, {}, {})
        assert again.unchanged["task"] == told["lines"]


def test_the_sample_becomes_tasks_campaigns_failures_and_edges(tmp_path: Path) -> None:
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(SAMPLE)
        assert answer.read == {"dependency": 12, "issue": 24}
        assert answer.created == {"campaign": 4, "failure": 1, "relation": 12, "task": 24}
        assert (answer.format, answer.skipped, answer.dangling) == ("beads", [], 0)
        assert record(memory, "task", "bd-34q1").depends == (record(memory, "task", "bd-mypl").key_ref,)
        assert record(memory, "task", "bd-z830").campaign == "campaign/bd-fbl9"
        assert record(memory, "task", "bd-d3e5").archived_at is not None
        assert "discovered_from" in memory.stats().relations
        bug = record(memory, "failure", "bd-0e1gk")
        assert bug.fix == record(memory, "task", "bd-0e1gk").delivered != ""


def test_an_issue_keeps_what_has_no_place_in_a_task(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        issue("bd-1", status="hooked", issue_type="molecule", labels=["ui"], notes="n", comments=[{"text": "c"}],
              description="more", close_reason="done", closed_at="2025-11-03T00:00:00Z", deep={"a": [1, {"b": None}]}),
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        memory.imports.file(path)
        made = record(memory, "task", "bd-1")
        assert (made.name, made.objective, made.status) == ("imported/001-bd-1", "title of bd-1\n\nmore", "pending")
        assert made.tags == ("hooked", "molecule", "ui")
        assert made.delivered == "done"
        assert made.x_beads == {
            "status": "hooked", "issue_type": "molecule", "priority": 2, "notes": "n", "comments": [{"text": "c"}],
            "deep": {"a": [1, {"b": None}]},
        }  # fmt: skip


def test_the_parents_of_an_issue_are_its_campaign_and_edges_to_more(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        issue("bd-e", issue_type="epic", status="closed", closed_at="2025-11-03T00:00:00Z"),
        issue("bd-f", issue_type="epic"),
        issue("bd-1", dependencies=needs("bd-1", "bd-e", "bd-f", sort="parent-child")),
        issue("bd-e.2"),
        issue("bd-3"),
    )
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"campaign": 3, "relation": 2, "task": 5}
        assert record(memory, "campaign", "bd-e").status == "complete"
        names = {number: record(memory, "task", number).name for number in ("bd-1", "bd-e.2", "bd-3", "bd-e")}
        assert names == {
            "bd-1": "bd-e/001-bd-1", "bd-e.2": "bd-e/002-bd-e.2", "bd-3": "imported/003-bd-3",
            "bd-e": "imported/000-bd-e",
        }  # fmt: skip
        edges = [edge for edge in memory.get("task/bd-e/001-bd-1").relations if edge.type == "child_of"]
        assert [edge.target for edge in edges] == ["campaign/bd-f"]


def test_what_cannot_be_taken_is_named_with_its_place_and_nothing_is_lost(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        issue("bd-1", dependencies=[*needs("bd-1", "bd-9"), *needs("bd-1", "bd-1"), 7, *needs("bd-1", "bd-2")]),
        "{not json",
        issue("bd-2"),
        issue("bd-2", dependencies=needs("bd-2", "bd-1")),
        issue("", title="no id"),
        issue("bd-4", title=" "),
        issue("x" * 300),
        "[1, 2]",
    )
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"campaign": 1, "relation": 1, "task": 2}
        assert answer.read == {"dependency": 5, "issue": 6, "line": 2}
        reasons = {one.place: one.reason for one in answer.skipped}
        assert reasons["issues.jsonl:1"] == "a dependency of issue bd-1 has no depends_on_id or no type"
        assert reasons["issues.jsonl:2"].startswith("no JSON")
        assert reasons["issues.jsonl:5"] == "it has no id"
        assert reasons["issues.jsonl:6"] == "issue bd-4 has no title"
        assert "sources" in reasons["issues.jsonl:7"]
        issues, links = answer.read["issue"] + answer.read["line"], answer.read["dependency"]
        assert (
            total(answer, "task") + total(answer, "relation") + answer.dangling + len(answer.skipped) == issues + links
        )
        kept = record(memory, "task", "bd-1").x_beads["dependencies"]
        assert [one if one == 7 else one["depends_on_id"] for one in kept] == ["bd-9", "bd-1", 7, "bd-2"]


def test_of_issues_that_wait_for_each_other_one_dependency_is_left_out(tmp_path: Path) -> None:
    path = write(
        tmp_path, issue("bd-1", dependencies=needs("bd-1", "bd-2")), issue("bd-2", dependencies=needs("bd-2", "bd-1"))
    )
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert answer.created == {"campaign": 1, "relation": 1, "task": 2}
        assert [one.reason for one in answer.skipped] == ["issue bd-2 needs bd-1, which waits for it already"]


def test_a_bug_that_says_the_same_as_another_is_one_failure(tmp_path: Path) -> None:
    closed = {"status": "closed", "issue_type": "bug", "title": "it crashes at the start"}
    path = write(
        tmp_path, issue("bd-1", close_reason="restart it", **closed), issue("bd-2", close_reason="wait", **closed)
    )
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(path).merged == {"failure": 1}
        made = record(memory, "failure", "bd-1")
        assert (made.sources, made.fix) == (("beads:bd-1", "beads:bd-2"), "restart it")
        assert [one.text for one in made.alternates] == ["wait"]
        again = memory.imports.file(path)
        assert (again.created, again.updated, again.unchanged["failure"]) == ({}, {}, 2)
