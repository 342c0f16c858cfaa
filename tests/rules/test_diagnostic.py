"""What linters, type checkers and compilers say of a place, and what finds the same rule again."""

import pytest

from graphmem.rules.diagnostic import diagnostic_of, nameless, rule_in
from graphmem.rules.signature import error_keys, errors

MISSING = "a.py:1:0: C0114: Missing module docstring (missing-module-docstring)"
UNDEFINED = '/p/a.py:3:5 - error: "foo" is not defined (reportUndefinedVariable)'
UNCHECKED = "cmd/a.go:24:12: Error return value of `repo.Worktree` is not checked (errcheck)"
UNWRAPPED = "error returned from external package is unwrapped"


@pytest.mark.parametrize(
    ("line", "tool", "rule", "is_rule"),
    [
        (UNCHECKED, "errcheck", "errcheck", True),
        ("cmd/a.go:601:7: G306: Expect WriteFile permissions to be 0600 or less (gosec)", "gosec", "G306", True),
        ("a.go:2:44: unused-parameter: parameter 't' seems to be unused (revive)", "revive", "unused-parameter", True),
        ("src/a.py:1:8: F401 [*] `os` imported but unused", "", "F401", True),
        ("F401 [*] `os` imported but unused", "", "F401", True),
        ("  3:10  error  'x' is assigned a value but never used  no-unused-vars", "eslint", "no-unused-vars", True),
        (MISSING, "pylint", "missing-module-docstring", True),
        ("script.sh:3:5: warning: Double quote to prevent globbing [SC2086]", "", "SC2086", True),
        ('a.py:3: error: Incompatible return value type (got "int")  [return-value]', "mypy", "return-value", False),
        (UNDEFINED, "pyright", "reportUndefinedVariable", False),
        ("src/x.ts(3,5): error TS2304: Cannot find name 'foo'.", "tsc", "TS2304", False),
        ("main.c:4:5: warning: unused variable 'x' [-Wunused-variable]", "cc", "-Wunused-variable", False),
        ("error[E0502]: cannot borrow `a` as mutable", "rustc", "E0502", False),
        ('session/a_test.go:4:2: "context" imported and not used', "go", "", False),
        ("a.go:1:2: undefined: errors (typecheck)", "go", "", False),
        ("a.zz:1:2: something odd here", "zz", "", False),
        (
            "lib/x.rb:4:1: W: [Correctable] Lint/UselessAssignment: Useless assignment to variable - foo.",
            "rubocop",
            "Lint/UselessAssignment",
            True,
        ),
        (
            "   = note: `-D clippy::while-let-on-iterator` implied by `-D warnings`",
            "clippy",
            "clippy::while_let_on_iterator",
            True,
        ),
        (
            "   = help: for further information visit https://rust-lang.github.io/rust-clippy/index.html#needless_range",
            "clippy",
            "clippy::needless_range",
            True,
        ),
        ("     ^-- SC2086 (info): Double quote to prevent globbing.", "shellcheck", "SC2086", True),
        ("Dockerfile:3 DL3008 warning: Pin versions in apt get install.", "hadolint", "DL3008", True),
        ("  3:1       error    trailing spaces  (trailing-spaces)", "yamllint", "trailing-spaces", True),
        (
            "[ERROR] src/A.java:[3,5] (javadoc) MissingJavadocMethod: Missing a comment.",
            "checkstyle",
            "MissingJavadocMethod",
            True,
        ),
        ("src/a.ts:3:5 lint/suspicious/noExplicitAny ━━━━━━━", "biome", "lint/suspicious/noExplicitAny", True),
        ("a.cpp:3:5: warning: use auto [modernize-use-auto]", "clang-tidy", "modernize-use-auto", True),
        ("e: file:///app/src/A.kt:10:5 Unresolved reference: foo", "kotlinc", "", False),
        ("[ERROR] /app/src/Foo.java:[17,9] cannot find symbol", "javac", "", False),
    ],
)
def test_a_line_of_a_tool_names_its_rule(line: str, tool: str, rule: str, is_rule: bool) -> None:
    found = diagnostic_of(line)
    assert found is not None
    assert (found.tool, found.rule, found.is_rule) == (tool, rule, is_rule)


@pytest.mark.parametrize(
    "line",
    [
        "12:30:11 INFO started", "    file_test.go:12: expected 3, got 4", "tests/test_x.py:12: AssertionError",
        '  File "x.py", line 3, in f', "a.py:12: in load", "", "ok  \tpkg\t0.1s", "a.py:3: what a person writes",
    ],
)  # fmt: skip
def test_other_lines_are_not_diagnostics(line: str) -> None:
    assert diagnostic_of(line) is None


def test_the_same_rule_has_the_same_key_whatever_the_names_are() -> None:
    one = diagnostic_of("a.go:1:2: Error return value of `repo.Worktree` is not checked (errcheck)")
    other = diagnostic_of("b/c.go:99:1: Error return value of `os.UserHomeDir` is not checked (errcheck)")
    assert one is not None
    assert other is not None
    assert one.key == other.key == "errcheck errcheck: error return value of _ is not checked"
    another = diagnostic_of("a.go:1:2: Error return value is not checked (govet)")
    assert another is not None
    assert another.key != one.key


@pytest.mark.parametrize(
    ("message", "kept"),
    [
        ("undefined: time", "undefined _"),
        ("string `main` has 5 occurrences, make it a constant", "string _ has _ occurrences make it a constant"),
        (f"{UNWRAPPED}: sig: func os.Open(a)", UNWRAPPED),
        ("cannot use checkpointID (variable of type string) as id.ID value", "cannot use _ as _ value"),
        ("read-only and best-effort words stay, e.g. these", "read-only and best-effort words stay e.g these"),
    ],
)
def test_names_of_the_code_are_left_out_of_a_message(message: str, kept: str) -> None:
    assert nameless(message) == kept


@pytest.mark.parametrize(
    "line",
    [
        "lib/x.rb:4:1: W: [Correctable] Lint/UselessAssignment: Useless assignment to variable - foo.",
        "   = note: `-D clippy::while-let-on-iterator` implied by `-D warnings`",
        "     ^-- SC2086 (info): Double quote to prevent globbing.", "  3:1  error  trailing spaces  (trailing-spaces)",
        "src/a.ts:3:5 lint/suspicious/noExplicitAny ━━━━━━━", "a.cpp:3:5: warning: use auto [modernize-use-auto]",
        "[ERROR] src/A.java:[3,5] (javadoc) MissingJavadocMethod: Missing a comment.",
    ],
)  # fmt: skip
def test_the_trigger_that_is_made_of_a_rule_finds_it_again(line: str) -> None:
    found = diagnostic_of(line)
    assert found is not None
    again = rule_in(found.text)
    assert again is not None
    assert (again.key, again.text) == (found.key, found.text)
    (error,) = errors([line])
    assert not error_keys(found.text).isdisjoint(error.exact_keys)


def test_a_trigger_without_a_place_names_its_rule_too() -> None:
    found = rule_in("error returned from external package is unwrapped (wrapcheck)")
    assert found is not None
    assert found.tool == "wrapcheck"
    assert rule_in("'x' is assigned a value but never used  no-unused-vars") is not None
    assert rule_in("something went wrong") is None
    assert rule_in("") is None
