"""Two texts are reports of one failure if one has the lines of the other, and nothing else that went wrong."""

import time

import pytest

from graphmem.core.logs.report import is_repeat, report_of
from tests.pace import within

LOCKED = "ERROR: the database of the queue is locked"


@pytest.mark.parametrize(
    "piece", ["1,", "a.", "/a", "id=", "at f(", "1m", 'File "x", ', "{", "x:1:", " -> 1", "a b, ", "(0x1, "]
)
def test_the_time_for_a_line_is_bounded(piece: str) -> None:
    start = time.process_time()
    report_of("error: " + piece * 20_000)
    report_of("\n".join(["error: " + piece * (900 // len(piece))] * 30))
    assert within(time.process_time() - start, 5.0, time.process_time)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        (LOCKED, f"{LOCKED}\nBuild failed", True),
        (LOCKED, f"{LOCKED}\nmake: *** [Makefile:14: test] Error 1", True),
        (LOCKED, f"{LOCKED}\nERROR: cannot open 'orders.db'", False),  # another error behind it
        (LOCKED, f"ERROR: cannot open 'orders.db'\n{LOCKED}", False),
        (LOCKED, f"{LOCKED}\ncaused by: the volume is read-only", False),  # it says more of the cause
        ("ERROR: it failed", "ERROR: it failed\nBuild failed", False),  # it says too little to be found again
        ("    at f (x.js:1:2)", "    at g (y.js:3:4)", False),  # frames alone
        ("expected `)` but found `,`", "expected `,` but found `)`", False),
    ],
)
def test_a_report_is_of_the_same_failure(left: str, right: str, expected: bool) -> None:
    assert is_repeat(left, right) is is_repeat(right, left) is expected


def test_two_tracebacks_are_one_report_if_their_errors_have_the_same_frames() -> None:
    text = "Traceback (most recent call last):\n  File \"{}/shop/price.py\", line {}, in {}\n    x\nKeyError: 'id'"
    assert is_repeat(text.format("/home/ann", 3, "total"), text.format("/ci/7", 8, "total"))
    assert not is_repeat(text.format("/home/ann", 3, "total"), text.format("/ci/7", 8, "rank"))
