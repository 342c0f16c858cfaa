"""What went wrong in a run, each with what finds it again."""

from graphmem.rules.problem import MOST_OUTPUT, MOST_PROBLEMS, problems

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
    assert [(one.sort, one.tool, one.file) for one in found] == [("rule", "nilerr", "a.go"), ("rule", "gosec", "b.go")]


def test_a_test_that_failed_is_told_by_what_it_logged() -> None:
    (found,) = problems(GO)
    assert (found.sort, found.text, found.file) == (
        "test",
        "TestParse/long: found = true, want false",
        "parse_test.go",
    )
    (found,) = problems("--- FAIL: TestX (0.1s)\n    x_test.go:3: boom happened here\nFAIL")
    assert found.text == "TestX: boom happened here"
    assert problems("    x_test.go:3: all is well\n--- PASS: TestX (0.1s)\nPASS") == []


def test_an_error_without_a_tool_has_its_signature() -> None:
    (found,) = problems('Traceback (most recent call last):\n  File "a.py", line 3, in f\nValueError: no colour in it')
    assert (found.sort, found.text, found.file) == ("error", "ValueError: no colour in it", "a.py")


def test_what_a_program_hints_at_is_told_by_what_is_before_the_hint() -> None:
    (found,) = problems("The following paths are ignored by one of your .gitignore files:\n.out\nhint: Use -f\n")
    assert found.text == "The following paths are ignored by one of your .gitignore files: .out"


def test_how_a_runner_ends_is_no_problem() -> None:
    assert problems("FAIL\nFAIL\tpkg\t0.1s\n[test] ERROR task failed\nexit status 1\nnpm ERR! code ELIFECYCLE") == []


def test_a_long_output_is_read_at_both_ends() -> None:
    lines = "\n".join(f"a{n}.go:1:2: G{100 + n}: Wrong in this way (gosec)" for n in range(50))
    assert len(problems(lines)) == MOST_PROBLEMS
    middle = "x" * 100 + "\n"
    long = f"b.go:1:2: first of all (errcheck)\n{middle * (MOST_OUTPUT // 50)}c.go:1:2: last of all (nilerr)"
    assert [one.tool for one in problems(long)] == ["errcheck", "nilerr"]
