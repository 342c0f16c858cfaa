"""``import sessions`` and ``review`` on the command line: what they print, and the keys of ``review next``."""

import json
import os
import pty
import select
import signal
import sys
import time
from pathlib import Path

import pytest

from tests.doors.cli.test_answers import Done, Graphmem, graphmem  # noqa: F401  # the fixture
from tests.features.harvest.test_sessions import LINT, Transcript
from tests.sample import kept_of

REF = "error-returned-from-external-package-is-unwrapped-wrapcheck"
ID = "c473fe01a"
QUESTION = b"q quit: "
MOST_S = 60.0  # that a session on the terminal takes
READY_S = 1.0  # after a question, until a key that is typed is read: what was typed before is thrown away


@pytest.fixture
def found(graphmem: Graphmem, tmp_path: Path) -> Graphmem:  # noqa: F811
    """A store in which a candidate waits."""
    path = tmp_path / "session.jsonl"
    Transcript(path, tmp_path, "s1").fixed()
    done = graphmem("import", "sessions", str(path), "--any-project")
    assert done == Done(
        0,
        "read 1 file: 1 session, 2 commands, 1 failure, 1 edit, 1 fix pair\ncandidates: 1 created\n",
        "graphmem: 1 candidate waits for you: graphmem review\n",
    )
    return graphmem


def test_candidates_are_listed_in_few_lines(found: Graphmem) -> None:
    assert found("review").out == (
        f"{ID}  {REF}  0.70  seen 1 time\n"
        "  failure: error returned from external package is unwrapped (wrapcheck)\n"
        '  fix: in src/a.go: `return err` → `return fmt.Errorf("open: %w", err)`\n'
        "  `make lint`, passed 2 minutes later after an edit in src/a.go, claude-code session s1, 2026-01-05\n"
    )


def test_all_evidence_of_one_is_shown(found: Graphmem) -> None:
    lines = found("review", "show", ID[:4]).out.splitlines()
    assert "  | src/a.go:3:1: error returned from external package is unwrapped (wrapcheck)" in lines
    assert "  - return err" in lines
    assert '  + return fmt.Errorf("open: %w", err)' in lines


def test_one_candidate_is_shown_whole_in_at_most_sixty_lines(graphmem: Graphmem, tmp_path: Path) -> None:  # noqa: F811
    for session in ("s1", "s2", "s3"):
        path = tmp_path / f"{session}.jsonl"
        more = "\n".join(f"src/b{number}.go:1:1: it is unused (unused)" for number in range(70))
        Transcript(path, tmp_path, session).ran("make lint", f"{LINT}\n{more}", status=2).edited(
            f"{tmp_path}/src/a.go", "return err", 'return fmt.Errorf("open: %w", err)'
        ).ran("make lint", "0 issues.")
        assert graphmem("import", "sessions", str(path), "--any-project").status == 0
    lines = graphmem("review", "show", ID).out.splitlines()
    assert len(lines) == 60
    assert lines[-1] == f"… 2 more occasions; more lines: graphmem review show {ID} --all"
    every = graphmem("review", "show", ID, "--all").out
    assert all(f"claude-code session {session}" in every for session in ("s1", "s2", "s3"))
    assert len(every.splitlines()) > 200


def test_a_decision_is_shown_with_its_reason_and_rules_of_notes_in_one_line(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "AGENTS.md").write_text("- Never commit to main\n- Never push with force\n")
    (tmp_path / "docs/adr").mkdir(parents=True)
    reason = "One file, no server, and backups are a copy. " * 8
    (tmp_path / "docs/adr/0001-store.md").write_text(f"# Use SQLite\n\n## Decision\n\nWe use SQLite. {reason}\n")
    graphmem("import", "notes")
    listed = graphmem("review")
    (because,) = [line for line in listed.out.splitlines() if line.startswith("  because: ")]
    assert because.startswith("  because: We use SQLite. One file, no server") and len(because) < 300
    assert listed.out.splitlines()[-1] == "AGENTS.md: 2 rules that agents load anyway: graphmem review --notes"
    [name] = [one["id"] for one in json.loads(graphmem("review", "--json").out)["candidates"]]
    assert graphmem("review", "show", name).out.count("One file, no server") == 8
    assert graphmem("review", "--notes").out.count("constraint: Never") == 2


def test_accepting_and_dismissing_say_what_was_done(found: Graphmem) -> None:
    assert found("review", "accept", ID, "--fix", "wrap it") == Done(
        0, f"accepted {ID}: failure/{REF}, pattern/{REF}\n", ""
    )
    assert found("review") == Done(0, "", "graphmem: no candidate waits; to find some: graphmem import --all\n")
    again = found("review", "accept", ID)
    assert (again.status, again.err.splitlines()[0]) == (2, f"error: candidate {ID} was accepted before")
    assert found("review", "dismiss", ID, "--reason", "a slip").out == f"dismissed {ID}\n"


def test_a_candidate_is_meant_by_its_name_or_a_part_of_it_that_no_other_has(
    graphmem: Graphmem,  # noqa: F811
    tmp_path: Path,
) -> None:
    (tmp_path / "docs/adr").mkdir(parents=True)
    for title in ("Use SQLite", "Use one folder"):
        text = f"# {title}\n\n## Decision\n\nWe {title.lower()}, for it needs no server and can be copied.\n"
        (tmp_path / f"docs/adr/{title.split()[-1]}.md").write_text(text)
    graphmem("import", "notes")
    shown = {one["name"]: one["id"] for one in json.loads(graphmem("review", "--json").out)["candidates"]}
    assert set(shown) == {"use-sqlite", "use-one-folder"}
    assert graphmem("review", "show", "use-one-folder").out.startswith(f"{shown['use-one-folder']}  use-one-folder  ")
    assert graphmem("review", "show", "sqlite").out == graphmem("review", "show", shown["use-sqlite"]).out
    several = graphmem("review", "accept", "use")
    assert (several.status, "'use' means 2 candidates" in several.err) == (1, True)
    assert graphmem("review", "accept", "sql").status == 1  # no word of the name
    assert f"{shown['use-sqlite']} use-sqlite" in several.err
    assert graphmem("review", "accept", "sqlite").out == f"accepted {shown['use-sqlite']}: decision/use-sqlite\n"
    assert graphmem("review", "dismiss", "folder").out == f"dismissed {shown['use-one-folder']}\n"
    for said in ("sqlite", "use-sqlite"):  # a repeat comes to no other candidate
        again = graphmem("review", "accept", said)
        assert (again.status, "was accepted before" in again.err) == (2, True)
    gone = graphmem("review", "dismiss", "nothing")
    assert (gone.status, "no candidate 'nothing'" in gone.err) == (1, True)
    lost = graphmem("get", shown["use-sqlite"])
    assert f"graphmem review show {shown['use-sqlite']}" in lost.err


def test_a_record_with_the_same_error_is_named(found: Graphmem) -> None:
    found(
        "add", "failure", "--name", "wrap", "--trigger", "error returned from external package is unwrapped (wrapcheck)"
    )
    assert f"  a record has this error: graphmem review accept {ID} --into failure/wrap\n" in found("review").out
    command = f"graphmem feedback failure/wrap --helped --task {ID}"
    assert f"  its fix is what passed here: {command}\n" in found("review", "show", ID).out
    for _ in range(2):  # a report that is made twice counts once
        assert found(*command.split()[1:]).status == 0
    assert "  helped:         1\n" in found("get", "failure/wrap").out


def test_what_a_log_reports_is_marked_as_not_reviewed(found: Graphmem, tmp_path: Path) -> None:
    (tmp_path / "build.log").write_text("b.go:9:1: error returned from external package is unwrapped (wrapcheck)\n")
    done = found("match", "build.log")
    assert done.out.splitlines()[:2] == [
        f"candidate {ID}  [seen, not reviewed]",
        "    > error returned from external package is unwrapped (wrapcheck)",
    ]
    assert done.err == "graphmem: no known failure, but candidates\n"
    assert f"candidate {ID}  [seen, not reviewed]" in found("query", "unwrapped external package", "--candidates").out


def test_the_status_names_the_review(found: Graphmem) -> None:
    lines = found("status").out.splitlines()
    assert "review: 1 candidate waits for you: graphmem review" in lines
    assert "    graphmem review" in lines


def test_what_would_be_read_is_said_and_nothing_kept(graphmem: Graphmem, tmp_path: Path) -> None:  # noqa: F811
    path = tmp_path / "session.jsonl"
    Transcript(path, tmp_path, "s1").fixed()
    done = graphmem("import", "sessions", str(path), "--any-project", "--dry-run")
    assert done.err == "graphmem: nothing was kept; do it without --dry-run\n"
    assert graphmem("review").out == ""
    (tmp_path / "note.txt").write_text("hello")
    done = graphmem("import", "sessions", str(tmp_path / "note.txt"))
    assert done.out == "read 0 files: nothing\ncandidates: no new ones\nnot read: 1 × of no known form\n"


def test_next_needs_a_terminal(found: Graphmem) -> None:
    done = found("review", "next")
    assert (done.status, done.err.splitlines()[0]) == (2, "error: review next needs a terminal")


def typed(folder: Path, keys: str, *, editor: str = "/bin/false") -> str:
    """Run ``review next`` on a terminal, type a key at each question, and return what it shows."""
    child, terminal = pty.fork()
    if not child:  # pragma: no cover
        os.chdir(folder)
        os.environ.update({"EDITOR": editor, "VISUAL": "", "TERM": "dumb", "GRAPHMEM_SERVICE": "off"})
        os.execv(sys.executable, [sys.executable, "-P", "-m", "graphmem", "review", "next"])
    shown, sent, until = b"", 0, time.monotonic() + MOST_S
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 4_096)
            except OSError:  # the other end is closed
                break
            if not data:
                break
            shown += data
        if sent < len(keys) and shown.count(QUESTION) > sent:
            time.sleep(READY_S)
            os.write(terminal, keys[sent].encode())
            sent += 1
    else:
        os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    os.close(terminal)
    return shown.decode("utf-8", "replace").replace("\r\n", "\n")


@pytest.mark.long
@pytest.mark.process
@pytest.mark.parametrize(
    ("keys", "said", "state"),
    [
        ("s", "q quit: s", "waiting"), ("q", "q quit: q", "waiting"), ("xs", "q quit: x", "waiting"),
        ("d", "dismissed", "dismissed"), ("a", f"accepted: failure/{REF}", "accepted"),
        ("es", "not accepted: the editor failed", "waiting"), ("\x03", "q quit: ", "waiting"),
    ],
)  # fmt: skip
@pytest.mark.slow
def test_a_key_decides_on_each_candidate(found: Graphmem, tmp_path: Path, keys: str, said: str, state: str) -> None:
    shown = typed(tmp_path, keys)
    assert "[1 of 1]" in shown
    assert said in shown
    queue = json.loads(kept_of(tmp_path))
    assert queue["candidates"][ID].get("state", "waiting") == state


@pytest.mark.long
@pytest.mark.process
def test_nothing_that_a_candidate_holds_reaches_the_terminal_as_it_is(graphmem: Graphmem, tmp_path: Path) -> None:  # noqa: F811
    """Control characters of both sets, such as those that write the clipboard, marks of direction, zero width."""
    odd = "\x1b]52;c;eA==\x07\x1b[2J\x9b1A\u202e\u200b\x85\u2028\x0c"
    path = tmp_path / "session.jsonl"
    said = LINT.replace("unwrapped", f"unwrapped {odd[:-3]}")
    fixed = Transcript(path, tmp_path, f"{odd}s").ran("make lint", said, status=2)
    fixed.edited(f"{tmp_path}/src/a.go", "return err", f"wrap(err) {odd}").ran("make lint", "0 issues.")
    (tmp_path / ".serena/memories").mkdir(parents=True)
    (tmp_path / ".serena/memories/a.md").write_text(f"- Never use {odd} the old parser of the project.\n")
    graphmem("import", "sessions", str(path), "--any-project")
    graphmem("import", "notes")
    shown = typed(tmp_path, "sa")
    assert "Never use" in shown and "wrap" in shown
    assert [hex(ord(sign)) for sign in shown if not (sign.isprintable() or sign in "\n\r")] == []


@pytest.mark.long
@pytest.mark.process
def test_the_words_from_the_editor_are_taken(found: Graphmem, tmp_path: Path) -> None:
    editor = tmp_path / "edit.sh"
    editor.write_text("#!/bin/sh\nsed -i 's/^in src.*/wrap errors of other packages/' \"$1\"\n")
    editor.chmod(0o755)
    assert "accepted" in typed(tmp_path, "e", editor=str(editor))
    assert "wrap errors of other packages" in found("get", f"pattern/{REF}").out
