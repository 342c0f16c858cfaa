"""Hints name what to do next: what a word is called here, how a conflict is merged, what a clone needs."""

import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import command_line, run
from graphmem.doors.cli.synonyms import COMMANDS, INSTEAD, OPTIONS
from graphmem.doors.cli.verbs import VERBS
from graphmem.kernel.store.git_setup import drivers, word_of
from tests.sample import data, failure


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A store in a git repository, in which the test stands."""
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    folder = tmp_path / "project"
    subprocess.run(["git", "init", "-q", str(folder)], check=True)
    Memory.init(folder)
    monkeypatch.chdir(folder)
    return folder


@pytest.mark.parametrize(
    ("typed", "hint"),
    [
        ("delete x", "did you mean forget?"),
        ("update x", "did you mean edit?"),
        ("show x", "did you mean get?"),
        ("search x", "did you mean query?"),
        ("list --kind failure", "the kind is an argument: graphmem list failure"),
        ("prune --dry-run", "without --yes it only shows what would go"),
        ("add entity part wheel --cite x", "an entity has no cites; --source says where it comes from"),
        ("session decide x --why y", "did you mean --because?"),
        ("query x --top 3", "did you mean --limit?"),
        (
            "link failure/a about failure/b",
            "it is of events: graphmem event add TYPE --subject REF; for others: graphmem type add relation NAME",
        ),
        ("get slow", "did you mean failure/very-slow-build?"),
    ],
)
def test_a_word_of_another_tool_is_answered_with_the_one_of_this(
    project: Path, capsys: pytest.CaptureFixture[str], typed: str, hint: str
) -> None:
    with Memory(project) as memory:
        memory.failures.add("the build takes an hour", name="very-slow-build")
    assert run(typed.split()) in (1, 2, 3)
    assert capsys.readouterr().err.splitlines()[-1] == f"hint: {hint}"


def test_every_hint_names_a_command_and_options_that_exist() -> None:
    root = command_line()
    assert not set(COMMANDS) & set(VERBS)
    assert {name.split()[0] for name in COMMANDS.values()} <= {*VERBS, "--version"}
    known = set()
    for name in VERBS:
        command = root.get_command(None, name)
        for found in (command, *getattr(command, "commands", {}).values()):
            known |= {option for param in found.params for option in param.opts}
    assert {option for same in OPTIONS.values() for option in same} <= known
    assert {command.split()[0] for command, _ in INSTEAD if command} <= set(VERBS)


def test_conflict_markers_are_answered_with_resolve_and_that_with_what_comes_next(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    a, b = failure("a", fix="ours"), failure("a", fix="theirs")
    lines = (b"<<<<<<< HEAD", a, b"=======", b, b">>>>>>> other")
    data(project, "failure").write_bytes(b"".join(line.rstrip(b"\n") + b"\n" for line in lines))
    assert run(["list"]) == 0
    err = capsys.readouterr().err
    assert err.count("graphmem resolve") == 1 and "data/failure.ndjson:1: conflict markers of git" in err
    assert "error:" not in err
    assert run(["add", "failure", "--trigger", "something else"]) == 3
    assert capsys.readouterr().err.splitlines()[-1] == "hint: graphmem resolve"
    assert run(["resolve"]) == 0
    err = capsys.readouterr().err
    assert "git add" in err and "git commit" in err
    assert run(["list"]) == 0


def test_a_clone_without_init_is_told_once_to_run_it(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for name in drivers():
        subprocess.run(["git", "config", "--unset", name], cwd=project, check=True)
    local = project / ".graphmem/local"
    subprocess.run(["rm", "-rf", str(local)], check=True)
    assert run(["list"]) == 0
    assert "run once in this clone: graphmem init" in capsys.readouterr().err
    assert run(["list"]) == 0
    assert "graphmem init" not in capsys.readouterr().err


def test_the_merge_driver_of_another_environment_is_well_where_that_ran_init(
    project: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other env/100%/python"
    other.parent.mkdir(parents=True)
    other.symlink_to(sys.executable)
    wrong = f"names a Python that is gone, or that did not run graphmem init: '{other}'"
    for name, value in drivers(word_of(str(other))).items():
        subprocess.run(["git", "config", name, value], cwd=project, check=True)
    run(["doctor"])
    assert capsys.readouterr().out.count(wrong) == 2
    with monkeypatch.context() as there:
        there.setattr(sys, "executable", str(other))
        assert run(["init"]) == 0
    capsys.readouterr()
    run(["doctor"])
    assert "names a Python" not in capsys.readouterr().out
    other.unlink()
    run(["doctor"])
    assert capsys.readouterr().out.count(wrong) == 2
    old = f"if test -x {sys.executable}; then {sys.executable} -P -m graphmem merge-driver %O %A %B %P; fi"
    subprocess.run(["git", "config", "merge.graphmem.driver", old], cwd=project, check=True)
    run(["doctor"])
    assert "merge.graphmem.driver is not as this version of graphmem sets it" in capsys.readouterr().out
    run(["doctor", "--fix", "--yes"])
    capsys.readouterr()
    run(["doctor"])
    assert "graphmem.driver" not in capsys.readouterr().out


def test_a_lesson_that_is_added_by_hand_says_when_it_is_injected(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["add", "lesson", "--description", "Run the smoke test before a release"]) == 0
    assert "once two runs saw it" in capsys.readouterr().err
    assert run(["add", "lesson", "--description", "Write short commits", "--type", "preference"]) == 0
    assert capsys.readouterr().err == ""


def test_without_a_model_match_says_so_once_and_finds_by_words(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    with Memory(project) as memory:
        memory.failures.add("the nightly backup fails with a timeout error of the disk array", name="a")
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", str(project / "no-model"))
    (project / "log").write_text("error: timeout of the disk array in the nightly backup\nTypeError: no cake is left\n")
    assert run(["match", "log"]) == 0
    out, err = capsys.readouterr()
    assert "failure/a" in out and "similarity" in out
    assert err.count("search is lexical only") == 1
