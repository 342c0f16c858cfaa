"""What a fix pair says, as records: its words, its edit, its evidence."""

from collections.abc import Iterable
from dataclasses import replace

import pytest

from graphmem.core.logs.draft import drafted, excerpt, flaky, is_below, keys_of, left_open, seen_in_run
from graphmem.core.logs.fix_pairs import FixPair, SessionReader
from graphmem.core.logs.output_problem import problem_in, problems
from graphmem.kernel.model.candidate import FAILED_BYTES, digest
from graphmem.kernel.model.transcript import FileEdit, Message, RanCommand, TranscriptEvent

LINT = "src/a.go:3:1: error is not nil (line 2) but it returns nil (nilerr)\n\treturn nil, cleanup()\n\t^"


def numbered(events: Iterable[TranscriptEvent]) -> list[TranscriptEvent]:
    return [replace(event, number=number) for number, event in enumerate(events)]


def ran(command: str, status: int, output: str = "", commit: str = "") -> RanCommand:
    return RanCommand(f"2026-01-01T00:00:{0:02}Z", 0, command, status, output, commit=commit)


def edit(removed: str, added: str, file: str = "/p/src/a.go") -> FileEdit:
    return FileEdit("2026-01-01T00:00:00Z", 0, file, removed, added)


def pair_of(*between: TranscriptEvent, output: str = LINT, command: str = "make lint") -> FixPair:
    reader = SessionReader()
    events = [ran(command, 1, output), *between, ran(command, 0)]
    return next(pair for event in numbered(events) for pair in reader.read(event))


def insight(*between: TranscriptEvent, output: str = LINT) -> object:
    pattern = drafted(pair_of(*between, output=output), source="codex", session="s1", root="/p").pattern
    return pattern and pattern["insight"]


def test_a_pair_becomes_a_failure_and_a_pattern_with_its_evidence() -> None:
    found = drafted(
        pair_of(edit("return nil, cleanup()", "return err, cleanup()")), source="codex", session="s1", root="/p"
    )
    assert found.failure is not None
    assert found.failure["trigger"] == "error is not nil (line 2) but it returns nil (nilerr)"
    assert found.failure["files"] == ["src/a.go"]
    assert found.pattern is not None
    assert found.pattern["insight"] == "in src/a.go: `return nil, cleanup()` → `return err, cleanup()`"
    (one,) = found.evidence
    assert (one.source, one.session, one.command, one.edits[0].file) == ("codex", "s1", "make lint", "src/a.go")
    assert found.keys == (digest("rule nilerr"),)
    assert found.worth >= 0.7


CHANGE = edit("return nil, cleanup()", "return err, cleanup()")
CHANGED = "in src/a.go: `return nil, cleanup()` → `return err, cleanup()`"


@pytest.mark.parametrize(
    ("said", "is_taken"),
    [
        ("Now let me look.\nnilerr expects the error to be returned. Running lint:", True),
        ("Replaced nil by the error, which nilerr asks for.", True),
        ("The cleanup() error must not be dropped.", False),  # a name of the edit alone
        ("Let me fix nilerr because it was dropped.", False),
        ("The nilerr issue is pre-existing because of the merge.", False),
        ("I see the nilerr lint errors.", False),
        ("Should it be nilerr because of that?", False),
    ],
)
def test_a_sentence_of_the_agent_stands_beside_the_edit_if_it_says_why_and_names_the_problem(
    said: str, is_taken: bool
) -> None:
    found = str(insight(CHANGE, Message("", 0, "agent", said)))
    assert found.startswith(CHANGED)
    assert (found != CHANGED) is is_taken
    assert insight(Message("", 0, "agent", said), ran("git stash", 0)) is None  # never in its place


def test_a_sentence_that_names_two_problems_of_a_run_is_of_neither() -> None:
    both = f"{LINT}\nsrc/a.go:9:1: G104: Errors unhandled (gosec)\n\tos.Remove(x)\n\t^"
    said = Message("", 0, "agent", "nilerr and gosec are silenced because both must not fail the build.")
    assert insight(CHANGE, said, output=both) == CHANGED


def test_without_an_edit_that_fits_the_commit_is_named_if_it_is_about_the_problem_alone() -> None:
    two = [edit("a = 1", "a = 2"), edit("b = 1", "b = 2")]
    for subject, is_taken in (
        ("satisfy nilerr", True),
        ("add a page", False),
        ("satisfy nilerr, add a page", False),
        ("satisfy nilerr and add a page", False),
    ):
        found = insight(*two, ran(f'git commit -m "{subject}"', 0, commit="1a2b3c4"))
        assert found == (subject if is_taken else None)
    document = ran("git commit -m \"$(cat <<'EOF'\nsatisfy nilerr\n\nmore\nEOF\n)\"", 0, commit="1a2b3c4")
    assert insight(*two, document) == "satisfy nilerr"
    assert insight(CHANGE, document) == CHANGED
    assert insight(*two, ran("git commit -F note", 0, commit="1a2b3c4")) is None


def test_the_edit_that_names_the_rule_or_a_name_of_the_message_is_the_fix_also_where_it_only_adds() -> None:
    directive = edit("// Run runs it", "// Run runs it\n//nolint:nilerr // the caller looks at it")
    assert (
        insight(edit("x = 1", "x = 2"), directive)
        == "in src/a.go: `//nolint:nilerr // the caller looks at it` is added"
    )
    missing = "src/a.go:3:1: undefined: strings"
    imports = edit('"os"', '"os"\n"strings"')
    assert insight(edit("x = 1", "x = 2"), imports, output=missing) == 'in src/a.go: `"strings"` is added'
    ts = "src/a.ts(3,1): error TS2304: Cannot find name 'loadConfig'."
    wanted = edit("import { save } from './io'", "import { loadConfig, save } from './io'", "/p/src/a.ts")
    assert str(insight(edit("x", "y", "/p/src/a.ts"), wanted, output=ts)).startswith("in src/a.ts: `import { save }")


def test_where_no_edit_says_that_it_is_the_fix_there_is_no_text() -> None:
    assert insight(edit("x = 1", "x = 2"), edit("y = 1", "y = 2")) is None
    failed = "--- FAIL: TestCart (0.05s)\n    cart_test.go:12: expected 2 items, got 1\nFAIL"
    beside = edit("y = 1", "y = 2", "/p/cart_test.go")
    assert insight(edit("x = 1", "x = 2", "/p/cart_test.go"), beside, output=failed) is None  # of a test no place tells
    new = edit("", 'package a\n\nimport "os"\n\nfunc A() {}\n')
    assert insight(new) is None


def test_what_alone_came_before_the_pass_is_the_fix_unless_only_people_read_it() -> None:
    failed = "--- FAIL: TestCart (0.05s)\n    cart_test.go:12: expected 2 items, got 1\nFAIL"
    alone = edit("total = n", "total = n + 1", "/p/cart.go")
    assert insight(alone, output=failed) == "in cart.go: `total = n` → `total = n + 1`"
    assert insight(alone, ran("git checkout cart_test.go", 0), output=failed) is None  # which of the two is not known
    assert insight(edit("old", "new", "/p/docs/cart.md"), output=failed) is None


def test_the_edit_that_is_about_the_problem_is_shown_not_an_import() -> None:
    found = insight(edit('"os"', ""), edit("x = 1", "x = 2"), edit("return nil, cleanup()", "return err, cleanup()"))
    assert found == "in src/a.go: `return nil, cleanup()` → `return err, cleanup()`"
    assert insight(edit("", "var x = 1")) == "in src/a.go: `var x = 1` is added"
    assert insight(edit("keep = 1\nvar x = 1", "keep = 1")) == "in src/a.go: `var x = 1` is taken out"


def test_where_nothing_was_edited_the_command_is_shown_or_nothing() -> None:
    error = "ModuleNotFoundError: No module named 'yaml'"
    assert insight(ran("pip install pyyaml", 0), output=error) == "run: pip install pyyaml"
    assert insight(edit("same", "same"), output=error) is None


def test_how_a_command_is_called_is_shown() -> None:
    reader = SessionReader()
    events = [ran("gh pr diff 8 --stat", 1, "unknown flag: --stat"), ran("gh pr diff 8 --name-only", 0)]
    pair = next(pair for event in numbered(events) for pair in reader.read(event))
    found = drafted(pair, source="codex", session="s1", root="/p")
    assert (found.pattern or {})["insight"] == "call it so: gh pr diff 8 --name-only"
    assert found.worth == 0.35


def test_what_a_compiler_says_is_found_with_its_names_only() -> None:
    one = drafted(pair_of(edit("a", "b"), output="src/a.go:3:1: undefined: x"), source="c", session="s", root="")
    other = drafted(pair_of(edit("a", "b"), output="src/a.go:3:1: undefined: y"), source="c", session="s", root="")
    assert one.id == other.id
    assert set(one.keys).isdisjoint(other.keys)
    assert one.evidence[0].folder is None


def test_where_a_command_ran_is_kept_below_the_root() -> None:
    failed = replace(ran("make lint", 1, LINT), folder="/p/api")
    reader = SessionReader()
    events: list[TranscriptEvent] = [failed, edit("return nil", "return err"), ran("make lint", 0)]
    pair = next(pair for event in numbered(events) for pair in reader.read(event))
    assert drafted(pair, source="c", session="s", root="/p").evidence[0].folder == "api"
    assert drafted(pair, source="c", session="s", root="/q").evidence[0].folder is None


def test_a_pass_that_needed_nothing_is_kept_from_the_second_time_on() -> None:
    pair = pair_of(output="--- FAIL: TestX (0.1s)\n    x_test.go:3: timed out waiting")
    found = flaky(pair, source="codex", session="s1")
    assert found.failure is not None
    assert found.failure["flaky"] is True
    assert (found.needs, found.worth) == (2, 0.3)


def test_a_problem_that_no_pass_ended_is_kept_from_the_third_session_on() -> None:
    reader = SessionReader()
    assert not list(reader.read(ran("make lint", 1, LINT)))
    found = left_open(reader.open[0], source="codex", session="s1")
    assert (found.needs, found.pattern, found.worth) == (3, None, 0.0)


def test_what_a_run_or_a_hook_saw_is_a_candidate_without_an_insight() -> None:
    found = seen_in_run(
        "ValueError: no colour in it", "ran", command="pytest", session=None, at="a", passed="b", files=["src/a.py"]
    )
    assert found.pattern is None
    assert found.failure is not None
    assert found.failure["files"] == ["src/a.py"]
    assert found.worth == 0.35


@pytest.mark.parametrize(
    ("trigger", "sort"),
    [("error is not nil but it returns nil (nilerr)", "rule"), ("ValueError: no colour", "error"), ("odd", "error")],
)
def test_a_trigger_is_a_problem(trigger: str, sort: str) -> None:
    assert problem_in(trigger).sort == sort


def test_of_a_long_output_the_part_around_the_problem_is_kept() -> None:
    pair = pair_of(edit("a", "b"), output="x\n" * 5_000 + LINT)
    kept = excerpt(pair.failed.output, pair.problem)
    assert len(kept) == FAILED_BYTES
    assert "nilerr" in kept
    lost = pair.problem._replace(text="not there", file="")
    assert len(excerpt("y" * 9_000, lost)) == FAILED_BYTES
    assert excerpt("short", lost) == "short"


def test_paths_outside_of_the_project_are_no_files_of_a_failure() -> None:
    assert [is_below(path) for path in ("src/a.py", "/etc/passwd", "../x", "~/x", "", "C:/x")] == [True, *[False] * 5]
    found = drafted(
        pair_of(*(edit("return nil", "return err", f"/p/{n}.go") for n in range(9))), source="c", session="s", root="/p"
    )
    assert len(found.evidence[0].edits) == 6
    long = drafted(pair_of(edit("a\n" * 3_000, "b\n" * 3_000)), source="c", session="s", root="")
    assert sum(len(one.removed) + len(one.added) for one in long.evidence[0].edits) <= 2_000


def test_an_error_in_a_traceback_is_found_by_its_line_alone() -> None:
    """`ran` and the messages of commits say only the line of an error, an output its traceback too."""
    trace = "Traceback (most recent call last):\n  File \"/shop/cart.py\", line 3, in total\nKeyError: 'price'\n"
    [framed] = problems(trace)
    assert keys_of(problem_in("KeyError: 'price'")) == keys_of(framed)


def test_a_test_that_failed_is_the_same_by_its_trigger_and_in_an_output() -> None:
    [printed] = problems(
        "FAIL: test_a (a.TestA.test_a) [one]\n-----\nAssertionError: [] != [1]\n\n-----\nRan 1 test in 1s\n"
    )
    assert printed.text == "FAIL: test_a (a.TestA.test_a) [one]\nAssertionError: [] != [1]"
    assert keys_of(problem_in(printed.text)) == keys_of(printed)


@pytest.mark.parametrize(
    ("removed", "added", "is_same"),
    [
        ("return nil, cleanup()", "return err, cleanup()", True),  # as it is
        ("return nil, close(7)", "return err, close(7)", True),  # what is on both sides does not count
        ('return nil, fail("b")', 'return err, fail("c")', True),  # nor a literal
        ("return nil, cleanup()", "return err", False),
        ("return nil, cleanup()", "return nil, cleanup() //nolint:nilerr", False),
    ],
)
def test_two_edits_are_the_same_where_they_turn_the_same_into_the_same(removed: str, added: str, is_same: bool) -> None:
    def change(removed: str, added: str) -> str | None:
        found = drafted(pair_of(edit(removed, added)), source="codex", session="s1", root="/p")
        return found.evidence[0].change

    first = change("return nil, cleanup()", "return err, cleanup()")
    assert first is not None
    assert (change(removed, added) == first) == is_same


def test_where_nothing_says_what_fixed_it_no_change_is_the_same() -> None:
    two = pair_of(edit("a = 1", "a = 2"), edit("b = 1", "b = 2"))
    assert drafted(two, source="codex", session="s1", root="/p").evidence[0].change is None


def test_a_check_that_is_gone_is_no_fix_of_it() -> None:
    red = "--- FAIL: TestReset (0.00s)\n    reset_test.go:8: Expected 'two sessions' in output\nFAIL\n"
    gone = edit("assertCount(t, 'two sessions')\n}", "}", "/p/reset_test.go")
    assert insight(gone, output=red) is None
    changed = edit("assertCount(t, 'two sessions')", "assertCount(t, 'two sessions', 2)", "/p/reset_test.go")
    assert insight(changed, output=red) is not None


@pytest.mark.parametrize(
    ("output", "command", "is_fix"),
    [
        ("go: updates to go.mod needed; to update it:", "go mod tidy", True),
        ("ModuleNotFoundError: No module named 'yaml'", "uv sync", True),
        ("psycopg.OperationalError: connection to db:5432 refused", "docker compose up -d db", True),
        ("Error: the version of 'jsonnet' is too old", "brew install jsonnet", True),  # a name of the message
        ("sh: 1: permission denied: ", "go install honnef.co/go/tools/cmd/staticcheck@latest", False),
    ],
)
def test_what_was_installed_fixed_what_was_not_there_or_is_named(output: str, command: str, is_fix: bool) -> None:
    found = insight(ran(command, 0), output=output)
    assert found == (f"run: {command}" if is_fix else None)


@pytest.mark.parametrize(
    ("failed", "passed", "is_fix"),
    [
        ("go test -c ./cart", "go test -c -tags=integration ./cart", True),
        ("npx tsc src", "npx tsc --project tsconfig.build.json src", True),
        ("go test ./cart", "go test ./cart", False),
        ("go test -v ./cart", "go test -count=1 ./cart | tail", False),  # these say only how it is shown
        ("go vet ./cart && go test ./cart", "go test -tags=integration ./cart", False),  # which failed is not known
        ("go test ./cart", "go test -tags=a -mod=mod -p 4 -coverpkg=./... -o /tmp/cart -ldflags=-s ./cart", False),
    ],
)
def test_a_check_that_passes_with_other_options_is_called_so(failed: str, passed: str, is_fix: bool) -> None:
    reader = SessionReader()
    said = "package example.org/cart: build constraints exclude all Go files in /p/cart"
    changed = [edit("a = 1", "a = 2"), edit("b = 1", "b = 2")]
    events = numbered([ran(failed, 1, said), *changed, ran(passed, 0)])
    (pair,) = [pair for event in events for pair in reader.read(event)]
    found = drafted(pair, source="codex", session="s1", root="/p").pattern
    assert (found and found["insight"]) == (f"call it so: {passed}" if is_fix else None)


@pytest.mark.parametrize(
    ("failed", "passed", "is_fix"),
    [
        ("gh pr list --stat open", "gh pr list --state open", True),
        (
            "gh api repos/a/b/pulls/comments/1/replies -f body=done",
            "gh api repos/a/b/pulls/9 --jq .head.ref --cache 1h",
            False,
        ),
    ],
)
def test_how_a_command_is_called_is_the_same_call_corrected(failed: str, passed: str, is_fix: bool) -> None:
    reader = SessionReader()
    events = numbered([ran(failed, 1, "unknown flag: --stat"), ran(passed, 0)])
    pairs = [pair for event in events for pair in reader.read(event)]
    found = [drafted(pair, source="codex", session="s1", root="/p").pattern for pair in pairs]
    assert [one and one["insight"] for one in found] == ([f"call it so: {passed}"] if is_fix else [None])
