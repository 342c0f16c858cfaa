"""Logs of jobs: raw, in columns, of GitLab; what they say, and what is made to harm."""

import resource
from pathlib import Path

import pytest

from graphmem.features.harvest.reports.report import NO_REASON, Unreadable
from tests.features.harvest.reports.reports import SAMPLES, WRITTEN, outcomes, read, written

GITLAB = """\x1b[0KRunning with gitlab-runner 17.0.0 (44feccdf)
section_start:1762000000:get_sources\r\x1b[0K\x1b[36;1mGetting source from Git repository\x1b[0;m
Checking out 1a2b3c4d as detached HEAD (ref is main)...
section_end:1762000009:get_sources\r\x1b[0K$ make test
error: no rule to make target 'cart.o'
{}
"""


def texts(report: object) -> list[str]:
    return [one.problem.text for one in report.results.values() if one.problem]  # type: ignore[attr-defined]


def test_one_error_in_two_jobs_on_two_systems_is_one_problem() -> None:
    report = read(SAMPLES / "failurememory/github-actions-duplicate-multi-job.log")
    assert outcomes(report) == {
        "unit-tests (ubuntu-latest)": "failed",
        "integration-tests (windows-latest)": "failed",
    }
    assert len({one.problem.key for one in report.results.values() if one.problem}) == 1
    assert {one.run.at for one in report.results.values()} == {"2026-04-19T20:11:01.400Z", "2026-04-19T20:11:02.600Z"}


def test_the_same_error_of_another_run_is_the_same_problem() -> None:
    first, other = (read(SAMPLES / f"failurememory/repeated-node-error{name}.log") for name in ("", "-variant"))
    keys = {one.problem.key for each in (first, other) for one in each.results.values() if one.problem}
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("failurememory/github-actions-artifact-403.log", "gh: Resource not accessible by integration (HTTP 403)"),
        ("pytorch/s3_access_denied.txt", "User: arn:aws:sts::308535385114:assumed-role/"),
        ("pytorch/pr_sanity_exit_code_only.txt", "Your PR is 3174 LOC which is more than the 2000 maximum"),
    ],
)
def test_the_line_that_people_name_is_the_first(name: str, said: str) -> None:
    [text] = texts(read(SAMPLES / name))
    assert text.startswith(said)


def test_the_end_of_a_job_alone_says_nothing() -> None:
    report = read(SAMPLES / "failurememory/github-actions-generic-exit-only.log")
    assert (report.results, report.unread) == ({}, {NO_REASON: 1})


def test_jobs_of_gitlab(tmp_path: Path) -> None:
    report = written(tmp_path / "3_build.log", GITLAB.format("ERROR: Job failed: exit code 2"))
    [one] = report.results.values()
    assert (one.name, one.outcome, one.run.commit, one.run.at) == ("build", "failed", "1a2b3c4d", WRITTEN)
    assert texts(report) == ["no rule to make target 'cart.o'"]
    passed = written(tmp_path / "build.log", GITLAB.format("\x1b[32;1mJob succeeded\x1b[0;m"))
    assert outcomes(passed) == {"build": "passed"}


def test_the_job_of_a_raw_log_is_in_the_name_of_its_file(tmp_path: Path) -> None:
    names = {"1_unit tests.txt": "unit tests", "84512.log": "job", "build-3f2a1b9.log": "build", "lint": "lint"}
    for name, check in names.items():
        report = written(tmp_path / name, "2026-11-01T10:00:00.0Z Cleaning up orphan processes\n")
        assert list(report.results) == [check]


def test_a_log_that_does_not_say_how_it_ended_is_counted(tmp_path: Path) -> None:
    report = written(tmp_path / "notes.txt", "This is\na text.\n")
    assert (report.results, report.unread) == ({}, {"a log does not say how its job ended": 1})


def test_a_line_without_end_takes_no_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.log"
    with path.open("wb") as file:
        file.write(b"2026-11-01T10:00:00.0Z KeyError: 'port'\n")
        for _ in range(100):
            file.write(b"x" * 2**20)
        file.write(b"\n2026-11-01T10:00:01.0Z ##[error]Process completed with exit code 1.\n")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    report = read(path)
    assert texts(report) == ["KeyError: 'port'"]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20_000  # KiB


def test_of_more_jobs_than_are_read_the_others_are_counted(tmp_path: Path) -> None:
    line = "job {}\tstep\t2026-11-01T10:00:00.0Z Cleaning up orphan processes\n"
    report = written(tmp_path / "a.log", "".join(map(line.format, range(120))))
    assert len(report.results) == 100
    assert report.unread == {"the log has more jobs than are read": 20}


def test_what_is_binary_is_no_log(tmp_path: Path) -> None:
    with pytest.raises(Unreadable, match="the log is binary"):
        written(tmp_path / "a.log", b"2026-11-01T10:00:00.0Z start\n" * 200 + b"\0\1\2")
