"""What stays of a command line, and which texts name it."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs.command_line import mentions, parsed_line
from tests.pace import within


@pytest.mark.parametrize(
    ("typed", "kept", "is_sure"),
    [
        ("pytest -q", "pytest -q", True),
        ("  pytest   -q  ", "pytest -q", True),
        ("cd api && pytest -q", "pytest -q", True),
        ("cd 'my api'; CI=1 A='b c' pytest -q", "pytest -q", True),
        ("pytest -q 2>&1", "pytest -q", True),
        ("pytest -q 2>&1 | tail -20", "pytest -q", False),
        ("pytest -q | tee log | tail -n 5", "pytest -q", False),
        ("pytest -q > log 2>&1", "pytest -q", True),
        ("pytest -q || true", "pytest -q", False),
        ("pytest -q; echo $?", "pytest -q", False),
        ('make check > /tmp/log 2>&1; echo "exit=$?"', "make check", False),
        ("pytest -q &", "pytest -q", False),
        ("make all && make test", "make all && make test", True),
        ("grep -c a b | sort | uniq", "grep -c a b", False),
        ("pytest -q | grep -A3 'FAILED|ERROR'", "pytest -q", False),
        ('make check || echo "no: $?"', "make check", False),
        ("echo 'a | tail -3'", "echo 'a | tail -3'", True),
        ("cd api", "cd api", True),
        ("", "", True),
    ],
)
def test_what_moves_or_shows_the_output_is_left_out(typed: str, kept: str, is_sure: bool) -> None:
    found = parsed_line(typed)
    assert (found.text, found.is_sure) == (kept, is_sure)


def test_the_folder_and_the_variables_of_a_command_are_kept() -> None:
    found = parsed_line("cd api && DB=pg cd 'my tests'; CI=1 pytest")
    assert (found.text, found.folder, found.variables) == ("pytest", "api/my tests", ("DB=pg", "CI=1"))
    assert parsed_line("cd api; cd /srv && ls").folder == "/srv"


@given(st.text("ab |&;>'\"1-=cdtail\n", max_size=60))
def test_what_is_left_stays_as_it_is(text: str) -> None:
    kept = parsed_line(text).text
    assert parsed_line(kept).text == kept


@pytest.mark.parametrize(
    "piece", ["a=b ", "cd a && ", " | tail", " 2>&1", "; echo ", "|", "'", '"', "a", "&", "1 failed"]
)
def test_a_hostile_text_is_looked_at_in_no_time(piece: str) -> None:
    began = time.process_time()
    parsed_line(piece * 100_000)
    assert within(time.process_time() - began, 1, time.process_time)


@pytest.mark.parametrize(
    ("command", "is_reader"),
    [
        ("cat log", True),
        ("sudo /usr/bin/cat log", True),
        ("(cat log)", True),
        ("time grep -rn x .", True),
        ("for f in *.log; do cat $f; done", True),
        ("git diff", True),
        ("git push", False),
        ("git", False),
        ("pytest -q", False),
        ("sudo make", False),
        ("sudo", True),
        ("", True),
    ],
)
def test_a_command_that_shows_texts_is_a_reader(command: str, is_reader: bool) -> None:
    assert parsed_line(command).is_reader is is_reader


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
