"""ftl: failures, patterns, their relations and reports, campaigns with their workspaces."""

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, Memory, Refused

MEMORY: Mapping[str, Any] = {
    "id": 1, "name": "import-order", "type": "failure", "trigger": "ImportError: FT", "resolution": "import it there",
    "match": "ImportError.*FT", "cost": 2500, "source": '["001-setup"]', "created_at": "2026-01-15T10:30:00.123456",
    "access_count": 4, "times_helped": 2, "times_failed": 1, "importance": 0.5,
    "related_typed": '{"co_occurs": ["other"]}', "cross_relationships": '{"solves": ["stubs-first"]}',
    "embedding": b"\0\0",
}  # fmt: skip
FRESH = {**MEMORY, "match": None, "cost": 0, "source": "[]", "times_helped": 0, "times_failed": 0, "embedding": None}
PLANNED: list[dict[str, Any]] = [
    {"seq": "001", "slug": "spec", "type": "spec", "depends": "none", "status": "complete"},
    {"seq": "002", "slug": "impl", "type": "impl", "depends": ["001", "009"]},
    {"seq": "003", "slug": "docs", "type": "docs", "depends": "002", "status": "pending"},
]
WORKSPACE = {
    "id": 1, "workspace_id": "001-spec", "campaign_id": 5, "seq": "001", "slug": "spec", "status": "complete",
    "created_at": "2026-01-15T09:30:00", "completed_at": "2026-01-15T10:00:00", "blocked_at": None,
    "objective": "write the stubs", "delta": '["tests/a.py"]', "verify": "pytest", "budget": 5, "delivered": "stubs",
}  # fmt: skip
STUCK = {
    **WORKSPACE, "id": 2, "workspace_id": "002-impl", "seq": "002", "slug": "impl", "status": "blocked",
    "completed_at": None, "blocked_at": "2026-01-15T11:00:00", "delivered": "BLOCKED: ImportError",
}  # fmt: skip
ROWS: Mapping[str, Sequence[Mapping[str, Any]]] = {
    "memory": [
        MEMORY,
        {**FRESH, "id": 2, "name": "other", "trigger": "it hangs", "resolution": "",
         "related_typed": '{"co_occurs": ["import-order"]}', "cross_relationships": "{}"},
        {**FRESH, "id": 3, "name": "stubs-first", "type": "pattern", "trigger": "no test file", "cost": 9000,
         "related_typed": "{}", "cross_relationships": '{"solved_by": ["import-order"]}'},
    ],
    "memory_edge": [
        {"id": 1, "from_id": 1, "to_id": 2, "rel_type": "co_occurs", "weight": 0.6, "created_at": ""},
        {"id": 2, "from_id": 2, "to_id": 1, "rel_type": "co_occurs", "weight": 0.6, "created_at": ""},
        {"id": 3, "from_id": 2, "to_id": 77, "rel_type": "causes", "weight": 1.0, "created_at": ""},
    ],
    "campaign": [
        {"id": 5, "objective": "add routes", "framework": "FastHTML", "status": "complete",
         "created_at": "2026-01-15T09:00:00", "completed_at": "2026-01-17T09:00:00", "summary": '{"passed": 2}',
         "tasks": json.dumps(PLANNED)},
    ],
    "workspace": [WORKSPACE, STUCK, {**WORKSPACE, "id": 3, "campaign_id": 9}],
    "exploration": [{"id": 1, "objective": "add routes", "git_sha": "abc", "created_at": "2026-01-15T08:00:00",
                     "structure": '{"dirs": ["src"]}', "pattern": "{}"}],
    "event": [{"id": 1, "event_type": "campaign_created", "timestamp": "2026-01-15T09:00:00", "metadata": '{"id": 5}'}],
    "phase_state": [{"id": 1, "phase": "plan", "transitions": json.dumps([
        {"from": "none", "to": "explore", "timestamp": "2026-01-15T08:00:00"},
        {"from": "explore", "to": "plan", "timestamp": "2026-01-15T08:30:00"}, {"to": "dance"}])}],
}  # fmt: skip


def database(folder: Path, rows: Mapping[str, Sequence[Mapping[str, Any]]] = ROWS) -> Path:
    path = folder / "ftl.db"
    with sqlite3.connect(path) as connection:
        for table, given in rows.items():
            connection.execute(f"CREATE TABLE {table} ({', '.join(given[0])})")
            for row in given:
                connection.execute(f"INSERT INTO {table} VALUES ({', '.join('?' * len(row))})", list(row.values()))
    connection.close()
    return path


def test_a_database_becomes_memories_campaigns_and_reports(memory: Memory, tmp_path: Path) -> None:
    path = database(tmp_path)
    answer = memory.imports.file(path)
    assert answer.format == "ftl"
    assert answer.read == {
        "campaign": 1, "dependency": 3, "event": 1, "exploration": 1, "memory": 3, "phase_state": 1, "relation": 7,
        "task": 3, "workspace": 3,
    }  # fmt: skip
    assert answer.created == {
        "campaign": 1, "event": 3, "exploration": 1, "failure": 2, "feedback": 3, "pattern": 1, "relation": 4,
        "task": 3,
    }  # fmt: skip
    assert (answer.merged, answer.dangling, len(answer.skipped)) == ({"relation": 4}, 2, 1)
    failure: Any = memory.get("failure/import-order").record
    assert (failure.fix, failure.match, failure.cost) == ("import it there", "ImportError.*FT", 2.5)
    assert failure.sources == ("001-setup", "ftl:failure/import-order")
    assert failure.created_at.isoformat() == "2026-01-15T10:30:00.123000+00:00"
    assert (failure.helped, failure.failed) == (2, 1)
    edges = {(edge.source, edge.type, edge.target) for edge in memory.get("failure/import-order").relations}
    assert ("pattern/stubs-first", "solves", "failure/import-order") in edges
    assert ("failure/import-order", "co_occurs", "failure/other") in edges
    pattern: Any = memory.get("pattern/stubs-first").record
    assert pattern.saved == 9.0
    blocked: Any = memory.get("task/ftl-5/002-impl").record
    assert (blocked.status, blocked.blocked_reason) == ("blocked", "ImportError")
    assert blocked.depends == ("task/ftl-5/001-spec",)
    planned: Any = memory.get("task/ftl-5/003-docs").record
    assert (planned.status, planned.type, planned.depends) == ("pending", "docs", ("task/ftl-5/002-impl",))
    phase = memory.phases.status()
    assert (phase.phase, phase.since) == ("plan", "2026-01-15T08:30:00.000Z")
    again = memory.imports.file(path)
    assert (again.created, again.updated) == ({}, {})


def test_a_task_keeps_what_its_workspace_and_its_plan_say(memory: Memory, tmp_path: Path) -> None:
    idioms = {"required": ["use the ORM"], "forbidden": "raw SQL"}
    known = {"failures": [{"name": "import-order"}], "patterns": [{"name": "stubs-first", "type": "pattern"}]}
    workspace = {
        **WORKSPACE, "idioms": json.dumps(idioms), "framework": "Litestar", "framework_confidence": 0.9,
        "preflight": '["python -c \'import a\'"]', "lineage": '{"parent": "000", "prior_delivery": "plan"}',
        "code_contexts": '[{"path": "a.py", "lines": "1-9"}, "b.py"]', "prior_knowledge": json.dumps(known),
        "utilized": '[{"name": "stubs-first", "type": "pattern"}]', "verify": None,
    }  # fmt: skip
    odd: dict[str, Any] = {
        **dict.fromkeys(workspace), "id": 2, "campaign_id": 5, "seq": "002", "slug": "impl",
        "status": "parked", "idioms": '{"wanted": ["x"]}', "framework_confidence": 95,
        "utilized": '[{"name": "nobody-knows", "type": "pattern"}]',
    }  # fmt: skip
    planned = [{**PLANNED[0], "verify": "pytest -q", "budget": 9}, PLANNED[1]]
    campaign: dict[str, Any] = {
        **ROWS["campaign"][0],
        "status": "partial",
        "outcome": "half of it",
        "tasks": json.dumps(planned),
    }
    memory.imports.file(database(tmp_path, {**ROWS, "campaign": [campaign], "workspace": [workspace, odd]}))
    done: Any = memory.get("task/ftl-5/001-spec").record
    assert (done.idioms.required, done.idioms.forbidden) == (("use the ORM",), ("raw SQL",))
    assert (done.framework, done.framework_confidence, done.budget) == ("Litestar", 0.9, 5.0)
    assert (done.preflight, done.delta) == (["python -c 'import a'"], ("tests/a.py",))
    assert done.verify == "pytest -q"  # of the plan: the workspace has none
    assert done.code_contexts == ('{"path": "a.py", "lines": "1-9"}', "b.py")
    assert done.lineage == ({"parent": "000", "prior_delivery": "plan"},)
    assert (done.prior_knowledge, done.utilized) == (
        ("failure/import-order", "pattern/stubs-first"), ("pattern/stubs-first",)
    )  # fmt: skip
    other: Any = memory.get("task/ftl-5/002-impl").record
    assert (other.status, other.idioms, other.utilized) == ("pending", None, ())
    assert other.x_ftl["idioms"] == {"wanted": ["x"]}
    assert (other.x_ftl["status"], other.x_ftl["framework_confidence"]) == ("parked", 95)
    made: Any = memory.get("campaign/ftl-5").record
    assert (made.status, made.outcome) == ("partial", "half of it")


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ({"required": [], "forbidden": ["raw SQL"]}, {"required": [], "forbidden": ["raw SQL"]}),
        (
            {"required": ["the ORM"], "note": "see b.py"},
            {"required": ["the ORM"], "forbidden": [], "note": "see b.py"},
        ),
    ],
)
def test_idioms_are_kept_whatever_stands_beside_them(
    memory: Memory, tmp_path: Path, given: dict[str, Any], kept: dict[str, Any]
) -> None:
    workspace = {**WORKSPACE, "idioms": json.dumps(given)}
    memory.imports.file(database(tmp_path, {**ROWS, "workspace": [workspace]}))
    done: Any = memory.get("task/ftl-5/001-spec").record
    assert done.idioms.model_dump(mode="json") == kept


@pytest.mark.parametrize("odd", ["[" * 300 + "]" * 300, f"[{10**30}]", '["\\ud800"]'])
def test_a_cell_that_no_row_can_hold_stays_a_text(memory: Memory, tmp_path: Path, odd: str) -> None:
    memory.imports.file(database(tmp_path, {**ROWS, "workspace": [{**WORKSPACE, "notes": odd}]}))
    done: Any = memory.get("task/ftl-5/001-spec").record
    assert done.x_ftl["notes"] == odd


def test_a_damaged_database_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = database(tmp_path)
    path.write_bytes(path.read_bytes()[:5000])
    with pytest.raises(BadInput, match="the database cannot be read"):
        memory.imports.file(path, format="ftl")


def test_a_database_of_another_form_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = database(tmp_path, {"memory": [{"id": 1}], "workspace": [{"id": 1}]})
    with pytest.raises(BadInput, match="table 'memory' has no column 'name'"):
        memory.imports.file(path)


def test_more_reports_than_anybody_made_are_a_count(memory: Memory, tmp_path: Path) -> None:
    memories = [{**MEMORY, "times_helped": 10**15, "times_failed": 3}]
    answer = memory.imports.file(database(tmp_path, {**ROWS, "memory": memories}))
    assert "feedback" not in answer.created
    made: Any = memory.get("failure/import-order").record
    assert (made.helped, made.failed) == (10**15, 3)


def test_a_database_that_is_being_written_is_refused(memory: Memory, tmp_path: Path) -> None:
    path = database(tmp_path)
    (tmp_path / "ftl.db-wal").write_bytes(b"x")
    with pytest.raises(Refused, match="is being written"):
        memory.imports.file(path)


@pytest.mark.parametrize(
    ("row", "phase"),
    [
        ({"phase": "build", "transitions": "[]", "started_at": "2026-01-15T08:00:00"}, "build"),
        ({"phase": "build", "transitions": "[]", "started_at": None}, None),
        ({"phase": "dance", "transitions": "3", "started_at": "2026-01-15T08:00:00"}, None),
        ({"phase": "build", "transitions": "[7]", "started_at": "2026-01-15T08:00:00"}, None),
    ],
)
def test_the_phase_without_its_moves_is_one_move_and_what_is_no_phase_is_counted(
    memory: Memory, tmp_path: Path, row: Mapping[str, Any], phase: str | None
) -> None:
    path = database(tmp_path, {"memory": [], "workspace": [], "phase_state": [{"id": 1, **row}]} | {
        name: ROWS[name] for name in ("memory", "workspace")})  # fmt: skip
    answer = memory.imports.file(path, format="ftl")
    assert answer.read["phase_state"] == 1
    reasons = [one.reason for one in answer.skipped if one.place == "phase_state 1"]
    assert reasons == ([] if phase else ["it names no phase with a time"])
    assert memory.phases.status().phase == (phase or "none")
