"""Which texts say opposite things."""

import pytest

from graphmem.core.records.opposed import opposed


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Indent with tabs", "Indent with spaces, not tabs"),
        ("Deploy on friday: never", "Deploy on friday: always"),
        ("cache the answers", "do not cache the answers"),
        ("run the migrations before the tests", "run the migrations after the tests"),
        ("enable the cache in CI", "disable the cache in CI"),
    ],
)
def test_opposites_are_seen_from_both_sides(left: str, right: str) -> None:
    assert opposed(left, right) and opposed(right, left)
    assert not opposed(left, left) and not opposed(right, right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Indent with tabs", "Indent with spaces"),  # two languages may have two ways
        ("Use tabs in Go", "Use spaces in Python, not tabs"),
        ("never deploy on friday", "do not deploy on friday"),
        ("tokens live in cookies", "the API has two versions"),
        ("do not retry requests", "retry requests that time out"),
    ],
)
def test_what_is_only_different_is_no_opposite(left: str, right: str) -> None:
    assert not opposed(left, right)
