"""Install and uninstall: into odd homes and projects, and out again with the same bytes."""

import json
import os
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from graphmem.doors.agents.install_contract import INSTALL_CLIENTS
from graphmem.doors.cli.app import run

CLIENTS = INSTALL_CLIENTS
FILES = {
    "claude-code": (".claude/settings.json", ".mcp.json"),
    "codex": (".codex/hooks.json", ".codex/config.toml"),
    "gemini": (".gemini/settings.json",),
    "opencode": ("opencode.json", ".opencode/plugins/graphmem.js"),
    "cursor": (".cursor/mcp.json", ".cursor/hooks.json"),
    "agents-md": ("AGENTS.md",),
}
JSON_FILES = [(client, file) for client, files in FILES.items() for file in files if file.endswith(".json")]
THEIRS: dict[str, Any] = {
    "model": "opus",
    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}], "SessionStart": [{"hooks": []}]},
    "mcpServers": {"other": {"command": "other"}},
    "mcp": {"other": {"type": "local"}},
    "ünïcode": ["ä", 1.0, None],
}


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")  # without graphmem, so that what was written is not started
    for name in ("CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(name, raising=False)
    root = tmp_path / "project"
    root.mkdir()
    monkeypatch.chdir(root)
    assert run(["init"]) == 0
    return root


def files(folder: Path) -> dict[str, bytes]:
    """What is in a folder beside the memory."""
    found = (path for path in folder.rglob("*") if path.is_file() and ".graphmem/" not in f"{path}")
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def written(root: Path, file: str, data: bytes | str) -> Path:
    path = root / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data.encode() if isinstance(data, str) else data)
    return path


@pytest.mark.parametrize("client", CLIENTS)
def test_an_installation_is_repeated_without_a_change_and_leaves_nothing_behind(project: Path, client: str) -> None:
    before = files(project)
    assert run(["install", client]) == 0
    after = files(project)
    assert set(after) - set(before) == set(FILES[client])
    assert run(["install", client]) == 0
    assert files(project) == after
    assert run(["uninstall", client]) == 0
    assert files(project) == before
    assert run(["uninstall", client]) == 0
    assert files(project) == before
    assert not any((project / name).exists() for name in (".claude", ".codex", ".gemini", ".cursor", ".opencode"))


@pytest.mark.parametrize("indent", [2, 4, "\t", None])
@pytest.mark.parametrize(("client", "file"), JSON_FILES)
def test_what_others_set_stays_and_comes_back_with_the_same_bytes(
    project: Path, client: str, file: str, indent: int | str | None
) -> None:
    path = written(project, file, json.dumps(THEIRS, indent=indent))
    before = files(project)
    assert run(["install", client]) == 0
    found = json.loads(path.read_text())
    assert [name for name in THEIRS if name not in found] == []
    assert found["hooks"]["Stop"] == THEIRS["hooks"]["Stop"]
    assert found["mcpServers"]["other"] == THEIRS["mcpServers"]["other"]
    assert "graphmem" in path.read_text()
    assert run(["uninstall", client]) == 0
    assert files(project) == before


@pytest.mark.parametrize(("client", "file"), JSON_FILES)
def test_of_a_file_that_was_changed_since_only_ours_is_taken_out(project: Path, client: str, file: str) -> None:
    path = written(project, file, json.dumps(THEIRS, indent=2))
    run(["install", client])
    path.write_text(json.dumps({**json.loads(path.read_text()), "later": 1}, indent=2))
    assert run(["uninstall", client]) == 0
    found = json.loads(path.read_text())
    assert found == {**THEIRS, "later": 1, **({"version": 1} if file == ".cursor/hooks.json" else {})}


@pytest.mark.parametrize("data", [b"{", b"// a comment\n{}", b"[]", b"\xff\xfe{}", b'{"hooks": 3}', b"[" * 100_000])
@pytest.mark.parametrize("client", ["claude-code", "gemini"])
def test_a_file_that_is_not_understood_is_refused_and_nothing_is_changed(
    project: Path, client: str, data: bytes, capsys: pytest.CaptureFixture[str]
) -> None:
    written(project, FILES[client][0], data)
    before = files(project)
    assert run(["install", client]) == 3
    error = capsys.readouterr().err
    assert FILES[client][0] in error
    assert "is not changed" in error
    assert ("is a comment" in error) == (b"//" in data)
    assert files(project) == before


def test_where_one_file_is_refused_no_other_is_written(project: Path) -> None:
    written(project, ".mcp.json", "{broken")
    assert run(["install", "claude-code"]) == 3
    assert not (project / ".claude").exists()


@pytest.mark.parametrize("text", ["", "model = 'x'\n", "model = 'x'", "[mcp_servers.other]\ncommand = 'y'\n"])
def test_the_settings_of_codex_stay_toml_with_all_comments(project: Path, text: str) -> None:
    path = written(project, ".codex/config.toml", f"# mine\n{text}")
    before = path.read_bytes()
    run(["install", "codex"])
    assert tomllib.loads(path.read_text())["mcp_servers"]["graphmem"]["args"][-2:] == ["graphmem", "mcp"]
    assert path.read_bytes().startswith(before)
    run(["uninstall", "codex"])
    assert path.read_bytes() == before


@pytest.mark.parametrize("text", ["[mcp_servers.graphmem]\ncommand = 'mine'\n", "a = \n", "# >>> graphmem >>>\n"])
def test_settings_of_codex_that_are_broken_or_have_a_server_of_this_name_are_refused(project: Path, text: str) -> None:
    path = written(project, ".codex/config.toml", text)
    assert run(["install", "codex"]) == 3
    assert path.read_text() == text


@pytest.mark.parametrize("text", ["# Ours\n\nBe kind.\n", "no line end", "\n\n"])
def test_the_block_in_agents_md_goes_in_and_out_also_after_other_edits(project: Path, text: str) -> None:
    path = written(project, "AGENTS.md", text)
    run(["install", "agents-md"])
    assert "graphmem context" in path.read_text()
    path.write_text(f"# New top\n{path.read_text()}")
    run(["install", "agents-md"])
    assert path.read_text().count("graphmem: begin") == 1
    run(["uninstall", "agents-md"])
    assert path.read_text().rstrip("\n") == f"# New top\n{text}".rstrip("\n")


def test_a_dry_run_shows_the_difference_and_writes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    written(project, ".mcp.json", '{"mcpServers": {}}\n')
    before = files(project)
    assert run(["install", "claude-code", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "would be changed" in out
    assert '+      "command": "/bin/sh",' in out
    assert files(project) == before


def test_the_answer_names_each_file_and_what_is_left_to_type(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert run(["install", "claude-code", "--user", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert (answer["client"], answer["scope"], answer["applied"]) == ("claude-code", "user", True)
    assert [file["action"] for file in answer["files"]] == ["created"]
    assert answer["files"][0]["path"].endswith("home/.claude/settings.json")
    assert answer["commands"][0].startswith("claude mcp add --scope user graphmem -- /")
    assert files(project) == {name: data for name, data in files(project).items() if not name.startswith(".claude")}


@pytest.mark.parametrize("client", ["codex", "gemini", "opencode", "cursor"])
def test_an_installation_for_a_user_touches_the_home_alone_and_names_a_whole_path(
    project: Path, client: str, tmp_path: Path
) -> None:
    before = files(project)
    assert run(["install", client, "--user"]) == 0
    assert files(project) == before
    made = files(tmp_path / "home")
    assert made
    assert all(os.fsencode(os.path.dirname(sys.executable)) in data for data in made.values())
    assert run(["uninstall", client, "--user"]) == 0
    assert files(tmp_path / "home") == {}


def test_a_folder_in_the_place_of_a_file_is_refused_in_words(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".mcp.json").mkdir()
    assert run(["install", "claude-code"]) == 4
    assert "is not a regular file" in capsys.readouterr().err


def test_git_hooks_and_the_index_are_left_alone(project: Path) -> None:
    hook = written(project, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n")
    for client in CLIENTS:
        run(["install", client])
    assert hook.read_text() == "#!/bin/sh\nexit 0\n"
    assert [path.name for path in hook.parent.iterdir()] == ["pre-commit"]


def test_doctor_names_a_client_that_is_set_up_in_part(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    run(["install", "claude-code"])
    capsys.readouterr()
    run(["doctor", "--json"])
    assert "set up in part" not in capsys.readouterr().out
    (project / ".mcp.json").unlink()
    assert run(["doctor"]) == 0
    out = capsys.readouterr().out
    assert ".mcp.json: claude-code is set up in part" in out
    run(["install", "claude-code"])
    run(["uninstall", "claude-code"])
    capsys.readouterr()
    run(["doctor"])
    assert "claude-code" not in capsys.readouterr().out


def test_doctor_names_a_program_that_agents_do_not_find(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    run(["install", "cursor"])
    monkeypatch.setenv("PATH", str(project))
    capsys.readouterr()
    run(["doctor"])
    assert "cursor cannot start graphmem: graphmem is not on the PATH" in capsys.readouterr().out


def test_what_is_written_is_started_and_a_failure_is_reported(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    program = written(project, "bin/graphmem", "#!/bin/sh\necho broken >&2\nexit 1\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:/usr/bin:/bin")
    assert run(["install", "cursor"]) == 0
    assert "graphmem mcp does not answer: broken" in capsys.readouterr().err
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:/usr/bin:/bin")
    assert run(["install", "cursor"]) == 0
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("client", "step"),
    [("codex", "approve the hooks in /hooks"), ("claude-code", "approve the server"), ("gemini", "trust the folder")],
)
def test_what_is_left_to_do_in_the_client_is_said_last(
    project: Path, client: str, step: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["install", client]) == 0
    out = capsys.readouterr().out
    assert step in out.splitlines()[-1]
    assert len(out.splitlines()) < 8


def test_all_clients_that_are_found_are_set_up(
    project: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{os.path.dirname(sys.executable)}:/usr/bin:/bin")
    assert run(["install", "--all"]) == 4
    assert "no coding agent is found" in capsys.readouterr().err
    for folder in (".codex", ".cursor"):
        (tmp_path / "home" / folder).mkdir(parents=True)
    written(project, ".codex/config.toml", "broken [")
    assert run(["install", "--all", "--json"]) == 3
    answer = json.loads(capsys.readouterr().out)
    assert [one["client"] for one in answer["clients"]] == ["cursor"]
    assert answer["failed"].keys() == {"codex"}
    assert run(["install", "--all", "codex"]) == 2
    assert run(["install"]) == 2
    assert "one of: claude-code, codex" in capsys.readouterr().err


def test_the_last_hook_of_codex_takes_no_longer_than_codex_allows(project: Path) -> None:
    run(["install", "codex"])
    hooks = json.loads((project / ".codex" / "hooks.json").read_text())["hooks"]
    assert hooks["SessionEnd"][0]["hooks"][0]["timeout"] == 3
    assert hooks["SessionStart"][0]["hooks"][0]["timeout"] == 5


OTHERS = [
    (
        ".claude/settings.json",
        "claude-code",
        {"hooks": {"Stop": [{"hooks": [{"command": 'notify "graphmem hook x"'}]}]}},
    ),
    (".claude/settings.json", "claude-code", {"hooks": {}}),
    (".cursor/mcp.json", "cursor", {"mcpServers": {"graphmem": {"command": "mine", "env": {"A": "1"}}}}),
    (".cursor/hooks.json", "cursor", {"version": 1, "hooks": {"stop": []}}),
]


@pytest.mark.parametrize(("file", "client", "value"), OTHERS)
def test_what_only_looks_like_ours_stays_at_an_uninstallation(
    project: Path, file: str, client: str, value: dict[str, Any]
) -> None:
    path = written(project, file, json.dumps(value))
    assert run(["uninstall", client]) == 0
    assert json.loads(path.read_text()) == value


def test_a_handler_of_another_program_in_a_group_with_ours_stays(project: Path) -> None:
    handlers = [{"type": "command", "command": "mine.sh"}, {"type": "command", "command": "graphmem hook claude-code"}]
    value = {"hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": handlers}]}}
    path = written(project, ".claude/settings.json", json.dumps(value))
    run(["install", "claude-code"])
    assert "mine.sh" in path.read_text()
    assert path.read_text().count('"PreToolUse"') == 1
    run(["uninstall", "claude-code"])
    assert json.loads(path.read_text())["hooks"] == {"PreToolUse": [{"matcher": "Bash", "hooks": handlers[:1]}]}


@pytest.mark.parametrize(
    ("file", "client", "text"),
    [
        (".cursor/mcp.json", "cursor", '{"mcpServers": {"graphmem": {"command": "mine"}}}'),
        (".opencode/plugins/graphmem.js", "opencode", "export const Mine = 1\n"),
        (".codex/config.toml", "codex", 'mcp_servers = {other = {command = "y"}}\n'),
        (".codex/config.toml", "codex", "[[mcp_servers]]\n"),
        (".codex/config.toml", "codex", "mcp_servers = 3\n"),
        (".gemini/settings.json", "gemini", '{"hooks": {"BeforeTool": [{"hooks": 3}]}}'),
        (".mcp.json", "claude-code", '{"a": 1, "a": 2}'),
    ],
)
def test_what_ours_cannot_be_put_beside_is_refused(
    project: Path, file: str, client: str, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = written(project, file, text)
    assert run(["install", client]) == 3
    said = capsys.readouterr().err
    assert "is not changed" in said
    assert ("mcp_servers holds something else than a table" in said) == (
        text == "mcp_servers = 3\n" or text.startswith("[[")
    )
    assert path.read_text() == text


def test_an_installation_that_is_repaired_is_taken_out_whole(project: Path) -> None:
    path = written(project, ".gemini/settings.json", '{"theme": "dark"}')
    run(["install", "gemini"])
    value = json.loads(path.read_text())
    del value["hooks"]["BeforeTool"]
    path.write_text(json.dumps(value))
    run(["install", "gemini"])
    assert "BeforeTool" in path.read_text()
    run(["uninstall", "gemini"])
    assert json.loads(path.read_text()) == {"theme": "dark"}
    agents = written(project, "AGENTS.md", "# Ours\n")
    run(["install", "agents-md"])
    agents.write_text(agents.read_text().replace("- Before a task", "- Edited: before a task"))
    run(["install", "agents-md"])
    run(["uninstall", "agents-md"])
    assert agents.read_text().strip() == "# Ours"


@pytest.mark.parametrize(("client", "file"), [("agents-md", "AGENTS.md"), ("cursor", ".cursor/mcp.json")])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_line_ends_and_byte_order_mark_stay(project: Path, client: str, file: str, mark: bytes) -> None:
    text = "# Ours\r\n\r\nBe kind.\r\n" if file.endswith(".md") else '{\r\n  "a": 1\r\n}\r\n'
    path = written(project, file, mark + text.encode())
    before = path.read_bytes()
    run(["install", client])
    after = path.read_bytes()
    assert after.startswith(mark)
    assert after.count(b"\n") == after.count(b"\r\n") > before.count(b"\n")
    run(["install", client])
    assert path.read_bytes() == after
    run(["uninstall", client])
    assert path.read_bytes() == before


def test_a_block_whose_line_ends_git_changed_is_found_again(project: Path) -> None:
    path = written(project, "AGENTS.md", "# Ours\n")
    run(["install", "agents-md"])
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    run(["install", "agents-md"])
    assert path.read_text().count("graphmem: begin") == 1
    run(["uninstall", "agents-md"])
    assert path.read_bytes() == b"# Ours\r\n"
