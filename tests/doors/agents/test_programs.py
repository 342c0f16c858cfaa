"""What ``install`` writes, as the clients' own programs take it; each is installed from npm into a home of its own."""

import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from graphmem.doors.agents.clients import BY_PATH, CLAUDE_EVENTS, CODEX_EVENTS
from graphmem.doors.agents.skills import SKILLS
from graphmem.doors.cli.app import run
from tests.npm import apart, installed

pytestmark = pytest.mark.npm
PACKAGES = {
    "claude": "@anthropic-ai/claude-code@2.1.330",
    "codex": "@openai/codex@0.169.0",
    "gemini": "@google/gemini-cli@0.61.0",
}


@dataclass(frozen=True)
class World:
    """A project with a memory, a home without anything, and a client's program."""

    project: Path
    home: Path
    name: str

    def say(self, *words: str) -> str:
        """Return what the client's program says to a command that succeeds."""
        done = subprocess.run(
            [self.name, *words],
            cwd=self.project,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout + done.stderr

    def graphmem(self, *words: str) -> None:
        """Run graphmem in the project."""
        assert run(list(words)) == 0

    @property
    def plugin(self) -> Path:
        """Where the plugin is."""
        client = {"claude": "claude-code"}.get(self.name, self.name)
        return self.home / ".local" / "state" / "graphmem" / "plugins" / client

    def left(self) -> list[str]:
        """The settings of the client that name graphmem."""
        files = (path for path in self.home.rglob("*") if path.suffix in (".json", ".toml") and path.is_file())
        names = ("settings.json", "config.toml", "known_marketplaces.json", "extension-enablement.json")
        return [str(path) for path in files if path.name in names and "graphmem" in path.read_text("utf-8")]


@pytest.fixture(scope="module", params=PACKAGES)
def program(request: pytest.FixtureRequest) -> Iterator[tuple[str, Path]]:
    with installed(PACKAGES[request.param]) as folder:
        yield request.param, folder


@pytest.fixture
def world(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: tuple[str, Path]) -> World:
    home, project, bin_folder = tmp_path / "home", tmp_path / "project", tmp_path / "bin"
    for folder in (home, project, bin_folder):
        folder.mkdir()
    script = bin_folder / "graphmem"
    root = Path(__file__).parents[3]
    script.write_text(f'#!/bin/sh\nPYTHONPATH="{root}" exec "{sys.executable}" -m graphmem "$@"\n', "utf-8")
    script.chmod(0o755)
    for name in os.environ.keys() - apart(home).keys():
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.setenv("GRAPHMEM_EMBEDDING_MODEL", "none")
    monkeypatch.setenv("GEMINI_CLI_TRUST_WORKSPACE", "true")
    monkeypatch.setenv("PATH", os.pathsep.join([str(bin_folder), str(program[1]), os.environ["PATH"]]))
    monkeypatch.chdir(project)
    assert shutil.which(program[0]) == str(program[1] / program[0])
    assert run(["init"]) == 0
    return World(project, home, program[0])


def test_the_plugin_is_taken_by_the_program_and_given_back(world: World) -> None:
    client = world.plugin.name
    for _ in range(2):  # the second time as after an upgrade
        world.graphmem("install", client, "--plugin")
    PLUGINS[world.name](world)
    world.graphmem("uninstall", client, "--plugin")
    assert not world.plugin.exists()
    assert world.left() == []


def test_the_files_of_a_project_are_taken_by_the_program(world: World) -> None:
    world.graphmem("install", world.plugin.name)
    FILES[world.name](world)


def test_the_files_of_a_user_are_taken_by_the_program(world: World, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    world.graphmem("install", world.plugin.name, "--user", "--json")
    for command in json.loads(capsys.readouterr().out)["commands"]:
        subprocess.run(command, shell=True, cwd=world.project, check=True, capture_output=True, timeout=120)
    listed = world.say("mcp", "list")
    assert "graphmem" in listed
    assert world.name == "codex" or "Connected" in listed


def claude_plugin(world: World) -> None:
    """Claude Code finds nothing wrong, lists all parts, and connects."""
    for path in (world.plugin, world.plugin / ".claude-plugin" / "plugin.json"):
        assert "Validation passed" in world.say("plugin", "validate", "--strict", str(path))
    details = world.say("plugin", "details", "graphmem")
    assert [name for name in (*CLAUDE_EVENTS, *SKILLS) if name not in details] == []
    assert "enabled" in world.say("plugin", "list")
    assert "plugin:graphmem:graphmem" in (listed := world.say("mcp", "list"))
    assert "Connected" in listed


def codex_plugin(world: World) -> None:
    """Codex lists the server, starts it in the project, and has all hooks and skills."""
    assert "installed, enabled" in world.say("plugin", "list")
    row = next(line.split() for line in world.say("mcp", "list").splitlines() if line.startswith("graphmem "))
    assert row[2:7] == ["mcp", "-", "-", "enabled", "Unsupported"]  # no variable, no other folder
    found = asked(world, "hooks/list")["hooks"]
    assert {one["pluginId"] for one in found} == {"graphmem@graphmem"}
    assert_events(found)
    skills = [one["name"] for one in asked(world, "skills/list")["skills"]]
    assert [name for name in SKILLS if f"graphmem:{name}" not in skills] == []


def gemini_plugin(world: World) -> None:
    """Gemini lists the server and the skills, and connects; what it reads of the hooks no command shows."""
    assert "successfully validated" in world.say("extensions", "validate", str(world.plugin / "gemini"))
    listed = world.say("extensions", "list")
    assert "Enabled (Workspace): true" in listed
    assert [name for name in SKILLS if f"{name}: " not in listed] == []
    assert "Connected" in world.say("mcp", "list")


def claude_files(world: World) -> None:
    """Claude Code lists the server; a person has to let a project have it."""
    assert "graphmem" in world.say("mcp", "list")


def codex_files(world: World) -> None:
    """Codex reads hooks and server of a project that is trusted."""
    config = world.home / ".codex" / "config.toml"
    config.parent.mkdir(exist_ok=True)
    config.write_text(f'[projects."{world.project}"]\ntrust_level = "trusted"\n', "utf-8")
    assert_events(asked(world, "hooks/list")["hooks"])
    assert "graphmem" in world.say("mcp", "list")


def gemini_files(world: World) -> None:
    """Gemini connects in a folder that is trusted."""
    assert "Connected" in world.say("mcp", "list")


PLUGINS = {"claude": claude_plugin, "codex": codex_plugin, "gemini": gemini_plugin}
FILES = {"claude": claude_files, "codex": codex_files, "gemini": gemini_files}


def assert_events(hooks: list[dict[str, Any]]) -> None:
    """All of ours are there, and run graphmem."""
    assert {one["eventName"].lower() for one in hooks} == {name.lower() for name in CODEX_EVENTS}
    for words in (shlex.split(one["command"]) for one in hooks):
        assert words[: len(BY_PATH)] == list(BY_PATH) or Path(words[0]).name == "graphmem", words


def asked(world: World, method: str) -> dict[str, Any]:
    """Return what Codex's server for editors answers about the project."""
    process = subprocess.Popen(
        ["codex", "app-server"],
        cwd=world.project,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    calls = [
        ("initialize", {"clientInfo": {"name": "test", "version": "1"}}),
        (method, {"cwds": [str(world.project)]}),
    ]
    try:
        for number, (name, params) in enumerate(calls):
            process.stdin.write(json.dumps({"id": number, "method": name, "params": params}) + "\n")
            process.stdin.flush()
            answer = next(one for line in process.stdout if (one := json.loads(line)).get("id") == number)
    finally:
        process.stdin.close()
        process.terminate()
        process.wait(timeout=30)
        process.stdout.close()
    found: dict[str, Any] = answer["result"]["data"][0]
    return found
