"""What stays of a command line, and which texts name it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.rules.command_line import mentions, normalised
from tests.pace import within


@pytest.mark.parametrize(
    ("typed", "kept", "is_piped"),
    [
        ("pytest -q", "pytest -q", False),
        ("  pytest   -q  ", "pytest -q", False),
        ("cd api && pytest -q", "pytest -q", False),
        ("cd 'my api'; CI=1 A='b c' pytest -q", "pytest -q", False),
        ("pytest -q 2>&1", "pytest -q", False),
        ("pytest -q 2>&1 | tail -20", "pytest -q", True),
        ("pytest -q | tee log | tail -n 5", "pytest -q", True),
        ("pytest -q > log 2>&1", "pytest -q", False),
        ("pytest -q || true", "pytest -q", True),
        ("pytest -q; echo $?", "pytest -q", True),
        ("make all && make test", "make all && make test", False),
        ("grep -c a b | sort | uniq", "grep -c a b | sort | uniq", False),
        ("echo 'a | tail -3'", "echo 'a | tail -3'", False),
        ("cd api", "cd api", False),
        ("", "", False),
    ],
)
def test_what_moves_or_shows_the_output_is_left_out(typed: str, kept: str, is_piped: bool) -> None:
    assert normalised(typed) == (kept, is_piped)


@given(st.text("ab |&;>'\"1-=cdtail\n", max_size=60))
def test_what_is_left_stays_as_it_is(text: str) -> None:
    kept, _ = normalised(text)
    assert normalised(kept)[0] == kept


@pytest.mark.parametrize("piece", ["a=b ", "cd a && ", " | tail", " 2>&1", "; echo ", "|", "'", '"', "a"])
def test_a_hostile_command_line_is_looked_at_in_no_time(piece: str) -> None:
    began = time.process_time()
    normalised(piece * 100_000)
    assert within(time.process_time() - began, 1, time.process_time)


@pytest.mark.parametrize(
    ("text", "is_named"),
    [
        ("`npm run build` dies", True),
        ("$ npm run build\nheap out of memory", True),
        ("npm run build", True),
        ("after npm run build it dies", False),
        ("`npm run build:web` dies", False),
        ("npm run", False),
    ],
)
def test_a_text_names_a_command_in_backticks_after_a_prompt_or_as_a_line(text: str, is_named: bool) -> None:
    assert mentions(text, "npm run build") is is_named


def test_a_single_word_is_named_by_nothing() -> None:
    assert not mentions("`make`", "make")
