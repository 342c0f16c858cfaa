"""Match: which known failures a log tells of, whatever the log holds; retrieval.md, section 10."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.constants import LOG_BLOCK_BYTES, LOG_LINE_BYTES, LOG_SPAN_BYTES, MOST_LINES
from graphmem.core.search.expressions import Matcher, blocks, pieces
from graphmem.core.search.match_contract import MatchedLog
from graphmem.doors.cli.app import run
from tests.kernel.model.test_expression import finds
from tests.pace import examples

TRACEBACK = """\
Traceback (most recent call last):
  File "{home}/shop/cart.py", line {line}, in total
    return sum(prices)
  File "{home}/shop/price.py", line 9, in {function}
    return table[key]
KeyError: '{key}'
"""


def told(memory: Memory, log: str) -> MatchedLog:
    return memory.match(log.encode().split(b"\n"))


def found(answer: MatchedLog) -> list[tuple[str, str, list[int]]]:
    return [(hit.ref.removeprefix("failure/"), hit.by, hit.lines) for hit in answer.results]


def traceback(home: str = "/home/ann", line: int = 3, function: str = "price", key: str = "id") -> str:
    return TRACEBACK.format(home=home, line=line, function=function, key=key)


def test_a_log_is_told_by_expressions_with_lines_fixes_and_patterns(memory: Memory) -> None:
    memory.failures.add("the port is taken", name="port", match=r"EADDRINUSE.*:\d+", fix="stop the other server")
    memory.failures.add("disk full", name="disk", match="No space left")
    memory.patterns.add("ports clash", "let the system choose the port", name="free-port")
    memory.relations.link("free-port", "solves", "port")
    answer = told(memory, "start\nError: EADDRINUSE 0.0.0.0:80\nok\nError: EADDRINUSE 0.0.0.0:81\n")
    (hit,) = answer.results
    assert (hit.ref, hit.by, hit.line, hit.lines) == ("failure/port", "match", 2, [2, 4])
    assert hit.text == "Error: EADDRINUSE 0.0.0.0:80"
    assert [solution.ref for solution in hit.solved_by] == ["pattern/free-port"]
    assert (answer.lines, answer.cut, answer.slow) == (5, 0, [])
    memory.forget("port")
    assert told(memory, "Error: EADDRINUSE 0.0.0.0:80").results == []
    assert told(memory, "").results == []


@pytest.mark.parametrize(
    "line",
    [
        b"boom 7",
        b"boom 7\r",
        b"\x1b[31mboom\x1b[0m 7",
        b"\xff\xfe\x00boom 7\x07\x9b",
        b"\xc3\xa9\xc3\xa9 boom 7",
        b"\x00" * 9000 + b"boom 7",
    ],
)
def test_noise_hides_nothing(memory: Memory, line: bytes) -> None:
    memory.failures.add("boom", name="a", match=r"\bboom \d$|boom 7\x07")
    assert [hit.lines for hit in memory.match([b"", line, b"x"]).results] == [[2]]


def test_nothing_in_a_log_steers_the_terminal(
    tmp_path: Path, memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    memory.failures.add("boom", name="a", match="boom")
    log = tmp_path / "log"
    log.write_bytes(b"boom \x1b]0;title\x07 \x9b2J \xc2\x9b \xe2\x80\xae end\n")
    for options in ([], ["--json"]):
        assert run(["--dir", str(tmp_path), "match", str(log), *options]) == 0
        out = capsys.readouterr().out
        assert "boom" in out and "end" in out
        assert not set(out) & {"\x1b", "\x07", "\x9b", "\u202e"}


def test_only_the_beginning_of_a_very_long_line_is_looked_at(memory: Memory) -> None:
    memory.failures.add("early", name="early", match="early$|early x")
    memory.failures.add("late", name="late", match="late")
    answer = memory.match([b"early " + b"x" * LOG_LINE_BYTES + b" late", b"early"])
    assert found(answer) == [("early", "line", [1, 2])]
    assert answer.cut == 1


def test_an_expression_is_found_across_lines_where_no_line_holds_it(memory: Memory) -> None:
    memory.failures.add("no id", name="span", match=r"in price\n.*\nKeyError: 'id'")
    memory.failures.add("two words", name="words", match=r"one\s+two")
    filler = ["x" * 60] * (LOG_BLOCK_BYTES // 61 - 3)  # so that the traceback stands across two pieces of the log
    log = "\n".join([*filler, *traceback().splitlines(), "one two", "one", "two", *filler, *traceback().splitlines()])
    first, second = len(filler) + 4, 2 * len(filler) + 6 + 3 + 4
    assert found(told(memory, log)) == [("span", "match", [first, second]), ("words", "match", [len(filler) + 7])]


LOOKS = {  # each expression, and the lines of the log that it finds
    r"(?=Killed\nexit 137)": [1, 5],
    r"Killed(?=\nexit 137)": [1, 5],
    r"Killed(?!\nexit 137)": [3],
    r"^Killed$(?!\nexit 0)": [1, 5],
    r"(?<=exit 0\n)Killed": [5],
    r"(?<=Killed\n)(?=exit 0)": [4],
}


@pytest.mark.parametrize("expression", LOOKS)
@pytest.mark.parametrize("before", [0, 1, 3])
def test_an_expression_that_looks_around_sees_the_lines_beside(memory: Memory, expression: str, before: int) -> None:
    """Also where the lines are in two pieces of the log."""
    memory.failures.add("it was killed", name="look", match=expression)
    log = ["Killed", "exit 137", "Killed", "exit 0", "Killed", "exit 137"]
    assert found(told(memory, "\n".join(log))) == [("look", "match", LOOKS[expression])]
    filler = ["x" * 60] * (before and LOG_BLOCK_BYTES // 61 + 1 - before)
    lines = [number + len(filler) for number in LOOKS[expression]]
    assert found(told(memory, "\n".join([*filler, *log, *filler]))) == [("look", "match", lines)]


def test_a_hit_across_lines_reaches_as_far_as_is_said(memory: Memory) -> None:
    memory.failures.add("far", name="far", match=r"begin[\s\S]*end")
    near = ["begin", *["x" * 100] * (LOG_SPAN_BYTES // 101 - 2), "end"]
    far = ["begin", *["x" * 100] * (4 * LOG_SPAN_BYTES // 101), "end"]
    assert found(told(memory, "\n".join(near))) == [("far", "match", [1])]
    for before in (
        LOG_BLOCK_BYTES,
        LOG_BLOCK_BYTES // 2,
        10,
    ):  # so that it stands across two pieces in different places
        assert found(told(memory, "\n".join(["x" * before, *near]))) == [("far", "match", [2])]
    assert found(told(memory, "\n".join(far))) == []


def test_no_expression_hangs_a_log_and_the_slow_one_is_named(memory: Memory) -> None:
    memory.failures.add("linear", name="linear", match="(a+)+b$")
    memory.failures.add("look", name="look", match="(?=(a+)+c$)x|(?=(a+)+b$)")
    memory.failures.add("fine", name="fine", match="(?<=id )7")
    answer = told(memory, "\n".join(["id 7", *["a" * 5_000] * 50, "aab", "id 7"]))
    assert found(answer) == [("fine", "match", [1, 53]), ("linear", "match", [52])]
    assert answer.slow == ["failure/look"]


def test_a_large_repeat_is_timed_like_what_re2_cannot_run(memory: Memory) -> None:
    memory.failures.add("huge", name="huge", match="(?:[ab]{0,900}a[ab]{0,900}){9}c")
    answer = told(memory, "\n".join(["ab" * 4_000] * 20))
    assert answer.slow == ["failure/huge"]


def test_lines_of_one_failure_are_listed_up_to_a_bound(memory: Memory) -> None:
    memory.failures.add("again", name="again", match="again")
    (hit,) = memory.match([b"again"] * (MOST_LINES + 5)).results
    assert hit.lines == [*range(1, MOST_LINES + 1)]


SAMPLES = ["a", r"\ba", "^b$", r"a\d", r"(?=a)\w", "[^a]", r"\s", r"(a)\1", "(?i)É", ""]


@settings(max_examples=examples(60), deadline=None)
@given(
    lines=st.lists(st.text("ab7_ .é", max_size=6), max_size=12),
    expressions=st.lists(st.sampled_from(SAMPLES), max_size=5),
)
def test_every_line_is_found_that_an_engine_finds(lines: list[str], expressions: list[str]) -> None:
    matcher = Matcher(enumerate(expressions), seconds=5.0)
    got = {
        (key, line.number)
        for block in blocks(pieces(line.encode() for line in lines))
        for key, line in matcher.find(block)
    }
    want = {(n, m) for n, e in enumerate(expressions) for m, line in enumerate(lines, 1) if finds(e, line)}
    spans = {n for n, e in enumerate(expressions) if not any(key == n for key, _ in want)}
    assert {hit for hit in got if hit[0] not in spans} == want


def test_an_expression_means_the_same_to_query_and_match(memory: Memory) -> None:
    memory.failures.add("set", name="fuzzy", match=r"dict\{e\}")
    memory.failures.add("mark", name="mark", match=r"(?=x)x\Wy")
    for text, name in (("dict{e}", "fuzzy"), ("é x-y", "mark"), ("a\nx-y", "mark")):
        assert [hit.ref for hit in memory.query(text).results if hit.factors.expression] == [f"failure/{name}"]
        assert [ref for ref, *_ in found(told(memory, text))] == [name]
    assert told(memory, "dicte dic").results == []


def test_an_error_is_found_by_its_signature_on_another_machine(memory: Memory) -> None:
    memory.failures.add(traceback(), name="no-id", fix="give every price an id")
    memory.failures.add("the build is slow", name="other")
    log = "collecting\n" + traceback("/ci/build/7", 88) + "done\n" + traceback("/ci/build/7", 88)
    assert found(told(memory, log)) == [("no-id", "signature", [7, 14])]
    assert [hit.ref for hit in memory.query(traceback("/ci", 5)).results if hit.factors.exact] == ["failure/no-id"]
    elsewhere = traceback(function="discount")
    assert found(told(memory, elsewhere)) == [("no-id", "signature", [6])]
    assert [hit.verdict for hit in memory.query(elsewhere).results[:1]] == ["same"]
    assert told(memory, traceback(function="discount", key="name").replace("KeyError", "OtherError")).results == []


def test_a_signature_follows_its_record(memory: Memory) -> None:
    memory.failures.add(traceback(), name="a")
    memory.edit("a", {"trigger": "something else"})
    assert told(memory, traceback()).results == []
    memory.edit("a", {"trigger": traceback()})
    memory.forget("a")
    assert told(memory, traceback()).results == []
    memory.restore("a")
    assert found(told(memory, traceback(line=4))) == [("a", "signature", [6])]
    memory.store.rebuild()
    assert found(told(memory, traceback(line=4))) == [("a", "signature", [6])]


def test_an_error_that_means_the_same_is_found_last(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.failures.add("psycopg2.OperationalError: the database server refused the connection", name="db-down")
    memory.failures.add("the cake is burnt", name="cake", match="burnt")
    answer = told(memory, "ok\npsycopg2.OperationalError: could not connect to database server\nthe pie is burnt\n")
    assert [(hit.ref, hit.by, hit.line) for hit in answer.results] == [
        ("failure/cake", "match", 3),
        ("failure/db-down", "similarity", 2),
    ]
    assert answer.results[1].similarity is not None and answer.results[1].similarity >= 0.6


def test_a_failure_that_is_only_alike_is_marked_as_another_error_as_for_a_query(memory_with_model: Memory) -> None:
    memory = memory_with_model
    memory.failures.add("ModuleNotFoundError: No module named 'yaml'", name="yaml", fix="pip install pyyaml")
    line = "ModuleNotFoundError: No module named 'yamllint'"
    (found,) = memory.match(line).results
    assert (found.by, found.verdict) == ("near", "same_rule")
    assert [(doubt.sign, doubt.text) for doubt in found.doubts] == [
        ("other_error", "may not apply: yaml is not yamllint")
    ]
    assert found.doubts == memory.query(line).results[0].doubts
    assert memory.match(line, strict=True).results == []


UNITTEST = """\
FAIL: test_open (tests.test_cart.TestCart.test_open) (number=1)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/shop/tests/test_cart.py", line 9, in test_open
    self.fail()
AssertionError: ValueError not raised

FAIL: test_open (tests.test_cart.TestCart.test_open) (number=2)
----------------------------------------------------------------------
AssertionError: the cart is open

ERROR: test_list (unittest.loader._FailedTest.test_list)
----------------------------------------------------------------------
ImportError: Failed to import test module: test_list
Traceback (most recent call last):
  File "/shop/tests/test_list.py", line 1, in <module>
    from shop import rows
ImportError: cannot import name 'rows' from 'shop'

"""


def test_an_assertion_is_unknown_with_its_test_and_what_the_runner_says_is_no_error(memory: Memory) -> None:
    lines = UNITTEST.encode().splitlines(keepends=True)
    assert memory.match(lines).unknown == [
        "FAIL: test_open (tests.test_cart.TestCart.test_open) (number=1)\nAssertionError: ValueError not raised",
        "FAIL: test_open (tests.test_cart.TestCart.test_open) (number=2)\nAssertionError: the cart is open",
        "ImportError: cannot import name 'rows' from 'shop'",
    ]
    assert memory.match([line.rstrip() for line in lines]).unknown == memory.match(lines).unknown
    assert told(memory, "AssertionError: the cart is open\n").unknown == ["AssertionError: the cart is open"]


def test_an_answer_shows_the_line_of_the_trigger_by_which_it_was_found(memory: Memory) -> None:
    trigger = (
        "src/a.ts(3,1): error TS2307: Cannot find module 'zod'.\nsrc/a.ts(9,1): error TS2551: Property 'x' is odd."
    )
    memory.failures.add(trigger, name="two", fix="npm install zod")
    (hit,) = told(memory, "lib/b.ts(7,2): error TS2551: Property 'yy' is odd.\n").results
    assert hit.recorded is not None and "TS2551" in hit.recorded and "TS2307" not in hit.recorded
    (by_line,) = told(memory, trigger).results
    assert by_line.recorded is None and by_line.by == "line"
