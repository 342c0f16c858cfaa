"""Candidates in words, and which of them a question is about."""

import pytest

from graphmem.core.records.candidate import about, insight, occasion
from graphmem.kernel.model.candidate import Candidate, CandidateEdit, Occasion, candidate_id


def candidate(name: str, trigger: str, to_do: str = "") -> Candidate:
    pattern = {"trigger": trigger, "insight": to_do} if to_do else None
    return Candidate(id=candidate_id(name), failure={"trigger": trigger}, pattern=pattern)


@pytest.mark.parametrize(
    ("passed", "later"),
    [
        ("2026-01-01T10:04:30Z", "passed 4 minutes later"), ("2026-01-01T10:00:01Z", "passed 1 second later"),
        ("2026-01-01T12:00:00Z", "passed 2 hours later"), ("2026-01-03T12:00:00Z", "passed 2 days later"),
        ("2026-05-01T12:00:00Z", "passed"), ("soon", "passed"), ("2026-01-01T10:04:30", "passed"),
    ],
)  # fmt: skip
def test_one_occasion_in_a_clause(passed: str, later: str) -> None:
    found = Occasion(
        source="codex", at="2026-01-01T10:00:00Z", session="3f2a4b5c6d", command="pytest  -q", passed=passed,
        edits=(CandidateEdit(file="src/auth.py"), CandidateEdit(file="src/b.py"), CandidateEdit(file="src/b.py")),
    )  # fmt: skip
    assert occasion(found) == (
        f"`pytest -q`, {later} after an edit in src/auth.py and 1 more, codex session 3f2a4b5c, 2026-01-01"
    )


def test_an_occasion_without_a_pass_says_where_it_was_seen() -> None:
    assert occasion(Occasion(source="git", commit="1a2b3c")) == "git 1a2b3c"
    assert occasion(Occasion(source="ran", command="x" * 99)) == f"`{'x' * 59}…`, ran"


def test_the_candidates_that_hold_the_rare_words_of_a_question_are_found() -> None:
    several = [
        candidate("a", "errors of other packages are not wrapped", "wrap them with fmt.Errorf"),
        candidate("b", "the port is in use", "stop the other server"),
        candidate("c", "errors of the build"),
    ]
    assert [one.id for one in about("how are errors of packages wrapped", several, 5)] == [several[0].id]
    assert about("kubernetes ingress", several, 5) == []
    assert about("", several, 5) == []
    assert [insight(one) for one in several] == ["wrap them with fmt.Errorf", "stop the other server", ""]


def test_an_occasion_that_was_taken_back_says_so() -> None:
    found = Occasion(source="git", at="2026-01-01T10:00:00Z", commit="a" * 40, reverted="b" * 40)
    assert occasion(found) == f"taken back by {'b' * 12}, git {'a' * 12}, 2026-01-01"
