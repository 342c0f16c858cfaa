"""Which failures of a session were fixed, and by what."""

from dataclasses import replace

import pytest

from graphmem.core.logs.fix_pairs import FixPair, SessionReader, is_file
from graphmem.kernel.model.transcript import FileEdit, FileRead, Message, RanCommand, TranscriptEvent

LINT = "a.go:3:1: error is not nil (line 2) but it returns nil (nilerr)"
OTHER = "b.go:3:1: G104: Errors unhandled (gosec)"


def ran(command: str, status: int, output: str = "", *, is_refused: bool = False) -> RanCommand:
    return RanCommand("2026-01-01T00:00:00Z", 0, command, status, output, is_refused=is_refused)


def edit(file: str, removed: str = "a", added: str = "b", *, is_done: bool = True) -> FileEdit:
    return FileEdit("2026-01-01T00:00:00Z", 0, file, removed, added, is_done)


def said(text: str, by: str = "agent") -> Message:
    return Message("2026-01-01T00:00:00Z", 0, "person" if by == "person" else "agent", text)


def read(*events: TranscriptEvent) -> tuple[list[FixPair], SessionReader]:
    reader = SessionReader()
    ordered = [replace(event, number=number) for number, event in enumerate(events)]
    return [pair for event in ordered for pair in reader.read(event)], reader


def files(pair: FixPair) -> list[str]:
    return [one.file for one in pair.edits]


def test_a_failure_an_edit_and_a_pass_of_the_same_check_are_a_pair() -> None:
    (pair,), reader = read(ran("make lint", 1, LINT), edit("/p/a.go"), said("It was nil."), ran("make lint | tail", 0))
    assert (pair.problem.rule, [one.file for one in pair.edits], pair.said, pair.is_cause) == (
        "nilerr", ["/p/a.go"], ("It was nil.",), True,
    )  # fmt: skip
    assert (reader.commands, reader.failed, reader.edits, reader.open, reader.has_acted) == (2, 1, 1, [], True)


def test_a_pass_with_nothing_in_between_needed_nothing() -> None:
    (pair,), _ = read(ran("make test", 1, "ValueError: it comes and goes"), ran("make test", 0))
    assert not pair.is_cause


def test_what_was_refused_or_not_made_is_no_cause() -> None:
    (pair,), reader = read(
        ran("make test", 1, "ValueError: it comes and goes"),
        edit("/p/a.go", is_done=False),
        ran("rm -rf x", 0, is_refused=True),
        FileRead("", 5, "/p/a.go"),
        ran("make test", 0),
    )
    assert not pair.is_cause
    assert reader.commands == 2


def test_a_command_that_changes_something_is_a_cause() -> None:
    (pair,), _ = read(
        ran("pytest", 1, "ModuleNotFoundError: No module named 'x'"), ran("pip install x", 0), ran("pytest", 0)
    )
    assert [act.command for act in pair.acts] == ["pip install x"]


def test_each_problem_gets_the_edits_of_its_file() -> None:
    pairs, _ = read(ran("make lint", 1, f"{LINT}\n{OTHER}"), edit("/p/a.go"), edit("/p/b.go"), ran("make lint", 0))
    assert [(pair.problem.rule, [one.file for one in pair.edits]) for pair in pairs] == [
        ("nilerr", ["/p/a.go"]),
        ("G104", ["/p/b.go"]),
    ]
    assert [[one.rule for one in pair.beside] for pair in pairs] == [["G104"], ["nilerr"]]


def test_a_problem_that_was_gone_before_the_pass_is_told_by_the_edits_before_that() -> None:
    same = "c.go:3:1: error is not nil (line 2) but it returns nil (nilerr)"
    one, two = edit("/p/x.go"), edit("/p/y.go")
    pairs, _ = read(ran("make lint", 1, f"{same}\n{OTHER}"), one, ran("make lint", 1, OTHER), two, ran("make lint", 0))
    assert [(pair.problem.rule, files(pair), pair.runs) for pair in pairs] == [
        ("nilerr", ["/p/x.go"], 1),
        ("G104", ["/p/y.go"], 2),
    ]


def test_where_a_problem_came_back_all_edits_count() -> None:
    one = edit("/p/x.go")
    pairs, _ = read(ran("make lint", 1, LINT), ran("make lint", 1, OTHER), one, ran("make lint", 0))
    assert [files(pair) for pair in pairs] == [["/p/x.go"], ["/p/x.go"]]


def test_a_failure_without_a_pass_stays_open() -> None:
    pairs, reader = read(ran("make lint", 1, LINT), edit("/p/a.go"), ran("make test", 0), said("done", "person"))
    assert pairs == []
    assert [one.problem.rule for one in reader.open] == ["nilerr"]
    assert reader.asked == "done"


def test_a_failure_behind_a_pipe_is_one_and_a_formatter_does_not_end_it() -> None:
    pairs, reader = read(ran("make fmt && make lint | tail -3", 0, LINT), edit("/p/a.go"), ran("make fmt", 0))
    assert pairs == []
    assert reader.hidden == 1
    (pair,) = reader.read(replace(ran("make lint", 0), number=9))
    assert pair.is_hidden


def test_a_command_that_was_called_wrongly_is_paired_with_the_right_call() -> None:
    wrong = ran("gh pr diff 88 --stat", 1, "unknown flag: --stat\n\nUsage: gh pr diff")
    (pair,), _ = read(wrong, ran("ls", 0), ran("gh pr diff 88 --name-only", 0), ran("gh pr diff 88 --name-only", 0))
    assert (pair.problem.sort, pair.problem.key) == ("usage", "usage gh pr: unknown flag: --stat")
    assert pair.passed.command == "gh pr diff 88 --name-only"
    late, _ = read(wrong, *(ran("ls", 0) for _ in range(7)), ran("gh pr diff 88 --name-only", 0))
    again, _ = read(wrong, ran("gh pr diff 88 --stat", 0))
    assert (late, again) == ([], [])


@pytest.mark.parametrize(
    ("path", "named", "is_same"),
    [("/p/src/a.py", "src/a.py", True), ("a.py", "a.py", True), ("/p/b.py", "a.py", False), ("/p/xa.py", "a.py", False),
     ("/p/a.py", "", False)],
)  # fmt: skip
def test_files_are_compared_by_their_ends(path: str, named: str, is_same: bool) -> None:
    assert is_file(path, named) is is_same


def test_failures_of_other_checks_are_left_as_they_are() -> None:
    reader = SessionReader()
    runs = (ran("make lint", 1, LINT), ran("make test", 1, OTHER), ran("make lint", 1, "a.go:1:1: G104: x (gosec)"))
    more = (ran("make lint", 1, "b.go:1:1: G201: y (gosec)"),)
    for number, event in enumerate((*runs, *more)):
        assert list(reader.read(replace(event, number=number))) == []
    assert [(one.problem.rule, one.absent) for one in reader.open] == [
        ("nilerr", 2), ("G104", None), ("G104", 3), ("G201", None),
    ]  # fmt: skip


GO_TEST = "--- FAIL: TestOpens (0.1s)\n    a_test.go:3: it is closed, want it open\nFAIL"


@pytest.mark.parametrize(
    ("removed", "added", "pairs"),
    [("func TestOpens(t *T) { open() }", "", 0), ("func TestOpens(t *T) { open() }", "func TestOpens(t *T) {}", 1)],
)
def test_a_test_that_was_taken_out_is_not_fixed(removed: str, added: str, pairs: int) -> None:
    events = ran("go test", 1, GO_TEST), edit("/p/a_test.go", removed, added), ran("go test", 0)
    assert len(read(*events)[0]) == pairs
    before = edit("/p/a_test.go", removed, added), ran("go test", 1, GO_TEST), edit("/p/a.go"), ran("go test", 0)
    assert len(read(*before)[0]) == 1
