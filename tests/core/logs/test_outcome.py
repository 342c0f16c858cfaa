"""Whether a command failed, also behind a pipe that hides its status."""

import pytest

from graphmem.core.logs.diagnosis import diagnose
from graphmem.core.logs.outcome import outcome_of


@pytest.mark.parametrize(
    ("command", "status", "output", "outcome"),
    [
        ("pytest", 1, "1 failed", "failed"),
        ("pytest", 0, "1 passed", "passed"),
        ("pytest", 0, "1 failed", "passed"),  # the status is the command's own
        ("pytest | tail -5", 0, "1 failed, 3 passed", "failed"),
        ("pytest | tail -5", 0, "4 passed", "passed"),
        ("mise run lint 2>&1 | tail -5", 0, "a.go:1:2: not checked (errcheck)\n1 issues:", "failed"),
        ("go build ./... || true", 0, "a.go:1:2: undefined: x", "failed"),
        ("go test -v ./... | grep -A5 FAIL", 0, "--- FAIL: TestX (0.1s)", "failed"),
        ("docker logs web | grep ERROR", 0, "ERROR: it was long ago", "passed"),
        ("cat build.log | tail -5", 0, "FAILED", "passed"),
        ("cat build.log", None, "FAILED", "unclear"),
        ("make; echo done", 0, "make: *** [all] Error 2\ndone", "failed"),
        ("pytest", None, "", "unclear"),
        ("pytest", None, "3 passed in 0.1s", "passed"),
        ("pytest", None, "1 failed in 0.1s", "failed"),
        ("", 0, "", "passed"),
        ("", None, "error: x", "unclear"),
    ],
)
def test_how_a_command_ended(command: str, status: int | None, output: str, outcome: str) -> None:
    assert outcome_of(command, status, output) == outcome


@pytest.mark.parametrize(
    "line",
    [
        "[lint] ERROR task failed", "FAIL", "FAIL\tpkg [build failed]", "exit status 1", "npm ERR! code ELIFECYCLE",
        "make: *** [Makefile:3: test] Error 1", "##[error]Process completed with exit code 1.", "6 issues:",
        "error: could not compile `a` due to 2 previous errors", "===== 1 failed, 2 passed in 0.1s =====",
    ],
)  # fmt: skip
def test_the_closing_line_of_a_runner_says_nothing_of_what_failed(line: str) -> None:
    found = diagnose(line)
    assert (found.problems, found.outcome) == ([], "failed")


@pytest.mark.parametrize("line", ["ValueError: it broke", "a.go:1:2: undefined: x"])
def test_an_error_is_not_a_closing_line(line: str) -> None:
    found = diagnose(line)
    assert ([one.text for one in found.problems], found.outer) != ([], [])


@pytest.mark.parametrize(
    ("output", "outcome"),
    [
        ("3 passed in 0.1s", "passed"), ("Ran 2 tests\n\nOK", "passed"), ("OK (skipped=1)", "passed"),
        ("ok  \texample.com/shop\t0.2s", "passed"), ("Tests: 12 passed, 12 total", "passed"),
        ("  4 passing (8ms)", "passed"),
        ("test result: ok. 3 passed; 0 failed", "passed"), ("[INFO] BUILD SUCCESS", "passed"),
        ("1 failed, 3 passed in 0.1s", "failed"), ("test result: FAILED. 3 passed; 1 failed", "failed"),
        ("0 passed", "unclear"), ("make: *** [all] Error 2", "failed"), ("exit=2", "unclear"), ("", "unclear"),
        ("a.c:1:2: warning: unused variable 'x'", "unclear"),
    ],
)  # fmt: skip
def test_an_output_says_itself_whether_the_run_passed(output: str, outcome: str) -> None:
    assert diagnose(output).outcome == outcome


def test_a_diagnosis_names_what_was_checked() -> None:
    assert [check.name for check in diagnose("", "cd api && make lint && pytest").check] == ["make lint", "pytest"]
    assert diagnose("1 failed").check == ()
