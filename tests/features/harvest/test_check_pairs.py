"""Checks of CI: what went wrong in one, which passed later, which commit can have done it."""

import json
from collections import Counter
from pathlib import Path

import pytest

from graphmem.core.logs.output_problem import OutputProblem
from graphmem.features.harvest.check_pairs import (
    CheckResult,
    CheckRun,
    comes_and_goes,
    failed_check,
    fixing,
    is_named,
    passed_since,
    passes_of,
    plain_text,
    platform_of,
    problem_in_test,
)
from graphmem.kernel.model.candidate import Candidate, CandidateEdit
from graphmem.kernel.model.commit import CommitMessage

SAMPLE = Path(__file__).parents[2] / "data/releases/failures.ndjson"
A, B, C = "a" * 40, "b" * 40, "c" * 40


def run(day: int, commit: str = "", report: str = "r") -> CheckRun:
    return CheckRun(f"2026-11-0{day}T10:00:00.000Z", commit, report)


def failed(day: int, commit: str = "", name: str = "test_a", key: str = "valueerror: it is open") -> Candidate:
    problem = OutputProblem("error", key, key, "ValueError: it is open", "cart.py")
    return failed_check(CheckResult(name, "failed", run(day, commit), problem, "cart.py:3: ValueError"), problem)


def commit(subject: str, *files: str) -> tuple[CommitMessage, list[CandidateEdit]]:
    edits = [CandidateEdit(file=file, removed="a = 1", added="a = 2") for file in files]
    return CommitMessage(B, (A,), "2026-11-02T00:00:00Z", subject), edits


@pytest.mark.parametrize(
    ("holder", "message", "text", "said"),
    [
        ("tests.test_cart.TestCart", "assert 1 == 2", "def test_a():\n>   assert 1 == 2\nE   assert 1 == 2\n\nt.py:2:",
         "____ TestCart.test_a ____\nassert 1 == 2"),
        ("tests.test_cart", "", "      E ValueError: the cart is open",
         "ValueError: the cart is open"),
        ("tests.Cart", "", 'Traceback (most recent call last):\n  File "t.py", line 2, in a\nAssertionError: 1 != 2',
         "FAIL: test_a (tests.Cart)\nAssertionError: 1 != 2"),
        ("com.CartTest", "", "java.lang.AssertionError: expected [1]\n\tat com.CartTest.test_a(CartTest.java:9)",
         "com.CartTest > test_a FAILED\njava.lang.AssertionError: expected [1]"),
        ("", "it broke\nbadly", "", "test > test_a FAILED\nit broke"),
        ("", "Boom", "> code", "test > test_a FAILED\nBoom"),
    ],
)  # fmt: skip
def test_what_went_wrong_in_a_test(holder: str, message: str, text: str, said: str) -> None:
    found = problem_in_test(holder, "test_a", message, text, "t.py")
    assert found is not None
    assert (found.text, found.file != "") == (said, True)


def test_a_test_that_says_nothing_has_no_problem() -> None:
    assert problem_in_test("a", "b", "", "") is None


def test_a_check_that_passed_at_the_commit_of_its_failure_comes_and_goes() -> None:
    one = failed(2, A)
    [found] = passes_of([one], {"test_a": [run(1, A), run(3, B)]})
    assert (found.is_flaky, found.run) == (True, run(1, A))
    made = comes_and_goes(one, found.occasion, found.run)
    assert made.failure is not None and made.failure["flaky"] is True
    assert (made.id != one.id, made.needs, made.evidence[0].commit) == (True, 0, A)


def test_the_first_pass_after_a_failure_counts_and_the_last_commit_that_failed() -> None:
    ones = [failed(2, A), failed(3, B), failed(5, C)]
    found = list(passes_of(ones, {"test_a": [run(6), run(4, C), run(1, "d" * 40)]}))
    assert [(one.occasion.at[:10], one.run.at[:10], one.before, one.is_flaky) for one in found] == [
        ("2026-11-02", "2026-11-04", B, False),
        ("2026-11-03", "2026-11-04", B, False),
        ("2026-11-05", "2026-11-04", C, True),
    ]


def test_a_pass_at_the_same_commit_in_a_report_of_another_sort_says_nothing() -> None:
    """It can be of another platform."""
    runs = {"test_a": [run(3, A, "mysql/junit.xml"), run(4, B, "mysql/junit.xml")]}
    [found] = passes_of([failed(2, A)], runs)
    assert (found.run.commit, found.is_flaky) == (B, False)
    again = CheckRun("2026-11-03T10:00:00.000Z", A, "attempt-2/3f2a1b9/junit.xml")
    one = failed(2, A).evidence[0].model_copy(update={"run": "attempt-1/9b1a2f3/junit.xml"})
    [found] = passes_of([failed(2, A).model_copy(update={"evidence": (one,)})], {"test_a": [again]})
    assert found.is_flaky


def test_another_check_or_an_earlier_pass_ends_no_failure() -> None:
    assert list(passes_of([failed(2)], {"test_b": [run(3)], "test_a": [run(1), run(2)]})) == []
    closed = failed(2).evidence[0].model_copy(update={"passed": "2026-11-03"})
    seen = failed(2).evidence[0].model_copy(update={"source": "codex"})
    assert list(passes_of([failed(2).model_copy(update={"evidence": (closed, seen)})], {"test_a": [run(3)]})) == []


def test_a_later_pass_takes_the_place_of_the_open_occasion() -> None:
    one = failed(2, A)
    [found] = passes_of([one], {"test_a": [run(3, B)]})
    made = passed_since(found, None, ())
    assert (made.base > one.base, made.pattern, made.id) == (True, None, one.id)
    merged = one.with_more(made)
    assert (merged.occurrences, [part.passed for part in merged.evidence]) == (1, [run(3).at])
    assert merged.with_more(made) == merged == merged.with_more(one)


def test_the_commit_that_fixed_it_is_the_pattern() -> None:
    [found] = passes_of([failed(2, A)], {"test_a": [run(3, B)]})
    source, settings = (passed_since(found, *commit("open it first", file)) for file in ("src/cart.py", "app.toml"))
    assert source.pattern == {
        "trigger": "ValueError: it is open",
        "insight": "open it first (in src/cart.py: `a = 1` → `a = 2`)",
        "sources": [f"git:{B[:12]}"],
    }
    assert source.failure is not None and source.failure["files"] == ["cart.py", "src/cart.py"]
    assert source.evidence[0].edits == tuple(commit("", "src/cart.py")[1])
    assert settings.base > source.base


def test_one_commit_or_the_only_one_that_changed_a_named_file_fixed_it() -> None:
    output = "src/cart.py:3: in total\n"
    cart, docs, test = commit("cart", "src/cart.py"), commit("docs", "README.md"), commit("test", "tests/src/cart.py")
    assert fixing("", [docs]) == docs
    assert fixing(output, [docs, cart]) == cart
    assert fixing(output, [docs, cart, test]) is None
    assert fixing(output, [docs, docs]) is None
    assert fixing(output, []) is None
    assert fixing(output, [commit("release 2", *(f"src/{number}.py" for number in range(31)))]) is None
    assert fixing(output, [commit("too large to look at")]) is None


@pytest.mark.parametrize(
    ("file", "output", "named"),
    [
        ("app/src/cart.py", 'File "/x/src/cart.py", line 3', True),
        ("app\\cart.py".replace("\\", "/"), "app\\cart.py:3", True),
        ("pkg/cart_test.go", "    cart_test.go:9: want 2", True),
        ("src/CartTest.java", "at x.CartTest.a(CartTest.java:9)", True),
        ("cart.py", "smart_cart.py:3", False),
        ("cart.py", "see cart.py", False),
        ("lib/index.js", "other/index.js of 3", False),
    ],
)
def test_files_that_an_output_names(file: str, output: str, named: bool) -> None:
    assert is_named(file, output) is named


def test_where_checks_ran_is_in_the_name_of_their_report() -> None:
    assert platform_of("tests-windows-latest/py3.11/junit.xml") == "windows py3.11"
    assert platform_of("Linux_x64-linux/junit.xml") == "linux x64"
    assert platform_of("darwinian/goal-4/jdk.xml") == ""


def test_a_text_of_a_report_has_no_control_characters() -> None:
    assert plain_text("a\x1b[31mb\x00c\td\ne\r\u2028") == "abc\td\ne"


def test_the_failures_of_two_public_projects_are_read_as_a_person_reads_them() -> None:
    counts = Counter[bool]()
    for row in map(json.loads, SAMPLE.read_text().splitlines()):
        found = problem_in_test(row["holder"], row["name"], "", row["text"])
        assert found is not None
        assert found.file == row["file"]
        assert row["finds"].removeprefix(f"{row['name']}: ").endswith(found.text.splitlines()[-1])
        counts[row.get("is_other", False)] += row["right"]
    assert counts == {False: 100, True: 10}


def test_of_an_error_that_followed_from_another_the_last_counts() -> None:
    text = "a.py:1: in load\nE   KeyError: 'pi'\n\nDuring handling of the above exception, another one occurred:\n"
    found = problem_in_test("tests.a", "test_a", "", f"{text}a.py:2: in load\nE   AttributeError: no attribute 'pi'\n")
    assert found is not None
    assert found.text.splitlines()[-1] == "AttributeError: no attribute 'pi'"


def test_a_failure_names_the_file_of_the_test_where_the_other_is_of_another_machine() -> None:
    problem = OutputProblem("error", "fixture", "fixture", "fixture 'a' not found", "/home/ci/tests/test_a.py")
    for file, named in (("tests/test_a.py", ["tests/test_a.py"]), ("/home/ci/tests/test_a.py", None)):
        made = failed_check(CheckResult("test_a", "failed", run(1, A), problem, "", file), problem)
        assert made.failure is not None
        assert made.failure["files"] == named
