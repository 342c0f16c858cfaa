"""
What makes two similar texts two memories.

The pairs in ``pairs/`` were written by hand by an author who had not seen the rules.
"""

from pathlib import Path

import orjson
import pytest

from graphmem.core.records.dedup import are_variants, differing, same_memory

PAIRS = Path(__file__).parent / "pairs"

# What a text is, what is another memory for all that, and which words say so; some of them.
OTHERS = [
    ("Deploy fails when the feature flag is on", "Deploy fails when the feature flag is off", {"off"}),
    ("Copy from S3 to disk is slow", "Copy from disk to S3 is slow", set()),
    ("Tests pass locally but fail in CI", "Tests fail locally but pass in CI", set()),
    ("LookupError: rel thing", "LookupError: rel thing two", {"two"}),
    ("The page is blank", "The page is blank on Windows", {"windows"}),
    ("The cart is empty", "The cart is empty for guests", {"guests"}),
    ("The menu flickers", "The menu flickers (Safari)", {"safari"}),
    ("Cannot convert int to str", "Cannot convert str to int", set()),
    ("A waits for B", "B waits for A", set()),
    ("copy x to y fails", "copy y to x fails", set()),
    ("The parent blocks the child", "The child blocks the parent", {"the order of words"}),
    ("Users cannot log in", "Users cannot log out", {"out"}),
    ("The size is below the min", "The size is below the max", {"max", "min"}),
    ("Sets it on INSERT but not on UPDATE", "Sets it on UPDATE but not on INSERT", set()),
    ("The endpoint /user returns 404", "The endpoint /users returns 404", {"/user", "/users"}),
    ("The import ../config fails", "The import ./config fails", set()),
    ("It fails when the cache is warm", "It does not fail when the cache is warm", {"not"}),
    ("It fails before the restart", "It fails after the restart", {"after", "before"}),
    ("The job runs with the lock", "The job runs without the lock", {"without"}),
    ("unsupported operand type(s) for -: 'int' and 'str'", "unsupported operand type(s) for -: 'str' and 'int'", set()),
    ("Text: utf-8 on the client, latin-1 on the server", "Text: latin-1 on the client, utf-8 on the server", set()),
    ("Store: redis for prod, sqlite for dev", "Store: sqlite for prod, redis for dev", set()),
    ("On linux: tests pass, on mac: tests fail", "On linux: tests fail, on mac: tests pass", set()),
    ("Order: restart workers, migrate, clear", "Order: migrate, clear, restart workers", set()),
    ("Migration 12 must run first", "Migration 12 may run first", {"may", "must"}),
    ("It returns state -5", "It returns state 5", set()),
    ("Not all rows are deleted", "All rows are not deleted", set()),
    ("The import fails", "The importer fails", {"import", "importer"}),
    ("The cache lives 5 minutes", "The cache lives 5 hours", {"5 h", "5 m"}),
    ("The C# build fails", "The C build fails", set()),
    ("The police are late", "The policy are late", {"police", "policy"}),
]  # fmt: skip
SAME = [
    ("When the build starts, the cache is cold", "The cache is cold when the build starts"),
    ("The job fails: no space", "The job breaks: no space"),
    ("The build fails because the disk is full", "The build does not work, since the disk is full"),
    ("It cannot be started", "It can't be started"),
    ("On macOS runners, xcodebuild hangs", "xcodebuild hangs on macOS runners"),
    ("There is an error: no route", "We get an error; no route"),
    ("TypeError: expecting bytes, got str at app.py:12", "typeerror:  expecting bytes got str at app.py:340"),
    ("It seems that the queue is stuck", "The queue is stuck"),
    ("It times out after 5 s", "It times out after 12 s"),
]


@pytest.mark.parametrize(("left", "right", "words"), OTHERS)
def test_a_direction_a_role_or_one_more_word_makes_another_memory(left: str, right: str, words: set[str]) -> None:
    assert not same_memory(left, right)
    assert not same_memory(right, left)
    assert words <= differing(left, right)
    assert differing(left, right) == differing(right, left)


@pytest.mark.parametrize(("left", "right"), SAME)
def test_the_same_said_in_another_way_is_one_memory(left: str, right: str) -> None:
    assert same_memory(left, right)
    assert same_memory(right, left)


def pairs(name: str) -> list[tuple[str, str]]:
    rows = [orjson.loads(line) for line in (PAIRS / f"{name}.ndjson").read_bytes().splitlines()]
    return [(row["left"], row["right"]) for row in rows]


@pytest.mark.long
def test_at_most_one_in_a_hundred_opposites_is_taken_for_the_same() -> None:
    """By the rule alone; a merge needs a likeness of 0.85 as well."""
    found = pairs("opposites")
    merged = [pair for pair in found if same_memory(*pair)]
    assert len(found) == 200
    assert len(merged) <= 2, merged


def test_most_of_what_was_only_worded_differently_is_still_the_same() -> None:
    """Not all: a synonym that is not listed, or a passive, is a doubt, and a doubt is no merge."""
    found = pairs("rewordings")
    assert len(found) == 100
    assert sum(same_memory(*pair) for pair in found) >= 60


@pytest.mark.long
def test_every_text_is_the_same_as_itself_and_as_itself_in_upper_and_lower_case_white_space() -> None:
    for left, right in (*pairs("opposites"), *pairs("rewordings")):
        for text in (left, right):
            assert same_memory(text, "  ".join(text.split()) + "\n")


@pytest.mark.parametrize(
    "words",
    ["operator operation", "iterator iteration", "author authorization", "import important", "import importer",
     "position positive", "compiler compile", "validator validation", "converter convert", "installer install",
     "observer observe", "app apply", "ear early"],
)  # fmt: skip
def test_a_word_that_is_made_from_another_says_something_else(words: str) -> None:
    """Eleven of these thirteen are one word to Snowball's stemmer."""
    left, right = (f"The {word} does not return a value when the input is empty" for word in words.split())
    assert not same_memory(left, right)


def test_variants_are_about_one_thing() -> None:
    mypy = 'sqlite_utils/utils.py:56: error: Incompatible return value type (got "None", expected "str")'
    near = 'sqlite3.OperationalError: near "{}": syntax error'
    assert not are_variants(mypy, near.format(5))
    assert are_variants(near.format(2), near.format(5))
    assert are_variants("The report takes more than ten minutes", "The report takes more than fifteen minutes")
    assert not are_variants("The mail server refuses connections", "The printer is out of paper")
    assert are_variants("Update to Jetty 9.4.44", "Upgrade Jetty to 9.4.53")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("`pytest.raises(OSError)` is too broad", "str() on the pytest.raises context behaves in another way"),
        ("SyntaxError: * argument may appear only once", "SyntaxError: f-string: empty expression not allowed"),
        ("Fix several maven build warnings of the parser", "Update the maven plugin to 3.2"),
        ("Failed subcommands", "error: no such subcommand"),
        ("The dependency tree is built", "Enhance the tree of views to show full graphs"),
        ("java.lang.InterruptedException", "InterruptedException when working with the debug view"),
    ],
)
def test_a_name_or_a_word_in_common_makes_no_variants(left: str, right: str) -> None:
    assert not are_variants(left, right)
    assert not are_variants(right, left)
