"""The import of all that a project has at its usual places."""

import json
from pathlib import Path

import pytest

from graphmem.doors.cli.app import run
from tests.repository import Repository
from tests.sample import open_memory

RULES = "# Rules\n\n- Never commit to main, it is released from\n"
FIX = "Open the file as UTF-8\n\nThis avoids\n\n    UnicodeDecodeError: invalid start byte\n"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a project with a session, a history and notes."""
    home, folder = tmp_path / "home", tmp_path / "project"
    monkeypatch.setenv("HOME", str(home))
    repository = Repository(folder)
    (folder / "AGENTS.md").write_text(RULES)
    repository.commit(FIX)
    transcript = home / ".claude/projects" / str(folder).replace("/", "-") / "3f2a.jsonl"
    transcript.parent.mkdir(parents=True)
    base = {"sessionId": "3f2a", "cwd": str(folder), "timestamp": "2026-01-05T10:00:00Z"}
    command = {"type": "tool_use", "id": "t1", "name": "Bash", "input": {"command": "pytest -q"}}
    result = {"type": "tool_result", "tool_use_id": "t1", "content": "1 passed"}
    lines = [
        {**base, "type": "assistant", "message": {"content": [command]}},
        {**base, "type": "user", "message": {"content": [result]}},
    ]
    transcript.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return folder


def test_sessions_history_and_notes_are_read_in_one_go(project: Path) -> None:
    with open_memory(project) as memory:
        dry = memory.imports.all(dry_run=True)
        assert (dry.applied, dry.waiting, len(memory.candidates.review().candidates)) == (False, 2, 0)
        answer = memory.imports.all()
        assert [(part.format, part.read.get("commits"), part.read.get("commands")) for part in answer.parts] == [
            ("sessions", None, 1), ("git", 1, None), ("notes", None, None),
        ]  # fmt: skip
        assert (answer.waiting, memory.candidates.review().total, memory.candidates.review(notes=True).total) == (
            2,
            1,
            1,
        )
        again = memory.imports.all()
        assert [part.candidates for part in again.parts] == [{}, {}, {}]
        assert again.waiting == 2


def test_without_a_history_the_others_are_read(project: Path) -> None:
    (project / ".git").rename(project.parent / "git")
    with open_memory(project) as memory:
        answer = memory.imports.all()
        [_, history, notes] = answer.parts
        assert [one.status for one in history.sources] == ["skipped"]
        assert notes.candidates == {"created": 1}
        assert answer.waiting == 1


def test_the_option_is_the_command(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with open_memory(project):
        pass
    for words in (["--all", "--dry-run"], ["--dry-run", "--all"]):
        assert run(["--dir", str(project), "import", *words]) == 0
    assert "do it without --dry-run" in capsys.readouterr().err
    assert run(["--dir", str(project), "import", "--all"]) == 0
    shown = capsys.readouterr()
    assert "git: read the history: 1 commit, 1 fixed error\ncandidates: 1 created\n" in shown.out
    assert "2 candidates wait for you: graphmem review" in shown.err
    assert run(["--dir", str(project), "import", "all"]) == 0
    assert "git: read the history: nothing new\n" in capsys.readouterr().out
    assert run(["--dir", str(project), "import", "--all", "more"]) == 2
