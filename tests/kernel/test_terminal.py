"""How answers fit the terminal."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.kernel.terminal import NARROW, fitted

TREE = "├── <-solves 1.5- pattern/use-strong-authentication  = 1.5  Against Adversary in the Middle"
WORDS = st.lists(st.text("abcde/-", min_size=1, max_size=30), min_size=1, max_size=40).map(" ".join)


@pytest.fixture(autouse=True)
def _sixty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")


def test_a_long_line_goes_on_below_its_text_also_in_a_tree() -> None:
    assert fitted(f"{TREE}\n│   └── short") == (
        "├── <-solves 1.5- pattern/use-strong-authentication  = 1.5\n"
        "│       Against Adversary in the Middle\n"
        "│   └── short"
    )
    assert fitted("  > " + "word " * 20).split("\n")[1].startswith("        word")


@given(WORDS, st.sampled_from(["", "    ", "│   └── ", "  > ", "  1  "]))
def test_no_word_is_lost_or_broken_and_no_line_is_too_long(words: str, start: str) -> None:
    lines = fitted(f"{start}{words}").split("\n")
    assert " ".join(lines).translate(str.maketrans("│└─>", "    ")).split() == (
        f"{start}{words}".translate(str.maketrans("│└─>", "    ")).split()
    )
    assert all(len(line) <= 60 or len(line.split()) <= 2 for line in lines)


def test_a_narrow_terminal_gets_lines_as_they_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(NARROW - 1))
    assert fitted(TREE) == TREE
