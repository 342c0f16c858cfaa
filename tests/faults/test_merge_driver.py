"""The merge driver dies, or cannot start: no row of either side is lost, and nothing lies about."""

import os
import subprocess
import sys
from pathlib import Path

import orjson
import pytest

from graphmem.doors.cli.app import run
from graphmem.kernel.git.merge_driver import CONFLICTS, FRESH
from graphmem.kernel.store.git_setup import drivers
from tests.repository import Repository
from tests.sample import data, failure, line, open_memory, write

FILE = ".graphmem/data/failure.ndjson"
BAD_TIME = failure("base", "base went wrong", fix="theirs").replace(
    b"2026-11-01T09:30:00.000Z", b"0001-01-01T00:00:00+23:59"
)
LIST_ID = b'{"created_at":"2026-11-01T09:30:00.000Z","helped":true,"id":["x"],"kind":"feedback","ref":"failure/base"}\n'
DEATHS = {
    "killed": "kill -9 $$",
    "killed before its end": f'echo half > "$6{FRESH}"; kill -9 $$',
    "without graphmem": f"exec {sys.executable} -I -S -m graphmem",
    "a crash": "exit 1",
    "a usage error": "exit 2",
    "out of memory": f'ulimit -v 90000; exec {sys.executable} "$@"',
}
BRINGING = {
    "merge": ["merge", "-q", "--no-edit", "theirs"],
    "rebase": ["rebase", "-q", "theirs"],
    "cherry-pick": ["cherry-pick", "theirs"],
}


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parents[2]))


def branches(folder: Path, ours: bytes = b"", theirs: bytes = b"", *, rows: int = 40) -> Repository:
    """Make a repository in which both branches changed a record and added others; on ours, the driver registered."""
    repository = Repository(folder)
    open_memory(folder).close()
    base = [failure("base"), *(failure(f"b{number}") for number in range(rows))]
    write(data(folder, "failure"), *base)
    repository.commit("base")
    repository("branch", "theirs")
    for branch, more in (("main", ours), ("theirs", theirs)):
        repository("switch", "-q", branch)
        changed = [
            more or failure("base", fix=branch),
            *base[1:],
            *(failure(f"{branch}{number}") for number in range(9)),
        ]
        write(data(folder, "failure"), *changed)
        repository.commit(branch)
    repository("switch", "-q", "main")
    return repository


def bring(repository: Repository, how: str) -> str:
    """Let git bring their changes in; return what it says."""
    who = {f"GIT_{name}_{what}": "a@b" for name in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    environment = {**os.environ, **who, "HOME": str(repository.folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *BRINGING[how]], cwd=repository.folder, env=environment, capture_output=True,
                          text=True, check=False)  # fmt: skip
    return done.stdout + done.stderr


def names(folder: Path) -> set[str]:
    """Return the names of all failures that a file holds, between markers too."""
    rows = [row for row in (folder / FILE).read_bytes().splitlines() if row.startswith(b"{")]
    return {str(orjson.loads(row)["name"]) for row in rows}


def all_names(rows: int = 40) -> set[str]:
    return {"base", *(f"b{n}" for n in range(rows)), *(f"{side}{n}" for side in ("main", "theirs") for n in range(9))}


def nothing_is_left(folder: Path) -> bool:
    """Return whether the driver and git left no file of their own."""
    return not [path for path in folder.iterdir() if path.name.startswith(".merge_file")]


@pytest.mark.parametrize("how", BRINGING)
@pytest.mark.parametrize("death", DEATHS)
def test_a_driver_that_dies_leaves_the_merge_to_git(tmp_path: Path, death: str, how: str) -> None:
    repository = branches(tmp_path / "r")
    python = tmp_path / "python"
    python.write_text(f"#!/bin/sh\n{DEATHS[death]}\n")
    python.chmod(0o755)
    for name, value in drivers(str(python)).items():
        repository("config", name, value)
    bring(repository, how)
    assert names(repository.folder) == all_names()
    assert nothing_is_left(repository.folder)
    with open_memory(repository.folder) as memory:
        memory.store.resolve()
        assert memory.store.validate().ok
        assert {record.record.name for record in memory.list("failure", limit=99).results} == all_names()


@pytest.mark.parametrize("how", BRINGING)
@pytest.mark.parametrize("is_edited", [False, True])
def test_a_file_that_a_dead_driver_left_as_ours_is_an_error_and_merged(
    tmp_path: Path, how: str, is_edited: bool
) -> None:
    """As clones had it that registered the driver before it fell back to git's merge."""
    repository = branches(tmp_path / "r")
    folder = repository.folder
    repository("config", "merge.graphmem.driver", "exit 1")
    bring(repository, how)
    assert "<<<<<<<" not in (folder / FILE).read_text() and names(folder) != all_names()
    with open_memory(folder) as memory:
        if is_edited:
            memory.failures.add("meanwhile", name="meanwhile")
            memory.edit("failure/b3", {"fix": "meanwhile"})
        for checked in (memory.store.validate(), memory.store.doctor()):
            assert not checked.ok
            (found,) = [found for found in checked.findings if found.code == "unmerged"]
            assert (found.file, found.severity, found.fix) == ("data/failure.ndjson", "error", "graphmem resolve")
        assert memory.store.resolve().files == ["data/failure.ndjson"]
        assert memory.store.resolve().files == [] and memory.store.validate().ok and memory.store.export_check().ok
        assert names(folder) == all_names() | ({"meanwhile"} if is_edited else set())
        kept = memory.get("failure/base").record.model_dump()
        assert {kept["fix"], *(other["text"] for other in kept["alternates"])} == {"main", "theirs"}
        assert memory.get("failure/b3").record.model_dump()["fix"] == ("meanwhile" if is_edited else None)


def test_a_conflict_that_was_resolved_by_hand_is_no_error(tmp_path: Path) -> None:
    repository = branches(tmp_path / "r")
    repository("config", "merge.graphmem.driver", "exit 1")
    bring(repository, "merge")
    repository("add", FILE)
    with open_memory(repository.folder) as memory:
        assert memory.store.validate().ok and memory.store.resolve().files == []


@pytest.mark.parametrize(
    "how", [how if how == "merge" else pytest.param(how, marks=pytest.mark.long) for how in BRINGING]
)
@pytest.mark.parametrize(
    "theirs", [BAD_TIME, LIST_ID, b"\xff\n", b'{"a":' * 5000 + b"\n", b'{"kind":"failure","name":1}\n']
)
def test_a_row_that_cannot_be_merged_loses_no_other(tmp_path: Path, theirs: bytes, how: str) -> None:
    repository = branches(tmp_path / "r", theirs=theirs)
    with open_memory(repository.folder) as memory:
        memory.init(repository.folder)
    bring(repository, how)
    text = (repository.folder / FILE).read_bytes()
    assert theirs.strip() in text
    assert all(f'"name":"{name}"'.encode() in text for name in all_names() - {"base"})
    assert nothing_is_left(repository.folder)


def test_a_schema_that_is_nested_deep_does_not_keep_rows_from_being_merged(tmp_path: Path) -> None:
    repository = branches(tmp_path / "r")
    with open_memory(repository.folder) as memory:
        memory.init(repository.folder)
    (repository.folder / ".graphmem/schema.json").write_bytes(b"[" * 100_000)
    repository.commit("a trap")
    said = bring(repository, "merge")
    assert "CONFLICT" not in said and names(repository.folder) == all_names()


@pytest.mark.parametrize("is_driver_alive", [True, False])
def test_without_room_our_version_stays_whole_and_nothing_beside_it(tmp_path: Path, is_driver_alive: bool) -> None:
    sides = {"base": b"", "ours": failure("a"), "theirs": b"".join(failure(f"t{n}") for n in range(99))}
    for name, content in sides.items():
        (tmp_path / name).write_bytes(content)
    call = drivers(sys.executable if is_driver_alive else "false")["merge.graphmem.driver"]
    for mark, name in (("%O", "base"), ("%A", "ours"), ("%B", "theirs"), ("%P", "failure.ndjson")):
        call = call.replace(mark, name)
    limited = ["bash", "-c", f"trap '' XFSZ; ulimit -f 2; {call}"]
    done = subprocess.run(limited, cwd=tmp_path, capture_output=True, check=False)
    assert done.returncode not in (0, CONFLICTS)
    assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == sides


def test_resolve_says_what_it_did(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = branches(tmp_path / "r")
    repository("config", "merge.graphmem.driver", "exit 1")
    bring(repository, "merge")
    monkeypatch.chdir(repository.folder)
    assert run(["validate"]) == 1
    assert "git's merge is not finished" in capsys.readouterr().out
    assert run(["resolve"]) == 0
    shown = capsys.readouterr()
    assert "resolved: data/failure.ndjson" in shown.out and "git add" in shown.err
    assert run(["resolve"]) == 0
    assert capsys.readouterr().out == "no file is left to merge\n"


def test_a_report_of_both_branches_is_merged_from_the_index_too(tmp_path: Path) -> None:
    repository = branches(tmp_path / "r")
    folder = repository.folder
    for branch in ("main", "theirs"):
        repository("switch", "-q", branch)
        write(
            data(folder, "feedback"),
            line(kind="feedback", id=branch, ref="failure/base", helped=True, at="2026-11-01T09:30:00.000Z"),
        )
        repository.commit("report")
    repository("switch", "-q", "main")
    repository("config", "merge.graphmem.driver", "kill -9 $$")
    bring(repository, "merge")
    with open_memory(folder) as memory:
        assert memory.store.resolve().files == ["data/failure.ndjson", "data/feedback.ndjson"]
        assert memory.get("failure/base").record.model_dump()["helped"] == 2
