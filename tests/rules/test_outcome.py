"""Whether a command failed, also behind a pipe that hides its status."""

import pytest

from graphmem.rules.outcome import ends_run, outcome_of


@pytest.mark.parametrize(
    ("command", "status", "output", "outcome"),
    [
        ("pytest", 1, "1 failed", "failed"),
        ("pytest", 0, "1 passed", "passed"),
        ("pytest", 0, "1 failed", "passed"),  # the status is the command's own
        ("pytest | tail -5", 0, "1 failed, 3 passed", "hidden"),
        ("pytest | tail -5", 0, "4 passed", "passed"),
        ("mise run lint 2>&1 | tail -5", 0, "a.go:1:2: not checked (errcheck)\n1 issues:", "hidden"),
        ("go build ./... || true", 0, "a.go:1:2: undefined: x", "hidden"),
        ("go test -v ./... | grep -A5 FAIL", 0, "--- FAIL: TestX (0.1s)", "hidden"),
        ("docker logs web | grep ERROR", 0, "ERROR: it was long ago", "passed"),
        ("cat build.log | tail -5", 0, "FAILED", "passed"),
        ("cat build.log", None, "FAILED", "unknown"),
        ("make; echo done", 0, "make: *** [all] Error 2\ndone", "hidden"),
        ("pytest", None, "", "unknown"),
        ("pytest", None, "3 passed in 0.1s", "passed"),
        ("pytest", None, "1 failed in 0.1s", "hidden"),
        ("", 0, "", "passed"),
        ("", None, "error: x", "unknown"),
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
    assert ends_run(line)


def test_an_error_is_not_a_closing_line() -> None:
    assert not ends_run("ValueError: it broke")
    assert not ends_run("a.go:1:2: undefined: x")
