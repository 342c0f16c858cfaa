"""Jobs in logs of CI: how each ended, and the lines that say why."""

import pytest

from graphmem.features.harvest.ci_log import JOB_CHARS, LoggedJob, reasons

EXIT = "##[error]Process completed with exit code 1."


def job(*lines: str) -> LoggedJob:
    found = LoggedJob("build")
    for line in lines:
        found.add(line)
    found.flush()
    return found


def said(*lines: str) -> list[str]:
    return [one.text for one in reasons(job(*lines))]


def test_what_a_step_shows_before_it_runs_is_not_what_it_prints() -> None:
    found = job(
        "\x1b[36;1mecho 'Error: not this one'\x1b[0m", "env:", "  TOKEN: ***", "##[endgroup]",
        "##[group]Run make", "error: in the script", "shell: bash", "##[endgroup]",
        "##[group]Install", "cc -c a.c", EXIT,
    )  # fmt: skip
    assert found.output == f"cc -c a.c\n{EXIT}"
    assert found.outcome == "failed"


def test_a_group_that_has_no_end_is_printed() -> None:
    assert said("##[group]Run make", "ValueError: the cart is open", EXIT) == ["ValueError: the cart is open"]
    assert job("##[group]Run make", *map(str, range(400))).output.splitlines() == [str(number) for number in range(400)]


@pytest.mark.parametrize(
    ("line", "commit"),
    [
        ("HEAD is now at 1a2b3c4 open the cart", "1a2b3c4"),
        (f"HEAD is now at 1a2b3c4 Merge {'d' * 40} into {'e' * 40}", "d" * 40),
        (f"'{'f' * 40}'", "f" * 40),
        ("Checking out 1a2b3c4d as detached HEAD", "1a2b3c4d"),
        ("commit 1a2b3c4", ""),
    ],
)
def test_the_commit_that_was_checked_out(line: str, commit: str) -> None:
    assert job(line, f"'{'0' * 40}'" if commit else "").commit == commit


def test_how_a_job_ended() -> None:
    assert job("Job succeeded").outcome == job("Cleaning up orphan processes").outcome == "passed"
    assert job(EXIT, "Cleaning up orphan processes").outcome == "failed"
    assert job("ERROR: Job failed: exit code 1").outcome == "failed"
    assert job("a").outcome == "unknown"


def test_times_are_those_of_the_last_line() -> None:
    found = job("2026-11-01T10:00:00.1234567Z a", "2026-11-01T10:00:09.5Z 00O b")
    assert (found.at, found.output) == ("2026-11-01T10:00:09.5Z", "a\nb")


def test_an_error_without_a_class_comes_after_others_and_that_of_a_script_says_nothing() -> None:
    lines = ["libz.so => not found", "RuntimeError: tests/cart 1/1 failed!", "ImportError: libz.so.1: cannot open file"]
    assert said(*lines) == ["ImportError: libz.so.1: cannot open file"]


def test_the_error_that_another_one_followed_from_is_left_out() -> None:
    lines = [
        "Traceback (most recent call last):", "KeyError: 'the port'", "",
        "The above exception was the direct cause of the following exception:", "",
        "Traceback (most recent call last):", "ValueError: the port is not set",
    ]  # fmt: skip
    assert said(*lines) == ["ValueError: the port is not set"]


def test_what_steps_report_is_read_the_last_of_a_step_first() -> None:
    lines = ["##[error]uploading stopped halfway", "##[error]User x is not authorized", EXIT, "##[error]and later this"]
    assert said(*lines) == ["User x is not authorized", "uploading stopped halfway", "and later this"]
    assert said("::error file=a.py,line=3::the lock is stale") == ["the lock is stale"]


def test_warnings_and_what_adds_to_a_rule_are_no_reasons() -> None:
    assert said("DeprecationWarning: it goes away", "warning: unused variable 'a'") == []
    assert said("a.go:9:2: SA5011(related information): it can be nil (staticcheck)") == []


def test_tests_and_steps_that_a_tool_names() -> None:
    assert said("FAILED [3.1s] a.py::test_b - it took too long", "FAILED: cart.o cc -c cart.c") == [
        "FAILED [3.1s] a.py::test_b - it took too long", "FAILED: cart.o cc -c cart.c",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        (["INFO:root: begin", "The branch has 3000 lines, at most 2000 are allowed", ""], True),
        (["", "The branch has 3000 lines", "split it", ""], True),
        (["The following files need formatting:", "a.go"], False),
        (["fi"], False),
        (["Cache location      on this machine, as a folder"], False),
        (["make: *** [all] Error 2"], False),
        ([], False),
    ],
)
def test_where_nothing_reports_an_error_the_last_sentence_is_what_is_left(lines: list[str], found: bool) -> None:
    assert (len(said(*lines, EXIT)) == 1) is found
    assert said(*lines) == []  # nothing says that it failed


def test_a_part_of_a_log_failed_where_its_output_says_so() -> None:
    lines = ["Traceback (most recent call last):", "ValueError: the cart is open"]
    assert said(*lines) == ["ValueError: the cart is open"]
    assert said("retried after: ValueError: the cart is open") == []
    assert said(*lines, "Job succeeded") == []


def test_of_a_long_log_the_middle_is_dropped() -> None:
    found = job("first", *("x" * 1_000 for _ in range(500)), "last")
    assert len(found.output) <= JOB_CHARS
    assert (found.output[:5], found.output[-4:]) == ("first", "last")
