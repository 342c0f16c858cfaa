"""The demo: a store of real data, and the files come back byte for byte."""

import json
from pathlib import Path

import pytest

from graphmem.doors.cli.app import run
from graphmem.doors.cli.demo_store import SHOWN, committed


@pytest.mark.long
def test_the_demo_shows_the_main_job_and_the_files_come_back(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                           monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    assert run(["--json", "demo", str(tmp_path / "new")]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["identical"] is True
    assert answer["files"] == committed(tmp_path / "new")
    assert answer["added"]["created"] >= 300 and answer["added"]["relations"] >= 500
    steps = {step["command"].split()[1]: step["answer"] for step in answer["steps"]}
    assert len(answer["steps"]) == len(SHOWN) + 3
    assert [step["answer"]["results"][0]["ref"] for step in answer["steps"][:2]] == [
        "failure/ruff-s602-subprocess-popen-with-shell-equals-true",
        "failure/mypy-union-attr",
    ]
    assert len(steps["solutions"]["results"]) == 5
    assert steps["similar"]["results"][0]["ref"] == "campaign/harden-login"
    assert len(steps["cypher"]["rows"]) == 6
    counts = f"a store of {answer['added']['created']:,} records and {answer['added']['relations']:,} relations"
    assert counts in (Path(__file__).parents[3] / "README.md").read_text(encoding="utf-8")


@pytest.mark.long
def test_the_demo_tells_every_command_and_what_to_try_next(tmp_path: Path, capsys: pytest.CaptureFixture[str],
                                                         monkeypatch: pytest.MonkeyPatch) -> None:  # fmt: skip
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.chdir(tmp_path)
    assert run(["demo"]) == 0
    out = capsys.readouterr().out
    for _, command in SHOWN:
        assert f"$ {command}\n" in out
    assert "identical bytes: " in out and "Try next:" in out
    assert run(["demo"]) == 3
