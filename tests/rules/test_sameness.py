"""A question and a message of an error: what they share, and what in one place of the same message differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.contract.verdict import Verdict
from graphmem.rules.sameness import Comparison, compared, is_message, longest_run

YAML = "ModuleNotFoundError: No module named 'yaml'"
LOCKED = "sqlite3.OperationalError: database is locked"
BORROW = "error[E0502]: cannot borrow `v` as mutable because it is also borrowed as immutable"
LISTEN = "Error: listen EADDRINUSE: address already in use"


def beside(question: str, message: str, full: str | None = None) -> Comparison:
    """Return how a question and a message compare where the verdict on their problems is not clear."""
    return compared(question, message, full or message, "unclear")


@pytest.mark.parametrize("message", [YAML, LOCKED, BORROW, LISTEN])
@pytest.mark.parametrize(
    "around",
    [
        "{}",
        "E   {}",
        "2026-11-20 10:02:13,441 ERROR worker-3: {}",
        'Traceback (most recent call last):\n  File "/srv/app/m.py", line 12, in main\n    run()\n{}',
        "Since the update of the runner the nightly job stops with this: {} What do we do?",
    ],
)
def test_a_message_is_whole_in_any_surroundings(message: str, around: str) -> None:
    found = beside(around.format(message), message)
    assert (found.whole, found.other_word) == (1.0, 0.0)


@pytest.mark.parametrize(
    ("question", "message", "is_other"),
    [
        ("ModuleNotFoundError: No module named 'pandas'", YAML, True),
        ("sqlite3.OperationalError: database is readonly", LOCKED, True),
        ("error[E0499]: cannot borrow `v` as mutable more than once at a time", BORROW, True),
        ("HTTP 404 from the registry", "HTTP 503 from the registry", True),
        ("expected 3, got 5", "expected 3, got 4", True),
        ("the lock is not held", "the lock is held", True),
        ("run it before the index", "run it after the index", True),
        ("error: vector<Frame> has no push(Packet)", "error: vector<Packet> has no push(Packet)", False),
        ("the cart is off", "the carts in it are off", False),
        ("cannot read db_host of the config", "cannot read db_port of the config", True),
    ],
)
def test_what_differs_in_the_same_place_speaks_against_it(question: str, message: str, is_other: bool) -> None:
    assert beside(question, message).other_word == is_other
    assert compared(question, message, message, "same").other_word == 0.0


@pytest.mark.parametrize("verdict", ["same", "same_rule", "other", "unclear", None])
def test_the_verdict_on_the_problems_is_a_sign(verdict: Verdict | None) -> None:
    found = compared(YAML, YAML, YAML, verdict)
    assert (found.same, found.same_rule, found.other) == tuple(verdict == one for one in ("same", "same_rule", "other"))


def test_numbers_that_count_or_measure_are_the_same_as_any_other() -> None:
    message = "worker 12 killed after 300 seconds"
    assert beside("worker 7 killed after 900 seconds", message).whole == 1.0


def test_what_the_rest_of_the_record_says_is_not_new() -> None:
    message, full = "the build stops at linking", "the build stops at linking; ld: symbol not found. Pass -lm"
    question = "error code 1: symbol not found"
    assert beside(question, message, full).new_words < beside(question, message).new_words
    assert compared("the symbol is not found", message, message, None).new_words == 0.0  # it is no message of an error


def test_without_words_nothing_is_shared() -> None:
    assert compared("?", "!", "!", None) == Comparison(*[0.0] * len(Comparison._fields))


def test_a_message_is_short() -> None:
    assert is_message(YAML)
    assert not is_message("the importer stops and then " * 20)


Tokens = st.lists(st.sampled_from(["disk", "full", "on", "7", "42", "1.2", "code"]), max_size=8)


@given(Tokens, Tokens)
def test_the_longest_run_is_that_of_a_search_of_all_pieces(asked: list[str], message: list[str]) -> None:
    def is_same(at: int, place: int) -> bool:
        counts = message[place].isdigit() and not (place and message[place - 1] == "code")
        return asked[at] == message[place] or (counts and asked[at][0].isdigit())

    pieces = [
        length
        for at in range(len(asked))
        for place in range(len(message))
        for length in range(1, min(len(asked) - at, len(message) - place) + 1)
        if all(is_same(at + step, place + step) for step in range(length))
    ]
    found = longest_run(asked, message)
    assert found.length == max(pieces, default=0)
    for step in range(1, found.length + 1):
        assert is_same(found.end - step, found.end_in_message - step)


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_sign_is_a_share_of_any_two_texts(question: str, message: str) -> None:
    assert all(0 <= value <= 1 for value in beside(question, message))


@pytest.mark.parametrize(
    ("message", "prompt", "whole"),
    [
        ("pytest: error: unrecognized arguments: --cov=app", "CI says unrecognized arguments: --cov=app.", 1.0),
        ("terraform: Error: Error acquiring the state lock", "it prints Error acquiring the state lock", 1.0),
        ("tar: Unexpected EOF in archive", "Unexpected EOF in archive", 0.0),
        ("make error: no rule", "it says no rule", 0.0),
    ],
)
def test_the_program_before_an_error_is_not_of_its_message(message: str, prompt: str, whole: float) -> None:
    assert beside(prompt, message).whole == whole


def test_a_message_that_is_a_class_alone_is_whole_where_the_class_is_named_and_is_not_one_of_python() -> None:
    prompt = "users report PoolTimeout under load, find the leak"
    assert beside(prompt, "httpx.PoolTimeout").whole == 1.0
    assert beside(prompt, "httpx.PoolTimeout").new_words == 0.0
    assert beside("it ends with httpx.PoolTimeout", "httpx.PoolTimeout").whole == 1.0
    assert beside("it ends with trio.PoolTimeout", "httpx.PoolTimeout").whole == 0.0
    assert beside("users report ReadTimeout", "httpx.PoolTimeout").whole == 0.0
    assert beside("a ValueError under load", "ValueError").whole == 0.0


@pytest.mark.parametrize("before", ["last time it said the ", "the retry fails with ", "it stops in CI, "])
def test_what_quotes_a_message_is_not_of_it(before: str) -> None:
    message = "using http2=True, but the 'h2' package is not installed"
    assert beside(f"{before}'h2' package is not installed", message).other_word == 0.0
    assert beside("every 'h2' package is not installed", message).other_word == 1.0
