"""What init names: the sessions, commits and notes that a project has already."""

from pathlib import Path

import pytest

from graphmem.features.harvest import found as module
from graphmem.features.harvest.found import found
from tests.features.harvest.test_sessions import transcript
from tests.repository import Repository


def test_sessions_commits_and_notes_are_counted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    monkeypatch.setenv("HOME", str(home))
    repository = Repository(root)
    (root / "AGENTS.md").write_text("- run make")
    repository.commit("first")
    transcript(home, root).fixed()
    transcript(home, root, "s2").fixed()
    transcript(home, tmp_path / "other", "s3").fixed()
    assert found(root) == ["2 sessions of claude-code", "1 commit", "AGENTS.md"]
    monkeypatch.setattr(module, "LOOK_S", -1.0)
    assert found(root) == ["1 commit", "AGENTS.md"]


def test_a_project_without_anything_has_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home" / ".codex" / "sessions").mkdir(parents=True)
    (tmp_path / "home" / ".codex" / "sessions" / "broken.jsonl").write_bytes(b"\xff\x00{")
    assert found(tmp_path / "home") == []
