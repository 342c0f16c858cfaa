"""The plugin: what is in the folder, what is run and what is left to be typed, and back out again."""

import json
import os
import re
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from graphmem import __version__
from graphmem.doors.agents.clients import BY_PATH
from graphmem.doors.agents.install_contract import INSTALL_CLIENTS
from graphmem.doors.agents.plugin import PROGRAMS, contents
from graphmem.doors.agents.skills import SKILLS
from graphmem.doors.cli.app import run

Fake = Callable[..., Path]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home, and a project with a memory as the current folder; no client is on the PATH."""
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/bin:/usr/bin")
    for name in ("XDG_STATE_HOME", "XDG_CONFIG_HOME", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    (tmp_path / "project").mkdir()
    (tmp_path / "home").mkdir()
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "graphmem").write_text("#!/bin/sh\n", "utf-8")
    (tmp_path / "bin" / "graphmem").chmod(0o755)
    monkeypatch.chdir(tmp_path / "project")
    assert run(["init"]) == 0
    return tmp_path / "home"


@pytest.fixture
def fake(home: Path) -> Fake:
    """Put a client on the PATH that keeps its command lines, and fails at those with a word."""

    def put(name: str, fails_at: str = "-") -> Path:
        log = home.parent / f"{name}.log"
        path = home.parent / "bin" / name
        path.write_text(
            f'#!/bin/sh\necho "{name} $*" >> {log}\ncase "$*" in *{fails_at}*) echo "Error: no disk"; exit 1;; esac\n',
            "utf-8",
        )
        path.chmod(0o755)
        return log

    return put


def plugin_of(home: Path, client: str) -> Path:
    return home / ".local" / "state" / "graphmem" / "plugins" / client


def answer(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, Any]:
    capsys.readouterr()
    assert run([*words, "--json"]) == 0
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def tree(folder: Path) -> dict[str, bytes]:
    """What is in a folder, beside what `init` notes of this machine."""
    found = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("clone-id", "interpreters"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


@pytest.mark.parametrize("client", PROGRAMS)
def test_the_clients_program_installs_the_plugin_and_takes_it_out(home: Path, client: str, fake: Fake) -> None:
    log = fake(PROGRAMS[client], fails_at="uninstall")  # there is none yet, which is no error
    assert run(["install", client, "--plugin"]) == 0
    said = log.read_text()
    assert str(plugin_of(home, client)) in said
    assert run(["install", client, "--plugin"]) == 0
    log = fake(PROGRAMS[client])
    log.write_text("")
    assert run(["uninstall", client, "--plugin"]) == 0
    assert "graphmem" in log.read_text()
    assert not plugin_of(home, client).exists()
    log.write_text("")
    assert run(["uninstall", client, "--plugin"]) == 0
    assert log.read_text() == ""


@pytest.mark.parametrize("client", PROGRAMS)
def test_without_the_clients_program_its_commands_are_left_to_be_typed(
    home: Path, client: str, capsys: pytest.CaptureFixture[str]
) -> None:
    found = answer(capsys, "install", client, "--plugin")
    assert found["ran"] == []
    assert {shlex.split(command)[0] for command in found["commands"]} == {PROGRAMS[client]}
    assert {Path(file["path"]) for file in found["files"]} == {
        plugin_of(home, client) / name for name in tree(plugin_of(home, client))
    }
    found = answer(capsys, "uninstall", client, "--plugin")
    assert found["commands"]
    assert not plugin_of(home, client).exists()


def test_a_dry_run_shows_files_and_commands_and_does_nothing(
    home: Path, fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    log = fake("codex")
    assert run(["install", "codex", "--plugin", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert f"would be created: {plugin_of(home, 'codex')}/codex/.codex-plugin/plugin.json" in out
    assert "would run: codex plugin add graphmem@graphmem" in out
    assert not log.exists()
    assert tree(home) == {}
    run(["install", "codex", "--plugin"])
    before, log_before = tree(home), log.read_text()
    assert run(["uninstall", "codex", "--plugin", "--dry-run"]) == 0
    assert "would run: codex plugin remove" in capsys.readouterr().out
    assert (tree(home), log.read_text()) == (before, log_before)


def test_a_client_that_fails_is_an_error_with_its_words(
    home: Path, fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    fake("claude", fails_at="marketplace")
    assert run(["install", "claude-code", "--plugin"]) == 4
    error = capsys.readouterr().err
    assert "'claude plugin marketplace add" in error
    assert "failed: Error: no disk" in error
    assert run(["uninstall", "claude-code", "--plugin"]) == 0
    assert "marketplace remove graphmem' failed: Error: no disk" in capsys.readouterr().err
    assert not plugin_of(home, "claude-code").exists()


def test_the_plugin_has_the_entries_that_the_files_of_a_user_have(home: Path) -> None:
    for client in PROGRAMS:
        assert run(["install", client, "--user"]) == 0
        assert run(["install", client, "--plugin"]) == 0
    files = {
        "claude-code": (home / ".claude" / "settings.json", "hooks/claude-code.json"),
        "codex": (home / ".codex" / "hooks.json", "codex/hooks/hooks.json"),
        "gemini": (home / ".gemini" / "settings.json", "gemini/hooks/hooks.json"),
    }
    for client, (theirs, ours) in files.items():
        made = json.loads((plugin_of(home, client) / ours).read_text("utf-8"))
        assert made == {"hooks": json.loads(theirs.read_text("utf-8"))["hooks"]}
    gemini = json.loads((plugin_of(home, "gemini") / "gemini/gemini-extension.json").read_text("utf-8"))
    assert gemini["mcpServers"] == json.loads((home / ".gemini" / "settings.json").read_text("utf-8"))["mcpServers"]


def test_all_manifests_name_the_version_and_files_that_are_there(tmp_path: Path) -> None:
    made = contents(["graphmem"])
    for name, text in made.items():
        if not name.endswith(".json"):
            continue
        value = json.loads(text)
        assert value.get("version", __version__) == __version__
        folder = Path(name).parent.parent if "plugin/" in name else Path(name).parent
        paths = re.findall(r'"\./([^"]*)"', text) if name.endswith("plugin.json") else []
        assert [path for path in paths if not any(one.startswith(f"{folder / path}") for one in made)] == []
    portable = json.loads(made["plugin.json"])
    assert portable.keys() <= {"$schema", "name", "version", "description", "author", "license"}
    assert len(made["README.md"].split()) >= 40


def test_a_folder_of_the_caller_gets_the_plugin_with_a_program_that_others_have_too(
    home: Path, fake: Fake, capsys: pytest.CaptureFixture[str]
) -> None:
    log = fake("gemini")
    found = answer(capsys, "install", "gemini", "--plugin", "--out", "plugin")
    assert not log.exists()
    assert f"gemini extensions link {Path.cwd() / 'plugin' / 'gemini'} --consent" in found["commands"]
    assert tree(Path("plugin")) == {name: text.encode() for name, text in contents(BY_PATH).items()}
    assert run(["install", "codex", "--plugin", "--out", "plugin"]) == 0  # the same folder, for every client
    assert tree(home) == {}


def test_a_folder_with_something_else_is_refused(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    Path("other").mkdir()
    Path("other/plugin.json").write_text('{"name": "theirs"}')
    assert run(["install", "codex", "--plugin", "--out", "other"]) == 3
    assert "holds something else than graphmem's plugin" in capsys.readouterr().err
    assert tree(Path("other")) == {"plugin.json": b'{"name": "theirs"}'}
    Path("other/plugin.json").unlink()
    os.mkfifo("other/plugin.json")
    assert run(["install", "codex", "--plugin", "--out", "other"]) == 3


@pytest.mark.parametrize("stranger", ["skills/evil/SKILL.md", "codex/hooks/more.json", "agents", "hooks/linked"])
def test_a_plugin_in_which_something_of_others_lies_is_refused(
    home: Path, capsys: pytest.CaptureFixture[str], stranger: str
) -> None:
    """It would be a part of the plugin; that it is called graphmem says nothing."""
    assert run(["install", "codex", "--plugin", "--out", "plugin"]) == 0
    path = Path("plugin") / stranger
    path.parent.mkdir(parents=True, exist_ok=True)
    if stranger == "hooks/linked":
        path.symlink_to("/tmp")
    else:
        path.write_text("evil")
    assert run(["install", "codex", "--plugin", "--out", "plugin"]) == 3
    assert f"holds {stranger!r}, which is not of graphmem" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["install", "codex", "--plugin", "--project"], "only one of --project and --plugin"),
        (["install", "codex", "--out", "x"], "graphmem install codex --plugin"),
        *(
            (["install", client, "--plugin"], f"no plugin for {client}")
            for client in INSTALL_CLIENTS
            if client not in PROGRAMS
        ),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_can(
    home: Path, words: list[str], says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(words) == 2
    assert says in capsys.readouterr().err
    assert tree(home) == {}


def test_a_plugin_that_was_damaged_is_written_again_and_removed(home: Path) -> None:
    for words in (["install"], ["uninstall"]):
        run(["install", "gemini", "--plugin"])
        (plugin_of(home, "gemini") / "plugin.json").write_text("{")
        assert run([*words, "gemini", "--plugin"]) == 0
        there = tree(home)
        assert not there or json.loads(there[".local/state/graphmem/plugins/gemini/plugin.json"])["name"] == "graphmem"
    assert there == {}


def test_a_client_that_is_set_up_twice_is_named_with_what_takes_one_back(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run(["install", "claude-code"])
    assert "take back all but one" not in capsys.readouterr().err
    run(["install", "claude-code", "--plugin"])
    error = capsys.readouterr().err
    assert "`graphmem uninstall claude-code --plugin`, `graphmem uninstall claude-code --project`" in error
    run(["doctor"])
    assert "claude-code is set up 2 times" in capsys.readouterr().out
    run(["uninstall", "claude-code", "--project"])
    run(["doctor"])
    assert "2 times" not in capsys.readouterr().out


@pytest.mark.parametrize("name", SKILLS)
def test_every_command_of_a_skill_runs(home: Path, name: str) -> None:
    run(["add", "failure", "--trigger", "the old error", "--name", "ref", "--fix", "fix it"])
    Path("build.log").write_text("the old error\n")
    Path("src").mkdir()
    Path("src/login.py").write_text("")
    Path("plan.json").write_text('[{"seq": 1, "objective": "log in"}]')
    run(["campaign", "create", "add a login page", "--name", "login"])
    run(["campaign", "add-tasks", "login", "plan.json"])
    if name == "retro":
        run(["task", "start", "login/001"])
    commands = re.findall(r"`(graphmem .+?)`", SKILLS[name])
    assert len(commands) >= 6
    for command in commands:
        for word, ref in (("REF", "failure/ref"), ("TASK", "login/001"), ("CAMPAIGN", "login")):
            command = command.replace(word, ref)  # noqa: PLW2901
        words = shlex.split(command)[1:]
        if words[0] == "ran":
            if len(words) == 1:
                continue
            words[words.index("--") + 1 :] = ["true"]
        assert run(words) == 0, command


def test_a_skill_says_when_it_is_for_within_the_limits_of_the_form() -> None:
    for name, text in SKILLS.items():
        head = re.fullmatch(r"---\nname: (\S+)\ndescription: >-\n((?:  .+\n)+)---\n(.+)", text, re.DOTALL)
        assert head is not None
        assert head[1] == name
        assert len(head[2]) < 1_024
        assert ": " not in head[1]
        assert len(text.split()) < 350
