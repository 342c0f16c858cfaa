"""Beads: every issue and every dependency of a tracker's file becomes something, or is accounted for."""

import json
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.features.exchange.importers.beads import says_what
from graphmem.features.exchange.operations import Imported
from tests.features.exchange.importers.real import ARE_THERE, SAMPLES, expected, unpacked
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
@pytest.mark.long
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
        said = [one for one in bugs if says_what(one.get("close_reason")) or says_what(one.get("notes"))]
        assert total(answer, "failure") == len(said)
        assert 0 < len(said) <= sum(bool(one.get("close_reason") or one.get("notes")) for one in bugs)
        assert memory.store.validate().ok
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
        tmp_path,
        issue("bd-1", close_reason="restart it", **closed),
        issue("bd-2", close_reason="wait for it to start", **closed),
    )
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(path).merged == {"failure": 1}
        made = record(memory, "failure", "bd-1")
        assert (made.sources, made.fix) == (("beads:bd-1", "beads:bd-2"), "restart it")
        assert [one.text for one in made.alternates] == ["wait for it to start"]
        again = memory.imports.file(path)
        assert (again.created, again.updated, again.unchanged["failure"]) == ({}, {}, 2)


@pytest.mark.parametrize(
    ("reason", "is_fix"),
    [
        ("done", False), ("Completed.", False), ("All done!", False), ("Fixed in main", False), ("完了", False),
        ("Merged to master, closed as completed", False), ("It works now", False), (None, False), ("", False),
        ("restart it", True), ("Fixed by clearing the cache", True), ("pin setuptools<81", True),
        ("Ограничить число повторов", True),
    ],
)  # fmt: skip
def test_only_a_reason_that_says_what_was_done_is_a_fix(reason: str | None, is_fix: bool) -> None:
    assert says_what(reason) == is_fix


def test_what_a_bug_was_closed_with_is_no_fix_where_it_only_closes_it(tmp_path: Path) -> None:
    closed = {"status": "closed", "issue_type": "bug"}
    path = write(
        tmp_path, issue("bd-1", title="it crashes", close_reason="done", **closed),
        issue("bd-2", title="it hangs", close_reason="Closed", notes="take the lock once", **closed),
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        assert memory.imports.file(path).created == {"campaign": 1, "failure": 1, "task": 2}
        assert record(memory, "failure", "bd-2").fix == "take the lock once"
        assert record(memory, "task", "bd-1").delivered == "done"


def test_memories_of_the_tracker_are_rules_and_decisions(tmp_path: Path) -> None:
    path = write(
        tmp_path, {"_type": "memory", "key": "deploy-rule", "value": "Never deploy on Friday"},
        {"_type": "memory", "key": "db", "value": "The shop keeps its prices in Postgres"}, issue("bd-1"),
        {"_type": "memory", "key": " ", "value": "x"},
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert (answer.format, answer.read) == ("beads", {"dependency": 0, "issue": 1, "memory": 3})
        assert len(answer.skipped) == 1
        found = [memory.query(text).results[0].ref for text in ("deploy on Friday", "where are prices kept: Postgres")]
        assert found == ["constraint/deploy-rule", "decision/db"]
        assert memory.imports.file(path).created == {}


def test_of_a_task_that_needs_very_many_the_rest_are_edges(tmp_path: Path) -> None:
    needs = [{"depends_on_id": f"bd-{number}", "type": "blocks"} for number in range(130)]
    path = write(tmp_path, *(issue(f"bd-{number}") for number in range(130)), issue("bd-all", dependencies=needs))
    with open_memory(tmp_path) as memory:
        answer = memory.imports.file(path)
        assert (answer.created["task"], answer.created["relation"], answer.skipped) == (131, 130, [])
        made = record(memory, "task", "bd-all")
        edges = [edge for edge in memory.get(made.ref).relations if edge.type not in ("depends_on", "part_of")]
        assert (len(made.depends), len(edges)) == (100, 30)
        assert memory.imports.file(path).created == {}


def test_what_an_issue_holds_beside_its_fields_is_found_by_its_words(tmp_path: Path) -> None:
    path = write(
        tmp_path, issue("bd-1", title="Cart loses prices", design="Use a zebrafish table", notes="the wombat cache",
                        acceptance_criteria="The quokka passes", comments=[{"id": 1, "text": "run the pangolin"}]),
        issue("bd-2", title="Another one"),
    )  # fmt: skip
    with open_memory(tmp_path) as memory:
        memory.imports.file(path)
        for word in ("zebrafish", "quokka", "wombat", "pangolin"):
            assert memory.query(word).results[0].ref == record(memory, "task", "bd-1").ref


def test_a_task_is_found_by_its_id_in_the_tracker(memory: Memory, tmp_path: Path) -> None:
    memory.imports.file(write(tmp_path, issue("bd-7"), issue("bd-12"), issue("bd-12.1")))
    assert memory.get("bd-7").ref == memory.get("task/bd-7").ref == record(memory, "task", "bd-7").ref
    assert memory.tasks.start("bd-12.1").ref == record(memory, "task", "bd-12.1").ref
