"""Issues and reviews of GitHub: each form in which ``gh`` prints them, and files that are none of these."""

import json
from pathlib import Path
from typing import Any

import pytest

from graphmem import BadInput, Memory
from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.core.foreign.reading import ForeignInput, Source
from graphmem.features.exchange.importers import github
from tests.features.exchange.importers.real import SAMPLES

ISSUES: list[dict[str, Any]] = json.loads((SAMPLES / "github/issues.json").read_text())
THREADS: Any = json.loads((SAMPLES / "github/threads.json").read_text())
COMMENTS = json.loads("[" + (SAMPLES / "github/comments.json").read_text().strip()[1:-1].replace("][", ",") + "]")
NODES = THREADS["data"]["repository"]["pullRequest"]["reviewThreads"]["nodes"]


def heard(folder: Path, text: str | bytes) -> ForeignInput:
    path = folder / "file.json"
    path.write_bytes(text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text)
    assert github.is_meant(Source(path))
    return github.read(Source(path))


FORMS: dict[str, str | bytes] = {
    "as gh issue list prints them": json.dumps(ISSUES),
    "a line each, as --jq .[] prints them": "\n".join(map(json.dumps, ISSUES)),
    "indented, as jq prints them": json.dumps(ISSUES, indent=2),
    "two pages in a list": json.dumps([ISSUES[:2], ISSUES[2:]]),
    "two pages, one after the other": json.dumps(ISSUES[:2]) + json.dumps(ISSUES[2:]),
    "with a mark of UTF-8": b"\xef\xbb\xbf" + json.dumps(ISSUES).encode(),
}


@pytest.mark.parametrize("form", FORMS)
def test_issues_are_read_in_each_form(form: str, tmp_path: Path) -> None:
    reading = heard(tmp_path, FORMS[form])
    assert (reading.read, reading.skipped) == ({"issue": 5}, [])
    first = reading.heard[0]
    assert isinstance(first, Issue)
    assert (first.number, first.repository, first.is_closed, first.pulls) == (12, "acme/shop", True, (14,))
    assert first.source == "https://github.com/acme/shop/issues/12"
    assert "\r" not in first.texts[0] and "KeyError" in first.texts[0]
    assert [one.is_closed for one in reading.heard if isinstance(one, Issue)] == [True, True, True, False, True]


def test_one_issue_and_issues_with_few_fields_are_read(tmp_path: Path) -> None:
    (one,) = heard(tmp_path, json.dumps(ISSUES[0])).heard
    assert isinstance(one, Issue) and one.number == 12
    few = [{"number": 3, "title": "It fails", "body": None}, {"url": ISSUES[0]["url"], "title": "x", "closed": True}]
    first, second = heard(tmp_path, json.dumps(few)).heard
    assert isinstance(first, Issue) and isinstance(second, Issue)
    assert (first.number, first.source, first.is_closed, first.texts) == (3, "github:#3", None, ())
    assert (second.number, second.is_closed) == (12, True)


def test_issues_of_the_graphql_api_are_read_with_their_comments(tmp_path: Path) -> None:
    pulls = {"nodes": ISSUES[0]["closedByPullRequestsReferences"]}
    row = {**ISSUES[1], "comments": {"nodes": ISSUES[1]["comments"]}, "closedByPullRequestsReferences": pulls}
    (one,) = heard(tmp_path, json.dumps({"data": {"repository": {"issues": {"nodes": [row]}}}})).heard
    assert isinstance(one, Issue)
    assert (len(one.texts), one.pulls) == (3, (14,))


def test_a_pull_request_and_what_a_program_wrote_below_an_issue_are_left_out(tmp_path: Path) -> None:
    rest = {"number": 9, "title": "x", "state": "closed", "state_reason": "duplicate", "comments": 2, "body": "b"}
    bot = {
        **ISSUES[0],
        "comments": [{"author": {"login": "ci[bot]"}, "body": "no"}, {"author": None, "body": "yes"}, 5],
    }
    reading = heard(
        tmp_path, json.dumps([rest, {**rest, "pull_request": {}, "html_url": "https://github.com/a/b/pull/9"}, bot])
    )
    assert [one.reason for one in reading.skipped] == ["it is a pull request"]
    first, second = reading.heard
    assert isinstance(first, Issue) and isinstance(second, Issue)
    assert first.is_refused and second.texts[1:] == ("yes",)


def test_threads_are_read_from_comments_and_from_threads(tmp_path: Path) -> None:
    for text in ((SAMPLES / "github/comments.json").read_text(), json.dumps([COMMENTS[:3], COMMENTS[3:]], indent=1)):
        reading = heard(tmp_path, text)
        assert reading.read == {"comment": 7, "reply": 1}
        first, second = reading.heard[:2]
        assert isinstance(first, ReviewThread) and isinstance(second, ReviewThread)
        assert (first.run, first.path, first.line) == ("acme/shop#14", "shop/cart.py", "return PRICES[item]")
        assert (first.is_outdated, second.is_outdated, second.is_resolved) == (False, True, False)
    for text in (json.dumps(THREADS), json.dumps(THREADS, indent=2), json.dumps(NODES)):
        reading = heard(tmp_path, text)
        assert reading.read == {"thread": 3, "reply": 1}
        assert [(one.is_resolved, one.is_bot) for one in reading.heard if isinstance(one, ReviewThread)] == [
            (True, False), (False, False), (True, True),
        ]  # fmt: skip
    assert heard(tmp_path, json.dumps(THREADS) * 2).read["thread"] == 6


def test_a_thread_of_a_whole_file_is_not_outdated_and_one_without_a_file_is_left_out(tmp_path: Path) -> None:
    whole = {**COMMENTS[0], "line": None, "position": None, "subject_type": "file"}
    empty = {**NODES[0], "comments": {"nodes": []}}
    reading = heard(tmp_path, json.dumps([whole, {**COMMENTS[0], "path": " "}, empty, {"x": 1}, 5]))
    (one,) = reading.heard
    assert isinstance(one, ReviewThread) and not one.is_outdated
    assert [found.reason for found in reading.skipped] == [
        "it names no file", "it has no comment", *2 * ["it is neither an issue nor a comment of a review"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (json.dumps(ISSUES)[:900], "is not JSON: Unterminated string"),
        (json.dumps(ISSUES) + " oops", "is not JSON: Expecting value"),
        ("[" * 90_000, "is not JSON: it is nested too deep"),
        ('[{"number": 1, "title": "x", "body": ' + "[" * 9_000, "is not JSON: "),
        ("[]", "holds nothing of github"),
        ('[{"number": "5", "title": 3}]', "holds nothing of github: item 1: it is neither"),
    ],
)
def test_a_file_that_is_cut_off_or_something_else_changes_nothing(
    text: str, message: str, memory: Memory, tmp_path: Path
) -> None:
    (tmp_path / "file.json").write_text(text)
    with pytest.raises(BadInput, match=message):
        memory.imports.file(tmp_path / "file.json", format="github")
    assert memory.candidates.review().total == 0


def test_no_text_of_a_file_is_taken_as_it_should_not_be(tmp_path: Path) -> None:
    """A half character, NUL, a text of a megabyte, an address that is none, a number that is no number."""
    odd = {"number": 1, "title": "a\ud800\0b", "body": "x" * 2**20, "state": ["closed"], "url": "javascript:alert(1)"}
    reading = heard(tmp_path, json.dumps([odd, {**odd, "number": True}, {**odd, "number": 2**70}]))
    assert reading.read == {"issue": 1, "item": 2}
    (one,) = reading.heard
    assert isinstance(one, Issue)
    assert (one.title, len(one.texts[0]), one.source, one.is_closed) == ("a?b", 65_536, "github:#1", None)
