"""``graphmem import``: a first word that is no command is the path of a file."""

from pathlib import Path

import pytest

from graphmem.cli.app import run
from tests.importers.test_beads import issue, needs, write
from tests.sample import open_memory


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    open_memory(tmp_path).close()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    write(tmp_path, issue("bd-1"), issue("bd-2", dependencies=needs("bd-2", "bd-1", "bd-9")), "{")
    return tmp_path


@pytest.mark.parametrize("words", [["issues.jsonl"], ["file", "issues.jsonl"], ["-q", "./issues.jsonl"]])
def test_it_prints_what_became_of_all_that_was_read(
    words: list[str], project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *words]) == 0
    assert capsys.readouterr().out == (
        "beads: read 2 dependencies, 2 issues, 1 line\n"
        "created: 1 campaign, 1 relation, 2 tasks\n"
        "dangling: 1\n"
        "skipped issues.jsonl:3: no JSON: unexpected end of data; expected a whole JSON object\n"
    )


def test_options_may_come_first(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["import", "--dry-run", "--from", "beads", "issues.jsonl"]) == 2 - 2
    said = capsys.readouterr()
    assert said.err == "graphmem: nothing was changed; do it without --dry-run\n"


@pytest.mark.parametrize(
    ("words", "status", "message"),
    [
        (["nothing"], 1, "neither a file nor a folder"),
        (["issues.jsonl", "--from", "beds"], 1, "no format 'beds'"),
        (["issues.jsonl", "--map", "trigger"], 2, "--map 'trigger' names no column"),
        ([], 2, "Usage: graphmem import"),
    ],
)
def test_what_is_wrong_is_named(
    words: list[str], status: int, message: str, project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["import", *words]) == status
    assert message in "".join(capsys.readouterr())
