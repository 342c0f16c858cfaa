"""``graphmem import``: a first word that is no command is the path of a file."""

import shutil
from pathlib import Path

import pytest

from graphmem.doors.cli.app import run
from graphmem.errors import BadInput
from tests.features.exchange.importers.test_beads import issue, needs, write
from tests.features.harvest.reports.reports import SAMPLES
from tests.sample import open_memory


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    write(tmp_path, issue("bd-1"), issue("bd-2", dependencies=needs("bd-2", "bd-1", "bd-9")), "{")
    return tmp_path


@pytest.mark.parametrize("words", [["issues.jsonl"], ["file", "issues.jsonl"], ["-q", "./issues.jsonl"]])
def test_it_prints_what_became_of_all_that_was_read(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *words]) == 0
    assert capsys.readouterr().out == (
        "beads: read 2 dependencies, 2 issues, 1 line\n"
        "created: 1 campaign, 1 relation, 2 tasks\n"
        "dangling: 1\n"
        "skipped issues.jsonl:3: no JSON: unexpected end of data; expected a whole JSON object\n"
    )


def test_options_may_come_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--dry-run", "--from", "beads", "issues.jsonl"]) == 2 - 2
    said = capsys.readouterr()
    assert said.err == "graphmem: nothing was changed; do it without --dry-run\n"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["nothing"], 1, "neither a file nor a folder"),
        (["issues.jsonl", "--from", "beds"], 1, "no format 'beds'"),
        (["issues.jsonl", "--map", "trigger"], 2, "--map 'trigger' names no column"),
        ([], 2, "Usage: graphmem import"),
    ],
)
def test_what_is_wrong_is_named(
    words: list[str], status: int, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *words]) == status
    assert message in "".join(capsys.readouterr())


def test_reports_of_ci_are_counted_and_what_is_left_out_is_named(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    shutil.copytree(SAMPLES, project / "reports")
    assert run(["import", "ci", "reports", "--dry-run"]) == 0
    shown = capsys.readouterr()
    assert shown.out == (
        "read 15 files: 24 failures, 44 tests, 8 jobs, 1 flaky check, 11 skipped tests\n"
        "candidates: 14 created, 9 merged\n"
        "not read: 4 × a check has no name\n"
        "not read: 1 × a check that failed does not say why\n"
        "not read: 4 × of no known form\n"
        "not read: 1 × the report is cut off: what comes after its last whole test is missing\n"
    )
    assert shown.err == "graphmem: nothing was kept; do it without --dry-run\n"


def test_a_report_that_is_not_there_is_an_error(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "ci", "none.xml"]) == BadInput.exit_status
    assert capsys.readouterr().err == (
        "error: 'none.xml' is not there\nhint: a report or a log of CI, or a folder that holds some\n"
    )
