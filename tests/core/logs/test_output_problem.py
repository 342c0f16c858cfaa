"""What went wrong in a run, each with what finds it again."""

import pytest

from graphmem.core.logs.output_problem import MOST_OUTPUT, MOST_PROBLEMS, problems

GO = """=== RUN   TestParse
=== RUN   TestParse/short
=== RUN   TestParse/long
    parse_test.go:31: found = true, want false
=== RUN   TestParse/other
--- FAIL: TestParse (0.00s)
    --- PASS: TestParse/short (0.00s)
    --- FAIL: TestParse/long (0.00s)
    --- PASS: TestParse/other (0.00s)
FAIL
FAIL\tpkg/parse\t0.3s
"""


def test_each_rule_of_a_linter_is_a_problem_of_its_own() -> None:
    found = problems(
        "[lint] $ golangci-lint run\na.go:1:2: error is not nil (line 3) but it returns nil (nilerr)\n\treturn"
        " nil\n\t^\n"
        "b.go:9:2: error is not nil (line 8) but it returns nil (nilerr)\nb.go:9:2: undefined: x (typecheck)\n"
        "b.go:7:1: G104: Errors unhandled (gosec)\n3 issues:\n[lint] ERROR task failed"
    )
    assert [(one.sort, one.rule, one.file) for one in found] == [
        ("rule", "nilerr", "a.go"), ("rule", "G104", "b.go"),
    ]  # fmt: skip


def test_a_test_that_failed_is_told_by_what_it_logged() -> None:
    (found,) = problems(GO)
    assert (found.sort, found.text, found.file) == (
        "test",
        "=== RUN   TestParse/long\nfound = true, want false",
        "parse_test.go",
    )
    (found,) = problems("--- FAIL: TestX (0.1s)\n    x_test.go:3: boom happened here\nFAIL")
    assert found.text == "--- FAIL: TestX (0.1s)\nboom happened here"
    assert problems("    x_test.go:3: all is well\n--- PASS: TestX (0.1s)\nPASS") == []


def test_an_error_without_a_tool_has_its_signature() -> None:
    (found,) = problems('Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: no colour in it')
    assert (found.sort, found.text, found.file) == ("error", "ValueError: no colour in it", "a.py")


def test_what_a_program_hints_at_is_told_by_what_is_before_the_hint() -> None:
    (found,) = problems("The following paths are ignored by one of your .gitignore files:\n.out\nhint: Use -f\n")
    assert found.text == "The following paths are ignored by one of your .gitignore files:"


JAVAC = (
    "/p/Foo.java:17: error: cannot find symbol\n        {name} b = null;\n        ^\n"
    "  symbol:   class {name}\n  location: class Foo\n1 error\n"
)


def test_two_names_that_javac_cannot_find_are_two_problems() -> None:
    (one,), (other,) = (problems(JAVAC.format(name=name)) for name in ("Bar", "Baz"))
    assert one.text == "symbol:   class Bar"
    assert one.found_by != other.found_by


GRADLE = (
    "FAILURE: Build failed with an exception.\n\n* What went wrong:\nCould not resolve it.\n> Could not find x:y:1.\n\n"
)
DOCKER = (
    "#8 0.5 npm ERR! code EUSAGE\n#8 0.6 npm ERR! The `npm ci` command needs a package-lock.json\n"
    '#8 ERROR: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1\n------\n'
    'ERROR: failed to solve: process "/bin/sh -c npm ci" did not complete successfully: exit code: 1\n'
)


@pytest.mark.parametrize(
    ("output", "text"),
    [
        (GRADLE, "> Could not find x:y:1."),
        (DOCKER, "npm ERR! The `npm ci` command needs a package-lock.json"),
        ("#9 2.1 ModuleNotFoundError: No module named 'yaml'\n", "ModuleNotFoundError: No module named 'yaml'"),
        ('npm ERR! Missing script: "lint"\nnpm ERR! \nnpm ERR!   npm run\n', 'npm ERR! Missing script: "lint"'),
        ("│ Error: Reference to undeclared resource\n│ \n│   on main.tf line 12\n│ \n"
         '│ A managed resource "aws_vpc" "main" has not been declared in the root module.\n',
         '│ A managed resource "aws_vpc" "main" has not been declared in the root module.'),
        ("docker: Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated.\n",
         "docker: Error response from daemon: Bind for 0.0.0.0:80 failed: port is already allocated."),
        ("Cannot connect to the Docker daemon at unix:///var/run/docker.sock.\n",
         "Cannot connect to the Docker daemon at unix:///var/run/docker.sock."),
    ],
)  # fmt: skip
def test_what_a_tool_says_went_wrong_is_the_problem(output: str, text: str) -> None:
    assert [problem.text for problem in problems(output)] == [text]


def test_how_a_runner_ends_is_no_problem() -> None:
    assert problems("FAIL\nFAIL\tpkg\t0.1s\n[test] ERROR task failed\nexit status 1\nnpm ERR! code ELIFECYCLE") == []


def test_a_long_output_is_read_at_both_ends() -> None:
    lines = "\n".join(f"a{n}.go:1:2: G{100 + n}: Wrong in this way (gosec)" for n in range(50))
    assert len(problems(lines)) == MOST_PROBLEMS
    middle = "x" * 100 + "\n"
    long = f"b.go:1:2: first of all (errcheck)\n{middle * (MOST_OUTPUT // 50)}c.go:1:2: last of all (nilerr)"
    assert [one.rule for one in problems(long)] == ["errcheck", "nilerr"]


def test_a_rule_is_one_problem_whatever_its_message_names() -> None:
    (one,) = problems("a.go:1:2: func `old` is unused (unused)\nb.go:4:2: const `limit` is unused (unused)")
    assert (one.key, one.file) == ("rule unused", "a.go")


def test_a_test_that_logs_several_lines_is_one_problem_and_one_without_a_reason_is_none() -> None:
    output = "--- FAIL: TestX (0.1s)\n    x_test.go:3: got 3, want 4\n    x_test.go:9: it never opened\nFAIL"
    (one,) = problems(output)
    assert (one.key, one.text) == ("test testx", "--- FAIL: TestX (0.1s)\ngot 3, want 4")
    assert problems("--- FAIL: TestX (0.1s)\nFAIL") == []
    (other,) = problems(output.replace("got 3, want 4", "it was closed"))
    assert (other.key == one.key, other.found_by == one.found_by) == (True, False)
