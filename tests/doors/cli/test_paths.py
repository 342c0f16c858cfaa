"""Paths on the command line are relative to where one stands, and kept from the project's root."""

import json
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import run


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with a file in a sub-folder, in which the test stands."""
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    root = tmp_path / "project"
    (root / "shop").mkdir(parents=True)
    (root / "shop/db.py").write_text("class Table:\n    pass\n")
    Memory.init(root)
    monkeypatch.chdir(root / "shop")
    return root


def stored(project: Path) -> dict[str, object]:
    with Memory(project) as memory:
        row = memory.get("a").record.to_row()
    return {name: row.get(name) for name in ("files", "cites")}


def add(*options: str) -> int:
    return run(["add", "failure", "--name", "a", "--trigger", "boom", *options])


@pytest.mark.parametrize("path", ["db.py", "./db.py", "../shop/db.py", "{root}/shop/db.py"])
def test_a_path_counts_from_where_one_stands_and_is_kept_from_the_root(project: Path, path: str) -> None:
    path = path.format(root=project)
    assert add("--file", path, "--cite", f"{path}:Table") == 0
    found = stored(project)
    assert found["files"] == ["shop/db.py"]
    assert str(found["cites"]).startswith("['shop/db.py:Table#")
    assert run(["edit", "a", "--file", path]) == 0
    assert stored(project)["files"] == ["shop/db.py"]


def test_from_outside_a_path_begins_at_the_root(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir("/")
    assert add("--dir", str(project), "--file", "shop/db.py") == 0
    assert stored(project)["files"] == ["shop/db.py"]


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("nonexist.py", "hint: --missing-ok accepts a file that does not exist yet"),
        ("shop/db.py", "hint: 'db.py' would be"),
        ("../../db.py", "is outside of the project"),
    ],
)
def test_a_file_that_is_not_there_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], path: str, said: str
) -> None:
    assert add("--file", path) == 3
    assert said in capsys.readouterr().err
    assert run(["list", "failure"]) == 0
    assert capsys.readouterr().out == ""


def test_a_file_that_is_still_to_come_is_taken_when_one_says_so(project: Path) -> None:
    assert add("--file", "new.py", "--missing-ok") == 0
    assert stored(project)["files"] == ["shop/new.py"]


def test_context_takes_paths_in_the_same_way(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert add("--file", "db.py") == 0
    capsys.readouterr()
    assert run(["context", "something else", "--file", "db.py", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["refs"] == ["failure/a"]
