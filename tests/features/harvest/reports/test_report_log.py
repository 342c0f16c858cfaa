"""The log of pytest --report-log: how each test ended over its phases, and what is no such log."""

import json
from pathlib import Path

from graphmem.core.logs.output_problem import problems
from tests.features.harvest.reports.reports import SAMPLES, outcomes, read, written


def row(name: str, when: str, outcome: str, said: object = None) -> str:
    found = {
        "$report_type": "TestReport",
        "nodeid": f"a.py::{name}",
        "when": when,
        "outcome": outcome,
        "longrepr": said,
    }
    return json.dumps(found)


def test_a_run_of_pytest() -> None:
    report = read(SAMPLES / "pytest/report-log.jsonl")
    assert outcomes(report) == {
        "test_b.py": "failed",
        "test_a.py::TestCart::test_total": "failed",
        "test_a.py::TestCart::test_ok": "passed",
        "test_a.py::test_assert": "failed",
        "test_a.py::test_skip": "skipped",
        "test_a.py::test_flaky": "flaky",
        "test_a.py::test_setup": "failed",
        "test_a.py::test_teardown": "failed",
        "test_a.py::test_skip_inside": "skipped",
        "test_a.py::test_xfail": "skipped",
    }
    assert report.unread == {}
    failed = [one for one in report.results.values() if one.outcome == "failed"]
    printed = {one.key for one in problems((SAMPLES / "pytest/console.txt").read_text())}
    assert {one.problem.key for one in failed if one.problem} == printed
    assert {one.run.at[:10] for one in failed if one.name != "test_b.py"} == {"2026-11-26"}


def test_tests_of_several_workers_are_told_apart(tmp_path: Path) -> None:
    report = written(tmp_path / "log.jsonl", "\n".join([
        row("a", "setup", "passed"), row("b", "setup", "passed"), row("b", "call", "failed", "E   KeyError: 'port'"),
        row("a", "call", "passed"), row("b", "teardown", "passed"), row("a", "teardown", "passed"),
        '{"exitstatus": 1, "$report_type": "SessionFinish"}',
    ]))  # fmt: skip
    assert outcomes(report) == {"a.py::b": "failed", "a.py::a": "passed"}


def test_a_log_that_is_cut_off_or_holds_something_else_says_so(tmp_path: Path) -> None:
    lines = [row("a", "call", "passed"), row("a", "teardown", "passed"), row("b", "call", "passed"), "[1]", "x"]
    deep = f'{{"$report_type": "TestReport", "longrepr": {"[" * 100_000}'
    report = written(tmp_path / "log.jsonl", "\n".join([*lines, deep, row("c", "call", "passed")[:40]]))
    assert outcomes(report) == {"a.py::a": "passed"}
    assert report.unread == {
        "a line is not an object": 1, "a line is not JSON": 2, "a line is cut off": 1, "the run was cut off": 1,
    }  # fmt: skip


def test_strange_forms_of_a_failure_do_not_stop_the_others(tmp_path: Path) -> None:
    entries = [1, {"data": 2}, {"data": {"lines": [3, "E   KeyError: 'path'"]}}]
    strange = [
        7,
        {},
        {"reprcrash": 1, "reprtraceback": {"reprentries": entries}},
        {"reprcrash": {"message": "KeyError: 'port'"}, "reprtraceback": {"reprentries": "x"}},
    ]
    report = written(
        tmp_path / "log.jsonl", "\n".join(row(f"t{n}", "call", "failed", one) for n, one in enumerate(strange))
    )
    said = [one.problem.text if one.problem else None for one in report.results.values()]
    assert said == [None, None, "KeyError: 'path'", "KeyError: 'port'"]


def test_a_short_traceback_is_read_as_it_is_printed(tmp_path: Path) -> None:
    """So that the log and JUnit's XML of one run give one candidate."""
    place = {"path": "shop/cart.py", "lineno": 3, "message": "in total"}
    data = {"style": "short", "reprfileloc": place, "lines": ["    return rows[0]", "E   IndexError: it is empty"]}
    said = {"reprtraceback": {"reprentries": [{"data": data}]}}
    report = written(
        tmp_path / "log.jsonl", "\n".join([row("a", "call", "failed", said), row("a", "teardown", "passed")])
    )
    [result] = report.results.values()
    [printed] = problems("___ a ___\nshop/cart.py:3: in total\n    return rows[0]\nE   IndexError: it is empty\n")
    assert result.problem is not None
    assert (result.problem.key, result.problem.file) == (printed.key, "shop/cart.py")
