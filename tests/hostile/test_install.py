"""Install and uninstall in a stranger's clone: no link is followed, and what is written runs nothing of a folder."""

import json
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from graphmem import Memory
from graphmem.doors.agents.clients import BY_PATH
from graphmem.doors.agents.install_contract import INSTALL_CLIENTS
from graphmem.doors.agents.plugin import contents
from graphmem.doors.cli.app import run
from graphmem.kernel.store.git_setup import drivers
from graphmem.kernel.system.programs import own_program, program
from tests.hostile.test_children import MODULES

CLIENTS = INSTALL_CLIENTS
SECRET = "the first line of a file of the user\nand the second\n"
# The links that a branch could bring, by the client whose installation meets them.
LINKS = {
    "AGENTS.md": "agents-md", ".claude": "claude-code", ".claude/settings.json": "claude-code",
    ".mcp.json": "claude-code",
    ".codex": "codex", ".codex/config.toml": "codex", ".codex/hooks.json": "codex", ".gemini": "gemini",
    ".gemini/settings.json": "gemini", "opencode.json": "opencode", ".opencode": "opencode",
    ".opencode/plugins": "opencode", ".opencode/plugins/graphmem.js": "opencode", ".cursor": "cursor",
    ".cursor/mcp.json": "cursor",
}  # fmt: skip


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "home"
    (made / "folder").mkdir(parents=True)
    monkeypatch.setenv("HOME", str(made))
    for name in ("CONFIG", "STATE"):
        monkeypatch.setenv(f"XDG_{name}_HOME", str(made / name))
    return made


@pytest.fixture
def clone(tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    made = tmp_path / "clone"
    made.mkdir()
    Memory.init(made)
    monkeypatch.chdir(made)
    return made


def tree(folder: Path) -> dict[str, bytes | str]:
    return {
        str(path.relative_to(folder)): os.readlink(path) if path.is_symlink() else path.read_bytes()
        for path in folder.rglob("*")
        if path.is_symlink() or path.is_file()
    }


@pytest.mark.parametrize("words", [["install"], ["install", "--dry-run"], ["uninstall"], ["uninstall", "--dry-run"]])
@pytest.mark.parametrize("link", LINKS)
def test_no_link_of_a_clone_is_followed_by_install(
    clone: Path, home: Path, link: str, words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    target = home / ("folder" if link in (".claude", ".codex", ".gemini", ".opencode", ".cursor") else "file")
    if target.name == "file" and link != ".opencode/plugins":
        target.write_text(SECRET)
        target.chmod(0o600)
    else:
        target = home / "folder"
        for name in ("settings.json", "config.toml", "hooks.json", "mcp.json"):
            (target / name).write_text("{}" if name.endswith("json") else "")
    (clone / link).parent.mkdir(parents=True, exist_ok=True)
    (clone / link).symlink_to(os.path.relpath(target, (clone / link).parent))
    before, outside = tree(clone), tree(home)
    capsys.readouterr()
    status = run([*words, LINKS[link]])
    said = "".join(capsys.readouterr())
    assert (status, "symbolic link, which is not followed" in said) == (4, True), said
    assert "of a file of the user" not in said
    assert tree(home) == outside
    assert tree(clone) == before


def test_a_file_with_the_name_of_a_temporary_one_is_not_written(clone: Path, home: Path) -> None:
    """The name is random, and the file is made by this very command."""
    (home / "file").write_text(SECRET)
    for name in (".AGENTS.md.graphmem", ".AGENTS.md.tmp", ".settings.json.graphmem"):
        (clone / name).symlink_to(home / "file")
    (clone / "AGENTS.md").write_text("touch PWNED\n")
    assert run(["install", "agents-md"]) == 0
    assert (home / "file").read_text() == SECRET
    assert (clone / "AGENTS.md").read_text().startswith("touch PWNED\n")
    assert not (clone / "AGENTS.md").is_symlink()
    assert run(["uninstall", "agents-md"]) == 0
    assert (clone / "AGENTS.md").read_text() == "touch PWNED\n"


def test_a_link_of_the_users_own_home_is_followed_and_named(
    clone: Path, home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    real = home / "dotfiles" / "settings.json"
    real.parent.mkdir()
    real.write_text("{}")
    real.chmod(0o600)
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    assert run(["install", "claude-code", "--user"]) == 0
    assert f"changed: {home}/.claude/settings.json -> {real}" in capsys.readouterr().out
    assert (home / ".claude" / "settings.json").is_symlink()
    assert ("graphmem" in real.read_text(), real.stat().st_mode & 0o777) == (True, 0o600)
    assert run(["uninstall", "claude-code", "--user"]) == 0
    assert real.read_text() == "{}"


# --- what is written runs nothing of a folder ------------------------------------------------------------------------


def commands_in(value: Any) -> Iterator[list[str]]:
    """Yield the commands in a client's file, however it has them."""
    if isinstance(value, dict):
        command = value.get("command")
        if isinstance(command, list):
            yield command
        elif isinstance(command, str):
            yield [command, *value["args"]] if "args" in value else shlex.split(command)
        for part in value.values():
            yield from commands_in(part)
    elif isinstance(value, list):
        for part in value:
            yield from commands_in(part)


def commands_of(path: Path) -> list[list[str]]:
    text = path.read_text()
    if path.suffix == ".js":
        return [json.loads(found) for found in re.findall(r"COMMAND = (\[.*\])", text)]
    return list(commands_in(tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)))


@pytest.fixture
def trap(tmp_path: Path) -> Iterator[Path]:
    """A folder whose programs and modules leave a mark."""
    folder, mark = tmp_path / "trap", tmp_path / "MARK"
    for name in MODULES:
        path = folder / f"{name}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"open({str(mark)!r}, 'a').write({name!r})\n")
    for name in ("graphmem.sh", "sh", "git", "claude", "codex", "gemini", "env"):
        (folder / name).write_text(f"#!/bin/sh\necho {name} >>{shlex.quote(str(mark))}\n")
        (folder / name).chmod(0o755)
    yield folder
    assert not mark.exists(), mark.read_text()


@pytest.mark.long
def test_every_command_that_install_writes_is_absolute_and_runs_nothing_of_the_folder_it_runs_in(
    clone: Path, home: Path, trap: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for client in CLIENTS:
        run(["install", client])
        if client != "agents-md":
            run(["install", client, "--user"])
    written = [path for path in [*clone.rglob("*"), *home.rglob("*")] if path.suffix in (".json", ".toml", ".js")]
    found = {tuple(words) for path in written if ".graphmem" not in path.parts for words in commands_of(path)}
    for program_words in (own_program(), list(BY_PATH)):
        for name, text in contents(program_words).items():
            found |= {tuple(words) for words in commands_in(json.loads(text))} if name.endswith(".json") else set()
    assert len(found) >= 10
    found |= {(sys.executable, "-P", "-m", "graphmem", "textconv", "x")}  # as git runs it
    assert all(f"{shlex.quote(sys.executable)} -P -m graphmem " in text for text in list(drivers().values())[1:])
    bins = f"{os.path.dirname(sys.executable)}:/usr/bin:/bin"
    for path in (bins, f".:{bins}", f":{bins}", f"{trap}/missing:/usr/bin:/bin"):
        for words in found:
            assert os.path.isabs(words[0]), words
            subprocess.run(
                words, cwd=trap, input="{}\n", capture_output=True, text=True, check=False, timeout=60,
                env={"PATH": path, "HOME": str(home), "GRAPHMEM_SERVICE": "off"},
            )  # fmt: skip


def test_without_a_program_beside_python_the_module_is_run_without_the_current_folder(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(sys, "executable", str(tmp_path / "python3"))
    monkeypatch.setenv("PATH", f".:{tmp_path}/bin")
    assert own_program() == [str(tmp_path / "python3"), "-P", "-m", "graphmem"]
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "graphmem").write_text("#!/bin/sh\n")
    (tmp_path / "bin" / "graphmem").chmod(0o755)
    assert own_program() == [str(tmp_path / "bin" / "graphmem")]


def test_a_program_is_not_looked_for_in_the_current_folder(trap: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(trap)
    for path in (".", "", "./", f"..{os.sep}trap"):
        monkeypatch.setenv("PATH", path)
        assert program("git") is None
    monkeypatch.setenv("PATH", f".{os.pathsep}/usr/bin")
    assert program("git") == "/usr/bin/git"
