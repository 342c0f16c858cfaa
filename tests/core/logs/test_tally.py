"""What a run of tests says of itself, in the words of several runners."""

import pytest

from graphmem.core.logs.tally import Tally, is_tested


@pytest.mark.parametrize(
    ("output", "ran", "passed"),
    [
        ("===== 3 failed, 2 passed, 1 skipped in 0.12s =====", 5, 2),
        ("5 passed, 1 warning in 1.20s", 5, 5),
        ("1 error in 0.3s", 1, 0),
        ("Ran 5 tests in 0.001s\n\nOK (skipped=2)", 3, 3),
        ("Ran 5 tests in 0.001s\n\nFAILED (failures=1, skipped=2)", 3, 3),
        ("Tests:       1 failed, 2 passed, 3 total", 3, 2),
        ("      Tests  1 failed | 2 passed (3)", 3, 2),
        ("  3 passing (10ms)\n  1 failing", 4, 3),
        ("test result: ok. 2 passed; 0 failed; 1 ignored\ntest result: FAILED. 4 passed; 1 failed; 0 ignored", 7, 6),
        ("ok  \texample.org/shop\t0.1s", None, 0),
        ("I passed 3 tests in 5 minutes", None, 0),
    ],
)
def test_how_many_tests_ran_and_passed(output: str, ran: int | None, passed: int) -> None:
    tally = Tally()
    tally.read_all(output.encode().splitlines(keepends=True))
    assert (tally.ran, tally.passed) == (ran, passed)


@pytest.mark.parametrize(
    "line", ["ok  \tshop\t0.1s [no tests to run]", "no tests ran in 0.01s", "?   \tx\t[no test files]"]
)
def test_a_run_without_a_test_says_so(line: str) -> None:
    tally = Tally()
    tally.read_all([line.encode()])
    assert tally.is_empty


@pytest.mark.parametrize(
    ("source", "is_there"),
    [
        ("def test_a(): assert f()", True), ("class T:\n    async def test_a(self):\n        await f()", True),
        ("def test_a():\n    'what'\n    return", False), ("def test_a(): ...", False), ("x = 1", False),
        ("@unittest.expectedFailure\ndef test_a(): f()", False), ("@skipIf(x, 'y')\ndef test_a(): f()", True),
        ("def test_a(:", True), ("(" * 5_000, True), ("\0", True),
    ],
)  # fmt: skip
def test_whether_a_file_still_has_a_test(source: str, is_there: bool) -> None:
    assert is_tested(source, "test_a") == is_there


def test_the_first_assertion_that_failed_is_kept() -> None:
    tally = Tally()
    for line in ("E       assert 3 == 4", "E       assert 5 == 6"):
        tally.read(line)
    assert tally.asserted == "assert 3 == 4"


def test_an_assertion_of_unittest_is_named_with_its_test() -> None:
    tally = Tally()
    tally.read_all([b"FAIL: test_a (tests.TestA.test_a) (n=1)\n", b"Traceback:\n", b"AssertionError: [] != [1]\n"])
    assert tally.asserted == "test_a: AssertionError: [] != [1]"
