"""A match expression is read by RE2 as it is, or, where RE2 refuses it, by the module `regex`."""

import re
import time

import pytest
import re2
import regex
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from graphmem.core.search.expressions import Line, Matcher
from graphmem.kernel.model.expression import Expression, Malformed, folded, refuse_malformed
from tests.pace import examples, patience

ATOMS = st.sampled_from([
    "a", "b", "K", "s", "7", "_", " ", "-", r"\.", "é", "٣", ".", r"\d", r"\D", r"\w", r"\W", r"\s", r"\S", r"\b",
    r"\B", "^", "$", r"\A", r"\Z", "[ab]", "[^a]", r"[\w.]", r"[^\w]", r"[\W_]", r"[^\W7]", r"[\s\d]", r"[^\s-]",
    r"[\S]", r"[^\S ]", "[a-z]", "[^0-9]", r"[é-ü]", r"[\D]", r"\t", r"[\]\\^-]", "{e}", "abc", "ß", "ſ", "İ", "ı",
])  # fmt: skip
RE2_ATOMS = st.sampled_from([
    r"\z", "[[:alpha:]]", r"\pL", r"\p{Greek}", r"\Qa.b\E", r"\x{e9}", r"\x41", r"\061", "a{,2}",
])  # fmt: skip
LINES = st.text("abcCkKsSſßẞİıi7_ -.é٣Ü\t\u2003\x1c{e}\\]^[:", max_size=8)


def larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    """Return expressions made of smaller ones."""
    repeat = st.sampled_from(["*", "+", "?", "{2}", "{1,2}", "*?", "+?", "??", "*+", "?+", "{0,2}", "{,2}", "{e}"])
    forms = ["(%s)", "(?:%s)", "(?i:%s)", "(?a:%s)", "(?=%s)", "(?!%s)", "(?>%s)", r"(%s)\1", "(%s)?(?(1)a|b)"]
    wrap = st.sampled_from(forms)
    return (
        st.lists(inner, min_size=1, max_size=4).map("".join)
        | st.lists(inner, min_size=2, max_size=3).map("|".join)
        | st.builds(lambda part, times: f"(?:{part}){times}", inner, repeat)
        | st.builds(str.__add__, inner, repeat)
        | st.builds(lambda part, form: form % part, inner, wrap)
    )


EXPRESSIONS = st.recursive(ATOMS, larger, max_leaves=8)
FLAGS = st.sampled_from(["", "(?i)", "(?a)", "(?s)", "(?x)"])
EITHER = st.recursive(ATOMS | RE2_ATOMS, larger, max_leaves=8)


def finds(text: str, line: str) -> bool:
    """Return what the engine says that takes an expression; an example that none takes is left out."""
    options = re2.Options()
    options.log_errors = False
    try:
        return re2.compile(f"(?m){text}", options).search(line) is not None
    except re2.error:
        pass
    try:
        return regex.search(text, line, regex.MULTILINE) is not None
    except (regex.error, ValueError):
        assume(False)
    raise AssertionError


@settings(max_examples=examples(500), deadline=None)
@given(expression=st.builds(str.__add__, FLAGS, EITHER), line=LINES)
@pytest.mark.long
def test_a_line_is_found_where_the_engine_that_takes_the_expression_finds_it(expression: str, line: str) -> None:
    found = finds(expression, line)
    needed = Expression(expression).literals
    assert not found or any(literal in folded(line) for literal in needed), needed
    matcher = Matcher([(0, expression)], seconds=20.0)
    if "i" not in expression or not set(line) & set("İı"):  # which RE2's filter does not take for an i
        assert bool(matcher.find([Line(1, line.encode(), False)])) == found


@pytest.mark.long
@settings(max_examples=examples(500), deadline=None)
@given(st.builds(str.__add__, FLAGS, EXPRESSIONS))
def test_what_python_takes_is_taken(expression: str) -> None:
    """The rows of a store that an older version wrote were checked by Python's `re`."""
    try:
        re.compile(expression)
    except re.error:
        assume(False)
    assume("{e}" not in expression)  # with which `regex` begins a fuzzy match
    refuse_malformed(expression)


@pytest.mark.parametrize(
    ("expression", "line", "is_found"),
    [
        (r"^\w+$", "café", False),  # RE2: letters of ASCII
        (r"^\w+$(?!x)", "café", True),  # regex: of all languages
        (r"a{,2}", "a{,2}", True),  # RE2: a text
        (r"dict{e}", "dict{e}", True),
        (r"(?i)É", "é", True),
        (r"[[:digit:]]+%", "50%", True),
        (r"\Qa.b\E", "a.b", True),
        (r"(a)\1", "aa", True),
        (r"(?<=id )7", "id 7", True),
        (r"x{1001}", "x" * 1001, True),
    ],
)
def test_the_dialect_is_the_one_that_is_documented(expression: str, line: str, is_found: bool) -> None:
    matcher = Matcher([(0, expression)], seconds=20.0)
    assert bool(matcher.find([Line(1, line.encode(), False)])) is is_found


@pytest.mark.parametrize(
    ("expression", "literals"),
    [
        (r"ModuleNotFoundError: No module named '(\w+)'", ["modulenotfounderror: no module named '"]),
        (r"EADDRINUSE.*:\d+", ["eaddrinuse"]),
        (r"a(?:bc|def)+g", ["bc", "def"]),
        (r"(?i)Straße", ["strasse"]),
        (r"ab?cde*", ["cd"]),
        (r"(?P<name>abc){2,}|x\.y", ["abc", "x.y"]),
        (r"abc(?=defgh)", ["abc"]),
        (r"abc(?:defgh)?", ["abc"]),
        (r"ab{2}cd", ["ab"]),
        (r"[abc]x", ["x"]),
        (r"\d+|abc", [""]),
        (r"(?x) a b c", [""]),
        (r"(?:abc){e<=1}", [""]),
        (r"\Qabc\E", [""]),
        ("a" * 1_001, [""]),
    ],
)
def test_the_literals_that_an_expression_needs_are_read_from_its_text(expression: str, literals: list[str]) -> None:
    assert list(Expression(expression).literals) == literals


@pytest.mark.parametrize(
    ("expression", "is_large"),
    [
        (r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}(?!x)", False),
        ("(?:" * 9 + "ab" + ")+" * 9, False),
        ("(?:" * 30 + "ab" + ")*" * 30, False),
        ("(?:" * 20 + "ab" + ")+" * 20, True),
        ("(?:" * 20 + "ab" + "){2}" * 20, True),
        ("(?:(?:[ab]{1000}){1000}){1000}", True),
        ("(?x)#[\n(?:(?:a{1000}){1000})#]", True),
        ("(?V1)[[(]|(?:(?:a{1000}){1000})]", True),
        ("a{99999999999999999999}", True),
        ("a)(?:(?:a{1000}){1000})", True),
        ("a" * 1_001, True),
    ],
)
@pytest.mark.slow
def test_an_expression_that_regex_would_compile_for_long_is_large(expression: str, is_large: bool) -> None:
    assert Expression(expression + "(?!x)").is_large is is_large
    began = time.process_time()
    Matcher([(0, expression + "(?!x)")], seconds=0.1).find([Line(1, b"a" * 50, False)])
    assert time.process_time() - began < 1.0 * patience(time.process_time)  # the largest of the others takes 10 ms


def test_groups_that_are_nested_too_deep_are_refused_whatever_they_hold() -> None:
    refuse_malformed("(" * 30 + "[(((]" + ")" * 30)
    with pytest.raises(Malformed, match="groups nested over 30 deep"):
        refuse_malformed("(" * 31 + "a" + ")" * 31)


@pytest.mark.parametrize("expression", ["((", "[a", "*a", "a{2}{3}(?=", "(?<n", "\\", "(?P=x)"])
def test_what_neither_engine_takes_is_refused(expression: str) -> None:
    with pytest.raises(Malformed):
        refuse_malformed(expression)
