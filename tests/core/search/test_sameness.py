"""A question and a message of an error: what they share, and what in one place of the same message differs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.search.sameness import AGAINST, Comparison, compared, is_message, longest_excerpt

YAML = "ModuleNotFoundError: No module named 'yaml'"
LOCKED = "sqlite3.OperationalError: database is locked"
BORROW = "error[E0502]: cannot borrow `v` as mutable because it is also borrowed as immutable"
LISTEN = "Error: listen EADDRINUSE: address already in use"


def against(question: str, message: str) -> set[str]:
    """Return what speaks against it that a question is about a message."""
    found = compared(question, message, message)._asdict()
    return {name for name in AGAINST - {"new_words"} if found[name]}


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
    found = compared(around.format(message), message, message)
    assert (found.whole, found.held) == (1.0, 1.0)
    assert not against(around.format(message), message)


@pytest.mark.parametrize(
    ("question", "message", "expected"),
    [
        ("ModuleNotFoundError: No module named 'pandas'", YAML, {"other_names", "other_word"}),
        ("sqlite3.OperationalError: database is readonly", LOCKED, {"other_word"}),
        ("sqlite3.IntegrityError: database is locked", LOCKED, {"other_class"}),
        ("error[E0499]: cannot borrow `v` as mutable more than once at a time", BORROW, {"other_code", "other_word"}),
        ("listen EACCES: address already in use", LISTEN, {"other_code"}),
        ("HTTP 404 from the registry", "HTTP 503 from the registry", {"other_code", "other_word"}),
        ("expected 3, got 5", "expected 3, got 4", {"other_word"}),
        ("ERROR: found 5 errors in the build", "ERROR: found 4 errors in the build", set()),
        ("the lock is not held", "the lock is held", {"other_word"}),
        ("run it before the index", "run it after the index", {"other_word"}),
        ("httpx.ReadTimeout: timed out", "requests.ReadTimeout: timed out", {"other_class"}),
        ("error: vector<Frame> has no push(Packet)", "error: vector<Packet> has no push(Packet)", set()),
        ("the cart is off", "the carts in it are off", set()),
        ("cannot read db_host of the config", "cannot read db_port of the config", {"other_names", "other_word"}),
    ],
)
def test_what_differs_in_the_same_place_speaks_against_it(question: str, message: str, expected: set[str]) -> None:
    assert against(question, message) == expected


def test_numbers_that_count_or_measure_are_the_same_as_any_other() -> None:
    message = "worker 12 killed after 300 seconds"
    assert compared("worker 7 killed after 900 seconds", message, message).whole == 1.0


def test_a_name_of_the_message_speaks_for_it_where_the_question_has_all_of_them() -> None:
    message = "cannot read db_port of app_config"
    assert compared("why is db_port of app_config not read", message, message).names_held == 1.0
    assert compared("why is db_port not read", message, message).names_held == 0.0
    assert compared("anything", "the queue is full", "the queue is full").names_held == 0.0


def test_what_the_rest_of_the_record_says_is_not_new() -> None:
    message, full = "the build stops at linking", "the build stops at linking; ld: symbol not found. Pass -lm"
    question = "error code 1: symbol not found"
    assert compared(question, message, full).new_words < compared(question, message, message).new_words
    assert compared("the symbol is not found", message, message).new_words == 0.0  # it is no message of an error


def test_without_words_nothing_is_shared() -> None:
    assert compared("?", "!", "!") == Comparison(*[0.0] * len(Comparison._fields))


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
    found = longest_excerpt(asked, message)
    assert found.length == max(pieces, default=0)
    for step in range(1, found.length + 1):
        assert is_same(found.end - step, found.end_in_message - step)


@given(st.text(max_size=80), st.text(max_size=80))
def test_every_sign_is_a_share_of_any_two_texts(question: str, message: str) -> None:
    assert all(0 <= value <= 1 for value in compared(question, message, message))


@pytest.mark.parametrize(
    ("question", "message"),
    [
        (
            "AsyncClient got an argument 'app' since May",
            "AsyncClient.__init__() got an argument 'app'",
        ),
        ("login ends with TooManyRedirects for some", "httpx.TooManyRedirects: Exceeded maximum allowed redirects."),
        ("nothing listens on localhost:6379 here", "cannot reach localhost:6379"),
    ],
)
def test_a_name_is_named_also_without_its_module_and_its_call(question: str, message: str) -> None:
    assert compared(question, message, message).names_held == 1.0
    assert compared(question, message, message).other_names == 0.0


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
    assert compared(prompt, message, message).whole == whole


def test_a_message_that_is_a_class_alone_is_whole_where_the_class_is_named_and_is_not_one_of_python() -> None:
    prompt = "users report PoolTimeout under load, find the leak"
    assert compared(prompt, "httpx.PoolTimeout", "httpx.PoolTimeout").whole == 1.0
    assert compared(prompt, "httpx.PoolTimeout", "httpx.PoolTimeout").new_words == 0.0
    assert compared("it ends with httpx.PoolTimeout", "httpx.PoolTimeout", "httpx.PoolTimeout").whole == 1.0
    assert compared("it ends with trio.PoolTimeout", "httpx.PoolTimeout", "httpx.PoolTimeout").whole == 0.0
    assert compared("users report ReadTimeout", "httpx.PoolTimeout", "httpx.PoolTimeout").whole == 0.0
    assert compared("a ValueError under load", "ValueError", "ValueError").whole == 0.0


@pytest.mark.parametrize("before", ["last time it said the ", "the retry fails with ", "it stops in CI, "])
def test_what_quotes_a_message_is_not_of_it(before: str) -> None:
    message = "using http2=True, but the 'h2' package is not installed"
    assert compared(f"{before}'h2' package is not installed", message, message).other_word == 0.0
    assert compared("every 'h2' package is not installed", message, message).other_word == 1.0
