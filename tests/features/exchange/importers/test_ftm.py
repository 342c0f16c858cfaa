"""ftm: decisions, constraints, experiences and insights of a blackboard."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory

CONTEXT = {
    "current_task": {"id": "a", "description": "b"},
    "recent_decisions": [
        {"decision": "use kuzu", "reasoning": "it is there", "timestamp": "2026-03-17T10:00:00Z", "task_id": "a"},
        {"reasoning": "for nothing"},
    ],
    "active_constraints": [{"constraint": "no new table", "source": "user", "expires_at": None}, "no secrets"],
    "user_preferences": {},
}
EXPERIENCE = {
    "task_type": "bug", "description": "the poller crashed", "approach": "read the log", "outcome": "success",
    "lessons": ["check the token first"], "time_taken": "~2 hours", "complexity_estimated": "low",
    "complexity_actual": "galactic", "capabilities_used": ["ftm-debug"], "tags": ["slack"], "confidence": "high",
    "recorded_at": "2026-03-17T12:00:00Z",
}  # fmt: skip
PATTERNS = {
    "codebase_insights": [
        {"insight": "api is generated", "file_pattern": "src/**", "confidence": "low", "occurrences": 2,
         "last_seen": "2026-03-18T10:00:00Z"},
    ],
    "user_behavior": [{"behavior": "reads every diff", "frequency": "always", "context": "reviews"}],
    "recurring_issues": [{"issue": "token expires", "symptoms": "401", "root_cause": None, "resolution": "renew"}],
    "execution_patterns": [{"context": "nothing"}],
    "others": ["x"],
}  # fmt: skip


def test_a_blackboard_becomes_decisions_constraints_experiences_and_insights(memory: Memory, tmp_path: Path) -> None:
    folder = tmp_path / "blackboard"
    (folder / "experiences").mkdir(parents=True)
    files = {
        "context": CONTEXT, "patterns": PATTERNS, "experiences/index": {"entries": []},
        "experiences/2026-03-17_debug-poller": EXPERIENCE, "experiences/2026-03-18_broken": "not an object",
    }  # fmt: skip
    for name, content in files.items():
        (folder / f"{name}.json").write_text(json.dumps(content, indent=1))
    answer = memory.imports.file(folder)
    assert answer.format == "ftm"
    assert answer.read == {"constraint": 2, "decision": 2, "experience": 2, "insight": 5, "session field": 2}
    assert answer.created == {"constraint": 2, "decision": 1, "experience": 1, "insight": 3}
    assert len(answer.skipped) == 1 + 1 + 2 + 2
    decision: Any = memory.list("decision").results[0].record
    assert (decision.reasoning, decision.x_ftm) == ("it is there", {"task_id": "a"})
    experience: Any = memory.get("experience/2026-03-17_debug-poller").record
    assert (experience.time_taken, experience.outcome, experience.tags) == (120.0, "success", ("slack",))
    assert experience.x_ftm == {"complexity_actual": "galactic"}
    insights: dict[str, Any] = {one.record.category: one.record for one in memory.list("insight").results}  # type: ignore[union-attr]
    assert insights["codebase_insight"].file_pattern == "src/**"
    assert "x_ftm" not in insights["codebase_insight"].to_row()
    assert insights["user_behavior"].frequency == "always"
    assert insights["recurring_issue"].resolution == "renew"
    again = memory.imports.file(folder)
    assert (again.created, again.updated) == ({}, {})


def test_an_insight_keeps_what_it_has_earned(memory: Memory, tmp_path: Path) -> None:
    seen = {"first_seen": "2026-02-01T10:00:00Z", "last_seen": "2026-03-18T10:00:00Z"}
    entries = [
        {"pattern": "builds before it tests", "occurrences": 4, "confidence": "medium", **seen},
        {"pattern": "asks first", "occurrences": 9, "last_seen": "2026-03-18T10:00:00Z"},
        {"pattern": "was sure at once", "occurrences": 1, "confidence": "high"},
        {"pattern": "counts oddly", "occurrences": -3, "confidence": "absolute"},
    ]
    (tmp_path / "patterns.json").write_text(json.dumps({"execution_patterns": entries}))
    memory.imports.file(tmp_path)
    found: dict[str, Any] = {one.record.statement: one.record for one in memory.list("insight").results}  # type: ignore[union-attr]
    assert {said: (one.occurrences, one.confidence) for said, one in found.items()} == {
        "builds before it tests": (4, "medium"),
        "asks first": (9, "high"),
        "was sure at once": (1, "high"),
        "counts oddly": (0, "low"),
    }
    assert found["counts oddly"].x_ftm == {"occurrences": -3, "confidence": "absolute"}
    times = [(f"{one.created_at:%m-%d}", f"{one.updated_at:%m-%d}") for one in list(found.values())]
    by_text = dict(zip(found, times, strict=True))
    assert (by_text["builds before it tests"], by_text["asks first"]) == (("02-01", "03-18"), ("03-18", "03-18"))
    rows = memory.cypher("MATCH (i:Insight) RETURN i.statement, i.occurrences, i.confidence ORDER BY i.statement").rows
    assert [list(row)[1:] for row in rows] == [[9, "high"], [4, "medium"], [0, "low"], [1, "high"]]
    assert memory.imports.file(tmp_path).updated == {}


def test_an_insight_that_is_seen_again_goes_on_from_what_it_had_earned(memory: Memory, tmp_path: Path) -> None:
    said = "check the token first"
    (tmp_path / "patterns.json").write_text(json.dumps({"execution_patterns": [{"pattern": said, "occurrences": 7}]}))
    memory.imports.file(tmp_path)
    rows = [
        {"kind": "experience", "name": f"2026-03-1{day}_task-{day}", "task_type": "bug", "description": f"bug {day}",
         "approach": "read the log", "outcome": "success", "lessons": [said], "created_at": f"2026-03-1{day}T10:00:00Z"}
        for day in (1, 2)
    ]  # fmt: skip
    memory.add_rows(json.dumps(row) for row in rows)
    (promotion,) = memory.experiences.promote(yes=True).promotions
    assert (promotion.action, promotion.occurrences, promotion.confidence) == ("updated", 9, "high")


@pytest.mark.parametrize(
    ("name", "content"),
    [("context", CONTEXT), ("patterns", PATTERNS), ("experiences/2026-03-17_debug-poller", EXPERIENCE)],
)
def test_any_part_of_a_blackboard_alone_is_taken(memory: Memory, tmp_path: Path, name: str, content: Any) -> None:
    folder = tmp_path / "blackboard"
    (folder / "experiences").mkdir(parents=True)
    (folder / f"{name}.json").write_text(json.dumps(content))
    answer = memory.imports.file(folder)
    assert answer.format == "ftm" and answer.created
