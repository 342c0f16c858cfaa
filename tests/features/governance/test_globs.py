"""Globs, compared with a plain reading of the same patterns on all short paths."""

import time
from collections.abc import Iterator
from itertools import product
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graphmem.features.governance.globs import GLOB_CHARACTERS, as_globs, matches, meeting
from tests.pace import within

SHORT = [
    path
    for size in range(1, 6)
    for path in map("".join, product("ab./", repeat=size))
    if {"", ".", ".."}.isdisjoint(path.split("/"))
]
Pattern = list[Any]
# It is parts; a part is "**" or a list of: "*", "?", a class (whether it is negated, its letters), alternatives
# (a list of lists), or a letter.
LETTERS = st.sampled_from("ab.")
CLASSES = st.tuples(st.booleans(), st.sets(LETTERS, min_size=1).map(sorted).map(tuple))
SIMPLE = st.one_of(LETTERS, LETTERS, st.just("*"), st.just("?"), CLASSES)
ALTERNATIVES = st.lists(st.lists(SIMPLE, min_size=1, max_size=2), min_size=1, max_size=3)


def written(pattern: Pattern) -> str:
    """Return a pattern as a glob."""
    return "/".join(part if isinstance(part, str) else "".join(map(_written, part)) for part in pattern)


def _written(item: object) -> str:
    if isinstance(item, tuple):
        return f"[{'!' if item[0] else ''}{''.join(item[1])}]"
    if isinstance(item, list):
        return f"{{{','.join(''.join(map(_written, one)) for one in item)}}}"
    return str(item)


def means(pattern: Pattern, path: str) -> bool:
    """Return whether a pattern is of a path: the definition, read part by part."""
    return _parts_match(pattern, path.split("/"))


def _parts_match(pattern: Pattern, parts: list[str]) -> bool:
    if not pattern:
        return not parts
    head, *rest = pattern
    if head == "**":
        return any(_parts_match(rest, parts[n:]) for n in range(len(parts) + 1)) if rest else bool(parts)
    return bool(parts) and "" in set(_left(head, parts[0])) and _parts_match(rest, parts[1:])


def _left(items: list[Any], text: str) -> Iterator[str]:
    """Yield what may be left of a text after items."""
    if not items:
        yield text
        return
    head, *rest = items
    if head == "*":
        ends = [text[n:] for n in range(len(text) + 1)]
    elif isinstance(head, list):
        ends = [end for one in head for end in _left(one, text)]
    elif isinstance(head, tuple):
        ends = [text[1:]] if text and (text[0] in head[1]) != head[0] else []
    else:
        ends = [text[1:]] if text and head in ("?", text[0]) else []
    for end in ends:
        yield from _left(rest, end)


def is_plain(part: list[Any]) -> bool:
    """Return whether a part never comes to ``**``, nor to ``.`` or ``..``, which no glob may have."""
    choices = [item if isinstance(item, list) else [[item]] for item in part]
    texts = ["".join(_written(item) for one in chosen for item in one) for chosen in product(*choices)]
    return not any("**" in text or text.replace("[.]", ".") in (".", "..") for text in texts)


PARTS = st.lists(st.one_of(SIMPLE, SIMPLE, ALTERNATIVES), min_size=1, max_size=3).filter(is_plain)
GLOBS = st.lists(st.one_of(st.just("**"), PARTS), min_size=1, max_size=3)
SETS = st.lists(GLOBS, min_size=1, max_size=2)


@given(GLOBS)
def test_a_glob_matches_what_its_definition_says(pattern: Pattern) -> None:
    glob = written(pattern)
    assert [path for path in SHORT if matches([glob], path)] == [path for path in SHORT if means(pattern, path)]


@given(SETS, SETS)
def test_two_sets_meet_at_a_shortest_path_that_both_match(first: list[Pattern], second: list[Pattern]) -> None:
    found = meeting([written(one) for one in first], [written(one) for one in second])
    both = [
        path for path in SHORT if any(means(one, path) for one in first) and any(means(one, path) for one in second)
    ]
    if found is None:
        assert both == []
    else:
        assert {"", ".", ".."}.isdisjoint(found.split("/"))
        assert any(means(one, found) for one in first)
        assert any(means(one, found) for one in second)
        assert not both or len(found) <= len(both[0])


@pytest.mark.parametrize(
    ("glob", "path", "is_matched"),
    [
        ("src/**", "src/a/b.py", True),
        ("src/**", "src", False),
        ("**/x.py", "x.py", True),
        ("**/x.py", "a/b/x.py", True),
        ("**/x.py", "a/bx.py", False),
        ("a/**/b", "a/b", True),
        ("*.py", "a/b.py", False),
        ("*", ".env", True),
        ("a?c", "a/c", False),
        ("[a-c]x", "bx", True),
        ("[!a-c]x", "bx", False),
        ("[!a]x", "/x", False),
        ("[a-]", "-", True),
        ("[,-.]", ".x", False),
        ("a[+-9]b", "a/b", False),
        ("a[+-9]b", "a7b", True),
        (r"[\]]", "]", True),
        (r"\*", "*", True),
        (r"\*", "a", False),
        (r"a\/b", "a/b", True),
        ("{src,{test,doc}s}/*.{py,md}", "docs/a.md", True),
        ("{src,{test,doc}s}/*.{py,md}", "doc/a.md", False),
        ("a{,.md}", "a", True),
        ("{a/b,**}/c", "x/y/c", True),
        ("[{,}]", ",", True),
        ("a,b}", "a,b}", True),
        (r"\{a\,b}", "{a,b}", True),
        ("Ä*", "Äpfel", True),
        ("a", "A", False),
        ("*", "\udc80", True),
        ("**", "a/../b", False),
        ("**", "/a", False),
        ("**", "a\0", False),
    ],
)
def test_examples_match_as_documented(glob: str, path: str, is_matched: bool) -> None:
    assert matches([glob], path) is is_matched
    assert matches(["other", glob], path) is is_matched


@pytest.mark.parametrize(
    ("first", "second", "path"),
    [
        (["src/**"], ["**/*.md"], "src/.md"),
        (["src/*.py"], ["src/*/*.py"], None),
        (["docs/**"], ["src/**"], None),
        (["src/**", "docs/*.md"], ["docs/i*"], "docs/i.md"),
        (["[а-я]"], ["?"], "а"),
        (["[\x01-\x1f]"], ["*"], "\x01"),
        (["[\x01-ÿ]"], ["[!\x02-~]"], "¡"),
        (["[!a-z]x"], ["[!A-Z]x"], "0x"),
        (["[а-г]"], ["[д-я]"], None),
        (["?"], ["[.]?"], None),
        (["??"], [".*"], ".a"),
        (["???"], [".[.]*"], "..a"),
        (["*"], ["[.][.][.]"], "..."),
        (["**"], ["{a,b}/**"], "a/a"),
        ([], ["**"], None),
    ],
)
def test_examples_meet_as_documented(first: list[str], second: list[str], path: str | None) -> None:
    assert meeting(first, second) == path
    assert meeting(second, first) == path


@pytest.mark.parametrize(
    ("glob", "right"),
    [
        ("", "a path from the project's root"),
        ("/etc/*", "a path from the project's root"),
        ("a//b", "one / between two parts"),
        ("a/", "one / between two parts"),
        ("../a", "a path from the project's root"),
        ("a/./b", "a path from the project's root"),
        ("{.,a}/b", "a path from the project's root"),
        ("[a", r"\["),
        ("a{b,c", r"\{"),
        ("{a,{b}", r"\{"),
        ("a\\", r"\\"),
        ("[]a]", r"\]"),
        ("[/]", "/ is in none"),
        ("[!\x01-\U0010ffff]", "/ is in none"),
        ("[c-a]", "a-c"),
        ("[^a]", "[!abc]"),
        ("a**", "a part of its own"),
        ("***", "a part of its own"),
        ("{a,**}b", "a part of its own"),
        ("a" * (GLOB_CHARACTERS + 1), f"at most {GLOB_CHARACTERS}"),
        ("{a,b}" * 7, "several globs"),
    ],
)
def test_a_bad_glob_is_refused_with_what_would_be_right(glob: str, right: str) -> None:
    with pytest.raises(ValueError, match="the glob") as refused:
        matches([glob], "a")
    assert right in str(refused.value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("*a" * 150, "*b" * 150),
        ("**/" * 99 + "a", "**/" * 99 + "b"),
        ("{" * 148 + "a" + "}" * 148, "*?" * 150),
        ("{a,b}" * 6 + "*" + "a*" * 100, "{a,b}" * 6 + "*" + "b*" * 100),
    ],
)
def test_a_hostile_glob_takes_a_bounded_time(first: str, second: str) -> None:
    before = time.process_time()
    try:
        meeting([first], [second])
    except ValueError as refused:
        assert "too many or too long to be compared" in str(refused)
    matches([first], "ab" * 2000)
    assert within(time.process_time() - before, 5, time.process_time)


def test_a_set_of_too_many_globs_is_refused() -> None:
    assert as_globs(("{a,b}" * 6, "src/**")) == ("{a,b}" * 6, "src/**")
    with pytest.raises(ValueError, match="too many or too long"):
        as_globs(("{a,b}" * 6 + "c" * 250,) * 3)


def test_two_sets_with_too_many_alternatives_are_refused() -> None:
    globs = [f"{number}/" + "{a,b}" * 6 for number in range(6)]
    with pytest.raises(ValueError, match="too many or too long"):
        meeting(globs, globs)
