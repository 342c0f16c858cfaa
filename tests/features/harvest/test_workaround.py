"""Workarounds: what comments say is there only for now."""

import json
import re
from collections import Counter
from pathlib import Path

import pytest

from graphmem.features.harvest.workaround import MOST_LINES, TEXT, WANTED, is_noted, may_hold, noted, workarounds
from graphmem.kernel.model.candidate import Candidate

SAMPLE = Path(__file__).parents[2] / "data/history/comments.ndjson"
WANTS = re.compile(WANTED, re.IGNORECASE)


def found(text: str, path: str = "src/a.py") -> list[tuple[int, str, str]]:
    lines = text.split("\n")
    numbers = [number for number, line in enumerate(lines, 1) if WANTS.search(line)]
    return [(one.line, one.text, one.day) for one in workarounds(path, lines, numbers)]


def test_the_comments_of_public_projects_are_found_and_93_of_100_are_right() -> None:
    counts = Counter[bool]()
    for line in SAMPLE.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert [text for _, text, _ in found("\n".join(row["lines"]), row["file"])] == [row["text"]]
        counts[row["right"]] += 1
    assert counts == {True: 93, False: 7}


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("x = 1\n# Workaround for\n# numpy 2.0.\ny = 2", "Workaround for numpy 2.0."),
        ("  // TODO: remove this when node 18 is gone", "TODO: remove this when node 18 is gone"),
        ("/* Needed until GH-12 is fixed */", "Needed until GH-12 is fixed"),
        ("/*\n * Work around a bug of gcc 9:\n * see PROJ-123.\n */", "Work around a bug of gcc 9: see PROJ-123."),
        ("-- workaround for #12", "workaround for #12"),
        ("<!-- workaround for #12 -->", "workaround for #12"),
        ("call()  # can be removed once 3.2 is out", "can be removed once 3.2 is out"),
        ("call();  // can be removed once 3.2 is out", "can be removed once 3.2 is out"),
        ("# only needed for Python 3.9, no longer needed in later ones: remove if", None),
    ],
)  # fmt: skip
def test_a_comment_is_read_as_a_whole(code: str, text: str | None) -> None:
    assert [one for _, one, _ in found(code)] == (
        [text] if text else ["only needed for Python 3.9, no longer needed in later ones: remove if"]
    )


@pytest.mark.parametrize(
    "code",
    [
        "# Wait until the server is up",  # names no version and no issue
        "# Since 3.2 the port is kept",  # is no workaround
        'text = "workaround for #12"',  # is no comment
        "# Licensed under MIT until 2.0 is released",
        "# Workaround for a bug",
    ],
)
def test_other_comments_are_left_out(code: str) -> None:
    assert found(code) == []


def test_a_comment_is_found_once_and_with_its_first_line() -> None:
    code = "\n\n# Workaround for numpy 2.0:\n# remove this once 2.1 is out.\na = 1\n# Workaround for #7\n"
    assert [(line, text) for line, text, _ in found(code)] == [
        (3, "Workaround for numpy 2.0: remove this once 2.1 is out."),
        (6, "Workaround for #7"),
    ]


def test_a_day_is_kept() -> None:
    assert [day for *_, day in found("# Workaround for #7, remove it after 2027-03-01.")] == ["2027-03-01"]
    assert [day for *_, day in found("# Workaround for #7 of 2027-03-01.")] == [""]


def test_a_long_comment_is_cut() -> None:
    [(line, text, _)] = found("# word\n" * 30 + "# Workaround for #7\n" + "# " + "x" * 400 + "\n" + "# word\n" * 30)
    assert line == 31 - MOST_LINES
    assert len(text) <= TEXT


def test_lines_that_are_not_there_are_passed_over() -> None:
    assert list(workarounds("a.py", ["# Workaround for #7"], [5])) == []


@pytest.mark.parametrize(
    "path", ["README.md", "node_modules/a/b.js", "vendor/x.go", "docs/CHANGELOG", "a/data.json", "web/app.min.js"]
)
def test_texts_and_foreign_files_are_not_read(path: str) -> None:
    assert not may_hold(path)


def test_code_and_settings_are_read() -> None:
    assert all(map(may_hold, ("src/a.py", "Dockerfile", "pyproject.toml", "web/history/list.ts", ".ci/run")))


def test_the_candidate_keeps_its_id_where_lines_move() -> None:
    [one] = workarounds("a.py", ["# Workaround for #7"], [1])
    [moved] = workarounds("a.py", ["", "# Workaround for #7"], [2])
    first, second = noted(one), noted(moved)
    assert first.id == second.id
    assert first.other != second.other
    assert is_noted(first)
    assert not is_noted(Candidate(id="c1"))
    assert not is_noted(first.model_copy(update={"other": ({"kind": "decision", "sources": ["git:12"]},)}))


def test_the_day_in_a_comment_ends_the_constraint() -> None:
    [one] = workarounds("a.py", ["# Workaround for #7, remove it after 2027-03-01."], [1])
    assert noted(one).other[0]["expires_at"] == "2027-03-01T00:00:00Z"


def test_the_candidate_keeps_its_id_where_the_end_of_the_comment_changes() -> None:
    text = "# Workaround for GH-12: the server closes the connection before the answer is read by the client"
    one, other = (noted(next(iter(workarounds("a.py", [f"{text}{end}"], [1])))) for end in ("", ", also with HTTP/2"))
    assert one.id == other.id
