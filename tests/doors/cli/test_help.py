"""The help: its first page, topics, all commands, and what commands were called before."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from graphmem import Memory
from graphmem.doors.cli.app import command_line, run
from graphmem.doors.cli.verbs import FIRST, MADE, RENAMED, TOPICS, VERBS
from tests.doors.cli.test_answers import Graphmem, graphmem  # noqa: F401  # the fixture

LINES = 24  # of a terminal


def test_the_first_page_shows_ten_commands_and_fits_on_a_screen(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    page = capsys.readouterr().out
    listed = [line.split()[0] for line in page.partition("Commands:\n")[2].partition("\n\n")[0].splitlines()]
    assert listed == [*FIRST]
    assert len(page.splitlines()) <= LINES
    fast = subprocess.run([sys.executable, "-m", "graphmem", "--help"], capture_output=True, text=True, check=True)
    assert fast.stdout == page
    run(["help"])
    assert capsys.readouterr().out == page


def test_the_help_shows_all_commands_with_those_below_them_and_one_topic(capsys: pytest.CaptureFixture[str]) -> None:
    run(["help", "--all"])
    text = capsys.readouterr().out
    assert all(f"  {verb} " in text for verb in VERBS)
    assert "learn, decay, inject." in text and "--lock-timeout SECONDS" in text and "Exit status" in text
    run(["help", "--json"])
    run(["help", "--all", "--json"])
    first, everything = map(json.loads, capsys.readouterr().out.splitlines())
    assert first["text"].startswith("Usage: graphmem")
    assert {verb for topic in everything["topics"].values() for verb in topic} == {*VERBS}
    assert [*everything["topics"]] == [topic for topic, _ in TOPICS.values()]
    run(["help", "past"])
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()[1:3]] == ["history", "why"]


def test_the_help_of_a_command_is_what_its_own_help_says(capsys: pytest.CaptureFixture[str]) -> None:
    for words in (["task", "start"], ["history"], ["type", "add", "entity"]):
        run([*words, "--help"])
        own = capsys.readouterr().out
        run(["help", *words])
        assert capsys.readouterr().out == own
    run(["help", "observe"])
    assert capsys.readouterr().out.startswith("Usage: graphmem campaign learn")


@pytest.mark.parametrize(
    ("typed", "message", "hint"),
    [
        ("help taks", "no topic or command 'taks'", "did you mean task?"),
        ("help task stat", "no command of task 'stat'", "did you mean start?"),
        ("help query more", "no command of query 'more'", "graphmem help --all"),
        ("run pytest", "no command 'pytest' in graphmem build", "graphmem ran -- COMMAND"),
    ],
)
def test_what_is_not_there_is_refused_with_what_was_meant(
    capsys: pytest.CaptureFixture[str], typed: str, message: str, hint: str
) -> None:
    assert run(typed.split()) == 2
    error = capsys.readouterr().err
    assert message in error and hint in error


def test_each_old_name_is_one_of_no_command_and_leads_to_one() -> None:
    root = command_line()
    assert not RENAMED.keys() & {*root.list_commands(None)}
    for new in RENAMED.values():
        verb, *below = new.split()
        assert not below or below[0] in root.get_command(None, verb).commands


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("events --limit 3", "event list --limit 3"), ("log failure/boom", "history failure/boom"),
        ("inject --domain code", "lesson inject --domain code"), ("run show", "build show"),
        ("promote", "experience insights"), ("decay", "lesson decay"), ("observe c", "campaign learn c"),
        ("promote --category recurring_issue", "experience insights --category recurring_issue"),
        ("learn none.ndjson", "lesson learn none.ndjson"),
    ],
)  # fmt: skip
def test_an_old_name_does_what_it_did_and_says_the_new_one_to_a_person_alone(
    graphmem: Graphmem,  # noqa: F811
    old: str,
    new: str,
) -> None:
    with Memory(Path()) as memory:
        memory.failures.add("it went boom", name="boom")
        memory.campaigns.create("c")
    name = "`promote` without a record" if old.startswith("promote") else f"`{old.split(maxsplit=1)[0]}`"
    now = new.removesuffix(old.partition(" ")[2]).strip()
    said = f"graphmem: {name} is now `{now}`"
    before, after = graphmem(*old.split()), graphmem(*new.split())
    assert (before.status, before.out) == (after.status, after.out)
    assert before.err.startswith(said) and said not in after.err
    for quiet in ("--json", "-q"):
        assert said not in graphmem(*old.split(), quiet).err
        assert said not in graphmem(quiet, *old.split()).err


def test_a_record_is_copied_by_promote_whatever_promote_was(
    graphmem: Graphmem,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("GRAPHMEM_USER_STORE", str(tmp_path_factory.mktemp("own")))
    graphmem("init", "--user")
    graphmem("add", "failure", "--name", "boom", "--trigger", "it went boom")
    for line in (("promote", "boom"), ("promote", "--to=user", "boom"), ("promote", "--dir", ".", "boom")):
        made = graphmem(*line)
        assert (made.status, made.out.split()[1]) == (0, "user:failure/boom")
        assert "is now" not in made.err
    for words in ((), ("--dir", "."), ("--yes",)):
        assert "`promote` without a record is now `experience insights`" in graphmem("promote", *words).err
    assert "missing argument 'REF'" in graphmem("promote", "--to", "user").err


def test_a_verb_of_a_feature_that_is_gone_is_in_no_help(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(VERBS, "gone", (MADE, "gone", "Do what there is not."))
    monkeypatch.setitem(TOPICS, "gone", ("void", "What is gone"))
    monkeypatch.setitem(RENAMED, "went", "gone away")
    assert run(["help", "--all"]) == run(["--help"]) == 0
    shown = capsys.readouterr().out
    assert "gone" not in shown and "void" not in shown
    for words in (["help", "void"], ["help", "gone"], ["help", "went"], ["gone"], ["went", "x"]):
        assert run(words) == 2
        assert "gone" not in capsys.readouterr().err.partition("hint:")[2]
