"""A match expression means in both engines what it means to Python's `re`, on a line."""

import re

import re2
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphmem.rules.expression import Expression

ATOMS = st.sampled_from([
    "a", "b", "K", "s", "7", "_", " ", "-", r"\.", "é", "٣", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b",
    r"\B", "^", "$", r"\A", r"\Z", "[ab]", "[^a]", r"[\w.]", r"[^\w]", r"[\W_]", r"[^\W7]", r"[\s\d]", r"[^\s-]",
    r"[\S]", r"[^\S ]", "[a-z]", "[^0-9]", r"[é-ü]", r"[\D]", r"\t", r"[\]\\^-]", "{e}",
])  # fmt: skip
LINES = st.text("abkKsS7_ -.é٣Ü\t\u2003\x1c{e}\\]^[:", min_size=1, max_size=8)  # in an empty one Python finds no \\B


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return expressions made of smaller ones."""
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "*+", "?+"])
    forms = ["(%s)", "(?:%s)", "(?i:%s)", "(?a:%s)", "(?=%s)", "(?!%s)", "(?>%s)", r"(%s)\1", "(%s)?(?(1)a|b)"]
    wrap = st.sampled_from(forms)
    return (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map("|".join)
        | st.builds(lambda part, times: f"(?:{part}){times}", inner, repeat)
        | st.builds(lambda part, form: form % part, inner, wrap)
    )


EXPRESSIONS = st.recursive(ATOMS, larger, max_leaves=8)
FLAGS = st.sampled_from(["", "(?i)", "(?a)", "(?s)", "(?x)"])


@settings(max_examples=600, deadline=None)
@given(expression=st.builds(str.__add__, FLAGS, EXPRESSIONS), line=LINES)
def test_both_engines_find_what_python_finds(expression: str, line: str) -> None:
    try:
        oracle = re.compile(expression, re.MULTILINE)
    except re.error:
        assume(False)
    found = oracle.search(line) is not None
    made = Expression(expression)
    is_plain = line.isascii() or "(?i" not in expression  # beyond ASCII each engine folds case its own way
    if is_plain:
        assert (regex.search(made.general.text, line) is not None) == found, made.general.text
    if made.linear is not None and (line.isascii() or not made.linear.is_for_ascii):
        assert (re2.search(made.linear.text, line.encode()) is not None) == found, made.linear.text
    if found and is_plain:
        assert any(literal in line.lower() for literal in made.literals)
    if not found and oracle.search(f"{line}\n{line}"):
        assert made.general.can_span or re.search("[$^]|.A|.Z|.[bB]|[=!]", expression)
