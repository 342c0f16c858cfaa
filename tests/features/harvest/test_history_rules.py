"""History: what messages of commits say was taken back, and which errors they quote and fix."""

import json
import time
from collections import Counter
from pathlib import Path

import pytest

from graphmem.features.harvest.history_rules import fixed, quoted_fix, quoted_problem, revert_of, symptom_of, taken_back
from graphmem.kernel.model.candidate import CandidateEdit
from graphmem.kernel.model.commit import CommitMessage
from tests.pace import within

SAMPLE = Path(__file__).parents[2] / "data/history/commits.ndjson"
HASH = "0123456789abcdef0123456789abcdef01234567"
EDIT = CandidateEdit(file="src/a.c", removed="f(x)", added="f(y)")


def commit(message: str, parents: int = 1) -> CommitMessage:
    return CommitMessage(HASH, ("f" * 40,) * parents, "2026-11-26T10:00:00Z", message)


def finding(given: CommitMessage) -> tuple[str, str]:
    if revert := revert_of(given):
        return "revert", revert.what
    if problem := quoted_problem(given):
        return "error", problem.text
    return "symptom", symptom_of(given)


def test_the_commits_of_public_projects_are_read_and_95_of_98_are_right() -> None:
    counts = Counter[bool]()
    for line in SAMPLE.read_text("utf-8").splitlines():
        row = json.loads(line)
        assert finding(commit(row["message"], row["parents"])) == (row["finds"], row["text"])
        counts[row["right"]] += 1
    assert counts == {True: 95, False: 3}


REVERTED = 'Revert "Cache the files"\n\nThis reverts commit 0123456789abc.\n\n'


@pytest.mark.parametrize(
    ("message", "what", "reason"),
    [
        (f"{REVERTED}Two processes share them.\n\nSigned-off-by: Ada", "Cache the files", "Two processes share them."),
        ("store: revert the cache of files\n\nIt broke 01234567 where two\nprocesses share them. Reverts 89abcdef01.",
         "the cache of files", "It broke 01234567 where two processes share them."),
        ("Reverted caching\n\nThis partially reverts commits 0123456 and\n89abcde.\n\nIt was slower than before.",
         "caching", "It was slower than before."),
        (f"{REVERTED}It was slower.  See the figures:\n\n  1.2 s before\n  2.4 s after\n\nConflicts:\n\tsrc/a.c\n",
         "Cache the files", "It was slower. See the figures:\n1.2 s before 2.4 s after"),
    ],
)  # fmt: skip
def test_a_revert_says_what_and_why(message: str, what: str, reason: str) -> None:
    found = revert_of(commit(message))
    assert found is not None
    assert (found.what, found.reason) == (what, reason)


@pytest.mark.parametrize(
    "message",
    [
        REVERTED,
        f"{REVERTED}https://example.org/issues/12",
        f"{REVERTED}Pushed by accident, I am sorry for it.",
        f"{REVERTED}A better solution was found.",
        f"{REVERTED}Too slow.",
        REVERTED.replace('"Cache the files"', '"Revert "Cache the files""') + "It is needed after all, as we saw.",
        "Revert 0123456789abc\n\nTwo processes share the files that it is about.",
        "Revert the order of arguments\n\nNobody can remember the one that was there.",
        "Reverse lists in place\n\nThis reverts commit 0123456789abc, which two processes share.",
    ],
)
def test_what_gives_no_reason_or_is_back_is_no_decision(message: str) -> None:
    assert revert_of(commit(message)) is None


def test_a_revert_becomes_a_decision() -> None:
    given = commit(f"{REVERTED}Two processes share them.")
    revert = revert_of(given)
    assert revert is not None
    made = taken_back(given, revert, [EDIT])
    assert made.other == (
        {
            "kind": "decision",
            "decision": "Reverted: Cache the files",
            "reasoning": "Two processes share them.",
            "sources": ["git:0123456789ab"],
        },
    )
    [evidence] = made.evidence
    assert (evidence.commit, evidence.before, evidence.edits) == (HASH, "f" * 40, (EDIT,))


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ("Fix the build\n\n    a.c:7: error: 'x' undeclared\n", "error: 'x' undeclared"),
        ("Fix the build\n\n> a.c:7: error: 'x' undeclared\n", "error: 'x' undeclared"),
        ("Fix the build\n\n```\na.c:7: error: 'x' undeclared\n```\n", "error: 'x' undeclared"),
        ("Fix the build\n\na.c:7: error: 'x' undeclared\n", "error: 'x' undeclared"),
        ("Avoid it\n\nWe saw `ValueError: no such file` there.", "ValueError: no such file"),
        ("Avoid it\n\nWe saw “ValueError: no such file” there.", "ValueError: no such file"),
        ("Fix ValueError: no such file", "ValueError: no such file"),
        ("Use y\n\nFixes: #12\n\n    ValueError: no such file", "ValueError: no such file"),
        ("Fix the build\n\nmodules/the_first_one.c:7: error: passing argument 2 of 'write'\nmakes a pointer\n",
         "error: passing argument 2 of 'write' makes a pointer"),
        ("Fix the build\n\nmodules/the_first_one.c:7: error: passing argument 2 of 'write' to it\n"
         "another_word_of_it\nmore_of_the_words_of_the_same_error_in_a_line_that_is_full\nand_one_more_line\n",
         "error: passing argument 2 of 'write' to it another_word_of_it "
         "more_of_the_words_of_the_same_error_in_a_line_that_is_full"),
    ],
)  # fmt: skip
def test_an_error_that_is_quoted_is_found_whole(message: str, text: str) -> None:
    found = quoted_problem(commit(message))
    assert found is not None
    assert found.text == text


@pytest.mark.parametrize(
    "message",
    [
        "Add a test\n\n    a.c:7: error: 'x' undeclared\n",  # nothing says that it is fixed
        "Fix the build\n\nIt was broken.",
        "docs: fix a link\n\n    ValueError: no such file",
        "Fix the build\n\n- ValueError is what it raises\n- other things",
        "Fix the build\n\nSigned-off-by: Error: none",
    ],
)
def test_what_quotes_no_error_or_fixes_none_teaches_nothing(message: str) -> None:
    assert quoted_problem(commit(message)) is None


def test_a_merge_teaches_nothing_of_what_it_merges() -> None:
    message = "Fix the build\n\n    a.c:7: error: 'x' undeclared\n\nFixes: #12\n\nIt crashes at the first line."
    assert quoted_problem(commit(message, parents=2)) is None
    assert symptom_of(commit(message, parents=2)) == ""
    assert quoted_problem(commit(message, parents=0)) is not None


def test_an_error_becomes_a_failure_with_its_fix() -> None:
    given = commit("Fix the build\n\n    a.c:7: error: 'x' undeclared\n", parents=0)
    problem = quoted_problem(given)
    assert problem is not None
    made = quoted_fix(given, problem, [EDIT])
    assert made.failure == {
        "trigger": "error: 'x' undeclared", "sources": ["git:0123456789ab"], "files": ["src/a.c"],
    }  # fmt: skip
    assert made.pattern is not None
    assert made.pattern["insight"] == "Fix the build (in src/a.c: `f(x)` → `f(y)`)"
    assert made.evidence[0].before is None
    assert made.keys
    of_settings = quoted_fix(given, problem, [CandidateEdit(file="pyproject.toml", added="x = 1")])
    assert of_settings.worth > made.worth


def test_what_was_observed_is_a_failure_where_an_issue_is_named() -> None:
    message = "Lock the list\n\nThe list is not locked. The server crashes when two clients come.\n\nFixes: #12\n"
    said = symptom_of(commit(message))
    assert said == "The server crashes when two clients come."
    made = fixed(commit(message), said, [])
    assert made.failure == {"trigger": said, "sources": ["git:0123456789ab"], "files": None}
    assert made.pattern is not None
    assert made.pattern["insight"] == "Lock the list"
    assert symptom_of(commit(message.replace("Fixes: #12", ""))) == ""
    assert symptom_of(commit(message.replace("The server", "If the server"))) == ""


@pytest.mark.parametrize(
    "message", ["\n" * 30_000, "# \n" * 9_000, "#" + "\t\n" * 9_000, "Conflicts:\n" + "\n#\t" * 9_000]
)
def test_a_message_that_is_made_to_be_slow_takes_no_time(message: str) -> None:
    finding(commit("Fix it"))  # what is imported at the first one is not of the message
    began = time.process_time()
    finding(commit(f"Fix it{message}x"))
    finding(commit(f"{REVERTED}It broke.{message}x"))
    assert within(time.process_time() - began, 0.3, time.process_time)


def test_commits_are_one_source_however_many_there_are() -> None:
    """Else whoever writes two of them has a fix accepted that nobody read (``review accept --all-at-least``)."""
    message = "Lock the list\n\nThe server crashes when two clients come.\n\nFixes: #12\n"
    made = [fixed(commit(message)._replace(hash=name * 40), symptom_of(commit(message)), []) for name in "ab"]
    both = made[0].with_more(made[1])
    assert (both.occurrences, both.sessions, both.worth) == (2, ("git",), made[0].worth)


def test_a_remark_in_a_list_is_no_output_of_a_program() -> None:
    assert quoted_problem(commit("Fix the build\n\n  - ValueError: raised for a bad name now\n")) is None


@pytest.mark.parametrize("said", ["It crashes.", f"The server crashes {'again ' * 80}."])
def test_a_symptom_that_says_too_little_or_too_much_is_left_out(said: str) -> None:
    assert symptom_of(commit(f"Lock the list\n\n{said}\n\nFixes: #12\n")) == ""
