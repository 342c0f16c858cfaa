"""The person's own editor, by what the environment names."""

from pathlib import Path

import pytest

from graphmem.errors import Usage
from graphmem.kernel.system.editor import edit

pytestmark = pytest.mark.process


def test_the_editor_that_is_named_edits_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "note.txt"
    path.write_text("a")
    monkeypatch.setenv("VISUAL", "sed -i s/a/b/")
    assert edit(path)
    assert path.read_text() == "b"
    monkeypatch.setenv("VISUAL", "false")
    assert not edit(path)


def test_an_editor_that_is_not_there_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", "no-such-editor -w")
    with pytest.raises(Usage, match="editor 'no-such-editor' is not installed"):
        edit(tmp_path / "note.txt")
