"""A set says of every pattern that a text has that the text may have it."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.core.logs import general, volatile
from graphmem.core.logs.pattern_set import PatternSet

PATTERNS = [
    r"(?<![\w.])a(?!b)", r"(?=[^\s()\]]{3}(?:x|(?:y)))\w+", r"[(?=)]+\d", r"\(?=1\)", r"end$", r"^be", r"\s7",
    r"straße", r"(?<=id\)=)\(\d+\)", r"k\b", r"\d{2}", r"i", r"(?P<name>un)known",
]  # fmt: skip
texts = st.text(st.sampled_from("aAbxy()=?[]17 \t\n\v\f\x1c\x1fK\u212aſsßıi٣.end—"), max_size=12)


@given(texts | st.text(max_size=20) | st.sampled_from(["the end\n", "x\nbe", "\x1f7", "id)=(3)", "UNKNOWN", "(=1)"]))
def test_a_pattern_that_a_text_has_is_among_those_it_may_have(text: str) -> None:
    may = PatternSet(PATTERNS).may_find(text)
    assert {place for place, one in enumerate(PATTERNS) if re.search(one, text, re.IGNORECASE)} <= {*may}


@pytest.mark.parametrize("group", [volatile.ALWAYS, volatile.IN_ERRORS, volatile.UNLESS_COMPARED, volatile.SPANS])
def test_all_that_changes_from_run_to_run_can_be_looked_for_at_once(group: volatile.VolatileRules) -> None:
    assert not {*group.set.may_find("all is well")}


def test_words_of_failing_are_looked_for_at_once() -> None:
    assert not general.PLAIN_SET.may_find("all is well")
    assert general.PLAIN_SET.may_find("it was NOT FOUND!")
