"""What a report keeps of its checks."""

from pathlib import Path

import pytest

from graphmem.features.harvest.reports import report
from graphmem.features.harvest.reports.report import TOO_MANY
from tests.features.harvest.reports.reports import outcomes, written


def test_of_more_checks_than_are_read_the_others_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_CHECKS", 2)
    cases = "".join(f'<testcase name="test_{number}"/>' for number in range(5))
    found = written(tmp_path / "a.xml", f'<testsuite>{cases}<testcase name="test_0"><error/></testcase></testsuite>')
    assert outcomes(found) == {"test_0": "failed", "test_1": "passed"}
    assert found.unread[TOO_MANY] == 3


def test_of_many_failures_the_first_keep_their_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report, "MOST_FAILED", 1)
    cases = "".join(f'<testcase name="test_{n}"><error>ValueError: it is open</error></testcase>' for n in range(2))
    found = written(tmp_path / "a.xml", f"<testsuite>{cases}</testsuite>")
    assert [one.output != "" for one in found.results.values()] == [True, False]
    assert all(one.problem for one in found.results.values())


def test_white_space_and_control_characters_are_no_part_of_a_name(tmp_path: Path) -> None:
    found = written(tmp_path / "a.xml", '<testsuite><testcase name="a&#10;  b&#x85;&#x2028;"/></testsuite>')
    assert list(found.results) == ["a b"]
