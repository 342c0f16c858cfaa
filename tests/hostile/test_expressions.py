"""Match expressions that a branch brings: whatever they are, a log and a query end within their budget."""

import contextlib
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from graphmem import Memory
from graphmem.constants import EXPRESSION_TIMEOUT_S, LOG_TIMEOUT_S
from graphmem.core.search.expressions import Matcher, blocks, pieces
from graphmem.kernel.model.expression import Malformed, refuse_malformed
from tests.kernel.model.test_expression import EXPRESSIONS, FLAGS
from tests.pace import patience
from tests.sample import data, failure

SECONDS = 0.2  # the budget in the property test
CALLS = 50_000  # of functions, for one expression: the largest take 2,200, and the import of an engine comes once
SLACK_S = 0.6  # one call of an engine that cannot be stopped: the largest expression is compiled
ATOMS = st.sampled_from(["a", "b", "aa", ".", r"\w", "[ab]", "[^c]", "A", " ", "x"])
COUNTS = ("*", "+", "?", "{2}", "{1,50}", "{100}", "{300,}", "{1000}", "{0,4294967294}", "*?", "{90}+")
WRAPS = ("(?:%s)", "(%s)", "(?=%s)", "(?!%s)", r"(%s)\1", "(?>%s)", "(?:%s|aa)", "(?:a|%s)", "(?i:%s)")


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return expressions with groups in groups and counts of counts."""
    return (
        st.builds(lambda part, wrap, times: f"(?:{wrap % part}){times}", inner, st.sampled_from(WRAPS),
                  st.sampled_from(COUNTS))
        | st.lists(inner, min_size=2, max_size=4).map("".join)
        | st.lists(inner, min_size=2, max_size=4).map("|".join)
    )  # fmt: skip


HOSTILE = st.recursive(ATOMS, larger, max_leaves=10).map(lambda text: text + "(?!x1)[c-z]")
LOG = b"\n".join([b"a" * 16_000] * 10 + [b"ab" * 4_000, b"a b " * 3_000] * 3)


def took(work: Callable[[], object]) -> float:
    """Return the processor seconds of some work."""
    began = time.process_time()
    work()
    return time.process_time() - began


def search(matcher: Matcher, log: bytes) -> set[int]:
    return {key for block in blocks(pieces(log.split(b"\n"))) for key, _ in matcher.find(block)}


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(HOSTILE, min_size=1, max_size=20))
@pytest.mark.long
def test_hostile_expressions_have_one_budget(expressions: list[str]) -> None:
    usable = [text for text in expressions if can_be_stored(text)]

    def work() -> None:
        matcher = Matcher(enumerate(usable), seconds=SECONDS)
        assert matcher.slow.keys() <= set(range(len(usable)))
        search(matcher, LOG)

    assert took(work) < (2 * SECONDS + SLACK_S) * patience(time.process_time)


def can_be_stored(text: str) -> bool:
    try:
        refuse_malformed(text)
    except Malformed:
        return False
    return True


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param("(?:a|aa)+(?!x1)[c-z]{1}", id="backtracking"),
        pytest.param(r"(?:a+a+a+)+b(?<!x)", id="lookbehind", marks=pytest.mark.long),
        pytest.param(r"(a+)+\1(?=b)", id="backreference", marks=pytest.mark.long),
        pytest.param("(?:(?:(?:[ab]{1000}){1000}){1000})(?!x)", id="counts"),
        pytest.param(".", id="everything"),
        pytest.param("(?:x?){900}" * 60, id="large"),
        pytest.param("[ab]*[ab]*[ab]*c", id="linear", marks=pytest.mark.long),
    ],
)
@pytest.mark.slow
def test_any_number_of_hostile_expressions_takes_no_longer_than_a_few(hostile: str) -> None:
    expressions = [(number, f"{hostile}(?:y{{0,{number}}})") for number in range(600)]
    log = b"\n".join([b"a" * 16_000] * 50)
    found: set[int] = set()

    def work() -> None:
        matcher = Matcher([(-1, "bbbb"), *expressions], seconds=LOG_TIMEOUT_S)
        found.update(search(matcher, b"bbbb\n" * 3 + log))
        assert -1 in found  # what was found before the budget was spent is kept
        assert len(matcher.slow) > 500 or hostile in (".", "[ab]*[ab]*[ab]*c", "(?:x?){900}" * 60)

    assert took(work) < (2 * LOG_TIMEOUT_S + 2 * SLACK_S) * patience(time.process_time)


@pytest.mark.long
def test_a_store_of_hostile_expressions_is_matched_in_a_few_seconds_and_says_what_was_left_aside(
    memory: Memory, capsys: pytest.CaptureFixture[str]
) -> None:
    """As the review had it: 30 of them took 67 seconds."""
    memory.failures.add("fine", name="fine", match="this is fine")
    memory.add_rows(
        f'{{"kind":"failure","name":"h{n}","trigger":"t{n}","match":"(?:a|aa)+(?!x{n})[c-z]{{1}}"}}' for n in range(300)
    )
    log = b"\n".join([b"this is fine", *[b"a" * 16_000] * 50])
    answers = []
    assert took(lambda: answers.append(memory.match(log))) < (2 * LOG_TIMEOUT_S + 2.0) * patience(time.process_time)
    assert [hit.ref for hit in answers[0].results if hit.by == "match"] == ["failure/fine"]
    assert len(answers[0].slow) >= 290
    assert took(lambda: memory.query(log.decode())) < (2 * EXPRESSION_TIMEOUT_S + 2.0) * patience(time.process_time)


@pytest.mark.long
def test_errors_without_end_are_read_for_a_bounded_time(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    """A log of 16 MiB that is nothing but errors took 35 seconds; here is a quarter of it, in a quarter of the time."""
    monkeypatch.setattr("graphmem.core.search.match.LOG_TIMEOUT_S", LOG_TIMEOUT_S / 4)
    log = (b"ValueError: no such price\n" for _ in range(300_000))
    answers = []
    assert took(lambda: answers.append(memory.match(log))) < 3.0 * patience(time.process_time)
    assert answers[0].lines == 300_000
    assert 0 < answers[0].unread < 300_000
    assert answers[0].unknown == ["ValueError: no such price"]


@pytest.mark.long
@settings(max_examples=150, deadline=None)
@given(st.builds(str.__add__, FLAGS, EXPRESSIONS) | HOSTILE | st.text("ab()[]{}|?*+^$\\<=!:P1,-", max_size=14))
def test_any_text_is_taken_or_refused_in_a_bounded_number_of_calls(text: str) -> None:
    """Calls of functions, C's too: a time would be that of the whole process, with a collection of all its garbage."""
    calls = 0

    def count(_frame: object, event: str, _arg: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        with contextlib.suppress(Malformed):
            refuse_malformed(text)
    finally:
        sys.setprofile(before)
    assert calls < CALLS


def test_expressions_that_take_long_to_compile_do_not_hold_up_the_first_reading(memory: Memory, tmp_path: Path) -> None:
    """Each of them takes Python a second to compile."""
    wide = "(?i)" + "[\x00-\U0010ffff]" * 140
    rows = b"".join(failure(f"f{n}", f"t{n}", match=f"{wide}{n}") for n in range(30))
    data(tmp_path, "failure").write_bytes(rows)
    assert took(memory.list) < 2.0 * patience(time.process_time)
    assert len(memory.list().results) == 30
