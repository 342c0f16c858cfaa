"""Requests from the server's own description, made up and real: no fault, and no answer that it does not allow."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

import graphmem
from graphmem.doors.http.operations import IN_JSON_ONLY, operations
from tests.doors.http.served import Served, serve
from tests.doors.service.project import shared_project

pytestmark = pytest.mark.process
EXAMPLES = int(os.environ.get("GRAPHMEM_TEST_FUZZ", "8"))  # requests of each sort for a route
CHECKS = [not_a_server_error, response_schema_conformance, status_code_conformance, content_type_conformance]
DEMO = Path(graphmem.__file__).parent / "doors/cli/demo_data"
REFS = ("ref", "source", "target", "old", "new")  # parameters that name a record
PATHS = [one.path for one in operations().values()]
PATHS += [f"{one.path}/stream" for one in operations().values() if one.stream and one.name not in IN_JSON_ONLY]
SOME = 40  # records of a kind
LOGGED = "password-spraying"  # which git knows
SLOW = ("/v1/add_rows", "/v1/doctor", "/v1/rebuild", "/v1/validate")  # each looks at all rows
# One of each sort: a text, many fields, rows, nested values, names, lines, everything.
TYPICAL = ("/v1/query", "/v1/failures/add", "/v1/campaigns/add_tasks", "/v1/runs/set", "/v1/cypher",
           "/v1/relations/link", "/v1/match/stream", "/v1/add_rows/stream", "/v1/export_check")  # fmt: skip
BOOM, NEXT = "failure/boom", "failure/bang"
VERDICT = {"type": "review.verdict", "data": {"findings": [{"description": "tests were skipped", "severity": "high"}]}}
TASK = {"task_type": "bug", "approach": "look", "outcome": "success", "lessons": ["look first"]}
# A request of each operation that does something, in an order in which each finds what it needs.
REAL: dict[str, dict[str, Any]] = {
    "failures.add": {"trigger": "it went boom", "name": "boom", "fix": "duck", "tags": ["build"], "files": ["cart.py"]},
    "patterns.add": {"trigger": "before a release", "insight": "run the tests", "name": "release"},
    "types.add_entity": {"name": "service", "description": "a program that runs"},
    "types.add_relation": {"name": "calls", "sources": ["service"], "targets": ["service"]},
    "types.list": {},
    "types.show": {"name": "service"},
    "types.brief": {"budget": 200},
    "types.rename": {"old": "service", "new": "component"},
    "types.drop": {"name": "calls"},
    "extractors.list": {},
    "scopes.add": {"name": "clerk", "read": ["pattern"]},
    "scopes.list": {},
    "scopes.show": {"name": "clerk"},
    "entities.add": {"type_name": "service", "name": "shop", "value": "sells"},
    "lessons.add": {"description": "never skip a test", "type": "preference", "name": "never-skip"},
    "lessons.learn": {"events": json.dumps(VERDICT), "run": "run-1"},
    "lessons.decay": {"run": "run-2"},
    "lessons.inject": {},
    "experiences.add": {**TASK, "description": "the cart", "name": "2026-11-01_cart", "tags": ["shop"]},
    "experiences.recall": {"tags": ["shop"]},
    "experiences.promote": {},
    "sessions.start": {"task": "mend the cart"},
    "sessions.work_on": {"description": "the cart", "status": "in_progress"},
    "sessions.decide": {"decision": "use the new cart"},
    "sessions.constrain": {"constraint": "no new dependency"},
    "sessions.prefer": {"communication_style": "short"},
    "sessions.note": {"messages": 3, "used": [BOOM]},
    "sessions.show": {},
    "sessions.end": {},
    "relations.link": {"source": "pattern/release", "kind": "solves", "target": BOOM, "note": "it helps"},
    "campaigns.create": {"objective": "a faster shop", "name": "shop"},
    "campaigns.add_tasks": {"ref": "campaign/shop", "plan": [{"seq": 1, "slug": "measure", "objective": "measure it"}]},
    "campaigns.ready": {"ref": "campaign/shop"},
    "campaigns.status": {"ref": "campaign/shop"},
    "campaigns.replan_input": {"ref": "campaign/shop"},
    "campaigns.merge_plan": {"ref": "campaign/shop", "plan": [{"seq": 1, "slug": "measure", "objective": "measure"}]},
    "tasks.start": {"ref": "shop/001"},
    "tasks.block": {"ref": "shop/001", "reason": "it went boom"},
    "campaigns.propagate": {"ref": "campaign/shop"},
    "tasks.reopen": {"ref": "shop/001", "reason": "again"},
    "tasks.show": {"ref": "shop/001"},
    "observe": {"ref": "campaign/shop"},
    "phases.move": {"phase": "explore"},
    "phases.can": {"phase": "plan"},
    "phases.status": {},
    "phases.duration": {},
    "phases.reset": {},
    "inbox.add": {"content": "a dark mode"},
    "inbox.items": {"everything": True},
    "inbox.take": {},
    "works.list": {"everything": True},
    "snapshots.list": {},
    "candidates.review": {},
    "candidates.accept": {"at_least": "proven"},
    "events.add": {"type": "review.verdict", "subject": BOOM, "data": {"findings": []}},
    "events.list": {"types": ["task-"], "limit": 3},
    "explorations.start": {},
    "runs.begin": {"plan": {"chunks": [{"id": "c1"}]}},
    "runs.chunk": {"id": "c1", "status": "active"},
    "runs.checkpoint": {"phase": "stabilise"},
    "runs.resume": {},
    "runs.end": {},
    "runs.set": {"fields": {"next_step": "build", "readiness": {"ready": 3}}},
    "runs.done": {"step": "explore"},
    "runs.change": {"action": "add", "file": "src/a.py"},
    "runs.require": {"step": "build", "skip": True},
    "runs.show": {},
    "campaigns.complete": {"ref": "campaign/shop", "outcome": "faster", "status": "partial"},
    "add_rows": {"lines": '{"kind":"failure","name":"bang","trigger":"a bang"}', "verbose": True},
    "get": {"ref": BOOM},
    "list": {"kind": "failure", "limit": 3},
    "edit": {"ref": NEXT, "fields": {"fix": "cover your ears"}, "tag": ["loud"]},
    "rename": {"ref": NEXT, "name": "loud-bang"},
    "pin": {"ref": NEXT},
    "unpin": {"ref": NEXT},
    "impact": {},
    "forget": {"ref": NEXT, "reason": "it is quiet"},
    "restore": {"ref": NEXT},
    "supersede": {"old": NEXT, "new": BOOM},
    "feedback": {"ref": BOOM, "helped": False, "wrong": True, "note": "no duck"},
    "feedback_rows": {"lines": '{"ref": "failure/boom", "helped": true}'},
    "query": {"text": "it went boom"},
    "context": {"objective": "the shop went boom", "explain": True, "tags": ["build"]},
    "stale": {},
    "match": {"lines": "it went boom\nValueError: what is this\n"},
    "ran": {"command": ["pytest"], "status": 1, "log": "it went boom\n"},
    "related": {"ref": BOOM},
    "path": {"source": BOOM, "target": "pattern/release"},
    "solutions": {"ref": BOOM},
    "similar": {"text": "a faster shop"},
    "cypher": {"query": "MATCH (f:Failure) RETURN f.name, f.tags LIMIT 3"},
    "cypher_named": {"name": "failure/solutions", "parameters": {"ref": BOOM}},
    "queries": {},
    "log": {"ref": f"failure/{LOGGED}"},
    "view": {"most": 5},
    "why": {"ref": f"failure/{LOGGED}", "query": "went wrong"},
    "diff": {},
    "check": {"base": "HEAD"},
    "export": {},
    "export_check": {},
    "embed.status": {},
    "split": {"kind": "failure"},
    "dump": {"kinds": ["failure"]},
    "vacuum": {},
    "rebuild": {},
    "resolve": {},
    "validate": {},
    "doctor": {},
    "prime": {},
    "status": {},
    "stats": {"objective": "the shop"},
    "verify_loop": {},
    "names": {"prefix": "failure/"},
    "undoable": {},
    "purge": {"refs": [BOOM]},
    "prune": {"max_failures": 3},
    "relations.unlink": {"source": "pattern/release", "kind": "solves", "target": BOOM},
    "undo": {},
}
# These need what nobody can have in a fixed request: experiences of different days, an id, a task under way.
REFUSED = {
    "explorations.report",
    "explorations.aggregate",
    "insights.add",
    "inbox.dismiss",
    "candidates.show",  # of this machine
    "candidates.dismiss",
    "inbox.finish",
    *"works.start works.branch works.show works.next works.advance works.abandon".split(),  # of a flow, in a repository
    *"works.verify snapshots.show snapshots.diff".split(),
    *"stages.begin stages.end stages.retry works.verify snapshots.show snapshots.diff".split(),
    *"items.add items.list items.show items.action items.wont_fix items.resolve items.reject".split(),
    "tasks.complete",
}


def some_rows() -> Iterator[bytes]:
    """Yield a part of the demo: some records of each kind, and the edges between them."""
    found: dict[str, int] = {}
    with (DEMO / "rows.ndjson").open("rb") as file:
        lines = [(orjson.loads(line), line) for line in file]
    refs = set()
    for row, line in lines:
        found[row["kind"]] = found.get(row["kind"], 0) + 1
        if row["kind"] != "relation" and (found[row["kind"]] <= SOME or row["name"] == LOGGED):
            refs.add(f"{row.get('type', row['kind'])}/{row['name']}")
            yield line
    yield from (line for row, line in lines if row["kind"] == "relation" and {row["from"], row["to"]} <= refs)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A service of a project in git, with the demo's records and some of every other kind."""
    with shared_project(tmp_path_factory) as made:
        for file in DEMO.glob("types/*/*.md"):
            (made.root / ".graphmem" / "types" / file.parent.name).mkdir(parents=True, exist_ok=True)
            (made.root / ".graphmem" / "types" / file.parent.name / file.name).write_bytes(file.read_bytes())
        (made.root / "rows.ndjson").write_bytes(b"".join(some_rows()))
        assert made.here("add", "--ndjson", str(made.root / "rows.ndjson")).returncode == 0
        (made.root / "cart.py").write_text("x = 1\n")
        for command in ("init -q", "add -A", "-c user.name=x -c user.email=x@y.z commit -qm x"):
            subprocess.run(["git", *command.split()], cwd=made.root, check=True)
        yield serve(made)


@pytest.fixture(scope="module")
def schema(served: Served) -> Any:
    """The description without its tokens: every request here has the right one."""
    description = served.send("GET", "/openapi.json").body
    del description["security"], description["components"]["securitySchemes"]
    return schemathesis.openapi.from_dict(description)


def check(served: Served, case: Any) -> Any:
    answer = case.call(base_url=f"http://127.0.0.1:{served.port}", headers={"Authorization": f"Bearer {served.token}"})
    case.validate_response(answer, checks=CHECKS)
    return answer


@pytest.mark.long
def test_the_answer_of_every_operation_is_as_it_is_described(served: Served, schema: Any) -> None:
    assert REAL.keys() | REFUSED == operations().keys()
    wrong = {}
    for name, parameters in REAL.items():
        case = schema[operations()[name].path]["POST"].Case(body=parameters, media_type="application/json")
        answer = check(served, case)
        if answer.status_code != 200:
            wrong[name] = answer.text
    assert not wrong, json.dumps(wrong, indent=1)
    for path in ("/v1/rows", "/metrics", "/healthz"):
        assert check(served, schema[path]["GET"].Case()).status_code == 200


@pytest.mark.parametrize("mode", list(GenerationMode), ids=lambda mode: mode.value)
@pytest.mark.parametrize(
    "path", [pytest.param(path, marks=[] if path in TYPICAL else pytest.mark.long) for path in PATHS]
)
def test_no_request_finds_a_fault(served: Served, schema: Any, path: str, mode: GenerationMode) -> None:
    names = served.call("names", limit=2000).body
    refs = sorted({name.partition("/")[0]: name for name in names}.values())  # one of each kind

    @settings(
        max_examples=EXAMPLES // 4 if path in SLOW else EXAMPLES, deadline=None, database=None, derandomize=True,
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(case=schema[path]["POST"].as_strategy(generation_mode=mode), chosen=st.permutations(refs))
    def calls(case: Any, chosen: list[str]) -> None:
        if isinstance(case.body, dict) and mode is GenerationMode.POSITIVE:
            case.body |= dict(zip((field for field in REFS if field in case.body), chosen, strict=False))
        check(served, case)

    calls()
