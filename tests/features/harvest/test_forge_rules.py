"""Which commits close an issue, and what of a review asks for a change."""

import pytest

from graphmem.core.foreign.forge import Issue, ReviewThread
from graphmem.features.harvest import forge_rules as rules
from graphmem.kernel.model.candidate import CandidateEdit
from graphmem.kernel.model.commit import CommitMessage

WORDS = "close closes closed fix fixes fixed resolve resolves resolved".split()


@pytest.mark.parametrize("word", WORDS)
def test_each_keyword_closes_an_issue(word: str) -> None:
    for text in (f"{word} #7", f"{word.upper()}: #7", f"x\n\n{word.title()} GH-7.", f"({word} #7)"):
        assert rules.closed_by(text) == {("", 7)}


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Fixes #7, closes #8 and resolves Acme/Shop#9", {("", 7), ("", 8), ("acme/shop", 9)}),
        ("Fixes https://github.com/Acme/shop/issues/7", {("acme/shop", 7)}),
        ("Fixes #7, #8", {("", 7)}),
        ("prefixes #7", set()),
        ("hot-fix #7", set()),
        ("Refs #7", set()),
        ("fixes #7th", set()),
        ("fixes https://github.com/acme/shop/pull/7", set()),
        ("This fixes it\n#7", set()),
    ],
)
def test_a_message_closes_what_follows_a_keyword(text: str, found: set[rules.Reference]) -> None:
    assert rules.closed_by(text) == found


def test_the_pull_request_of_a_commit_is_at_the_end_of_its_subject() -> None:
    assert [rules.pull_of(CommitMessage("a", (), "", text)) for text in ("Mend it (#14)", "Mend (#14) it")] == [14, 0]


def test_the_error_of_an_issue_is_the_first_that_it_shows() -> None:
    def of(title: str, *texts: str) -> str | None:
        found = rules.problem_of(Issue("issue 1", 1, "", "", title, texts))
        return found and found[0].text

    assert of("KeyError: no price", "Open it.") == "KeyError: no price"
    assert of("It fails", "It does.", "```\nValueError: a is no number\n```") == "ValueError: a is no number"
    assert of("Error handling", "The docs say `except ValueError`, I would like another error.") is None
    assert of("Nothing") is None
    assert of("Long", "```\n" + "INFO done\n" * 300 + "KeyError: 'tea'\n```") == "KeyError: 'tea'"


def thread(text: str, **more: object) -> ReviewThread:
    fields = {"run": "", "source": "u", "path": "a.py", "line": "x = 1"} | more
    return ReviewThread("thread 1", text=text, **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Round the total once, at the end of the sum.", ""),
        ("Could this be empty? If so, return 0 for such a cart.", ""),
        ("```suggestion\nx = 2\n```", ""),
        ("合計は最後に一度だけ丸めてください", ""),
        ("Could this ever be empty? And what happens then?", "it is a question"),
        ("LGTM", "it asks for nothing"),
        ("Nice, I like how short this has become!", "it asks for nothing"),
        ("+1 👍 🎉 🎉 🎉 🎉 🎉 🎉", "it asks for nothing"),
        ("> Round the total once, at the end of the sum.\n\nDone.", "it asks for nothing"),
        ("<!-- Round the total once, at the end of the sum. -->", "it asks for nothing"),
    ],
)
def test_a_thread_asks_for_a_change_where_it_says_more_than_a_question(text: str, reason: str) -> None:
    assert rules.why_passed_over(thread(text)) == reason


def test_what_a_program_asks_for_is_passed_over() -> None:
    assert rules.why_passed_over(thread("```suggestion\nx = 2\n```", is_bot=True)) == "a program wrote it"


def test_a_rule_is_a_constraint_and_anything_else_a_lesson_of_its_file() -> None:
    rule = rules.taught(thread("Hm. Never index this table by hand, use `price_of`."), None)
    assert [one["constraint"] for one in rule.other] == ["Never index this table by hand, use `price_of`."]
    edit = CandidateEdit(file="a.py", removed="x = 1", added="x = 3")
    [lesson] = rules.taught(thread("Round the total once, at the end."), edit).other
    assert lesson == {
        "kind": "lesson", "description": "Round the total once, at the end.", "sources": ["u"], "files": ["a.py"],
    }  # fmt: skip
    suggested = rules.taught(thread("Twice is enough.\n```suggestion\nx = 2\n```"), edit)
    assert suggested.other[0]["description"] == "Twice is enough. (in a.py: `x = 1` → `x = 2`)"
    assert [(one.removed, one.added) for one in suggested.evidence[0].edits] == [("x = 1", "x = 2")]
    [alone] = rules.taught(thread("```suggestion\n```", path="/etc/x"), None).other
    assert (alone["description"], alone["files"]) == ("in /etc/x: `x = 1` is taken out", None)
    assert rules.why_passed_over(thread("```suggestion\n```", line="")) == "it asks for nothing"
